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

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
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
    for name in BLAS_THREADS:
        os.environ.setdefault(name, "1")
    with printable.output():
        return _main(arguments)


def _main(arguments):
    command, traceback = "", False
    try:
        with _signals_raise(), _warnings_in_one_line():
            try:
                options = parser().parse_args(arguments)
            except SystemExit:
                print(end="", flush=True)  # the help, for which the same holds as below
                raise
            command = f" {options.command}" if options.command else ""
            traceback = options.traceback
            status = options.run(options) or 0
            print(end="", flush=True)  # here, where an error of writing can still be reported
            return status
    except BrokenPipeError:
        _drop_output()  # the reader went away, as `head` does
        return 1
    except KeyboardInterrupt as interrupt:
        number = getattr(interrupt, "number", 2)
        what = "interrupted" if number == 2 else "terminated"
        print(f"secondorder{command}: {what}", file=sys.stderr)
        _flush_or_drop_output()
        return 128 + number
    except (ValueError, TypeError, ArithmeticError, MemoryError, OSError) as error:
        if traceback:
            raise
        text = shortened(" ".join(_told(error).split()))
        print(f"secondorder{command}: error: {text}", file=sys.stderr)
        _flush_or_drop_output()
        return 2


def process():
    """The command as a process of its own: signals while it ends are too late to matter."""
    status = 1
    try:
        status = main()
    finally:
        for number in (signal.SIGINT, *_ends()):
            signal.signal(number, signal.SIG_IGN)
    if status > 128:  # what a signal broke off may complain while Python takes itself apart
        _flush_or_drop_output()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


class Terminated(KeyboardInterrupt):
    """A signal, of that number, asks the command to end."""

    def __init__(self, number):
        super().__init__(number)
        self.number = int(number)


def _terminate(number, frame):
    raise Terminated(number)


def _ends():
    """The signals that end a command as Ctrl-C does."""
    return [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def _signals_raise():
    """Within this block SIGTERM and SIGHUP raise `Terminated`, but for those that are ignored, as
    under ``nohup``; in the main thread, which alone hears signals.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in _ends()}
    for number, handler in before.items():
        if handler not in (signal.SIG_IGN, None):
            signal.signal(number, _terminate)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def _told(error):
    """What an error says; of the system's own the file and the reason, without their number."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def shortened(text, most=400):
    """A text without its middle where it is very long."""
    return text if len(text) <= most else f"{text[: most - 100]} [...] {text[-80:]}"


@contextlib.contextmanager
def _warnings_in_one_line():
    """Say warnings as errors are said, without the place in the code that they came from."""
    usual = warnings.formatwarning
    warnings.formatwarning = lambda message, *_: f"secondorder: warning: {message}\n"
    try:
        yield
    finally:
        warnings.formatwarning = usual


def _flush_or_drop_output():
    try:
        print(end="", flush=True)
    except OSError:
        _drop_output()


def _drop_output():
    """Let what waits for the standard output go nowhere: Python would fail on it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
