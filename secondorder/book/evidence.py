"""Evidence: a ruler a claim, on a logarithmic axis, with a tick at what is allowed and a dot a
seed."""

import math

from ..ledger import folding
from ..ledger.claims import Case, Printed, PrintedShape, Property
from ..ledger.comparisons import CLEAR_MARGIN, Comparison
from ..ledger.equations import run_equation

LOW, HIGH = -17.0, 2.0  # powers of ten at the ends of the axis
WIDTH, HEIGHT = 140.0, 14.0
TICKS = (-16, -12, -8, -4, 0)


def runs(entry, seeds):
    """Results of a check for seeds 0, 1, ..."""
    return [run_equation(entry, seed) for seed in range(seeds)]


def rows(results):
    """One dictionary a claim that differs in more than its case, worst case of each seed.

    Returns
    -------
    list of dict
        ``text``, ``ok``, ``number`` (error and tolerance, or the fact), ``must_fail``, ``errors``
        (one a seed, () for facts), ``tolerance``, ``count`` of cases, and ``ruler`` (SVG or None).
    """
    table = {}
    for result in results:
        for what, same in folding.folded(result.claims):
            worst = same[0]
            key = type(worst).__name__, worst.relation, what
            row = table.setdefault(key, {"claims": [], "count": len(same), "text": what})
            row["claims"].append(worst)
    return [_row(row) for row in table.values()]


def _row(row):
    worst = max(row["claims"], key=folding.badness)
    facts = {"text": row["text"], "count": row["count"], "errors": (), "ruler": None,
             "ok": all(claim.ok for claim in row["claims"]), "must_fail": False, "tolerance": None}
    if isinstance(worst, PrintedShape):
        return facts | {"must_fail": True, "text": f"as printed, does not conform: {row['text']}",
                        "number": f"{worst.left_shape} ≠ {worst.right_shape}"}
    if isinstance(worst, Property):
        value = worst.outcome().rpartition(", expected")[0].rpartition(": ")[2]
        return facts | {"number": value if worst.expected is not True else ""}
    must_fail = not isinstance(worst, Comparison)
    errors = [claim.error for claim in row["claims"]]
    name = ("" if not must_fail else "as printed, fails: " if isinstance(worst, Printed)
            else "outside the condition, fails: ")
    return facts | {"must_fail": must_fail, "text": name + row["text"], "errors": tuple(errors),
                    "tolerance": worst.tolerance,
                    "number": f"{_short(worst.error)} {'≰' if must_fail else '≤'} "
                              f"{_short(worst.tolerance)}",
                    "ruler": ruler(errors, worst.tolerance, must_fail)}


def _short(value):
    return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e+") if value else "0"


def place(value):
    """Where a number stands on the axis, in units of the drawing."""
    power = math.log10(value) if value > 0 else LOW
    return WIDTH * (min(max(power, LOW), HIGH) - LOW) / (HIGH - LOW)


def ruler(errors, tolerance, must_fail):
    """The drawing of one claim: the zone where dots must lie, the tick, a dot a seed."""
    tick = place(tolerance)
    start, stop = (place(CLEAR_MARGIN * tolerance), WIDTH) if must_fail else (0.0, tick)
    kind = "beyond" if must_fail else "within"
    dots = "".join(f'<circle cx="{place(error):.1f}" cy="7" r="2.6"/>' for error in errors)
    label = (f"errors of {len(errors)} seeds, largest {_short(max(errors))}, "
             f"{'must exceed' if must_fail else 'allowed'} {_short(tolerance)}")
    return (f'<svg class="ruler {kind}" viewBox="-3 0 {WIDTH + 6:g} {HEIGHT:g}" role="img" '
            f'aria-label="{label}"><line x1="0" y1="7" x2="{WIDTH:g}" y2="7" class="axis"/>'
            f'<rect x="{start:.1f}" y="3" width="{max(0.0, stop - start):.1f}" height="8" '
            f'class="zone"/><line x1="{tick:.1f}" y1="1" x2="{tick:.1f}" y2="13" class="tick"/>'
            f'<g class="dots">{dots}</g></svg>')


def axis():
    """The numbers under a column of rulers."""
    marks = "".join(f'<text x="{place(10.0**power):.1f}" y="10">'
                    + (f'10<tspan dy="-3" font-size="6">{power}</tspan>' if power else "1")
                    + "</text>" for power in TICKS)
    return (f'<svg class="ruler numbers" viewBox="-3 0 {WIDTH + 6:g} {HEIGHT:g}" '
            f'aria-hidden="true">{marks}</svg>')


def live_case(result):
    """Lines of the arrays on which a check was run."""
    return [line for claim in result.claims if isinstance(claim, Case) for line in claim.lines()]
