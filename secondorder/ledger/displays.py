r"""Which lines of a formula bear which of the paper's numbers.

In a registered formula `\tag{36}` ends the lines that bear the number (36), as in LaTeX. A formula
without one bears the numbers among its labels.
"""

from dataclasses import dataclass

from ..formulas.latex import Branch, Leaf, is_space, lines_of, rows_of, untagged
from .labels import is_number

_CONTINUED = ("=", r"\leq", r"\le", r"\geq", r"\approx", "+", "-")


@dataclass(frozen=True)
class Display:
    """Lines of a formula that bear numbers of their own (none: what stands beside them)."""

    numbers: tuple
    nodes: list


def printed_numbers(entry):
    """The labels of a check that are numbers, and that a display of the paper bears."""
    return tuple(label for label in entry.labels
                 if is_number(label) and label not in entry.unnumbered)


def displays(entry, nodes):
    """The displays of one formula of a check, given as nodes: as printed, or as corrected."""
    env = lines_of(nodes)
    if env is None:
        nodes, tags = untagged(nodes)
        return [Display(tags or printed_numbers(entry), nodes)]
    parts, lines = [], []
    for row in rows_of(env):
        row[-1], tags = untagged(row[-1])
        lines.append(row)
        if tags:
            parts.append(Display(tags, _joined(env, lines, bool(parts))))
            lines = []
    if not parts:
        return [Display(printed_numbers(entry), nodes)]
    return parts + ([Display((), _joined(env, lines, True))] if lines else [])


def anchors(entry, numbers):
    """The numbers of a display, and before each those that the paper counted and did not print."""
    known = [label for label in entry.labels if is_number(label)]
    parts = []
    for number in numbers:
        place = known.index(number)
        start = place
        while start and known[start - 1] in entry.unnumbered:
            start -= 1
        parts += known[start:place + 1]
    return parts


def _joined(env, lines, later):
    """Nodes of some lines; what goes on from the display before it stands further in."""
    first = [node for cell in lines[0] for node in cell if not is_space(node)]
    if later and first and isinstance(first[0], Leaf) and first[0].text in _CONTINUED:
        k = next(k for k, cell in enumerate(lines[0]) if any(not is_space(one) for one in cell))
        lines[0][k] = [Leaf(r"\quad"), Leaf(" "), *lines[0][k]]
    if len(lines) == 1:
        return [node for cell in lines[0] for node in cell]
    return [Branch("env", [cell for row in lines for cell in row], env.name,
                   [len(row) for row in lines])]
