r"""A paper in Markdown: displays in `$$`, numbered by `\tag{1}` or by `(1)` behind them.

Every display stands alone, so that a broken one is listed and the others are read.
"""

import re

from .displays import DEEPEST, Display, formula_of, group, read_lines
from .reader import MOST, Reading
from .references import resolved
from .tex.macros import DEFINING, Macros
from .tex.prose import last_sentence
from .tex.stream import ReadingError, Stream, Token
from .theorems import USUAL, Theorem

_FENCE = re.compile(r"^[ \t]*(```|~~~)")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_THEOREM = re.compile(rf"^[*_]*({'|'.join(USUAL.values())})\s+([A-Z]?[\d.]*\d)[.:*_]*\s*"
                      r"(?:\(([^()]*)\))?")
#: A number behind a display or behind a line of it.
_NUMBER = re.compile(r"(?:\\q?quad|(?<!\\)&|\\[ ,;])\s*\((\d+(?:\.\d+)*[a-z]?)\)"
                     r"(?=\s*(?:$|\\\\|\\end\{))")
_OPEN = re.compile(r"\$\$|(?<!\\)\\\[")
_ALIGNED = re.compile(r"\s*\\begin\{(aligned|align\*?|gathered|split)\}(.*)\\end\{\1\}"
                      r"([\s.,;]*(?:\\tag\{[^{}]*\}[\s.,;]*)?)", re.S)


class _Displays:
    """What `read_lines` asks of a reader."""

    def __init__(self, reading):
        self.stream, self._reading = Stream(), reading
        self.macros = Macros(lambda token, what: reading.unread.append(f"{token.place}: {what}"))

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

    def lines(self, body, kind, file, line):
        """The lines of one display."""
        self.stream = Stream()
        self.stream.open(re.sub(r"\n(?=[ \t]*\n)", "\n%", body) + "$$", file, line)
        return read_lines(self, Token("$$", file, line), "$$", kind)


def read_markdown(text, file):
    """What was read of a Markdown text; see :func:`secondorder.edition.read`."""
    reading, names = Reading(), {}
    displays, heading, before = _Displays(reading), "", []
    lines, at, fenced = text.split("\n"), 0, ""
    while at < len(lines):
        line, at = lines[at], at + 1
        fence = _FENCE.match(line)
        if fence and fenced in ("", fence[1]):
            fenced = "" if fenced else fence[1]
        if fence or fenced:
            continue
        if _OPEN.search(re.sub(r"`[^`]*`", lambda code: "-" * len(code[0]), line)):
            at = _line_with_displays(reading, displays, names, lines, at - 1, file, heading, before)
            continue
        title, theorem = _HEADING.match(line), _THEOREM.match(line)
        if title:
            heading, before = title[1], []
            reading.title = reading.title or title[1]
        elif theorem:
            reading.theorems.append(Theorem(theorem[1], theorem[2], theorem[3] or "", file, at))
        if not title:
            before.append(line)
    resolved(reading, names)
    return reading


def _line_with_displays(reading, displays, names, lines, at, file, heading, before):
    """Read what begins in a line with a display; where the text goes on."""
    line, place = lines[at], 0
    while (opened := _OPEN.search(line, place)) is not None:
        before.append(line[place:opened.start()])
        end = "$$" if opened[0] == "$$" else r"\]"
        first, place, body = at, opened.end(), []
        while (close := line.find(end, place)) < 0:
            body.append(line[place:])
            at += 1
            if at == len(lines):
                raise ReadingError(f"{file}, line {first + 1}: {opened[0]} is never closed")
            line, place = lines[at], 0
        body.append(line[place:close])
        place = close + len(end)
        _read_display(reading, displays, names, "\n".join(body), file, first + 1, heading, before)
    before.append(line[place:])
    return at + 1


def _read_display(reading, displays, names, body, file, line, heading, before):
    """One display, or those that its numbers make of it."""
    sentence = _sentence(before)
    before.clear()
    if len(reading.displays) + len(reading.unread) >= MOST:
        raise ReadingError(f"{file}, line {line}: more than {MOST} displays: this is no paper")
    line += body[:len(body) - len(body.lstrip())].count("\n")
    body = _NUMBER.sub(r"\\tag{\1}", body.strip().rstrip("."))
    kind, whole = "$$", _ALIGNED.fullmatch(body)
    if whole and (body.count(r"\tag{") > 1 or whole[1].startswith("align")):
        kind, body = "align*", whole[2] + whole[3]
    try:
        read, deepest = displays.lines(body, kind, file, line)
    except ReadingError as error:
        reading.unread.append(str(error))
        return
    if deepest > DEEPEST:
        reading.unread.append(f"{file}, line {line}: a display has braces more than {DEEPEST} deep")
        return
    for label, mine in group(read, kind, lambda: None):
        called = [name for one in mine for name in one.names]
        names.update(dict.fromkeys(called, label or ""))
        formula = formula_of(mine, kind)
        if formula.strip():
            reading.displays.append(Display(label, formula, tuple(called), sentence, kind, file,
                                            line, heading))
        elif not displays.macros.commands:
            reading.unread.append(f"{file}, line {line}: an empty display")


def _sentence(lines):
    """The last sentence of the last paragraph that says something."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip())
    text = next((one for one in reversed(paragraphs) if re.search(r"\w", one)), "")
    return last_sentence(re.sub(r"(?<!\w)[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}(?!\w)", "", text)
                         if "$" not in text else text)
