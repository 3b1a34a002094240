"""The symbols table of a paper, from its room's own description, and which letter means what."""

import importlib
import re

from ...formulas import terminal
from ...ledger.labels import canonical
from ...ledger.pages.equations_page import table_of
from ...ledger.registry import REGISTRY
from .formulas import CAPITALS, GREEK

NOT_USED = "not used"
PAGE = "secondorder/papers/LETTERS.md"  # from the top of a checkout

_LETTER = re.compile(r"\\?([A-Za-z]+)")
_COMMANDS = {"nabla", "widehat", "hat", "tilde", "dot", "ddot", "bar", "partial", "Vec", "E",
             "mathcal", "step", "of", "the"}
_SPELLED = {"EhhT": "h", "varphi": "φ", "varepsilon": "ε", "eps": "ε"}
_BY_NAME = GREEK | CAPITALS | {"ell": "ℓ"}
_NAMED = _BY_NAME | _SPELLED


def room(paper):
    """The package of a paper."""
    return importlib.import_module(REGISTRY.papers[paper].rpartition(".")[0])


def title(paper):
    """The paper's title: the first line of its room's description, or as it was registered."""
    if REGISTRY.papers[paper] is None:
        return REGISTRY.titles[paper] or paper
    return (room(paper).__doc__ or paper).strip().splitlines()[0].rstrip(".")


def name(paper):
    """A paper's key as one says it, in the spelling of its title: `EA-CG`, `low-rank`."""
    short = REGISTRY.titles[paper].partition(":")[0].partition(";")[0]
    return short if canonical(short) == canonical(paper) else paper.replace("-", " ")


def table(paper):
    """Rows (printed, here, meaning) of the table of symbols in the room's description."""
    if REGISTRY.papers[paper] is None:
        return [(symbol, "", text) for symbol, text in REGISTRY.symbols.get(paper, {}).items()]
    return [tuple(row) for row in table_of(room(paper).__doc__ or "")[1:]]


def letters(paper):
    """Letter, as a formula shows it -> the rows of the table that are about it."""
    meanings = {}
    for row in table(paper):
        for part in re.split(r", (?![^(]*\))| and ", row[0]):
            letter = leading_letter(part)
            if letter is not None and row not in meanings.setdefault(letter, []):
                meanings[letter].append(row)
    return meanings


def leading_letter(text):
    r"""The letter that a symbol is known by: `w_i^(k),j` -> w, `\nabla_{b^t} \xi_i` -> ξ."""
    words = [word for word in _LETTER.findall(re.sub(r"[_^](\{[^}]*\}|\([^)]*\)|\S)", " ", text))
             if word not in _COMMANDS]
    for word in words:
        if word in _NAMED:
            return _NAMED[word]
        if len(word) == 1:
            return word
    return None


def papers():
    """The papers that have a room of their own."""
    return [paper for paper in REGISTRY.rooms()
            if REGISTRY.papers[paper] and REGISTRY.titles[paper]]


def collected():
    """Every letter of every room's table: letter -> paper -> rows, none where it is not used.

    Latin letters stand first, small ones before capitals, then Greek ones.
    """
    tables = {paper: letters(paper) for paper in papers()}
    known = {letter for meanings in tables.values() for letter in meanings}
    return {letter: {paper: meanings.get(letter, []) for paper, meanings in tables.items()}
            for letter in sorted(known, key=_place)}


def _place(letter):
    return letter in _BY_NAME.values(), letter.lower(), letter.isupper()


def cell(rows):
    """What a letter is in a paper, as text: symbol, name here, meaning of each of its rows."""
    texts = []
    for printed, here, meaning in rows:
        name = f"{drawn(printed)}: {here}" if here else drawn(printed)
        texts.append(f"{name}, {_with_letters(meaning)}".replace("``", "`"))
    return "; ".join(texts) or NOT_USED


def drawn(printed):
    r"""A symbol with its letters: `\\ddot Y` and `eta^(k,l)` as they are drawn."""
    if "\\" in printed and terminal.drawable(printed):
        return " ".join(terminal.draw(printed))
    return _with_letters(printed)


def _with_letters(text):
    """Greek names as letters, but in code."""
    names = "|".join(sorted([*GREEK, "varphi", "eps"], key=len, reverse=True))
    return "".join(part if part.startswith("`") else re.sub(
        rf"(?<![A-Za-z])({names})(?![a-z])", lambda m: {**GREEK, **_SPELLED}[m[1]], part)
        for part in re.split("(``[^`]*``)", text))


def markdown():
    """The list of letters as a table in Markdown, as `PAGE` has it."""
    names = papers()
    lines = ["| letter | " + " | ".join(map(name, names)) + " |",
             "|---" * (len(names) + 1) + "|"]
    for letter, rows in collected().items():
        cells = [cell(rows[name]).replace("|", "\\|") for name in names]
        lines.append(f"| {letter} | " + " | ".join(cells) + " |")
    return "\n".join(lines)

