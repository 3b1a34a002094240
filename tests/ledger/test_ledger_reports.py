"""What people read: tables, documents, code, and descriptions of mismatches."""

import numpy as np
import pytest

from secondorder import ledger
from secondorder.ledger import Condition, Counterexample, Equal, Printed, VerificationError
from secondorder.ledger.mismatch import describe_mismatch

from test_ledger import (CONDITIONAL, EQUAL, ERRATUM, UNEQUAL, double, register,
                         toys)  # noqa: F401

# -- reports ---------------------------------------------------------------------------------------

def some_results():
    register("8a", "8b")
    register("9", check=lambda rng: [EQUAL, Printed(UNEQUAL)], **ERRATUM)
    register("10", check=lambda rng: [UNEQUAL])
    return ledger.run("toy")


@pytest.mark.parametrize("width", [60, 120])
def test_table_fits_the_terminal_with_the_outcome_first(toys, width):
    text = ledger.table(some_results(), width=width)
    rows = text[:text.index("3 checks of 4 labels")].splitlines()
    assert max(map(len, rows)) <= width
    assert rows[0] == "toy"
    assert rows[4].strip() == "Doubling adds a number to itself."
    rows[3:] = rows[3::2]
    assert [row.split()[0] for row in rows[3:6]] == ["ok", "ok", "FAIL"]
    assert [row.split()[1] for row in rows[3:6]] == ["holds", "erratum", "holds"]
    assert [row.replace("(misprint)", "").split()[2].strip(",") for row in rows[3:6]] == [
        "8a", "9", "10"]
    assert "double" in rows[3], "where it is implemented"


WEIGHED = dict(verdict="erratum", corrected="d(x) = 2 x",
               check=lambda rng: [EQUAL, Printed(UNEQUAL)])


def test_errata_are_counted_by_their_weight_and_labels_that_number_nothing_apart(toys):
    for label, weight in (("1", "misprint"), ("2", "misprint"), ("3", "substance"),
                          ("4", "extraction")):
        register(label, weight=weight, **WEIGHED)
    register("5", "6", "7", unnumbered=("5", "6"))
    register("8", unnumbered=True, ours=True)
    register("9", weight="misprint", condition="x > 0",
             **{**WEIGHED, "verdict": "conditional",
                "check": lambda rng: [EQUAL, Printed(UNEQUAL), Counterexample(UNEQUAL)]})
    expected = ("7 checks of 9 labels, 3 of them without a display in the paper: 2 hold, "
                "1 conditional (corrected: 1 misprint), 4 errata (1 of substance, 2 misprints, "
                "1 of extraction)")
    results = ledger.run("toy")
    assert ledger.summary(results).startswith(expected + "; 0 failed")
    assert expected + "." in ledger.markdown("toy")
    assert "  erratum (substance)  " in ledger.table(results, width=160)


def test_pages_say_what_of_a_display_is_not_the_papers(toys):
    register("1", **WEIGHED, weight="substance")
    register("2", "3", "4", unnumbered=("2", "3"))
    register("5", unnumbered=True, ours=True)
    assert "\nerratum (substance), identity: passes" in ledger.show("toy", "1")
    assert "\n2, 3: no displays of the paper bear these numbers.\n" in ledger.show("toy", "4")
    text = ledger.show("toy", "5")
    assert "\n5: no display of the paper bears this number.\n" in text
    assert "\nThe formula is ours: the paper has it in words" in text
    page = ledger.markdown("toy")
    assert page.count("*The formula is ours") == 1 and page.count("bear these numbers.*") == 1


def test_markdown_is_deterministic_and_complete(toys):
    some_results()
    register("theorem-1", check=lambda rng: [EQUAL, Counterexample(UNEQUAL)], **CONDITIONAL)
    text = ledger.markdown("toy")
    assert text == ledger.markdown("toy")
    for expected in ("## Equations (8a), (8b)", "## theorem-1",
                     "```math\nd(x) = x + x \\tag{8a, 8b}\n```",
                     "Corrected, with what changed in red:",
                     "```math\nd(x) = {\\color{red} 2 }x \\tag{9}\n```",
                     "**erratum (misprint)**, identity. Doubling",
                     "Condition: x is positive",
                     "<details>\n<summary>1 claim checked</summary>\n\n- doubling",
                     "\n\n</details>",
                     "doubling against adding: equal to 1e-14",
                     "as printed, must fail: unequal: equal to 1e-12",
                     f"`{double.__module__}.double`",
                     "4 checks of 5 labels: 2 hold, 1 conditional, 1 erratum (1 misprint)."):
        assert expected in text
    assert "2.00e-01" not in text and "seconds" not in text


def test_markdown_names_shared_conditions_once_and_folds_cases(toys):
    positive = Condition("positive", "x is not below zero.")
    claims = [Equal("doubled", [float(k)], [k], 1e-9, case=f"case {k}") for k in (1, 2, 3)]
    for label in ("1", "2"):
        register(label, check=lambda rng: [*claims, Counterexample(UNEQUAL)], verdict="conditional",
                 condition=(positive, "And x is small."), where="Section 2, above the figure")
    text = ledger.markdown("toy")
    assert text.count("x is not below zero.") == 1 and text.count("- Condition: **positive**.") == 2
    assert text.count("- Condition: And x is small.") == 2
    assert "- Where: Section 2, above the figure" in text
    assert "- doubled: equal to 1e-09 (3 cases)" in text
    assert "<summary>4 claims checked</summary>" in text


def test_markdown_refuses_a_check_that_raises(toys):
    register("1", check=lambda rng: [Equal("a", [], [], tolerance=1e-9)])
    with pytest.raises(VerificationError, match=r"\[toy\] 1 cannot be documented: .*empty"):
        ledger.markdown("toy")


# -- mismatches ------------------------------------------------------------------------------------

@pytest.mark.parametrize("factor, hint", [
    (-1, "sign is flipped"), (7, "a factor 7 too much"),
    (0.5, "1/2 everywhere: a factor 2 is missing"), (0, "a term is missing"),
    (1.37, "1.37 everywhere")])
def test_hints_on_common_ratios(factor, hint):
    right = np.random.default_rng(0).standard_normal((3, 4))
    text = describe_mismatch(factor * right, right)
    assert hint in text and "12 of 12 entries differ" in text


def test_worst_entries_come_first_with_index_values_and_ratio():
    right = np.array([[1.0, 2.0], [3.0, 4.0]])
    left = right.copy()
    left[1, 0], left[0, 1] = 6.0, 2.5
    text = describe_mismatch(left, right, names=("mine", "truth"))
    lines = text.splitlines()
    assert lines[0] == "2 of 4 entries differ (shape (2, 2))"
    assert lines[1].strip() == "entry (1, 0): mine 6, truth 3, ratio 2"
    assert lines[2].strip() == "entry (0, 1): mine 2.5, truth 2, ratio 1.25"
    assert "hint" not in text


def test_transposition_is_recognised():
    right = np.random.default_rng(0).standard_normal((3, 3))
    assert "computed is transposed" in describe_mismatch(right.T, right)
    assert "computed is transposed" in describe_mismatch(right[:2].T, right[:2])
    batch = np.random.default_rng(0).standard_normal((4, 3, 3))
    told = describe_mismatch(batch.swapaxes(1, 2), batch)
    assert "computed is transposed" in told


def test_mismatch_survives_zeros_nans_and_scalars():
    text = describe_mismatch([np.nan, 1.0, 0.0], [1.0, 0.0, 0.0])
    assert "ratio not finite" in text
    assert "ratio x/0" in text
    assert "computed is not finite everywhere" in text
    some = describe_mismatch([2.0, 4.0], [1.0, np.nan])
    assert some.endswith("hint: reference is not finite everywhere")
    assert "value: computed 2, reference 1, ratio 2" in describe_mismatch(2.0, 1.0)
    assert describe_mismatch(np.zeros((0, 2)), np.zeros((0, 2))).startswith("both sides are empty")
