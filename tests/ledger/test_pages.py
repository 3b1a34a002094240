"""One equation on one screen: formula, literal code, numbers of both sides, verdict."""


import numpy as np
import pytest

from secondorder import ledger
from secondorder.ledger import (AtMost, Case, Counterexample, Equal, Printed, PrintedShape,
                                Property, Rate)
from secondorder.ledger.pages import both_sides, folding

from test_ledger import (CONDITIONAL, EQUAL, ERRATUM, UNEQUAL, double, register,
                         toys)  # noqa: F401


def tripled(x):
    """Toy: t(x) = x + x + x, Eq. (3).

    Parameters
    ----------
    x : float
    """
    return x + x + x


def numbered(formula, number):
    """A line with a formula, and its number at the right margin of 80 columns."""
    return f"    {formula}".ljust(80 - len(number)) + number + "\n"


# -- the page --------------------------------------------------------------------------------------

def test_page_has_formula_code_values_and_claims(toys):
    register("8a", "8b", where="Section 2", implements=(tripled, double))
    text = ledger.show("toy", "eq. (8B)", seed=2)
    for expected in ("[toy] Equations (8a), (8b)\nholds, identity: passes; error 0.0e+00, "
                     "allowed 1.0e-14\n", "Doubling adds", "\nwhere: Section 2",
                     "formula:\n" + numbered("d(x) = x + x", "(8a), (8b)"),
                     "Toy: t(x) = x + x + x, Eq. (3).",
                     "return x + x + x", "both sides (seed 2): doubling against adding\n",
                     "code", "check", "difference",
                     "3 of 4 entries, shape (4,); error 0.0e+00 of", "1 claim passes.",
                     "more: secondorder show toy 8a --more"):
        assert expected in text, expected
    assert "return 2 * x" not in text and "Parameters" not in text, "the literal form only"
    assert text != ledger.show("toy", "8b", seed=3)
    assert max(map(len, text.splitlines())) <= 100


def test_more_shows_everything(toys):
    register("8a", implements=(tripled, double))
    text = ledger.show("toy", "8a", seed=2, more=True)
    for expected in ("return x + x + x", "return 2 * x", "the other side, in the check:\ngood  (",
                     'Equal("doubling against adding", double(x), x + x', "the live case (seed 2)",
                     "x  shape (4,)", "factor = 2", "difference", "divided by the largest"):
        assert expected in text, expected
    x = next(line for line in text.splitlines() if line.startswith("      ["))
    values = next(claim for claim in ledger.run("toy", "8a", 2)[0].claims
                  if isinstance(claim, Case)).arrays["x"]
    np.testing.assert_allclose([float(v) for v in x.strip(" []").split()], values, atol=1e-3)


def test_a_misprint_is_marked_and_shown_with_its_numbers(toys):
    register("9", check=lambda rng: [EQUAL, Printed(UNEQUAL), PrintedShape("a", (1,), (2,))],
             **{**ERRATUM, "corrected": "d(x) = x + 2 x"})
    text = ledger.show("toy", "9")
    for expected in ("erratum (misprint), identity: passes; error",
                     "as printed:\n" + numbered("d(x) = x + x", "(9)"),
                     "corrected (^ what changed):\n" + numbered("d(x) = x + 2x", "(9)")
                     + "               ^\n",
                     "as printed\n  the shapes differ", "printed form fails, as expected: unequal",
                     "printed  check  difference", "[1]          2    2.5     5.0e-01",
                     "error 2.0e-01 of 2.5, allowed 1.0e-12", "as printed, a: (1,) against (2,)"):
        assert expected in text, expected


def test_a_condition_is_shown_with_what_happens_outside(toys):
    register("2", check=lambda rng: [EQUAL, Counterexample(UNEQUAL)], **CONDITIONAL)
    text = ledger.show("toy", "2")
    assert "\ncondition: x is positive" in text
    assert "fails outside the condition, as expected: unequal\n" in text
    assert "outside  check  difference" in text


def test_a_failing_check_says_so_and_gives_entries(toys):
    register("1", check=lambda rng: [EQUAL, UNEQUAL])
    text = ledger.show("toy", "1")
    assert "1 of 2 claims FAIL:" in text and "identity: FAILS" in text
    assert "FAIL =     2.0e-01 1.0e-12  unequal" in text
    assert "entry 1: left 2, right 2.5, ratio 0.8" in text


def test_an_entry_of_several_arrays_is_named_by_its_own_indices():
    x = np.array([[1.0, 2.0, 7.0], [3.0, 4.0, 5.0]])
    mine = {(2, 1): x, "loss": 6.0, (3, 1): 8 * np.ones(1)}
    claim = Equal("eta", mine, {name: value + 0.0 for name, value in mine.items()}, 1e-12)
    rows = both_sides.table(claim)
    assert [row.split("  ")[0] for row in rows[1:4]] == ["[0] of (3, 1)", "[0, 2] of (2, 1)",
                                                         "of loss"]
    assert rows[4].startswith("3 of 8 entries, 3 arrays; error 0.0e+00")
    for right in ({}, {"a": x}, {**mine, "loss": np.ones(2)}, x):
        with pytest.raises(ledger.VerificationError, match="arrays of the same names and shapes"):
            Equal("eta", mine, right, 1e-12)
    with pytest.raises(ledger.VerificationError, match="eta, a: both sides are the same object"):
        Equal("eta", {"a": x}, {"a": x}, 1e-12)


# -- sides -----------------------------------------------------------------------------------------

def test_tables_of_inequalities_rates_and_complex_numbers():
    lines = both_sides.table(AtMost("a", [[1.0, 5.0]], [[3.0, 5.5]]), limit=1)
    assert lines[0].split() == ["entry", "smaller", "larger", "margin"]
    assert lines[1].split() == ["[0,", "1]", "5", "5.5", "5.0e-01"], "where it is tightest"
    assert lines[2].startswith("1 of 2 entries, shape (1, 2); broken by 0.0e+00 of 5.5, allowed")
    failing = Equal("fails", [1.0, 9.0, -3.0], [1.5, 9.0, -2.0], tolerance=0.01)
    assert both_sides.table(failing)[1].startswith("[2]"), "where it fails most"
    steps = np.array([0.1, 0.05, 0.025])
    lines = both_sides.table(Rate("cubic", steps, 7 * steps**3, order=3))
    assert lines[0].split("  ")[-1] == "remainder / step^3"
    assert lines[1].split() == ["0.1", "0.007", "7"]
    assert lines[-1] == "order 3.000, expected 3 +- 0.1"
    assert "1+2j" in "".join(both_sides.table(Equal("a", [1 + 2j], [1 + 2j], 1e-9)))
    assert both_sides.table(Equal("a", 2, 2.0, 1e-9))[1].split() == ["2", "2", "0.0e+00"]


# -- folding ---------------------------------------------------------------------------------------

def test_claims_that_differ_in_their_case_only_are_one(toys):
    claims = [Equal("doubled", [float(k)], [k + 1e-9 * k**2], 1e-7, case=f"case {k}")
              for k in (1, 3, 2)]
    claims += [Counterexample(Equal("halved", [1.0], [2.0 + k], 1e-3, case=f"layer {k}"))
               for k in (0, 1)]
    claims += [Property("width", 3, 3, case="relu"), Property("width", 4, 4, case="tanh"),
               Case(x=1.0)]
    groups = folding.folded(claims)
    assert [(what, len(same)) for what, same in groups] == [
        ("doubled", 3), ("halved", 2), ("width", 1), ("width", 1)], "other widths, other claims"
    assert groups[0][1][0].case == "case 3"
    assert groups[1][1][0].case == "layer 0", "the one that fails by least"
    register("1", check=lambda rng: claims, **CONDITIONAL)
    text = ledger.show("toy", "1")
    assert "doubled (3 cases, worst: case 3)" in text and "8 claims" not in text
    assert "(2 cases, worst: layer 0)" in " ".join(text.split())
    everything = ledger.show("toy", "1", more=True)
    assert all(f"doubled (case {k})" in everything for k in (1, 2, 3))
