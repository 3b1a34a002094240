r"""A LaTeX paper, read from its beginning to its end: displays with their numbers, theorems.

The walk keeps what TeX would keep: macros, counters, open braces and environments. A text that TeX
could not read either is refused with its line; what is only unknown here is listed in `unread`.
"""

import re
from dataclasses import dataclass, field

from ..formulas.tokens import written
from .displays import (BY_LINE, DEEPEST, SINGLE, Display, bearing, formula_of, group, read_lines,
                       shown)
from .tex.commands import common, preamble_command, text_command
from .tex.counters import Counters, Endless
from .tex.files import Files, Outside
from .tex.macros import Macros
from .tex.prose import Prose
from .tex.stream import PARAGRAPH, ReadingError, Stream
from .theorems import Theorems

_VERBATIM = {"verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "comment", "filecontents",
             "filecontents*", "alltt", "tikzpicture", "pgfpicture", "pspicture", "picture",
             "circuitikz", "forest", "algorithmic", "algorithmic*"}
_WITH_OPTION = {"figure", "table", "algorithm", "enumerate", "itemize", "description", "proof"}
_ASIDE = {"figure", "table", "algorithm", "wrapfigure", "tabular", "tabularx", "longtable"}
MOST = 5000  # displays, and things that cannot be read: with more it is no paper
MOST_PASSED_OVER = 500  # things in a preamble
LONGEST = 20_000  # tokens of an argument in a preamble
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
        self.names, self._open, self._outer = {}, [], []
        self.heading, self.last_number = "", ""
        self.switches, self.conditions = {}, []  # of \\newif; what is known of each open \\if
        self.passed_over, self._aside = set(_VERBATIM), []
        self._within, self._depth = "", 0  # file and open braces of the preamble
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
                step = self._step if self.in_body else self._preamble_step
                if step(token) == "end":
                    break
        except Endless as error:
            raise self.stream.last.error(str(error)) from None
        if self._open:
            opened = self._open[-1]
            raise opened.error(f"{shown(opened)} is never closed")
        if self.numbers is not None:
            self._finish_numbers()
        resolved(self.reading, self.names)
        return self.reading

    def unread(self, token, what):
        """List what could not be read."""
        if len(self.reading.unread) >= MOST:
            raise token.error(f"more than {MOST} things cannot be read: this is no paper")
        self.reading.unread.append(f"{token.place}: {what}")

    def doubt(self, why):
        """Say once why numbers may be others than TeX's."""
        if why not in self.reading.doubts:
            self.reading.doubts.append(why)

    def _preamble_step(self, token):
        """What a preamble defines; the rest of it, and what cannot be read, is passed over."""
        text = token.text
        if token.file != self._within:  # a file closes what it opens
            self._within, self._depth = token.file, 0
        self._depth = max(0, self._depth + (text == "{") - (text == "}"))
        if text[:1] != "\\" or self._depth and text != r"\begin":
            return
        mark = self.stream.mark()
        self.stream.longest = LONGEST
        try:
            if text == r"\begin":
                name = self.stream.name(text)
                if name == "document":
                    self._depth = 0
                    self._open_document(token)
                elif name in self.passed_over:
                    self._pass_over(name, token)
            elif not preamble_command(self, token):
                self.macros.expand(token, self.stream)
        except Outside:
            raise
        except ReadingError as error:
            if mark is None or len(self.reading.unread) > MOST_PASSED_OVER:
                raise
            self.stream.back_to(mark)
            self.unread(token, f"{text} of the preamble is passed over ({error})")
        finally:
            self.stream.longest = None

    def _open_document(self, token):
        self._open.append(token._replace(text="document"))
        self.in_body = True
        self.prose.forget()

    def _pass_over(self, name, token):
        """Verbatim texts and pictures, to their end."""
        end, begun = rf"\end{{{name}}}", token._replace(text=rf"\begin{{{name}}}")
        if self.stream.in_file:
            self.stream.raw_until(end, begun)
            return
        while (one := self.stream.next()) is not None:
            if one.text == r"\end" and self.stream.name(one.text) == name:
                return
        raise begun.error(f"{begun.text} is never closed")

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
        if name in self.passed_over:
            self._pass_over(name, token)
            return
        if self.begin_own(name, token):
            return
        if name.rstrip("*") in SINGLE | BY_LINE and self.in_body:
            self._display(token, name, name)
            return
        if name in ("empheq", "subnumcases", "numcases") and self.in_body:
            self.stream.option(name)
            kind = self.stream.name(name) if name == "empheq" else "align"
            self._display(token, name, kind.partition("=")[0])
            return
        if name == "math":
            self._inline(token, "math")
            return
        if name == "document":
            self._open_document(token)
            return
        self._open.append(token._replace(text=name))
        if name.rstrip("*") in _ASIDE:
            self._aside.append(self.prose)
            self.prose = Prose()
        if name.rstrip("*") in _WITH_OPTION:
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
        if name.rstrip("*") in _ASIDE and self._aside:
            self.prose = self._aside.pop()
        elif self.theorems.knows(name):
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
        if self.numbers is not None and (kind not in ("$$", r"\[") or lines[-1].tag):
            printed = kind
            kind, missing = self._number_by_tex(opened, lines, kind)
        else:
            printed, missing = kind, False
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
                    label, formula, tuple(names), sentence, printed, place.file, place.line,
                    self.heading))
                self._missing += self.reading.displays[-1:] * missing
        if len(self.reading.displays) > MOST:
            raise opened.error(f"more than {MOST} displays: this is no paper")

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
        left = self.numbers.left
        for file, line, number in left:
            waiting = [display for display in self._missing if display.file == file]
            if len(waiting) == sum(one[0] == file for one in left):
                waiting[[one for one in left if one[0] == file].index((file, line, number))].label \
                    = number
                continue
            self.reading.unread.append(f"{file}, line {line}: TeX prints ({number}) here, and no "
                                       "display of it was read")

    def _number(self):
        self.counters.step("equation")
        self.last_number = self.counters.the("equation")
        return self.last_number
