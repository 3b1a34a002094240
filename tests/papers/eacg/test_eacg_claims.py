"""The judges of EA-CG's tables and claims, on made-up results: yes, no, too few seeds."""

import pytest

from harness.eacg_trainings import falling, flat, judged
from secondorder.papers.eacg.figures import error_tables, memory
from secondorder.studies import DID_NOT_HOLD, HELD, UNDECIDED


def test_table_1():
    def make(method=None, fast=True, **_):
        if method:
            times = {"sgd": (1.0, 5.0), "gradient": (1.5, 4.0), "fisher ea-cg": (2.0, 1.0),
                     "ea-cg": (4.0, 2.0), "kfi": (5.0, 3.0)}
            return {"seconds": times[method][0 if fast else 1]}
        return {"kfi_over_ea_cg": {"20": 1.5 if fast else 100.0, "50": 1.0},
                "extra": {"sgd": 0, "fisher ea-cg": 1, "ea-cg": 2, "kfi": 3}}

    assert set(judged("table-1", make).values()) == {HELD}
    assert set(judged("table-1", lambda **told: make(fast=False, **told)).values()) == {
        DID_NOT_HOLD}


@pytest.mark.parametrize("key", ["table-2", "table-3", "table-4", "table-5"])
def test_tables_of_errors(key):
    better = "pch-2" if key in ("table-2", "table-3") else "pch-1"

    def make(seed, criterion, good=True, **_):
        one = 1 + 1e-3 * seed
        made = {"fisher": [2 * one, 3.0, 3.0], "pch-1": [1.0 * one, 2.0, 0.0],
                "pch-2": [1.0 * one, 2.0, 0.0], "norm": [4.0, 4.0, 4.0]}
        made[better] = [0.5 * one, 1.5 * one, 0.0]
        if criterion == "cross-entropy":
            made["gauss-newton"] = [4.0 * one, 5.0, 0.0]
        if not good:
            made |= {"fisher": [0.1 * one] * 3, "pch-1": [2.0 * one, 1.0, 0.1],
                     "pch-2": [2.0 * one, 1.0, 0.1], better: [3.0 * one, 1.5, 0.1]}
        return made

    assert set(judged(key, make).values()) == {HELD}
    assert set(judged(key, lambda **told: make(good=False, **told)).values()) == {DID_NOT_HOLD}
    few = judged(key, make, seeds=2)  # along two trajectories each, which are not four seeds
    assert few["a"] == few["b"] == few["d"] == UNDECIDED


def test_errors_that_grow_as_printed_may_fall_beside_the_true_block():
    def make(seed, **_):
        one = 1 + 1e-3 * seed
        up = [one, 2.0, 0.0]
        return {"fisher": up, "gauss-newton": up, "pch-1": up, "pch-2": up, "norm": [1.0, 8.0, 4.0]}

    found = judged("table-2", make)
    assert (found["b"], found["b-relative"]) == (HELD, DID_NOT_HOLD)


def test_an_error_in_the_middle_and_one_of_another_curvature_count():
    def make(seed, **_):
        one = 1 + 1e-3 * seed
        up = [one, 1.5, 2.0, 0.0]
        return {"fisher": up, "gauss-newton": up, "pch-1": up, "pch-2": up, "norm": [4.0] * 4}

    def middle(seed, **_):
        return make(seed) | {"pch-1": [1.0, 2.5 + 1e-3 * seed, 2.0, 0.0]}

    def other(seed, **_):
        return make(seed) | {"fisher": [2.5 + 1e-3 * seed, 1.0, 2.0, 0.0]}

    assert judged("table-2", make)["b"] == HELD
    assert judged("table-2", middle)["b"] == judged("table-2", other)["b"] == DID_NOT_HOLD
    assert error_tables.in_print(5).endswith("layer 7 in layers 2 to 6")


def test_plateau():
    assert set(judged("claim-plateau", lambda updates, **_: {"update": 100}).values()) == {HELD}
    never = judged("claim-plateau", lambda updates, **_: {"update": updates + 1})
    assert set(never.values()) == {DID_NOT_HOLD}
    few = judged("claim-plateau", lambda updates, **_: {"update": 100}, seeds=2)
    assert set(few.values()) == {UNDECIDED}


def test_sgd_and_its_free_rates():
    def make(seed, method, rate, **_):
        if method == "ea-cg":
            return falling(seed, to=0.1)
        free = rate >= 0.5
        return falling(seed, to=0.01 if free else 0.5, accuracy=0.6 if free else 0.5)

    assert judged("claim-sgd", make) == {"loss": HELD, "accuracy": HELD,
                                         "loss-timed": HELD, "tests-timed": HELD}
    assert set(judged("claim-sgd", make, seeds=2).values()) == {UNDECIDED}

    def on_the_plateau(seed, method, **_):
        return flat(seed) if method == "sgd" else falling(seed)

    assert set(judged("claim-sgd", on_the_plateau).values()) == {UNDECIDED}


def test_sgd_is_trained_on_to_the_seconds_of_ea_cg():
    """A third of EA-CG's seconds an epoch: behind 40 epochs SGD is above EA-CG, behind 120 below.
    """
    def make(seed, method, epochs=40, **_):
        if method == "ea-cg":
            return falling(seed, to=0.1, accuracy=0.5, speed=3.0)
        if epochs <= 40:
            return falling(seed, to=0.5, accuracy=0.45)
        return falling(seed, to=0.01, accuracy=0.6) | {"updates": 300}  # 41 looks as well

    assert judged("claim-sgd", make) == {
        "loss": HELD, "accuracy": HELD, "loss-timed": DID_NOT_HOLD,
        "tests-timed": DID_NOT_HOLD}


@pytest.mark.parametrize("loss, accuracy, verdict", [(0.1 / 1.08, 0.515, HELD),
                                                     (0.1 / 1.13, 0.525, DID_NOT_HOLD)])
def test_a_little_behind_sgd_is_competitive(loss, accuracy, verdict):
    """A loss at most 1.1 times SGD's, an accuracy at most 2 points below; at equal seconds too."""
    def make(seed, method, **_):
        return falling(seed) if method == "ea-cg" else falling(seed, to=loss, accuracy=accuracy)

    assert set(judged("claim-sgd", make).values()) == {verdict}


def test_grid_of_conjugate_gradients():
    assert judged("claim-cg-grid", lambda seed, **_: {"loss": 1 + 1e-3 * seed}) == {"a": HELD}
    found = judged("claim-cg-grid", lambda seed, tolerance, **_: {
        "loss": (2.0 if tolerance == 0.1 else 1.0) + 1e-3 * seed})
    assert found == {"a": DID_NOT_HOLD}


def test_memory():
    def make(factor):
        return lambda method, **_: {"peak": 1e9 * (factor if method == "ea-cg" else 1),
                                    "parameters": 1e9}

    assert set(judged("claim-memory", make(1.2)).values()) == {HELD}
    twice = judged("claim-memory", make(2.0))
    assert (twice["ea-cg"], twice["beyond"]) == (DID_NOT_HOLD, HELD)
    assert judged("claim-memory", make(10.0))["beyond"] == HELD, "9 GB, a tenth is 9.06"
    assert judged("claim-memory", make(10.2))["beyond"] == DID_NOT_HOLD
    sgd = memory.peak_of("sgd", [500, 8, 10], 5)
    assert sgd["peak"] >= 2 * sgd["parameters"] > 0


def test_covariance():
    def of(*shares):
        return judged("claim-covariance", lambda **_: {"shares": [list(shares)]})["a"]

    assert of(0.01, 0.02, 0.03) == HELD and of(0.01, 0.2, 0.5) == DID_NOT_HOLD
    assert of(0.01, 0.02, 0.5) == UNDECIDED, "the worst layer is not tiny, the median one is"
    assert judged("claim-covariance", lambda **_: {"diverged": "x"}) == {"a": DID_NOT_HOLD}


@pytest.mark.parametrize("ratio, verdict", [(1.05, HELD), (0.6, DID_NOT_HOLD)])
def test_covariance_of_the_inputs(ratio, verdict):
    def make(seed, method, **_):
        return falling(seed, to=0.1 * (ratio if method == "cg" else 1))

    assert judged("claim-covariance-kept", make) == {"training": verdict}
