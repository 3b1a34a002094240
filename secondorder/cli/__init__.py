"""The command line: `secondorder` and `python -m secondorder`.

One file a command; each adds its parser and says which function runs. A command returns its exit
status: 0 when all went well, 1 when a check failed. Bad input ends with one
line on the error stream and status 2. A signal (Ctrl-C, SIGTERM) ends a command with what it has,
one line, and 128 plus the signal's number. BLAS runs on one thread unless the environment says
otherwise (OPENBLAS_NUM_THREADS, OMP_NUM_THREADS, MKL_NUM_THREADS).
"""

import contextlib
import os
import signal
import sys
import threading
import warnings

from . import printable

EPILOG = """\
Start here:
  secondorder tour                                  train on digits, draw and check derivatives
  secondorder verify                                execute every equation of every paper
  secondorder show residual-partitioning 9          one equation: formula, code, a live case
  secondorder train --data wine --optimizer adam    train a small network and record every epoch
  secondorder compare                               compare all curvatures of one network
  secondorder race --minutes 2                      the papers' methods against SGD and Adam, live
  secondorder reproduce low-rank figure-2 --quick   run a figure again, small, to see it work
  secondorder bench small                           time curvature and steps, as ratios
  secondorder edition new my-paper --tex paper.tex  make an edition of your paper
Each command has examples: secondorder COMMAND --help
"""


def main(arguments=None):
    """Run one command, by default that of the process, and return its exit status: 0 only when all
    went well, 128 + its number after a signal.
    """
    # small networks: a second thread gains nothing and, on a busy machine, costs tenfold
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    command, traceback = "", False
    with printable.output(), _warnings_in_one_line():
        try:
            with _signals_raise():
                try:
                    options = parser().parse_args(arguments)
                    command = f" {options.command}" if options.command else ""
                    traceback = options.traceback
                    return options.run(options) or 0
                finally:  # here, where an error of writing can still be reported
                    print(end="", flush=True)
        except BrokenPipeError:  # the reader went away, as `head` does
            return 1
        except KeyboardInterrupt as interrupt:
            number = getattr(interrupt, "number", 2)
            what = "interrupted" if number == 2 else "terminated"
            print(f"secondorder{command}: {what}", file=sys.stderr)
            return 128 + number
        except (ValueError, TypeError, ArithmeticError, MemoryError, OSError) as error:
            if traceback:
                raise
            print(f"secondorder{command}: error: {' '.join(str(error).split())}", file=sys.stderr)
            return 2


def process():
    """The command as a process of its own."""
    status = main()
    try:
        print(end="", flush=True)
    except OSError:  # nobody reads, or the disk is full: Python would fail on the rest at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


class Terminated(KeyboardInterrupt):
    """A signal, of that number, asks the command to end."""

    def __init__(self, number):
        super().__init__(number)
        self.number = int(number)


def _terminate(number, frame):
    raise Terminated(number)


@contextlib.contextmanager
def _signals_raise():
    """Within this block SIGTERM and SIGHUP raise `Terminated`, but for those that are ignored, as
    under ``nohup``; in the main thread, which alone hears signals.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {getattr(signal, name): signal.getsignal(getattr(signal, name))
                  for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)}
    for number, handler in before.items():
        if handler not in (signal.SIG_IGN, None):
            signal.signal(number, _terminate)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


@contextlib.contextmanager
def _warnings_in_one_line():
    """Say warnings as errors are said, without the place in the code that they came from."""
    usual = warnings.formatwarning
    warnings.formatwarning = lambda message, *_: f"secondorder: warning: {message}\n"
    try:
        yield
    finally:
        warnings.formatwarning = usual


def parser():
    """The parser of the whole command line."""
    import argparse

    from secondorder import __version__

    from . import (  # they import NumPy, which reads the number of threads
        bench,
        book,
        compare,
        data,
        edition,
        equations,
        grade,
        parsing,
        race,
        reproduce,
        tour,
        train,
    )

    top = argparse.ArgumentParser(
        prog="secondorder", epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="An executable edition of papers on second-order training of neural networks.")
    top.add_argument("--version", action="version", version=f"secondorder {__version__}")
    commands = top.add_subparsers(title="commands", dest="command", metavar="COMMAND",
                                  parser_class=parsing.CommandParser)
    for command in (tour, equations, edition, reproduce, train, compare, race, book, grade,
                    data, bench):
        command.add(commands)
    top.set_defaults(run=lambda _: top.print_help(), traceback=False)  # alone: what there is
    return top
