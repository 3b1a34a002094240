"""How near the claims of a paper come to failing, over many seeds.

In ``tests/``: ``python -m harness.margins PAPER SEEDS [LABEL ...]`` lists, worst first, claims
whose error is above a third of their tolerance, and those that must fail and do so by less than a
factor of 30 more than they have to.
"""

import sys

from secondorder.ledger import equations
from secondorder.ledger.claims import Counterexample, Printed
from secondorder.ledger.comparisons import CLEAR_MARGIN, Comparison
from secondorder.ledger.registry import REGISTRY

NEAR = {"tolerance": 1 / 3, "must fail": 1 / 30}


def margin(claim):
    """Kind of a claim and how near it is to failing (1: it fails), or None of a fact."""
    if isinstance(claim, Comparison):
        return "tolerance", claim.error / claim.tolerance
    if isinstance(claim, (Counterexample, Printed)):
        return "must fail", CLEAR_MARGIN * claim.tolerance / max(claim.error, 1e-300)
    return None


def margins(paper, seeds, labels=()):
    """(label, text, kind) -> (nearest, its seed); and what failed, (seed, labels, message)."""
    nearest, failed = {}, []
    for entry in REGISTRY.select(paper):
        if labels and not set(labels) & set(entry.labels):
            continue
        for seed in seeds:
            result = equations.run_equation(entry, seed)
            if not result.ok:
                failed.append((seed, entry.labels, result.message))
            for claim in result.claims:
                found = margin(claim)
                if found is not None:
                    key = (entry.labels[0], claim.what, found[0])
                    nearest[key] = max(nearest.get(key, (0.0, 0)), (found[1], seed))
    return nearest, failed


def main(paper, count, *labels):
    nearest, failed = margins(paper, range(int(count)), labels)
    for seed, names, message in failed:
        print(f"FAILED, seed {seed}, {', '.join(names)}: {message}")
    for (label, what, kind), (near, seed) in sorted(nearest.items(), key=lambda item: -item[1][0]):
        if near > NEAR[kind]:
            print(f"{near:8.3f} of what is allowed, {kind}, seed {seed}, [{label}] {what}")
    print(f"{paper}: {len(failed)} failures of {count} seeds")


if __name__ == "__main__":
    main(*sys.argv[1:])
