"""The symbols table of a paper, from its room's own description, and which letter means what."""

import importlib
import re

from ..ledger.registry import REGISTRY
from .formulas import GREEK

_LETTER = re.compile(r"\\?([A-Za-z]+)")
_CAPITALS = {"Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ", "Phi": "Φ",
             "Omega": "Ω", "ell": "ℓ"}
_COMMANDS = {"nabla", "widehat", "hat", "tilde", "dot", "ddot", "bar", "partial", "Vec", "E", "a",
             "step", "of", "the"}


def room(paper):
    """The package of a paper."""
    return importlib.import_module(REGISTRY.papers[paper].rpartition(".")[0])


def title(paper):
    """The paper's title: the first line of its room's description, or as it was registered."""
    if REGISTRY.papers[paper] is None:
        return REGISTRY.titles[paper] or paper
    return (room(paper).__doc__ or paper).strip().splitlines()[0].rstrip(".")


def table(paper):
    """Rows (printed, here, meaning) of the table of symbols in the room's description."""
    if REGISTRY.papers[paper] is None:
        return [(symbol, "", text) for symbol, text in REGISTRY.symbols.get(paper, {}).items()]
    lines = (room(paper).__doc__ or "").splitlines()
    rules = [k for k, line in enumerate(lines) if re.fullmatch(r"=+( +=+)+", line.strip())]
    if len(rules) < 3:
        return []
    starts = [match.start() for match in re.finditer(r"=+", lines[rules[0]])]
    cuts = list(zip(starts, [*starts[1:], None]))
    rows = []
    for line in lines[rules[1] + 1:rules[2]]:
        cells = [line[a:b].strip() for a, b in cuts]
        if cells[0] or not rows:
            rows.append(cells)
        else:  # a cell that goes on
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], cells)]
    return [tuple(row) for row in rows]


def letters(paper):
    """Letter, as a formula shows it -> the rows of the table that are about it."""
    meanings = {}
    for row in table(paper):
        for part in re.split(r", | and ", row[0]):
            letter = leading_letter(part)
            if letter is not None and row not in meanings.setdefault(letter, []):
                meanings[letter].append(row)
    return meanings


def leading_letter(text):
    r"""The letter that a symbol is known by: `w_i^(k),j` -> w, `\nabla_{b^t} \xi_i` -> ξ."""
    words = [word for word in _LETTER.findall(re.sub(r"[_^](\{[^}]*\}|\([^)]*\)|\S)", " ", text))
             if word not in _COMMANDS]
    for word in words:
        if word in GREEK or word in _CAPITALS:
            return GREEK.get(word, _CAPITALS.get(word))
        if len(word) == 1:
            return word
    return None


def collisions():
    """Letters that more than one paper uses: letter -> paper -> rows."""
    papers = {paper: letters(paper) for paper in REGISTRY.rooms()}
    shared = {}
    for letter in sorted({letter for meanings in papers.values() for letter in meanings}):
        rows = {paper: meanings[letter] for paper, meanings in papers.items() if letter in meanings}
        if len(rows) > 1:
            shared[letter] = rows
    return shared
