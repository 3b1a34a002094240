"""What a new edition's files say."""

import json
import re
import textwrap

from ..ledger.tex_file import MARK

INIT = '''"""{title}.

Your edition, begun by `secondorder edition new`; all of it is yours to change. Reading order:

- `displays.tex`: the displays as printed;
- `formulas`: what they say, as code;
- `equations`: a check for every label;
- `READING.md`: what else was read, and what could not be read.
"""

from secondorder import edition, ledger

PAPER = {key}
#: Symbol of the paper -> its name in the code and what it means.
SYMBOLS = {{}}
#: Label -> the display as printed, in LaTeX.
PRINTED = edition.printed(__file__)

paper = ledger.paper(PAPER, {title_text}, SYMBOLS)

from . import equations  # noqa: E402, F401  (it registers the checks of `paper`)
'''

FORMULAS = '''"""The paper's formulas as functions, written literally from its displays.

Checks name these functions in `implements`; `secondorder edition test {key}` spoils each of them
and sees the check fail. A printed form that is wrong stands here too, as `..._as_printed`.
"""
'''

EQUATIONS = '''"""A check for every numbered display, in the paper's order.

A check draws a small random case from `rng`, computes both sides in different ways, and returns
what it claims, as in::

    @paper.equation("1", statement="The gradient of the loss.", formula=PRINTED["1"],
                    kind="identity", verdict="holds", implements=formulas.gradient,
                    names="eq:gradient")
    def equation_1(rng):
        w = rng.normal(size=4)
        return [Derivative(of=formulas.loss, is_=formulas.gradient, at=w)]

`names` has what the paper's source calls a display: `show` takes it as well as the number.
Verdicts are "holds", "conditional" (with `condition` and a `Counterexample`), "erratum" (with
`corrected`, `weight` and a `Printed`), "definition"; help(secondorder.ledger.equation) has the
rest.
"""

from secondorder.ledger import (  # noqa: F401
    AtMost, Counterexample, Derivative, Equal, Printed, Property, Rate)

from . import PRINTED, formulas, paper  # noqa: F401
'''

STUB = '''

@paper.equation({label}, kind="claim", verdict="unchecked", formula=PRINTED[{label}],
                where={where},{names}
                statement={statement})
def {name}(rng):
    return []
'''


def stub(label, name, display):
    """The check of one display that nobody has written yet."""
    section = f"; {display.section}" if display.section else ""
    statement = display.sentence or f"No sentence stands before display ({label})."
    names = ", ".join(map(text, display.names))
    names = f"\n                names=({names},)," if names else ""
    return STUB.format(label=text(label), name=name, names=names, where=wrapped(
        f"{display.file}, line {display.line}{section}", 22), statement=wrapped(statement, 26))


def text(value):
    """A text as Python and TOML have it, in double quotes, without control characters."""
    return re.sub("[\x7f-\x9f]", lambda code: f"\\u{ord(code[0]):04x}",
                  json.dumps(value, ensure_ascii=False))


def wrapped(value, indent):
    """A text as Python has it, over several lines where it is long."""
    lines = textwrap.wrap(" ".join(value.split()), 100 - indent - 4 - value.count("\\") // 2,
                          break_long_words=False, break_on_hyphens=False) or [""]
    pieces = [_literal(line + (" " if k < len(lines) - 1 else "")) for k, line in enumerate(lines)]
    if len(pieces) == 1:
        return pieces[0]
    return "(" + ("\n" + " " * (indent + 1)).join(pieces) + ")"


def _literal(line):
    """One line as a raw text where it has backslashes and nothing forbids it."""
    if "\\" in line and '"' not in line and not line.endswith("\\"):
        return f'r"{line}"'
    return text(line)


def mark(key, title, source):
    """`edition.toml`, by which the folder is known."""
    return (f"# Your edition: `secondorder show {key}` finds it here.\n"
            f"key = {text(key)}\ntitle = {text(title)}\nsource = {text(source)}\n")


def displays(source, pairs):
    """`displays.tex`: the displays of a paper as printed, by label."""
    lines = [f"% The displays of {source} as printed: macros expanded, numbers taken out.",
             "% A line that begins with %= has the label of the display below it."]
    for label, display in pairs:
        called = f", {', '.join(display.names)}" if display.names else ""
        lines += ["", MARK + label, f"% {display.environment}, {display.file}, line "
                  f"{display.line}{called}", display.formula]
    return "\n".join(lines) + "\n"


def report(key, source, reading, pairs, unnumbered, unread):
    """`READING.md`: what was read of a paper, and what could not be."""
    lines = [f"# What was read of {source}", "",
             f"Displays with a number: {len(pairs)}; without one: {len(unnumbered)}; theorems and "
             f"the like: {len(reading.theorems)}; not read, or in need of a look: {len(unread)}. "
             f"A check may bear the name of a theorem, and take a display without a number from "
             f"`PRINTED`. `secondorder show {key}` takes a number or one of the names below."]
    if reading.engine:
        lines += ["", f"The numbers are those that {reading.engine} prints."]
    if reading.doubts:
        lines += ["", f"Numbers may be others than TeX's: {'; '.join(reading.doubts)}."]
    for head, told in (
            ("Could not be read, or needs a look", unread),
            ("Theorems", [f"{one}: {one.file}, line {one.line}" for one in reading.theorems]),
            ("Displays without a number",
             [f"{label}: {one.file}, line {one.line}" for label, one in unnumbered]),
            ("Names", [f"{name}: ({label})" for label, one in pairs for name in one.names])):
        lines += ["", f"## {head}", "", *([f"- {one}" for one in told] or ["None."])]
    return "\n".join(lines) + "\n"
