r"""A LaTeX paper, read from its beginning to its end: displays with their numbers, theorems.

The walk keeps what TeX would keep: macros, counters, open braces and environments. A text that TeX
could not read either is refused with its line; what is only unknown here is listed in `unread`.
"""

import re
from dataclasses import dataclass, field

from .displays import BY_LINE, DEEPEST, SINGLE, Display, formula_of, group, read_lines, shown
from .tex.commands import common, text_command
from .tex.counters import Counters, Endless
from .tex.files import Files
from .tex.macros import Macros
from .tex.prose import Prose
from .tex.stream import PARAGRAPH, Stream, written
from .theorems import Theorems

_VERBATIM = {"verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "comment", "filecontents",
             "filecontents*", "alltt"}
_WITH_OPTION = {"figure", "table", "algorithm", "enumerate", "itemize", "description", "proof"}
MOST = 5000  # displays, and things that cannot be read: with more it is no paper
_SPECIAL = frozenset("\\{}$\n")
_REFERENCE = re.compile(r"\\(eqref|ref|cref|Cref|autoref)\s*\{([^{}]*)\}")


@dataclass
class Reading:
    """What was read of a paper.

    Attributes
    ----------
    title : str
    displays : list of Display
        All of them in their order; those without a number have `label` None.
    theorems : list of Theorem
    unread : list of str
        What could not be read, each with its file and line.
    """

    title: str = ""
    displays: list = field(default_factory=list)
    theorems: list = field(default_factory=list)
    unread: list = field(default_factory=list)

    @property
    def numbered(self):
        """The displays that bear a number or a tag."""
        return [display for display in self.displays if display.label is not None]


def resolved(reading, names):
    r"""Put numbers, by name, for `\ref` and `\eqref` into the sentences and formulas of a reading.
    """
    def number(match):
        number_of = names.get(match[2].strip()) or "?"
        return f"({number_of})" if match[1] == "eqref" else number_of

    for display in reading.displays:
        if display.label is not None:
            display.label = _REFERENCE.sub(number, display.label)
        display.formula = _REFERENCE.sub(number, display.formula)
        display.sentence = _REFERENCE.sub(number, display.sentence)


class Reader:
    """Reads one LaTeX paper; see :func:`secondorder.edition.read`."""

    def __init__(self, path):
        self.reading, self.stream, self.counters = Reading(), Stream(), Counters()
        self.macros, self.prose = Macros(self.unread), Prose()
        self.theorems = Theorems(self.counters)
        self.names, self._open, self._outer = {}, [], []
        self.heading, self.last_number = "", ""
        self.files = Files(path)
        text = self.files.main_text
        self.in_body = not self.files.has_document
        self.stream.open(text, self.files.main_name)

    def read(self):
        """Walk to the end; ReadingError for what TeX could not read either, and a file from
        outside.
        """
        try:
            while (token := self.stream.next()) is not None:
                if self._step(token) == "end":
                    break
        except Endless as error:
            raise self.stream.last.error(str(error)) from None
        if self._open:
            opened = self._open[-1]
            raise opened.error(f"{shown(opened)} is never closed")
        resolved(self.reading, self.names)
        return self.reading

    def unread(self, token, what):
        """List what could not be read."""
        if len(self.reading.unread) >= MOST:
            raise token.error(f"more than {MOST} things cannot be read: this is no paper")
        self.reading.unread.append(f"{token.place}: {what}")

    def _step(self, token):
        text = token.text
        if text[0] not in _SPECIAL and text not in self.macros.commands:
            self.prose.add(text)
        elif text == PARAGRAPH:
            self.prose.paragraph()
        elif text == "{":
            self._open.append(token)
        elif text == "}":
            self._close("{", token)
        elif text == "$":
            if self.stream.at("$"):
                self.stream.next()
                self._display(token, "$$", "$$")
            else:
                self._inline(token, "$")
        elif text == r"\[":
            self._display(token, r"\]", r"\[")
        elif text == r"\(":
            self._inline(token, r"\)")
        elif text in (r"\]", r"\)"):
            raise token.error(f"{text} closes nothing")
        elif text == r"\begin":
            self._begin(token)
        elif text == r"\end":
            return self._end(token)
        elif not self.common(token) and not text_command(self, token):
            self.prose.add(text)
        return None

    def common(self, token):
        """What means the same in text and in displays; see `commands.common`."""
        return common(self, token)

    # -- braces, environments, mathematics ---------------------------------------------------------

    def _close(self, what, token):
        end = "}" if what == "{" else rf"\end{{{what}}}"
        if not self._open:
            raise token.error(f"{end} closes nothing")
        opened = self._open.pop()
        if opened.text != what:
            raise token.error(f"{end} does not close {shown(opened)} of line {opened.line}")

    def begin_own(self, name, token):
        """Whether an environment is the author's own; what it stands for is read next then."""
        macro = self.macros.begins.get(name)
        if macro is None:
            return False
        self.macros.put(macro, token, self.stream)
        return True

    def end_own(self, name, token):
        """The end of what `begin_own` began."""
        if name not in self.macros.begins:
            return False
        self.stream.push([one._replace(file=token.file, line=token.line, depth=token.depth + 1)
                          for one in self.macros.ends[name]])
        if token.depth > DEEPEST:
            raise token.error(f"macros expand without end here ({name})")
        return True

    def _begin(self, token):
        name = self.stream.name(token.text)
        if name in _VERBATIM:
            self.stream.raw_until(rf"\end{{{name}}}", token._replace(text=rf"\begin{{{name}}}"))
            self.prose.paragraph()
            return
        if self.begin_own(name, token):
            return
        if name.rstrip("*") in SINGLE | BY_LINE and self.in_body:
            self._display(token, name, name)
            return
        if name == "math":
            self._inline(token, "math")
            return
        self._open.append(token._replace(text=name))
        if name == "document":
            self.in_body = True
            self.prose.forget()
        elif name.rstrip("*") in _WITH_OPTION:
            if self.stream.at("["):  # where a figure goes, how an item is marked
                self.stream.option(name)
        elif name == "subequations":
            self._begin_subequations()
        elif self.theorems.knows(name):
            number = self.theorems.begin(name, token, self)
            self.last_number = number or self.last_number
        else:
            self._tell_unknown(name, token)
        self.prose.paragraph()

    def _tell_unknown(self, name, token):
        known = "eq", "align", "gather", "math", "darray", "dgroup", "multline"
        if self.in_body and any(part in name.lower() for part in known):
            self.unread(token, f"the environment {name} is not known: no display of it is read")

    def _end(self, token):
        name = self.stream.name(token.text)
        if self.end_own(name, token):
            return None
        self._close(name, token)
        if self.theorems.knows(name):
            self.prose.forget()  # what a theorem says is not said of a display behind it
        else:
            self.prose.paragraph()
        if name == "subequations":
            self._end_subequations()
        return "end" if name == "document" else None

    def _begin_subequations(self):
        counters = self.counters
        counters.step("equation")
        parent = counters.the("equation")
        before = counters.printed.get("equation", [("arabic", "equation")])
        self._outer.append((counters.values["equation"], before, len(self.reading.displays), []))
        counters.printed["equation"] = [parent, ("alph", "equation")]
        counters.values["equation"], self.last_number = 0, parent

    def _end_subequations(self):
        """Count on as before it; its names are those of every display in it."""
        number, printed, first, names = self._outer.pop()
        self.counters.values["equation"], self.counters.printed["equation"] = number, printed
        for display in self.reading.displays[first:]:
            display.names += tuple(names)

    def call(self, name):
        r"""A `\label` of the text: it names the last number, or the `subequations` around it."""
        self.names[name] = self.last_number
        if self._open and self._open[-1].text == "subequations":
            self._outer[-1][-1].append(name)

    def _inline(self, opened, end):
        tokens, depth, inner = [], 0, 0
        while (token := self.stream.next()) is not None:
            if token.text == PARAGRAPH:
                break
            closes = token.text == end
            if token.text == r"\end" and end == "math" and inner == 0:
                closes = self.stream.name(token.text) == end
            if closes and depth == 0:
                self.prose.keep(f"${' '.join(written(tokens).split())}$")
                return
            inner += (token.text == r"\begin") - (token.text == r"\end")
            depth += (token.text == "{") - (token.text == "}")
            if depth < 0:
                raise token.error(f"}} closes nothing in the formula of line {opened.line}")
            if not self.common(token):
                tokens.append(token)
        raise opened.error(f"the formula that {opened.text} begins is never closed")

    def _display(self, opened, end, kind):
        lines, deepest = read_lines(self, opened, end, kind)
        sentence = self.prose.sentence()
        for label, mine in group(lines, kind, self._number):
            names = [name for line in mine for name in line.names]
            for name in names:
                self.names[name] = label or self.last_number
            formula = formula_of(mine, kind)
            sentence = next((line.before for line in mine if line.before), sentence)
            if deepest > DEEPEST:
                self.unread(opened, f"display ({label or 'without a number'}) has braces more than "
                            f"{DEEPEST} deep")
            elif not formula.strip():
                self.unread(opened, f"an empty line bears the number ({label})" if label
                            else "an empty display")
            else:
                place = mine[0].place(opened)
                self.reading.displays.append(Display(
                    label, formula, tuple(names), sentence, kind, place.file, place.line,
                    self.heading))
        if len(self.reading.displays) > MOST:
            raise opened.error(f"more than {MOST} displays: this is no paper")

    def _number(self):
        self.counters.step("equation")
        self.last_number = self.counters.the("equation")
        return self.last_number
