"""How near the claims of a paper come to failing, over many seeds.

In ``tests/``: ``python -m harness.margins PAPER SEEDS`` lists, worst first, claims whose error is
above a third of their tolerance, and those that must fail and do so by less than 30 times what they
have to. What it prints are rows of ``papers/MARGINS.md``, but for the reason.
"""

import re
import sys
from pathlib import Path

from secondorder.ledger import runner
from secondorder.ledger.claims import Counterexample, Printed
from secondorder.ledger.comparisons import CLEAR_MARGIN, Comparison
from secondorder.ledger.registry import REGISTRY

NEAR = {"tolerance": 1 / 3, "must fail": 1 / 30}
PAGE = Path(__file__).resolve().parents[1] / "papers" / "MARGINS.md"


def margin(claim):
    """Kind of a claim and how near it is to failing (1: it fails), or None of a fact."""
    if isinstance(claim, Comparison):
        return "tolerance", claim.error / claim.tolerance
    if isinstance(claim, (Counterexample, Printed)):
        return "must fail", CLEAR_MARGIN * claim.tolerance / max(claim.error, 1e-300)
    return None


def near(results):
    """(label, text, kind, how near) of all claims of `results` that come near to failing."""
    for result in results:
        for claim in result.claims:
            found = margin(claim)
            if found is not None and found[1] > NEAR[found[0]]:
                yield result.labels[0], claim.what, *found


def row(label, what, ratio, why):
    """One line of a table of the page."""
    return f"| {label} | {what.replace('|', BAR)} | {ratio:.2g} | {why} |"


BAR = r"\|"


def rows(text, paper):
    """(label, claim, ratio, why) of the table under the heading of a paper; [] without one."""
    sections = re.findall(rf"^## {re.escape(paper)}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    lines = [line for line in "".join(sections).splitlines() if line.startswith("|")][2:]
    return [tuple(cell.strip().replace(BAR, "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1])
            for line in lines]


def listed(label, what, table):
    """Whether a row of a table is about a claim: `*` in a row stands for any text."""
    return any(label == row[0] and re.fullmatch(re.escape(row[1]).replace(r"\*", ".*"), what)
               for row in table)


def margins(paper, seeds):
    """(label, text, kind) -> (nearest, its seed); and what failed, (seed, labels, message)."""
    nearest, failed = {}, []
    for entry in REGISTRY.select(paper):
        for seed in seeds:
            result = runner.run_equation(entry, seed)
            if not result.ok:
                failed.append((seed, entry.labels, result.message))
            for claim in result.claims:
                found = margin(claim)
                if found is not None:
                    key = (entry.labels[0], claim.what, found[0])
                    nearest[key] = max(nearest.get(key, (0.0, 0)), (found[1], seed))
    return nearest, failed


def main(paper, count):
    nearest, failed = margins(paper, range(int(count)))
    for seed, names, message in failed:
        print(f"FAILED, seed {seed}, {', '.join(names)}: {message}")
    for (label, what, kind), (ratio, seed) in sorted(nearest.items(), key=lambda item: -item[1][0]):
        if ratio > NEAR[kind]:
            print(row(label, what, ratio, f"{kind}, seed {seed}"))
    print(f"{paper}: {len(failed)} failures of {count} seeds")


if __name__ == "__main__":
    main(*sys.argv[1:])
