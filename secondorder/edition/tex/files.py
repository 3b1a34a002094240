"""The files of a paper: read as text, and none from outside its folder."""

import re
from pathlib import Path

from .stream import ReadingError

LARGEST = 8_000_000  # bytes of a file
CONTROLS = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f]")  # but for the tab and the line feed


def text_of(path):
    """The text of a file, in UTF-8 or else in Latin-1; ReadingError if it is too large or binary.

    Control characters become blanks: nothing in an edition's files steers a terminal.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: a .tex file is expected")
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


class Files:
    """The main file of a paper and what it inputs from its folder."""

    def __init__(self, path):
        path = Path(path)
        self.main_text, self.main_name = text_of(path), path.name
        self.folder = path.resolve().parent
        self.has_document = bool(re.search(r"(?m)^[^%\n]*\\begin\{document\}", self.main_text))

    def opened(self, token, name, endings, reading):
        """Text and name of the file that a command names; None where it is not there.

        ReadingError where it stands outside the folder or is being read already.
        """
        if not name or "\0" in name or len(name) > 200:
            return None
        for ending in endings:
            place = (self.folder / f"{name}{ending}").resolve()
            if not place.is_relative_to(self.folder):
                raise token.error(f"{token.text}{{{name}}} leads out of the folder of the paper")
            if place.is_file():
                own = place.relative_to(self.folder).as_posix()
                if own in reading:
                    raise token.error(f"{own} inputs itself")
                return text_of(place), own
        return None
