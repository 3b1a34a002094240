"""All labels of Deep Residual Partitioning are there and come out as their verdicts say."""

from collections import Counter

import pytest

import secondorder as so
from harness import ledger_runs
from secondorder.ledger import registry

PAPER = "residual-partitioning"

LABELS = [
    *map(str, range(1, 47)), "theorem-1", "theorem-2", "lemma-3", "algorithm-1",
    "claim-gradient", "claim-learning-rate", "claim-decrease", "claim-total-gradient",
    "claim-complexity", "claim-negative-curvature",
    "extension-sum-rule", "extension-tightness", "extension-skip", "extension-fixed-layers",
    "extension-pairwise", "extension-cross-terms", "extension-penalty", "extension-convolution",
    "extension-pooling",
]
ERRATA = {"22", "31", "44", "46", "algorithm-1"}

# Statements that hold only under a condition; each must show a case outside it.
CONDITIONAL = {"2", "3", "6", "7", "8", "10", "17", "25", "26", "27", "34", "35", "36", "37", "41",
               "42", "43", "theorem-1", "theorem-2", "claim-decrease", "claim-total-gradient",
               "claim-negative-curvature"}
# Conditional ones that bear a misprint as well, which is executed and shown failing.
MISPRINTED = {"2", "3", "41", "42", "43"}
# Derivations that run over several numbers are one check each.
DERIVATIONS = {("12", "13", "14", "15"), ("26", "27"), ("28", "29", "30"), ("34", "35", "36"),
               ("41", "42", "43")}


@pytest.mark.parametrize("seed", ledger_runs.SEEDS)
def test_every_check_comes_out_as_its_verdict_says(seed):
    failed = ledger_runs.failures(PAPER, seed)
    assert not failed, "\n".join(failed)


def test_every_label_is_executed_once():
    seen = Counter(label for result in ledger_runs.results(PAPER) for label in result.labels)
    assert set(seen) == set(LABELS) and set(seen.values()) == {1}
    assert so.verify.run(PAPER, "27")[0].labels == ("26", "27")
    assert DERIVATIONS <= {entry.labels for entry in registry.REGISTRY.select(PAPER)}


def test_errata_and_conditions_are_shown_and_no_others():
    for result in ledger_runs.results(PAPER):
        as_printed = result.printed_error is not None or result.printed_failure is not None
        for label in result.labels:
            assert (result.verdict == "erratum") == (label in ERRATA), label
            assert (result.verdict == "conditional") == (label in CONDITIONAL), label
            assert as_printed == (label in ERRATA | MISPRINTED), label
