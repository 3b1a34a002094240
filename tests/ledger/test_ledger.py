"""The machinery of executable equations: what it accepts, what it refuses, what it reports."""

import json

import numpy as np
import pytest

from secondorder import ledger
from secondorder.ledger import (AtMost, Case, Counterexample, Equal, Printed, PrintedShape,
                                Property, Rate,
                                VerificationError, equation, registry)


def double(x):
    """Toy implementation: twice its argument."""
    return 2 * x


class Doubler:
    """Toy implementation as a class."""

    def apply(self, x):
        return 2 * x

    @property
    def factor(self):
        return 2


@pytest.fixture
def toys(monkeypatch):
    """An empty registry of two toy papers; the real one is back after the test."""
    monkeypatch.setattr(registry, "REGISTRY", registry.Registry({"toy": None, "other-toy": None}))


def register(*labels, check=None, paper="toy", **changes):
    """Register a toy check; keyword arguments override a complete, valid registration."""
    fields = dict(statement="Doubling adds a number to itself.", formula=r"d(x) = x + x",
                  kind="identity",
                  verdict="holds", implements=(double,))
    return equation(paper, *(labels or ("1",)), **{**fields, **changes})(check or good)


def good(rng):
    x = rng.standard_normal(4)
    return [Equal("doubling against adding", double(x), x + x, tolerance=1e-14),
            Case(x=x, factor=2.0)]


def run_one(claims, **changes):
    register(check=lambda rng: claims, **changes)
    return ledger.run("toy", "1")[0]


EQUAL = Equal("equal", [1.0, 2.0], [1.0, 2.0], tolerance=1e-12)
UNEQUAL = Equal("unequal", [1.0, 2.0], [1.0, 2.5], tolerance=1e-12)
CONDITIONAL = dict(verdict="conditional", condition="x is positive")
ERRATUM = dict(verdict="erratum", corrected="d(x) = 2 x", weight="misprint")


# -- claims ----------------------------------------------------------------------------------------

SHARED = np.arange(6.0)


@pytest.mark.parametrize("left, right, options, expected", [
    ([], [], {}, "empty"),
    (np.ones((2, 3)), np.ones((3, 2)), {}, r"shapes differ.*\(2, 3\).*\(3, 2\)"),
    ([1.0, np.nan], [1.0, 2.0], {}, "left side has 1 non-finite of 2"),
    (SHARED, SHARED, {}, "same object"),
    (SHARED[1:], SHARED[:-1], {}, "share memory"),
    ([1.0], [1.0], {"tolerance": 0.0}, "tolerance must be"),
    ([1.0], [1.0], {"tolerance": 1.0}, "met by almost anything"),
    ([0.0, 0.0], [0.0, 0.0], {}, "name the scale"),
    (["a"], ["a"], {}, "not numeric"),
])
def test_equal_refuses(left, right, options, expected):
    with pytest.raises(VerificationError, match=expected):
        Equal("a", left, right, **{"tolerance": 1e-9, **options})


def test_equal_accepts_zero_sides_with_a_scale_and_interleaved_views():
    assert Equal("cancels", [0.0], [0.0], tolerance=1e-9, scale=3.0).ok
    assert not Equal("does not cancel", [1e-8], [0.0], tolerance=1e-9, scale=3.0).ok
    data = np.array([1.0, 1.0, 2.0, 2.0])
    assert Equal("interleaved, nothing shared", data[::2], data[1::2], tolerance=1e-9).ok
    assert Equal("equal integers", 3, 3, tolerance=1e-9).ok


@pytest.mark.parametrize("smaller, larger, expected", [
    ([1j], [2.0], "real sides"), (SHARED, SHARED, "same object")])
def test_at_most_refuses(smaller, larger, expected):
    with pytest.raises(VerificationError, match=expected):
        AtMost("a", smaller, larger)


@pytest.mark.parametrize("steps, remainders, expected", [
    ([0.1, 0.05], [1.0, 0.5], "three or more"), ([0.1, 0.05, 0.02], [1.0, 0.0, 0.5], "> 0"),
    ([0.1, 0.09, 0.08], [1.0, 0.9, 0.8], "factor of two")])
def test_rate_refuses(steps, remainders, expected):
    with pytest.raises(VerificationError, match=expected):
        Rate("a", steps, remainders, order=2)


def test_property_is_one_fact():
    assert Property("yes", np.bool_(True)).ok and not Property("no", False).ok
    assert Property("shape", (5, 3), (5, 3)).ok and not Property("shape", (5, 3), (3, 5)).ok
    assert Property("entries", np.array([1, 2]),
                    [1, 2]).ok and not Property("entries", np.array([1, 2]), [2, 1]).ok
    with pytest.raises(VerificationError, match="one fact"):
        Property("all at once", np.array([True, True]))


STEPS = np.array([0.1, 0.05, 0.025, 0.0125])


@pytest.mark.parametrize("claimed", [1, 2, 3, 4])
@pytest.mark.parametrize("true", [1, 2, 3, 4])
def test_an_order_too_high_fails_as_one_too_low(true, claimed):
    """A remainder that falls faster than is claimed refutes the claim too: the formula is another
    one."""
    claim = Rate("remainders", STEPS, 3 * STEPS**true, order=claimed, tolerance=0.05)
    assert claim.ok == (true == claimed)
    assert claim.error == pytest.approx(abs(true - claimed), abs=1e-9)
    assert claim.fitted_order == pytest.approx(true)
    assert Counterexample(claim).ok == (true != claimed)


def test_an_error_counts_in_either_direction_and_relative_to_the_larger_side():
    for left, right in (([1.0, 2.0], [1.0, 4.0]), ([1.0, 4.0], [1.0, 2.0])):
        assert Equal("a", left, right, 0.1).error == pytest.approx(0.5)
    for left, right in (([-4.0, 1.0], [-2.0, 1.0]), ([-2.0, 1.0], [-4.0, 1.0])):
        assert Equal("a", left, right, 0.1).error == pytest.approx(0.5)
    assert Equal("a", [1.0], [3.0], 0.1, scale=[0.5, -8.0]).error == pytest.approx(0.25)
    assert Equal("complex", [1 + 1j], [1 - 1j], 0.1).error == pytest.approx(np.sqrt(2))


def test_an_inequality_is_broken_by_its_worst_entry():
    broken = AtMost("a", [1.0, 5.0, 2.0], [4.0, 4.0, 8.0])
    assert broken.error == pytest.approx(1 / 8) and not broken.ok
    met = AtMost("a", [1.0, 3.0, 2.0], [4.0, 4.0, 8.0])
    assert met.ok and met.error == 0


def test_a_clear_failure_misses_by_a_factor_of_ten():
    for off, clear in ((0.99, False), (1.01, True)):
        claim = Equal("a", [1.0, 0.0], [1.0, 10 * off * 0.01], 0.01)
        assert not claim.ok and claim.fails_clearly == clear
        assert Counterexample(claim).ok == Printed(claim).ok == clear


# -- the registry ----------------------------------------------------------------------------------

@pytest.mark.parametrize("changes, expected", [
    ({"paper": "toi"}, "unknown paper 'toi': did you mean 'toy'"),
    ({"kind": "identities"}, "unknown kind 'identities': did you mean 'identity'"),
    ({"statement": " "}, "statement must be a non-empty text"),
    ({"implements": ()}, "implements must name"),
    ({"implements": ("double",)}, "takes named functions"),
    ({"implements": (lambda x: x,)}, "takes named functions"),
    ({"verdict": "erratum"}, "corrected is required for erratum"),
    ({"corrected": "x"}, "corrected is required for erratum"),
    (ERRATUM | {"formula": "d(x) = 2 x"}, "corrected must differ from formula"),
    ({"verdict": "conditional"}, "condition is required for conditional"),
    ({"condition": "x > 0"}, "condition is required for conditional"),
    (dict(verdict="erratum", corrected="x"), "corrected form and its weight, .* go together"),
    ({"unnumbered": ("2",)}, "unnumbered names labels of this check, got"),
])
def test_registration_refuses(toys, changes, expected):
    with pytest.raises(VerificationError, match=expected):
        register("1", **changes)
    with pytest.raises(ValueError, match="no executable equations"):
        ledger.run("toy")


def test_duplicate_labels_are_refused_and_leave_no_trace(toys):
    register("8a", "8b")
    with pytest.raises(VerificationError, match="'Theorem 1' is already registered"):
        register("theorem-1", "Theorem 1")
    with pytest.raises(VerificationError, match="'8b' is already registered by .*good"):
        register("9", "8b")
    assert registry.REGISTRY.labels("toy") == ("8a", "8b")
    register("8a", paper="other-toy")


# -- rules for the verdicts ------------------------------------------------------------------------

@pytest.mark.parametrize("claims, changes", [
    ([EQUAL], {}),
    ([AtMost("a", [1.0], [2.0])], {}),
    ([EQUAL, Counterexample(UNEQUAL)], CONDITIONAL),
    ([EQUAL, Counterexample(UNEQUAL), Printed(UNEQUAL)],
     {**CONDITIONAL, "corrected": "d(x) = 2 x", "weight": "misprint"}),
    ([EQUAL, Printed(UNEQUAL)], ERRATUM),
    ([EQUAL, PrintedShape("a", (1,), (2,))], ERRATUM),
    ([Property("a", True)], {"verdict": "definition"}),
])
def test_rules_accept(toys, claims, changes):
    result = run_one(claims, **changes)
    assert result.ok and result.message is None


@pytest.mark.parametrize("claims, changes, expected", [
    ([Property("a", True)], {}, "needs at least one Equal"),
    ([EQUAL, Printed(UNEQUAL)], {}, "form as printed, Printed or PrintedShape, go together"),
    ([EQUAL, Counterexample(UNEQUAL)], {}, "may not carry"),
    ([Case(x=1.0)], {"verdict": "definition"}, "needs at least one Equal"),
    ([EQUAL], CONDITIONAL, "needs a Counterexample"),
    ([Counterexample(UNEQUAL)], CONDITIONAL, "needs at least one Equal"),
    ([EQUAL], ERRATUM, "go together"),
    ([Printed(UNEQUAL)], ERRATUM, "needs at least one Equal"),
    ([EQUAL, Counterexample(UNEQUAL)], {**CONDITIONAL, "corrected": "2 x", "weight": "substance"},
     "go together"),
    ([EQUAL, Counterexample(UNEQUAL), Printed(UNEQUAL)], CONDITIONAL, "go together"),
    ([UNEQUAL], {}, "unequal: error 2.0e-01"),
    ([EQUAL, Property("odd", False)], {}, "odd: False, expected True"),
    ([EQUAL, Printed(EQUAL)], ERRATUM, "as printed, must fail"),
    ([EQUAL, PrintedShape("a", (1,), (1,))], ERRATUM, "must not conform"),
    ([EQUAL, Counterexample(EQUAL)], CONDITIONAL, "outside the condition, must fail"),
    ([], {}, "returns a list of claims"),
    ([EQUAL, True], {}, "returns a list of claims, got bool"),
    ([EQUAL], {"verdict": "unchecked"}, "say which verdict it has instead of 'unchecked'"),
])
def test_rules_refuse(toys, claims, changes, expected):
    result = run_one(claims, **changes)
    assert not result.ok and expected in result.message


# -- running ---------------------------------------------------------------------------------------

def test_raising_check_is_reported_and_stops_nothing(toys):
    def broken(rng):
        raise KeyError("no such array")

    register("1", check=broken)
    register("2")
    first, second = ledger.run("toy")
    assert not first.ok and first.message.startswith("KeyError: 'no such array' (test_ledger.py, "
                                                     "line ")
    assert first.error is None and second.ok


def draws(seed, label="1"):
    return ledger.run("toy", label, seed)[0].claims[0].left


def test_seeds_are_reproducible_and_differ(toys):
    register("1")
    register("2")
    alone = draws(3)
    np.testing.assert_array_equal(alone, draws(3))
    np.testing.assert_array_equal(alone, ledger.run("toy", seed=3)[0].claims[0].left)
    assert not np.allclose(alone, draws(4))
    assert not np.allclose(alone, draws(3, "2"))


def test_unknown_names_come_with_the_close_match(toys):
    register("theorem-1")
    with pytest.raises(ValueError,
                       match=r"^unknown paper 'tpy': did you mean 'toy'\? choose from toy; your"):
        ledger.run("tpy")
    with pytest.raises(ValueError,
                       match="paper 'toy' has no label 'theorem-2': did you mean 'theorem-1'"):
        ledger.run("toy", "theorem-2")
    with pytest.raises(ValueError, match="no paper has a label 'xyz'"):
        ledger.run(label="xyz")
    with pytest.raises(ValueError, match="'other-toy' has no executable equations"):
        ledger.run("other-toy")


KEYS = ["paper", "labels", "statement", "kind", "verdict", "weight", "condition", "where", "ours",
        "unnumbered", "ok", "error", "tolerance", "printed_error", "printed_failure", "implements",
        "seconds"]


def test_to_dict_is_plain_json(toys):
    register("1")
    register("2", check=lambda rng: [EQUAL, Printed(UNEQUAL), PrintedShape("a", (1,), (2,))],
             **ERRATUM)
    register("3", check=lambda rng: [Equal("overflows", [1e300], [-1e300], tolerance=0.5,
                                           scale=1e-300)])
    good_one, erratum, failing = [result.to_dict() for result in ledger.run("toy")]
    assert list(good_one) == KEYS and list(erratum) == KEYS and list(failing) == [*KEYS, "message"]
    assert good_one["labels"] == ["1"] and good_one["ok"] is True
    assert good_one["printed_error"] is None
    assert good_one["implements"] == [__name__ + ".double"]
    assert erratum["printed_error"] > 0 and erratum["printed_failure"] == "shape"
    assert failing["ok"] is False and failing["error"] is None
    text = json.dumps([good_one, erratum, failing], allow_nan=False)
    assert json.loads(text)[0] == good_one
