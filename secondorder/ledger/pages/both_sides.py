"""Both sides of a comparison as numbers, side by side: a few entries, shapes, the difference."""

import math

import numpy as np

from ..claims import Counterexample, Printed, PrintedShape
from ..comparisons import AtMost, Comparison, Equal, Rate, named


def shown(claims):
    """Pairs of what is compared and lines of numbers: of the comparison that tells most, of the
    printed form, of what is outside the condition; of shapes that differ there are no lines.
    """
    first, blocks = featured(claims), []
    if first is not None:
        blocks.append((named(first), table(first)))
    for kind, left in ((Printed, "printed"), (Counterexample, "outside")):
        for claim in [one for one in claims if isinstance(one, kind)][:1]:
            blocks.append((f"{kind.expected}: {named(claim)}", table(claim, (left, "check"), 2)))
    shapes = [(claim.told(), []) for claim in claims if isinstance(claim, PrintedShape)]
    return blocks + shapes[:1]


def featured(claims):
    """The comparison that a page shows: the first equality with numbers that are not all zero.

    Without an equality it is the first inequality, else the first rate; None where nothing is
    compared.
    """
    for kind in (Equal, AtMost, Rate):
        mine = [claim for claim in claims if isinstance(claim, kind)]
        if mine:
            return next((claim for claim in mine if claim.left.any() or claim.right.any()), mine[0])
    return None


def table(claim, names=("code", "check"), limit=3):
    """Lines: `limit` entries of both sides with their difference, and below them shape and error.

    `names` says how to call the two sides of an equality. A claim that must fail is unwrapped.
    """
    claim = claim if isinstance(claim, Comparison) else claim.claim
    if isinstance(claim, Rate):
        return _rate(claim, limit)
    if isinstance(claim, AtMost):
        names, third, gap = ("smaller", "larger"), "margin", claim.right - claim.left
    else:
        third, gap = "difference", claim.left - claim.right
    parts = claim.parts or {"": claim.left.shape}
    rows = [["entry" if claim.left.ndim else "", *names, third]]
    for flat in _telling(claim)[:limit]:
        place = tuple(int(i) for i in np.unravel_index(flat, claim.left.shape))
        rows.append([_place(parts, flat), _number(claim.left[place]), _number(claim.right[place]),
                     f"{abs(gap[place]):.1e}" if third == "difference" else f"{gap[place]:.1e}"])
    lines = columns(rows)
    size = claim.left.size
    form = f"shape {[*parts.values()][0]}" if len(parts) == 1 else f"{len(parts)} arrays"
    shown = f"{min(limit, size)} of {size} entries, {form}; " if size > limit else ""
    return [*lines, f"{shown}{claim.measured()}"]


def _telling(claim):
    """Places of entries: tightest of an inequality, worst of what fails, else the largest."""
    if isinstance(claim, AtMost):
        weight = claim.left - claim.right
    elif claim.holds:
        weight = np.maximum(np.abs(claim.left), np.abs(claim.right))
    else:
        weight = np.abs(claim.left - claim.right)
    return np.argsort(-weight, axis=None, kind="stable")


def _rate(claim, limit):
    rows = [["step", "remainder", f"remainder / step^{claim.order:g}"]]
    for step, remainder in zip(claim.steps[:limit], claim.remainders[:limit]):
        rows.append([f"{step:.3g}", f"{remainder:.6g}", f"{remainder / step**claim.order:.4g}"])
    return [*columns(rows), claim.measured()]


def columns(rows):
    """Rows of texts in columns of one width each, numbers at the right."""
    sizes = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join([row[0].ljust(sizes[0]), *(cell.rjust(size) for cell, size
                                                 in zip(row[1:], sizes[1:]))]).rstrip()
            for row in rows]


def _place(parts, flat):
    """An entry by the indices that it has in its own array: `[0, 2]`, or `[0, 2] of (3, 1)`."""
    for name, shape in parts.items():
        if flat < math.prod(shape):
            break
        flat -= math.prod(shape)
    place = f"[{', '.join(str(int(i)) for i in np.unravel_index(flat, shape))}]" if shape else ""
    return f"{place} of {name}".strip() if name else place


def _number(value):
    return f"{complex(value):.6g}" if np.iscomplexobj(value) else f"{float(value):.8g}"
