"""All labels of the paper are there, come out as their verdicts say, and stand in the paper's page.
"""

from collections import Counter

import pytest

from harness import ledger_runs

PAPER = "reversible-gauss-newton"
LABELS = [*map(str, range(1, 81)), "theorem-4.3", "proposition-4.4", "assumption-4.1",
          "assumption-4.2", "cost", "appendix-a", "appendix-b", "appendix-n", "extension-sweep",
          "extension-gram", "extension-moore-penrose", "extension-block-weights"]
UNNUMBERED = ["u-vectorisation", "u-stacking"]
ERRATA = {"appendix-b": "substance",
          **dict.fromkeys(("32", "43", "44", "45", "46", "47", "54", "u-vectorisation",
                           "u-stacking"), "misprint")}
CONDITIONAL = {"4", "9", "10", "11", "19", "25", "26", "27", "28", "29", "31", "40", "41", "42",
               "52", "55", "theorem-4.3", "proposition-4.4", "assumption-4.1", "assumption-4.2",
               "cost", "appendix-a", "appendix-n"}
#: Numbers that the arrays of others consume: they number nothing.
NOTHING = {"34", "35", "37", "38", *map(str, range(43, 47)), *map(str, range(48, 52))}


@pytest.fixture(scope="module")
def results():
    return ledger_runs.results(PAPER)


def test_every_label_is_executed_once(results):
    seen = Counter(label for result in results for label in result.labels)
    assert set(seen) == {*LABELS, *UNNUMBERED} and set(seen.values()) == {1}


def test_errata_and_conditions(results):
    by_verdict = {verdict: {label for r in results if r.verdict == verdict for label in r.labels}
                  for verdict in ("erratum", "conditional")}
    assert by_verdict["erratum"] == set(ERRATA)
    assert {label for r in results for label in r.unnumbered} == NOTHING
    assert by_verdict["conditional"] >= CONDITIONAL
    for result in results:
        failed_as_printed = result.printed_error is not None or result.printed_failure is not None
        assert failed_as_printed == (result.verdict == "erratum"), result.labels
        assert {ERRATA.get(label) for label in result.labels} == {result.weight}
