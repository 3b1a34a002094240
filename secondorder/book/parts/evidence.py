"""Evidence: a logarithmic ruler a claim, with a tick at what is allowed and a dot a seed."""

import math
import re
import time
from dataclasses import dataclass

from ...ledger.claims import Case, Printed, PrintedShape, Property
from ...ledger.comparisons import CLEAR_MARGIN, Comparison
from ...ledger.pages import both_sides, folding, snippet
from ...ledger.registry import REGISTRY
from ...ledger.runner import run_equation

LOW, HIGH = -17.0, 2.0  # powers of ten at the ends of the axis
WIDTH, HEIGHT = 140.0, 14.0
TICKS = (-16, -12, -8, -4, 0)
SEEDS, ENOUGH = 5, 0.06  # at most so many seeds, and no further one after so many CPU seconds


@dataclass(frozen=True)
class Evidence:
    """What a check gave, as texts only, so that another process can hand it over.

    `rows` has a dict a claim; `ok` says whether no seed came out otherwise than the verdict says.
    `both` is what is compared with both sides' numbers, and `live` the arrays, of the first of the
    `seeds`; `snippet` runs the display with other numbers.
    """

    rows: list
    ok: bool
    both: list
    live: list
    seeds: int
    snippet: str


def gathered(paper, label, seeds=None):
    """The evidence of the check that bears a label first, over seeds 0, 1, ...

    Without a number of seeds there are `SEEDS`, or fewer where the check has taken `ENOUGH` time:
    the slowest checks take most of a book's time, and a further dot says little more.
    """
    entry = next(one for one in REGISTRY.select(paper) if one.labels[0] == label)
    began, results = time.process_time(), []
    for seed in range(SEEDS if seeds is None else seeds):
        if results and seeds is None and time.process_time() - began > ENOUGH:
            break
        results.append(run_equation(entry, seed))
    return Evidence(rows(results), not any(result.failed for result in results),
                    both_sides.shown(results[0].claims), live_case(results[0]), len(results),
                    snippet.snippet(entry))


def samples():
    """Two rulers with what they say, for a page that explains them."""
    return [(ruler([2e-16, 9e-16, 3e-15, 2e-14, 8e-14], 1e-10, False),
             "What must hold: every dot is left of the tick. Here five seeds agree to 13 digits, "
             "and 10 are asked for."),
            (ruler([3e-3, 2e-2, 6e-2, 3e-1, 9e-1], 1e-10, True),
             "What must fail, a printed slip or a case outside the condition: every dot is right "
             "of the tick, with a clear distance.")]


def rows(results):
    """One dictionary a claim that differs in more than its case, worst case of each seed.

    ``text``, ``ok``, ``number`` (error and tolerance, or the fact), ``must_fail``, ``errors`` (one
    a seed, () for facts), ``tolerance``, ``count`` of cases, and ``ruler`` (SVG or None).
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
        value = re.sub(r"\bnp\.\w+\(([^()]*)\)", r"\1", value)  # np.int64(1)
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
    label = (f"errors of {len(errors)} seeds, largest {_short(max(errors))}, "
             f"{'must exceed' if must_fail else 'allowed'} {_short(tolerance)}")
    wide = max(0.0, stop - start)
    return (f'<svg class="ruler {"beyond" if must_fail else "within"}" '
            f'viewBox="-3 0 {WIDTH + 6:g} {HEIGHT:g}" role="img" aria-label="{label}">'
            f'<path class="axis" d="M0 7h{WIDTH:g}"/>'
            f'<path class="zone" d="M{start:.1f} 3h{wide:.1f}v8h-{wide:.1f}z"/>'
            f'<path class="tick" d="M{tick:.1f} 1v12"/>'
            f'<path class="dots" d="{"".join(f"M{place(error):.1f} 7h0" for error in errors)}"/>'
            "</svg>")


def axis():
    """The numbers under a column of rulers, drawn once a page: `axis_again` shows them."""
    marks = "".join(f'<text x="{place(10.0**power):.1f}" y="10">'
                    + (f'10<tspan dy="-3" font-size="6">{power}</tspan>' if power else "1")
                    + "</text>" for power in TICKS)
    return ('<svg width="0" height="0" aria-hidden="true" '
            f'style="position:absolute"><g id="axis" class="numbers">{marks}</g></svg>')


def axis_again():
    """The numbers that `axis` drew."""
    return (f'<svg class="ruler numbers" viewBox="-3 0 {WIDTH + 6:g} {HEIGHT:g}" '
            'aria-hidden="true"><use href="#axis"/></svg>')


def live_case(result):
    """Lines of the arrays on which a check was run."""
    return [line for claim in result.claims if isinstance(claim, Case) for line in claim.lines()]
