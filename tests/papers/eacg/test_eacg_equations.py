"""All labels of EA-CG are there, come out as their verdicts say, and stand in the paper's page."""

from collections import Counter

from harness import ledger_runs

PAPER = "ea-cg"

LABELS = ["1", "2", "3", "4a", "4b", "4c", "5", "6", "7", "8a", "8b", "8c", "9", "10a", "10b",
          "11a", "11b", "12", "13", "14", "15", "16", "17", "property-1", "pos-eig", "u-vec",
          "u-newton", "u-backprop", "u-block", "u-loss", "u-convex", "u-expect", "u-fisher",
          "u-fisher-labels", "u-kfi", "u-kfra", "u-gn", "u-metric", "u-space", "u-space-11a",
          "u-time", "b-i", "b-ii", "b-iii", "c-i", "c-ii", "c-iii", "d", "table-1", "table-2",
          "table-3", "table-4", "table-5", "extension-closed-11b", "extension-exact-11a",
          "extension-gram-11a", "extension-loewner", "extension-sgd-directions"]
BEYOND = ["extension-two-coefficients", "extension-expectation-error"]
UNNUMBERED = ["u-kfra-hessian", "u-kfi-cost", "u-accumulate", "table-1-criterion", "u-escape",
              "u-c-iii", "u-table-1-gauss-newton", "u-kfi-batch", "u-kfac-criterion"]
ERRATA = {"u-convex": "substance", "table-1": "substance",
          "8b": "misprint", "u-fisher": "misprint", "b-ii": "misprint", "c-ii": "misprint",
          "u-c-iii": "misprint", "u-table-1-gauss-newton": "extraction",
          "8c": "extraction", "15": "extraction", "16": "extraction", "17": "extraction"}
CONDITIONAL = {"2", "5", "6", "9", "11b", "12", "13", "pos-eig", "u-expect", "u-kfra-hessian",
               "u-gn", "u-time", "u-space-11a", "u-kfi-cost", "u-accumulate",
               "u-escape", "u-kfi-batch", "u-kfac-criterion"}
#: What drops a term: all are conditional, and say under what the term is small.
APPROXIMATIONS = {"5", "6", "11b", "12", "13", "u-expect"}


def test_every_label_is_executed_once():
    seen = Counter(label for result in ledger_runs.results(PAPER) for label in result.labels)
    assert set(seen) == {*LABELS, *BEYOND, *UNNUMBERED}
    assert set(seen.values()) == {1}, "a label is executed by two checks"


def test_errata_and_conditions_are_shown_and_no_others():
    for result in ledger_runs.results(PAPER):
        failed_as_printed = result.printed_error is not None or result.printed_failure is not None
        for label in result.labels:
            assert failed_as_printed == (label in ERRATA), label
            wanted = ("erratum" if label in ERRATA else "conditional" if label in CONDITIONAL
                      else None)
            assert (result.verdict == wanted
                    or wanted is None and result.verdict in ("holds", "definition")), label
            assert result.weight == ERRATA.get(label), label


def test_what_drops_a_term_says_when_it_is_small():
    found = {label for result in ledger_runs.results(PAPER) for label in result.labels
             if result.kind == "approximation" and result.verdict == "conditional"}
    assert found == APPROXIMATIONS
