"""All labels of the low-rank paper are there, come out as their verdicts say, and are on the
page."""

from collections import Counter

from harness import ledger_runs
from secondorder import low_rank

PAPER = low_rank.PAPER
LABELS = [*map(str, range(1, 81)), "table-1", "table-2", "claim-low-rank", "claim-unbiased",
          "option-1", "option-2", "option-3", "extension-biases", "extension-blocks",
          "extension-tangent", "extension-jet", "extension-diagonal", "extension-rank",
          "extension-per-sample", "extension-layer-rates", "extension-channels",
          "extension-stable-step"]
UNNUMBERED = ["u-output", "u-etas", "u-depth", "u-recurrent-curved"]
ERRATA = {
    **dict.fromkeys(("39", "41", "56", "63"), "substance"),
    **dict.fromkeys(("2", "21", "23", "25", "47", "48", "54", "57", "60", "61", "65", "74", "75",
                     "77", "table-2", "u-output"), "misprint"),
    "44": "extraction",
}
CORRECTED = {"45": "extraction"}  # conditional, with something that the text may have lost
CONDITIONAL = {"5", "8", "9", "22", "29", "30", "31", "32", "33", "36", "37", "38", "45", "53",
               "55", "64", "69", "78", "79", "80", "u-depth", "claim-unbiased"}


def test_every_label_is_executed_once():
    seen = Counter(label for result in ledger_runs.results(PAPER) for label in result.labels)
    assert set(seen) == {*LABELS, *UNNUMBERED} and set(seen.values()) == {1}


def test_errata_and_conditions_are_shown_and_no_others():
    for result in ledger_runs.results(PAPER):
        for label in result.labels:
            assert (result.verdict == "erratum") == (label in ERRATA), label
            assert (result.verdict == "conditional") == (label in CONDITIONAL), label
        as_printed = result.printed_error is not None or result.printed_failure is not None
        weights = {(ERRATA | CORRECTED).get(label) for label in result.labels}
        assert weights == {result.weight}, result.labels
        assert as_printed == (result.weight is not None), result.labels
