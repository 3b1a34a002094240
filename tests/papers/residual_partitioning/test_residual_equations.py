"""All labels of Deep Residual Partitioning are there, come out as their verdicts say, and stand in
the paper's page."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import secondorder as so
from harness import ledger_runs
from secondorder.ledger import registry
from secondorder.papers.residual_partitioning import equations
from secondorder.papers.residual_partitioning.equations import conditions

PAPER = "residual-partitioning"

LABELS = [
    *map(str, range(1, 47)), "theorem-1", "theorem-2", "lemma-3", "algorithm-1",
    "claim-gradient", "claim-learning-rate", "claim-decrease", "claim-total-gradient",
    "claim-complexity",
    "claim-negative-curvature",
    "extension-sum-rule", "extension-tightness", "extension-skip", "extension-fixed-layers",
    "extension-pairwise",
    "extension-cross-terms", "extension-penalty", "extension-convolution", "extension-pooling",
]
ERRATA = {"22", "31", "44", "46", "algorithm-1"}

# Statements that hold only under a condition; each must show a case outside it.
CONDITIONAL = {"2", "3", "6", "7", "8", "10", "17", "25", "26", "27", "34", "35", "36", "37", "41",
               "42", "43",
               "theorem-1", "theorem-2", "claim-decrease", "claim-total-gradient",
               "claim-negative-curvature"}
# Conditional ones that bear a misprint as well, which is executed and shown failing.
MISPRINTED = {"2", "3", "41"}
# Derivations that run over several numbers are one check each.
DERIVATIONS = [("12", "13", "14", "15"), ("26", "27"), ("28", "29", "30"), ("34", "35", "36"),
               ("41", "42", "43")]
# Their corrected forms need a condition, too.
ERRATA_UNDER_A_CONDITION = {"31", "44", "algorithm-1"}


@pytest.mark.parametrize("seed", ledger_runs.SEEDS)
@pytest.mark.parametrize("label", LABELS)
def test_check_comes_out_as_its_verdict_says(label, seed):
    (result,) = ledger_runs.results(PAPER, seed, label)
    assert result.ok, result.message
    assert label in result.labels and result.paper == PAPER


def test_every_label_is_executed_once():
    results = ledger_runs.results(PAPER)
    seen = Counter(label for result in results for label in result.labels)
    assert set(seen) == set(LABELS)
    assert set(seen.values()) == {1}, "a label is executed by two checks"
    for result in results:
        for label in result.labels:
            (again,) = ledger_runs.results(PAPER, label=label)
            assert again.labels == result.labels, "each number of a display leads to all of them"
    assert so.verify.run(PAPER, "27")[0].labels == ("26", "27")


def test_errata_are_shown_and_no_others():
    results = ledger_runs.results(PAPER)
    errata = {label for result in results if result.verdict == "erratum" for label in result.labels}
    assert errata == ERRATA
    for result in results:
        failed_as_printed = result.printed_error is not None or result.printed_failure is not None
        expected = result.verdict == "erratum" or bool(MISPRINTED & set(result.labels))
        assert failed_as_printed == expected, result.labels


def test_conditions_are_stated():
    by_label = {label: entry for entry in registry.REGISTRY.select(PAPER) for label in entry.labels}
    assert {label for label, entry in by_label.items() if entry.verdict
            == "conditional"} == CONDITIONAL
    assert {label for label, entry in by_label.items()
            if entry.condition} == CONDITIONAL | ERRATA_UNDER_A_CONDITION


def test_conditions_that_labels_share_are_constants():
    named = {one for entry in registry.REGISTRY.select(PAPER) for one in entry.conditions}
    constants = {value for value in vars(conditions).values()
                 if isinstance(value, so.ledger.Condition)}
    assert {one for one in named if isinstance(one, so.ledger.Condition)} == constants


def test_a_derivation_over_several_numbers_is_one_check():
    found = {entry.labels for entry in registry.REGISTRY.select(PAPER)}
    assert set(DERIVATIONS) <= found


def test_claims_say_where_the_paper_makes_them():
    for entry in registry.REGISTRY.select(PAPER):
        if entry.labels[0].startswith("claim-"):
            assert entry.where, entry.labels


def test_no_equation_file_imports_another():
    """They share `cases`, `reference` and their like, which register nothing."""
    folder = Path(equations.__file__).parent
    registering = {path.stem for path in folder.glob("*.py")
                   if "@equation(" in path.read_text(encoding="utf-8")}
    for stem in registering:
        tree = ast.parse((folder / f"{stem}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                names = {node.module} if node.module else {alias.name for alias in node.names}
                assert not names & registering, f"{stem} imports {names & registering}"
