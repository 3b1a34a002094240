"""The command line: `secondorder` and `python -m secondorder`.

One file a command; each adds its parser and says which function runs. A command returns its exit status: 0 when all
went well, 1 when a check did not come out as it should. Bad input ends with one line on the error stream and status 2.
BLAS runs on one thread unless the environment says otherwise (OPENBLAS_NUM_THREADS, OMP_NUM_THREADS, MKL_NUM_THREADS).
"""

import argparse
import os
import sys

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
EPILOG = """\
Start here:
  secondorder tour                              train on digits, draw curvature, check every derivative
  secondorder verify                            execute every equation of every paper
  secondorder show residual-partitioning 9      one equation: formula, code, shapes, both sides
  secondorder train --data wine --optimizer adam
  secondorder bench "dense Hessian"             what curvature and steps cost, as ratios
Each command explains itself: secondorder COMMAND --help
"""


def main(arguments=None):
    """Run one command.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the process by default.

    Returns
    -------
    int
        Exit status: 0 only when all went well.
    """
    # the networks here are small: a second thread gains nothing and, on a busy machine, costs tenfold
    for name in BLAS_THREADS:
        os.environ.setdefault(name, "1")
    options = parser().parse_args(arguments)
    try:
        status = options.run(options)
        print(end="", flush=True)  # here, where an error of writing can still be told
        return status
    except BrokenPipeError:
        _drop_output()  # the reader went away, as `head` does
        return 1
    except KeyboardInterrupt:
        print(f"secondorder {options.command}: interrupted", file=sys.stderr)
        _flush_or_drop_output()
        return 130
    except (ValueError, TypeError, ArithmeticError, MemoryError, OSError) as error:
        if options.traceback:
            raise
        print(f"secondorder {options.command}: error: {' '.join(str(error).split())}", file=sys.stderr)
        _flush_or_drop_output()
        return 2


def _flush_or_drop_output():
    try:
        print(end="", flush=True)
    except OSError:
        _drop_output()


def _drop_output():
    """Let what still waits for the standard output go nowhere, so that Python does not fail on it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parser():
    """The parser of the whole command line."""
    from secondorder import __version__

    from . import (  # they import NumPy, which reads the number of threads
        bench,
        data,
        equations,
        parsing,
        tour,
        train,
    )

    top = argparse.ArgumentParser(
        prog="secondorder",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="An executable edition of papers on second-order training of neural networks.",
    )
    top.add_argument("--version", action="version", version=f"secondorder {__version__}")
    commands = top.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True, parser_class=parsing.CommandParser
    )
    for command in (tour, equations, train, data, bench):
        command.add(commands)
    return top
