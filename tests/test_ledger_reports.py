"""What people read: tables, pages, one equation at the desk, and descriptions of mismatches."""

import subprocess
import sys

import numpy as np
import pytest

from secondorder import ledger
from secondorder.ledger import Counterexample, Equal, Printed, PrintedShape, VerificationError
from secondorder.mismatch import describe_mismatch

from test_ledger import CONDITIONAL, EQUAL, ERRATUM, UNEQUAL, double, register, toys  # noqa: F401

# -- reports -------------------------------------------------------------------------------------------------

def some_results():
    register("8a", "8b")
    register("9", check=lambda rng: [EQUAL, Printed(UNEQUAL)], **ERRATUM)
    register("10", check=lambda rng: [UNEQUAL])
    return ledger.run("toy")


@pytest.mark.parametrize("width", [50, 80, 120, 200])
def test_table_fits_the_terminal(toys, width):
    text = ledger.table(some_results(), width=width)
    rows = text[:text.index("3 checks of 4 labels")].splitlines()
    assert max(map(len, rows)) <= width
    assert rows[0] == "toy"
    assert all(row.split()[0].strip(",") in ("8a", "9", "10") for row in rows[3:6])
    assert [row.split()[-1] for row in rows[3:6]] == ["ok", "ok", "FAIL"]
    for name in ("kind", "tol.", "printed", "implemented"):
        hidden = " ".join(rows[6:])
        assert (name in rows[1]) != (name in hidden)


def test_table_tells_places_errors_and_verdicts(toys):
    text = ledger.table(some_results(), width=200)
    assert "erratum" in text and "2.0e-01" in text and "double" in text
    assert "3 checks of 4 labels: 2 hold, 1 erratum; 1 failed" in text
    assert "FAILED toy 10: unequal: error 2.00e-01" in text


def test_markdown_is_deterministic_and_complete(toys):
    some_results()
    register("theorem-1", check=lambda rng: [EQUAL, Counterexample(UNEQUAL)], **CONDITIONAL)
    text = ledger.markdown("toy")
    assert text == ledger.markdown("toy")
    for expected in ("## Equations (8a), (8b)", "## theorem-1", "```math\nd(x) = x + x\n```",
                     "Corrected:\n\n```math\nd(x) = 2 x\n```", "Verdict: **erratum**", "Condition: x is positive",
                     "doubling against adding: equal to 1e-14", "as printed, must fail: unequal: equal to 1e-12",
                     f"`{double.__module__}.double`", "| erratum | 1 |"):
        assert expected in text
    assert "2.00e-01" not in text and "seconds" not in text


def test_markdown_refuses_a_check_that_raises(toys):
    register("1", check=lambda rng: [Equal("a", [], [], tolerance=1e-9)])
    with pytest.raises(VerificationError, match=r"\[toy\] 1 cannot be documented: .*empty"):
        ledger.markdown("toy")


def test_show_puts_formula_code_shapes_and_numbers_together(toys):
    register("8a", "8b")
    text = ledger.show("toy", "8b", seed=2)
    for expected in ("[toy] Equations (8a), (8b)", "Doubling adds", "    d(x) = x + x", "return 2 * x", "x  shape (4,)",
                     "factor = 2.0", "a live case (seed 2)", "ratio 1", "verdict holds: as it should be",
                     "test_ledger.py:"):
        assert expected in text
    assert text != ledger.show("toy", "8b", seed=3)


def test_show_exposes_a_misprint(toys):
    register("9", check=lambda rng: [EQUAL, Printed(UNEQUAL), PrintedShape("a", (1,), (2,))], **ERRATUM)
    text = ledger.show("toy", "9")
    for expected in ("as printed:\n    d(x) = x + x", "corrected:\n    d(x) = 2 x", "left 2, right 2.5, ratio 0.8",
                     "(1,) against (2,)"):
        assert expected in text


def test_show_of_a_failing_check_says_so(toys):
    register("1", check=lambda rng: [UNEQUAL])
    text = ledger.show("toy", "1")
    assert "FAIL unequal" in text and "NOT as it should be" in text


def test_show_refuses_unknown_labels(toys):
    register("1")
    with pytest.raises(ValueError, match="no label"):
        ledger.show("toy", "2")


# -- mismatches ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("factor, hint", [
    (-1, "sign is flipped"), (2, "a factor 2 too much"), (0.5, "1/2 everywhere: a factor 2 is missing"),
    (1 / 7, "1/7 everywhere"), (7, "a factor 7 too much"), (-2, "-2 everywhere"), (0, "a term is missing"),
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
    assert "computed is reference transposed" in describe_mismatch(right.T, right)
    wide = np.random.default_rng(0).standard_normal((3, 2))
    assert "computed is reference transposed" in describe_mismatch(wide.T, wide)


def test_allowed_error_decides_what_differs():
    assert "no entry differs" in describe_mismatch([1.0, 2.0], [1.01, 2.0], error=0.1)
    assert "1 of 2 entries differ" in describe_mismatch([1.0, 2.0], [1.01, 2.0], error=[1e-3, 1.0])


def test_mismatch_survives_zeros_nans_and_scalars():
    text = describe_mismatch([np.nan, 1.0, 0.0], [1.0, 0.0, 0.0])
    assert "ratio not finite" in text and "ratio x/0" in text and "computed is not finite everywhere" in text
    assert "value: computed 2, reference 1, ratio 2" in describe_mismatch(2.0, 1.0)
    assert describe_mismatch(np.zeros((0, 2)), np.zeros((0, 2))).startswith("both sides are empty")


def test_limit_says_how_many_are_left():
    text = describe_mismatch(np.zeros(10), np.ones(10), limit=3)
    assert text.count("entry ") == 3 and "... and 7 more" in text


def test_import_is_light():
    code = ("import sys, secondorder.ledger; "
            "print([m for m in ('scipy', 'numba', 'matplotlib') if m in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
