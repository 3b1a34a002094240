"""All labels of Deep Residual Partitioning are there, come out as their verdicts say, and stand in the paper's page."""

from collections import Counter
from pathlib import Path

import pytest

import secondorder as so
from secondorder import nets, residual_partitioning
from secondorder.ledger import registry

PAPER = "residual-partitioning"

LABELS = [
    *map(str, range(1, 47)), "theorem-1", "theorem-2", "lemma-3", "algorithm-1",
    "claim-gradient", "claim-learning-rate", "claim-decrease", "claim-total-gradient", "claim-complexity",
    "claim-negative-curvature",
    "extension-sum-rule", "extension-tightness", "extension-skip", "extension-fixed-layers", "extension-pairwise",
    "extension-cross-terms", "extension-penalty",
]
NEED_A_LAYER = {"extension-convolution": "Conv2d", "extension-pooling": "AvgPool2d"}
ERRATA = {"22", "31", "44", "algorithm-1"}

# Statements that hold only under a condition; each must show a case outside it.
CONDITIONAL = {"2", "3", "8", "10", "17", "theorem-1", "theorem-2", "claim-decrease", "claim-total-gradient",
               "claim-negative-curvature"}


def expected_labels():
    """The labels of the paper, those of layers that do not exist yet left out."""
    return set(LABELS) | {label for label, layer in NEED_A_LAYER.items() if hasattr(nets, layer)}


@pytest.mark.parametrize("seed", (0, 1))
@pytest.mark.parametrize("label", LABELS)
def test_check_comes_out_as_its_verdict_says(label, seed):
    (result,) = so.verify.run(PAPER, label, seed=seed)
    assert result.ok, result.message
    assert label in result.labels and result.paper == PAPER


def test_every_label_is_executed_once():
    results = so.verify.run(PAPER)
    seen = Counter(label for result in results for label in result.labels)
    assert set(seen) == expected_labels()
    assert set(seen.values()) == {1}, "a label is executed by two checks"
    for result in results:
        for label in result.labels:
            again = so.verify.run(PAPER, label)[0]
            assert again.labels == result.labels, "each number of a display leads to all of them"


def test_errata_are_shown_and_no_others():
    results = so.verify.run(PAPER)
    errata = {label for result in results if result.verdict == "erratum" for label in result.labels}
    assert errata == ERRATA
    for result in results:
        failed_as_printed = result.printed_error is not None or result.printed_failure is not None
        assert failed_as_printed == (result.verdict == "erratum"), result.labels


def test_conditions_are_stated():
    by_label = {label: entry for entry in registry.REGISTRY.select(PAPER) for label in entry.labels}
    for label in CONDITIONAL:
        assert by_label[label].verdict == "conditional", label
        assert by_label[label].condition, label


def test_every_label_shows_a_live_case():
    for result in so.verify.run(PAPER):
        live = [claim for claim in result.claims if isinstance(claim, so.ledger.Case)]
        assert live and all(claim.arrays for claim in live), result.labels


def test_implementations_are_in_the_package_and_not_in_the_checks():
    for entry in registry.REGISTRY.select(PAPER):
        for value in entry.implements:
            name = registry.qualified_name(value)
            assert name.startswith("secondorder.") and ".equations" not in name, f"{entry.labels}: {name}"


def test_whole_paper_is_quick():
    assert sum(result.seconds for result in so.verify.run(PAPER)) < 20


def test_page_is_up_to_date():
    page = Path(residual_partitioning.__file__).with_name("EQUATIONS.md")
    command = f"python -m secondorder verify {PAPER} --markdown --write"
    assert page.exists(), f"{page.name} is missing; make it with: {command}"
    text = page.read_text(encoding="utf-8")
    assert text == so.ledger.markdown(PAPER), f"{page.name} is out of date; make it with: {command}"
