"""The files of a paper: read as text, and none from outside its folder."""

import re
from pathlib import Path

from .stream import ReadingError

LARGEST = 8_000_000  # bytes of a paper with all that it inputs
DEEPEST = 20
CONTROLS = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f]")  # but for the tab and the line feed


def text_of(path):
    """The text of a file, in UTF-8 or else in Latin-1; ReadingError if it is too large or binary.

    Control characters become blanks: nothing in an edition's files steers a terminal.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: a .tex or .md file is expected")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if path.stat().st_size > LARGEST:
        raise ReadingError(f"{path.name} has {path.stat().st_size} bytes: {LARGEST} at most are "
                           "read")
    content = path.read_bytes()
    if b"\0" in content:
        raise ReadingError(f"{path.name} is no text: byte {content.index(bytes(1))} is zero")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return CONTROLS.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))


class Outside(ReadingError):
    """A file that may not be read."""


class Files:
    """The main file of a paper and what it inputs from its folder."""

    def __init__(self, path):
        path = Path(path)
        self.main_text, self.main_name = text_of(path), path.name
        self.folder, self._size = path.resolve().parent, len(self.main_text)
        self.has_document = bool(re.search(r"(?m)^[^%\n]*\\begin\{document\}", self.main_text))

    def input(self, token, name, reading):
        """Text and name of what a command inputs; None if it is not there.

        ReadingError where it stands outside the folder, is being read already, or is too deep or
        large.
        """
        if not name or "\0" in name or len(name) > 200:
            return None
        for candidate in (name, f"{name}.tex"):
            place = (self.folder / candidate).resolve()
            if not place.is_relative_to(self.folder):
                raise Outside(f"{token.place}: {token.text}{{{name}}} leads out of the folder "
                              "of the paper")
            if place.is_file():
                return self._opened(token, place, reading)
        return None

    def package(self, token, name, reading, ending="sty"):
        """The author's own package, or class, where it stands beside the paper; None for any
        other.
        """
        if not re.fullmatch(r"[\w.-]+", name):
            return None
        place = (self.folder / f"{name}.{ending}").resolve()
        own = place.is_relative_to(self.folder) and place.is_file()
        return self._opened(token, place, reading) if own else None

    def _opened(self, token, place, reading):
        name = place.relative_to(self.folder).as_posix()
        if name in reading:
            raise Outside(f"{token.place}: {name} inputs itself")
        if len(reading) > DEEPEST:
            raise Outside(f"{token.place}: more than {DEEPEST} files input each other")
        text = text_of(place)
        self._size += len(text)
        if self._size > LARGEST:
            raise Outside(f"{token.place}: the paper has more than {LARGEST} bytes")
        return text, name
