"""What goes to the terminal: no text of a stranger's steers it."""

import contextlib
import re
import sys

# control characters but for the tab and the line feed, and what turns the direction of writing
_CODES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text):
    r"""A text with its control characters as escapes, ``\u001b`` (which JSON reads as well)."""
    return _CODES.sub(lambda code: f"\\u{ord(code[0]):04x}", text)


class Printable:
    """A stream that hands on what is :func:`printable`, and whatever else the stream can do. A
    carriage return that begins a piece is left: lines that tell progress are written over so.
    """

    def __init__(self, stream):
        self._stream = stream

    def write(self, text):
        first = text[:1] if text[:1] == "\r" else ""
        self._stream.write(first + printable(text[len(first):]))
        return len(text)

    def __getattr__(self, name):
        return getattr(self._stream, name)


@contextlib.contextmanager
def output():
    """Standard output and standard error of a command, both :class:`Printable`; what the
    terminal's encoding lacks is written as an escape too.
    """
    usual = sys.stdout, sys.stderr
    for stream in usual:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = (stream and Printable(stream) for stream in usual)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = usual
