"""What goes to the terminal: no text of a stranger's steers it."""

import contextlib
import re
import sys

# control characters but for the tab and the line feed, and what turns the direction of writing
_CODES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text):
    r"""A text with its control characters as escapes, ``\u001b`` (which JSON reads as well)."""
    return _CODES.sub(lambda code: f"\\u{ord(code[0]):04x}", text)


def one_line(text):
    r"""A text, a file's name for instance, with its line feeds as ``\u000a``."""
    return text.replace("\n", "\\u000a")


class Printable:
    """A stream that hands on what is :func:`printable`, and whatever else the stream can do.

    A carriage return that begins a piece is left: lines that tell progress are written over so,
    and what stands before it in the same piece is not hidden by it. An error of writing, as on a
    full disk, gets the stream's `name`.
    """

    def __init__(self, stream, name="output"):
        self._stream, self._name = stream, name

    def write(self, text):
        first = text[:1] if text[:1] == "\r" else ""
        with self._named():
            self._stream.write(first + printable(text[len(first):]))
        return len(text)

    def flush(self):
        with self._named():
            self._stream.flush()

    @contextlib.contextmanager
    def _named(self):
        try:
            yield
        except OSError as error:
            error.filename = self._name
            raise

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
    sys.stdout, sys.stderr = (stream and Printable(stream, name) for stream, name in
                              zip(usual, ("standard output", "standard error")))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = usual
