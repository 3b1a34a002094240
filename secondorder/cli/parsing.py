"""What the commands share: a parser with the common options, checked kinds of arguments, a line for
each file.
"""

import argparse
import ast
import math
from pathlib import Path

import secondorder


class CommandParser(argparse.ArgumentParser):
    """Parser of one command: keeps the line breaks of its examples and takes ``--traceback``.

    Options may stand before, between and behind what has no name.
    """

    _intermixed = False  # whether the parsing that asks for itself again has begun

    def __init__(self, *args, examples="", **kwargs):
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, epilog=f"examples:\n{examples}", **kwargs)
        self.add_argument("--traceback", action="store_true", help="show the traceback of an error")

    def parse_known_args(self, args, namespace=None):
        # the commands of a command parse their own words; behind -- nothing is an option
        if self._intermixed or self._subparsers is not None or "--" in args:
            return super().parse_known_args(args, namespace)
        self._intermixed = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._intermixed = False


def number_or_text(text):
    """A whole number where the text is one: a column by its place or name, a size or ``all``."""
    try:
        return int(text)
    except ValueError:
        return text


def number(kind, where, fits):
    """What reads a finite number of a kind, int or float; `where` says which ones `fits` takes."""
    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and fits(value)):
            noun = "whole number" if kind is int else "number"
            raise argparse.ArgumentTypeError(f"expected a {noun} {where}, given {text!r}")
        return value
    return read


natural = number(int, "from 0", lambda value: value >= 0)
positive = number(int, "from 1", lambda value: value >= 1)
positive_number = number(float, "above 0", lambda value: value > 0)


def setting(text):
    """``name=value`` as two; the value as a Python literal where it is one, else as text."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, given {text!r}")
    try:
        return [name, ast.literal_eval(value)]
    except (ValueError, SyntaxError):
        return [name, value]


def checkout(option):
    """The folder of the checkout that this package is in, for what `option` writes into the
    package.

    Raises ValueError for an installed package, which no command changes.
    """
    top = Path(secondorder.__file__).parent.parent
    if not (top / "pyproject.toml").is_file():
        raise ValueError(f"{option} is for a checkout of the repository, not for the installed "
                         f"package in {top}")
    return top


def add_table_options(parser):
    """Add what says how a table in csv:FILE is to be read."""
    parser.add_argument("--target", type=number_or_text, metavar="COLUMN",
                        help="csv: the target, by name or number (default: the last)")
    parser.add_argument("--classify", action="store_true", help="csv: the target is a class label")


def table_options(options):
    """What was said about a table, as `datasets.load` takes it."""
    said = {"target": options.target, "classification": options.classify or None}
    return {name: value for name, value in said.items() if value is not None}


def json_option(parser):
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def force_option(parser):
    """Add ``--force``."""
    parser.add_argument("--force", action="store_true", help="replace files that are there already")


def tell_written(paths, stream=None):
    """Print a line a file."""
    for path in paths:
        print(f"written: {path}", file=stream)
