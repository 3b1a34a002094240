r"""A LaTeX paper, read from its beginning to its end: displays with their numbers, theorems.

The walk keeps what TeX would keep: macros and counters. What cannot be read is listed in `unread`
with its line, and reading goes on behind it.
"""

import re
from dataclasses import dataclass, field

from ..formulas.tokens import written
from .displays import BY_LINE, SINGLE, Display, bearing, formula_of, group, read_lines
from .tex.commands import common, preamble_command, text_command
from .tex.counters import Counters
from .tex.files import Files
from .tex.macros import Macros
from .tex.prose import Prose
from .tex.stream import PARAGRAPH, ReadingError, Stream
from .theorems import Theorems

_VERBATIM = {"verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "comment", "filecontents",
             "filecontents*", "alltt", "tikzpicture", "pgfpicture", "pspicture", "picture",
             "circuitikz", "forest", "algorithmic", "algorithmic*"}
_ASIDE = {"figure", "table", "algorithm", "wrapfigure", "tabular", "tabularx", "longtable"}
_OF_DISPLAYS = "eq", "align", "gather", "math", "darray", "dgroup", "multline"
MOST = 500  # things that cannot be read: with more it is no paper, and reading ends
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
    doubts : list of str
        Why numbers may be others than TeX's.
    engine : str
        The TeX that numbered the displays; "" where they were counted here.
    """

    title: str = ""
    displays: list = field(default_factory=list)
    theorems: list = field(default_factory=list)
    unread: list = field(default_factory=list)
    doubts: list = field(default_factory=list)
    engine: str = ""

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

    def __init__(self, path, numbers=None):
        self.numbers, self._missing = numbers, []  # displays that TeX numbers elsewhere, or not
        self.reading, self.stream, self.counters = Reading(), Stream(), Counters()
        self.macros, self.prose = Macros(self.unread), Prose()
        self.theorems = Theorems(self.counters)
        self.names, self._outer, self._aside = {}, [], []
        self.heading, self.last_number = "", ""
        self.switches, self.conditions = {}, []  # of \\newif; what is known of each open \\if
        self.passed_over = set(_VERBATIM)
        self._within, self._depth = "", 0  # file and open braces of the preamble
        self.files = Files(path)
        self.in_body = not self.files.has_document
        self.stream.open(self.files.main_text, self.files.main_name)

    def read(self):
        """Walk to the end."""
        while (token := self.stream.next()) is not None:
            mark = self.stream.mark()
            try:
                if self._step(token) == "end":
                    break
            except ValueError as error:
                self.stream.back_to(mark)
                self.reading.unread.append(str(error) if isinstance(error, ReadingError)
                                           else f"{token.place}: {error}")
                if self.in_body:
                    self.doubt("not everything could be read")
                if len(self.reading.unread) > MOST:
                    self.unread(token, "reading ends here: too much cannot be read")
                    break
        if self.numbers is not None:
            self._finish_numbers()
        resolved(self.reading, self.names)
        return self.reading

    def unread(self, token, what):
        """List what could not be read."""
        self.reading.unread.append(f"{token.place}: {what}")

    def doubt(self, why):
        """Say once why numbers may be others than TeX's."""
        if why not in self.reading.doubts:
            self.reading.doubts.append(why)

    def _step(self, token):
        text = token.text
        if text == r"\begin":
            self._begin(token)
        elif text == r"\end":
            return self._end(token)
        elif not self.in_body:
            self._preamble_step(token)
        elif text == PARAGRAPH:
            self.prose.paragraph()
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
        elif not self.common(token) and not text_command(self, token):
            self.prose.add(text)
        return None

    def _preamble_step(self, token):
        """What a preamble defines; what stands in braces is for later, or for other classes."""
        if token.file != self._within:  # a file closes what it opens
            self._within, self._depth = token.file, 0
        self._depth = max(0, self._depth + (token.text == "{") - (token.text == "}"))
        if token.text[0] == "\\" and not self._depth:
            preamble_command(self, token)

    def common(self, token):
        """What means the same in text and in displays; see `commands.common`."""
        return common(self, token)

    # -- environments, mathematics -----------------------------------------------------------------

    def begin_own(self, name, token):
        """Whether an environment is the author's own; what it stands for is read next then."""
        macro = self.macros.begins.get(name)
        if macro is not None:
            self.macros.put(macro, token, self.stream)
        return macro is not None

    def end_own(self, name, token):
        """The end of what `begin_own` began."""
        if name not in self.macros.begins:
            return False
        self.macros.count(token, 0)
        self.stream.push([one._replace(file=token.file, line=token.line, depth=token.depth + 1)
                          for one in self.macros.ends[name]])
        return True

    def _begin(self, token):
        name = self.stream.name(token.text)
        base = name.rstrip("*")
        if name in self.passed_over:
            self.stream.pass_over(name, token)
        elif name == "document":
            self.in_body = True
            self.prose.forget()
        elif not self.in_body or self.begin_own(name, token):
            return
        elif base in SINGLE | BY_LINE:
            self._display(token, name, name)
        elif name in ("empheq", "subnumcases", "numcases"):
            self.stream.option(name)
            kind = self.stream.name(name) if name == "empheq" else "align"
            self._display(token, name, kind.partition("=")[0])
        else:
            self._begin_other(name, base, token)

    def _begin_other(self, name, base, token):
        """An environment that holds text."""
        if base in _ASIDE:
            self._aside.append(self.prose)
            self.prose = Prose()
        if name == "subequations":
            self._begin_subequations()
        elif self.theorems.knows(name):
            self.last_number = self.theorems.begin(name, token, self) or self.last_number
        elif any(part in name.lower() for part in _OF_DISPLAYS):
            self.unread(token, f"the environment {name} is not known: no display of it is read")
            self.doubt(f"the environment {name} is not known")
        elif self.stream.at("["):  # where a figure goes, how an item is marked
            self.stream.option(name)
        self.prose.paragraph()

    def _end(self, token):
        name = self.stream.name(token.text)
        if not self.in_body or self.end_own(name, token):
            return None
        if name.rstrip("*") in _ASIDE and self._aside:
            self.prose = self._aside.pop()
        elif self.theorems.knows(name):
            self.prose.forget()  # what a theorem says is not said of a display behind it
        else:
            self.prose.paragraph()
        if name == "subequations" and self._outer:
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
        if self._outer:
            self._outer[-1][-1].append(name)

    def _inline(self, opened, end):
        tokens, depth = [], 0
        while (token := self.stream.next()) is not None and token.text != PARAGRAPH:
            if token.text == end and depth == 0:
                self.prose.keep(f"${' '.join(written(tokens).split())}$")
                return
            depth += (token.text == "{") - (token.text == "}")
            if not self.common(token):
                tokens.append(token)
        raise opened.error(f"the formula that {opened.text} begins is never closed")

    def _display(self, opened, end, kind):
        lines = read_lines(self, opened, end, kind)
        printed, missing = kind, False
        if self.numbers is not None and (kind not in ("$$", r"\[") or lines[-1].tag):
            kind, missing = self._number_by_tex(opened, lines, kind)
        sentence = self.prose.sentence()
        for label, mine in group(lines, kind, self._number):
            names = [name for line in mine for name in line.names]
            self.names |= dict.fromkeys(names, label or self.last_number)
            formula = formula_of(mine, kind)
            sentence = next((line.before for line in mine if line.before), sentence)
            if not formula.strip():
                self.unread(opened, f"an empty line bears the number ({label})" if label
                            else "an empty display")
            else:
                place = mine[0].place(opened)
                self.reading.displays.append(Display(
                    label, formula, tuple(names), sentence, printed, place.file, place.line,
                    self.heading))
                self._missing += self.reading.displays[-1:] * missing

    def _number(self):
        self.counters.step("equation")
        self.last_number = self.counters.the("equation")
        return self.last_number

    # -- the numbers of TeX ------------------------------------------------------------------------

    def _number_by_tex(self, opened, lines, kind):
        """Give the lines of a display the numbers that TeX printed: its kind without a counter, and
        whether it should have one that TeX did not print in its place.
        """
        own, names = bearing(lines, kind), self.numbers.names
        missing = len(own) == 1
        found = self.numbers.take(opened.file, opened.line, self.stream.last.line,
                                  max(1, len(own)))
        if not found and kind in ("$$", r"\["):  # \eqno: set by hand
            return kind, False
        if len(found) != len(own):  # names say which line bears which number
            own = [line for line in lines if any(names.get(name) in found for name in line.names)]
        if len(found) != len(own):
            own = lines[len(lines) - len(found):]
            if len(lines) > 1:
                self.unread(opened, f"TeX prints ({'), ('.join(found)}) here: which line bears "
                            "which number is not certain")
        for line in lines:
            line.tag = None
        for line, number in zip(own, found):
            line.tag = self.last_number = number
        return kind.rstrip("*") + "*", missing and not found

    def _finish_numbers(self):
        """Names as TeX has them, and what stands elsewhere: in an argument TeX is at its last line.
        """
        self.names |= self.numbers.names
        for file in {one[0] for one in self.numbers.left}:
            left = [one for one in self.numbers.left if one[0] == file]
            waiting = [display for display in self._missing if display.file == file]
            for k, (_, line, number) in enumerate(left):
                if len(waiting) == len(left):
                    waiting[k].label = number
                else:
                    self.reading.unread.append(f"{file}, line {line}: TeX prints ({number}) here, "
                                               "and no display of it was read")
