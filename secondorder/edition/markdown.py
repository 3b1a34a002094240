r"""A paper in Markdown: displays in `$$`, numbered by `\tag{1}` or by `(1)` behind them.

Every display stands alone, so that a broken one is listed and the others are read.
"""

import re

from .displays import Display, formula_of, group, read_lines
from .reader import Reading, resolved
from .tex.macros import DEFINING, Macros
from .tex.prose import last_sentence
from .tex.stream import ReadingError, Stream, Token
from .theorems import USUAL, Theorem

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.S | re.M)
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_THEOREM = re.compile(rf"^[*_]*({'|'.join(USUAL.values())})\s+([A-Z]?[\d.]*\d)[.:*_]*\s*"
                      r"(?:\(([^()]*)\))?")
#: A number behind a display or behind a line of it.
_NUMBER = re.compile(r"(?:\\q?quad|(?<!\\)&|\\[ ,;])\s*\((\d+(?:\.\d+)*[a-z]?)\)"
                     r"(?=\s*(?:$|\\\\|\\end\{))")
_DISPLAY = re.compile(r"\$\$(.*?)\$\$|(?<!\\)\\\[(.*?)\\\]|\$\$|(?<!\\)\\\[", re.S)
_ALIGNED = re.compile(r"\s*\\begin\{(aligned|align\*?|gathered|split)\}(.*)\\end\{\1\}"
                      r"([\s.,;]*(?:\\tag\{[^{}]*\}[\s.,;]*)?)", re.S)


def read_markdown(text, file):
    """What was read of a Markdown text; see :func:`secondorder.edition.read`."""
    return _Reader(text, file).read()


class _Reader:
    """Reads one Markdown text; `read_lines` asks it what it asks of a LaTeX reader."""

    def __init__(self, text, file):
        self.text = _FENCED.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
        self.file, self.reading, self.names = file, Reading(), {}
        self.heading, self.before = "", []  # what the next display stands under and behind
        self.stream, self.macros = Stream(), Macros(self.unread)
        self.counters = None  # Markdown counts nothing

    def unread(self, token, what):
        """List what could not be read."""
        self.reading.unread.append(f"{token.place}: {what}")

    def begin_own(self, name, token):
        """Markdown defines no environments."""
        return False

    end_own = begin_own

    def common(self, token):
        """Macros, defined in a display of their own."""
        if self.macros.expand(token, self.stream):
            return True
        if token.text not in DEFINING:
            return False
        self.macros.define(token, self.stream)
        return True

    def read(self):
        """Walk to the end."""
        place = 0
        for found in _DISPLAY.finditer(
                re.sub(r"`[^`\n]*`", lambda code: "-" * len(code[0]), self.text)):
            self._words(place, found.start())
            opened, place = Token(found[0][:2], self.file, self._line(found.start())), found.end()
            if len(found[0]) == 2:
                self.unread(opened, f"{found[0]} is never closed")
            else:
                self._display(self.text[found.start() + 2:place - 2], opened)
        self._words(place, len(self.text))
        resolved(self.reading, self.names)
        return self.reading

    def _line(self, place):
        return self.text.count("\n", 0, place) + 1

    def _words(self, start, stop):
        """Headings, theorems, and what a sentence may be made of, between two displays."""
        for number, line in enumerate(self.text[start:stop].split("\n"), self._line(start)):
            title, theorem = _HEADING.match(line), _THEOREM.match(line)
            if title:
                self.heading, self.before = title[1], []
                self.reading.title = self.reading.title or title[1]
                continue
            if theorem:
                self.reading.theorems.append(
                    Theorem(theorem[1], theorem[2], theorem[3] or "", self.file, number))
            self.before.append(line)

    def _display(self, body, opened):
        """One display, or those that its numbers make of it."""
        sentence = _sentence(self.before)
        self.before.clear()
        begins = body[:len(body) - len(body.lstrip())].count("\n")
        opened = Token("$$", self.file, opened.line + begins)
        body = _NUMBER.sub(r"\\tag{\1}", body.strip().rstrip("."))
        kind, whole = "$$", _ALIGNED.fullmatch(body)
        if whole and (body.count(r"\tag{") > 1 or whole[1].startswith("align")):
            kind, body = "align*", whole[2] + whole[3]
        self.stream = Stream()
        self.stream.open(re.sub(r"\n(?=[ \t]*\n)", "\n%", body) + "$$", self.file, opened.line)
        try:
            lines = read_lines(self, opened, "$$", kind)
        except ReadingError as error:
            self.reading.unread.append(str(error))
            return
        for label, mine in group(lines, kind, lambda: None):
            called = [name for one in mine for name in one.names]
            self.names.update(dict.fromkeys(called, label or ""))
            formula = formula_of(mine, kind)
            if formula.strip():
                self.reading.displays.append(Display(label, formula, tuple(called), sentence, kind,
                                                     self.file, opened.line, self.heading))
            elif not self.macros.commands:
                self.unread(opened, "an empty display")


def _sentence(lines):
    """The last sentence of the last paragraph that says something."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip())
    text = next((one for one in reversed(paragraphs) if re.search(r"\w", one)), "")
    return last_sentence(re.sub(r"(?<!\w)[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}(?!\w)", "", text)
                         if "$" not in text else text)
