r"""What stands in a display: its lines, their numbers, tags and names, as far as it is closed."""

import re
from dataclasses import dataclass, field

from ..formulas.tokens import written
from .tex.stream import PARAGRAPH

#: Environments that bear one number, and those that bear one a line.
SINGLE = {"equation", "multline", "dmath", "displaymath"}
BY_LINE = {"align", "gather", "eqnarray", "alignat", "flalign", "xalignat", "xxalignat",
           "IEEEeqnarray"}
_WITH_ARGUMENT = {"alignat", "xalignat", "xxalignat", "IEEEeqnarray"}
_UNNUMBERED = {"displaymath", "xxalignat"}
DEEPEST = 60  # braces inside each other: what is deeper no page could draw
#: What sets nothing in a formula, and other spellings of what the pages know.
_PLAIN = {r"\ensuremath": "", r"\xspace": "", r"\lbrace": r"\{", r"\rbrace": r"\}",
          r"\displaylimits": "", r"\allowdisplaybreaks": "", r"\displaybreak": "",
          r"\nolimits": "", r"\protect": "", r"\mathstrut": "", r"\strut": "",
           r"\IEEEyesnumber": "",
           r"\lVert": r"\|", r"\rVert": r"\|", r"\lvert": "|", r"\rvert": "|", r"\mbox": r"\text",
           **{f"\\{size}{side}": f"\\{size}" for size in ("big", "Big", "bigg", "Bigg")
              for side in "lrm"}}
_TEXT = re.compile(r"\\text\s*\{([^{}$]*)\$([^$]*)\$([^{}$]*(?:\$[^$]*\$[^{}$]*)*)\}")
_PLAIN_ENVIRONMENTS = {"split": "aligned", "dcases": "cases", "smallmatrix": "matrix",
                       "alignedat": "aligned"}


@dataclass
class Display:
    """One display, or the lines of one that bear a number together.

    Attributes
    ----------
    label : str or None
        Its number or tag; None for one without.
    formula : str
        LaTeX, macros expanded, several lines in ``aligned``, numbers and names taken out.
    names : tuple of str
        What the text calls it, as ``\\label`` says.
    sentence : str
        The sentence before it.
    environment, file, line : str, str, int
        What it was set with, and where it begins.
    section : str
        The heading that it stands under.
    """

    label: str | None
    formula: str
    names: tuple
    sentence: str
    environment: str
    file: str
    line: int
    section: str = ""


@dataclass
class Line:
    """One line of a display while it is read."""

    tokens: list = field(default_factory=list)
    names: list = field(default_factory=list)
    tag: str | None = None
    unnumbered: bool = False
    before: str = ""

    def formula(self, kind, between=" & "):
        """The line as LaTeX; of `eqnarray` one of the two marks of alignment."""
        cells = _cells(self.tokens)
        if kind.rstrip("*") in ("eqnarray", "IEEEeqnarray") and len(cells) == 3:
            cells = [cells[0], f"{cells[1]} {cells[2]}".strip()]
        return between.join(cells).strip()

    def place(self, opened):
        """The token that the line begins with, or the one that began the display."""
        return next((token for token in self.tokens if not token.text.isspace()), opened)


def _without_dollars(latex):
    r"""`\text{if $a$ then}` as `\text{if }a\text{ then}`, which every page knows."""
    for _ in range(10):
        before, latex = latex, _TEXT.sub(
            lambda m: f"{_text(m[1])}{{{m[2]}}}{_text(m[3])}", latex)
        if latex == before:
            break
    return latex


def _text(words):
    return rf"\text{{{words}}}" if words else ""


def _cells(tokens):
    """A line cut at the marks of alignment that stand outside braces and environments."""
    cells, depth = [[]], 0
    for token in tokens:
        depth += (token.text in ("{", r"\begin")) - (token.text in ("}", r"\end"))
        if token.text == "&" and depth == 0:
            cells.append([])
        else:
            cells[-1].append(token)
    return [_without_dollars(re.sub(r"\\operatorname\s*\*", r"\\operatorname", re.sub(
        r"\s+", " ", written(cell)).strip())) for cell in cells]


def read_lines(reader, opened, end, kind):
    """The lines of the display that `opened` begins, up to `end`.

    `reader` expands macros and follows files. `end` is ``$$``, ``\\]`` or the name of an
    environment, `kind` the environment, or ``$$`` or ``\\[``. ReadingError where braces or
    environments do not close, and for an empty line.
    """
    stream, lines, open_ones = reader.stream, [Line()], []
    what = f"the display that begins in line {opened.line}"
    base = kind.rstrip("*")
    if base in _WITH_ARGUMENT:
        stream.option(kind)
        stream.argument(rf"\begin{{{kind}}}")
    while (token := stream.next()) is not None:
        text = token.text
        if text == PARAGRAPH:
            raise token.error(f"{what} has an empty line in it, or is never closed")
        if text in ("$", r"\]", r"\[") and not open_ones:
            if (text if text != "$" else "$$" if stream.at("$") else "$") != end:
                raise token.error(f"{text} stands in {what}")
            if text == "$":
                stream.next()
            _take_number(lines[-1])
            return lines
        if text == "{":
            open_ones.append(token)
            if len(open_ones) > DEEPEST:
                raise token.error(f"{what} has braces more than {DEEPEST} deep")
        elif text == "}":
            if not open_ones or open_ones[-1].text != "{":
                raise token.error(f"}} closes nothing in {what}")
            open_ones.pop()
        elif text == r"\begin":
            name = stream.name(text)
            if reader.begin_own(name, token):
                continue
            if name.rstrip("*") in BY_LINE | SINGLE:
                reader.unread(token, f"{name} inside {kind}: the numbers of its lines are not "
                              "told; those behind it may be others")
            open_ones.append(token._replace(text=name))
            lines[-1].tokens += _environment(token, r"\begin", name)
            if name in ("aligned", "gathered", "alignedat"):
                stream.option(name)
            if name == "alignedat":
                stream.argument(name)
            continue
        elif text == r"\end":
            name = stream.name(text)
            if reader.end_own(name, token):
                continue
            if not open_ones and name == end:
                return lines
            if not open_ones or open_ones.pop().text != name:
                raise token.error(rf"\end{{{name}}} closes nothing in {what}")
            lines[-1].tokens += _environment(token, r"\end", name)
            continue
        elif text == r"\\":
            if stream.at("*"):
                stream.next()
            if stream.at("["):
                stream.option(text)
            if not open_ones and base in BY_LINE | {"multline"}:
                lines.append(Line())
                continue
        if _is_mark(token, reader, lines[-1]) or reader.common(token):
            continue
        if text in (r"\intertext", r"\shortintertext"):
            if any(not one.text.isspace() for one in lines[-1].tokens):
                lines.append(Line())
            lines[-1].before = written(stream.argument(text)).strip()
        elif text in _PLAIN:
            lines[-1].tokens += [token._replace(text=_PLAIN[text])] if _PLAIN[text] else []
        else:
            lines[-1].tokens.append(token)
    last = f": {open_ones[-1].text} of line {open_ones[-1].line} is open" if open_ones else ""
    raise opened.error(f"{what} is never closed{last}")


def _environment(token, command, name):
    name = _PLAIN_ENVIRONMENTS.get(name, name)
    return [token._replace(text=text) for text in (command, "{", name, "}")]


def _take_number(line):
    r"""`\eqno(1)` and `\leqno(1)`: what follows is the number of the display."""
    texts = [token.text for token in line.tokens]
    place = next((k for k, text in enumerate(texts) if text in (r"\eqno", r"\leqno")), None)
    if place is not None:
        line.tag = written(line.tokens[place + 1:]).strip(" {}()") or None
        del line.tokens[place:]


def _is_mark(token, reader, line):
    """Whether a token says how a line is numbered or called; it is taken out then."""
    stream = reader.stream
    if token.text == r"\label":
        line.names.append(stream.name(token.text))
    elif token.text == r"\tag":
        starred = stream.took("*")
        text = re.sub(r"\s+", " ", stream.name(token.text))
        line.tag = text.strip("()") if starred else text
        line.tag = re.sub(r"\\the([a-z]+)", lambda counter: reader.counters.the(counter[1]),
                          line.tag)
    elif token.text in (r"\nonumber", r"\notag", r"\IEEEnonumber"):
        line.unnumbered = True
    else:
        return False
    return True


def _is_numbered(kind):
    """Whether an environment numbers its lines, or itself."""
    base = kind.rstrip("*")
    return base in SINGLE | BY_LINE and not kind.endswith("*") and base not in _UNNUMBERED


def bearing(lines, kind):
    """The lines of a display that bear a number or a tag; of a display with one number the last."""
    numbered = _is_numbered(kind)
    if kind.rstrip("*") in BY_LINE:
        return [line for line in lines if line.tag or numbered and not line.unnumbered]
    tagged = any(line.tag for line in lines)
    return lines[-1:] if tagged or numbered and not any(x.unnumbered for x in lines) else []


def group(lines, kind, number):
    """Pairs of a label (or None) and the lines that bear it together.

    Lines without a number belong to the next one that has one, the last ones to the one before.
    ``number()`` steps the counter and returns the number.
    """
    bears = bearing(lines, kind)
    if kind.rstrip("*") not in BY_LINE:
        tags = [line.tag for line in lines if line.tag]
        return [(tags[-1] if tags else number() if bears else None, lines)]
    groups, waiting = [], []
    for line in lines:
        waiting.append(line)
        if any(line is one for one in bears):
            groups.append((line.tag or number(), waiting))
            waiting = []
    if any(line.tokens for line in waiting) and groups:
        groups[-1][1].extend(waiting)
    elif waiting and not groups:
        groups.append((None, waiting))
    return groups


def formula_of(lines, kind):
    """LaTeX of lines: of several ones `aligned`."""
    lines = [line for line in lines if line.formula(kind, "")]
    if len(lines) < 2:
        return "".join(line.formula(kind, " ") for line in lines)
    texts = [line.formula(kind) for line in lines]
    if not any("&" in text for text in texts):
        texts = [f"& {text}" for text in texts]
    return "\\begin{aligned}\n" + " \\\\\n".join(texts) + "\n\\end{aligned}"
