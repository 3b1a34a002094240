"""The judges of residual partitioning's studies, on made-up results: a clear yes, a clear no, too
few seeds, and runs that diverged; and what they measure, on networks where it is known."""

import numpy as np
import pytest

import secondorder as so
from harness import made_up
from secondorder.papers.residual_partitioning.section_3_what_is_bounded import bounded_product
from secondorder.papers.residual_partitioning.figures import (cost, figures_1_to_3, loose_bound,
                                                              promised_decrease, saddle)
from secondorder.studies import DID_NOT_HOLD, HELD, STUDIES, UNDECIDED


def judged(key, make, seeds=None):
    return made_up.judged("residual-partitioning", key, make, seeds)


def told(key, letter, make):
    """The verdicts of a claim's readings."""
    study = STUDIES.of("residual-partitioning")[key]
    found = study.judge(made_up.results(study, make), study.settings())[letter]
    return [one.verdict for one in found.readings.values()]


def check(key, *cases):
    """Made-up results, and the verdict that all claims have on them."""
    for make, verdict in cases:
        assert set(judged(key, make).values()) == {verdict}


def falling(to, gap=0.1, accuracy=0.9, records=21):
    """A made-up training: its loss falls by a straight line from 10; the validation loss lies
    above it."""
    training = np.linspace(10.0, to, records)
    return {"train": training.tolist(), "validation": (training + gap).tolist(),
            "accuracy": [accuracy] * records}


DIVERGED = {"train": [10.0], "validation": [10.0], "accuracy": [0.1], "diverged": "step 3: inf"}


def seeded(seed):
    return 1e-3 * (seed % 7)


# -- which rates -----------------------------------------------------------------------------------

def test_the_rate_is_chosen_on_seeds_of_its_own_and_the_grid_grows_at_its_end():
    study = STUDIES.of("residual-partitioning")["figure-1"]

    def make(seed, method, rate, **_):
        if method == "partitioning":  # the larger the better; 300 lies beyond the grid
            return falling(to=10 / rate)
        if method == "sgd" and rate == 0.1:  # the best, but for the judged seeds
            return falling(to=1 if seed > 100 else 9)
        return DIVERGED if rate > 0.1 else falling(to=5)

    made = made_up.results(study, make)
    for method, rate in (("partitioning", 300), ("sgd", 0.1)):
        judged = [one for one in made.arguments(data="mnist", method=method, steps=20000)]
        assert [one["seed"] for one in judged] == list(study.settings()["seeds"])
        assert {one["rate"] for one in judged} == {rate}


def test_numbers_read_off_a_curve():
    one, settings = falling(to=0.0, gap=0.5), {"every": 1000, "steps": 20000}
    assert figures_1_to_3.lowest("validation", 10000, settings)(one) == 5.5
    assert figures_1_to_3.lowest("train", 20000, settings)(DIVERGED) == np.inf
    assert figures_1_to_3.gap(settings)(one) == 0.5
    assert figures_1_to_3.validation_at(one, 7.25) == pytest.approx(7.75)
    assert figures_1_to_3.validation_at(one, 11) == 10.5


# -- the figures -----------------------------------------------------------------------------------

def better(seed, method, gaps=(0.1, 0.3), **_):
    """Residual partitioning has the lower validation loss and the higher training loss."""
    if method == "partitioning":
        return falling(to=1.2 + seeded(seed), gap=gaps[0])
    return falling(to=1.1 + seeded(seed), gap=gaps[1])


def test_figure_1():
    assert set(judged("figure-1", better).values()) == {HELD}
    assert told("figure-1", "a", better) == [HELD] * 3
    worse = judged("figure-1", lambda **run: better(gaps=(0.3, 0.1), **run))
    assert worse == {"a": DID_NOT_HOLD, "b": HELD, "c": DID_NOT_HOLD, "competitive": DID_NOT_HOLD}

    def worse_in_long_runs(steps, **run):
        return better(**run) if steps <= 20000 else better(gaps=(0.3, 0.1), **run)

    assert told("figure-1", "a", worse_in_long_runs) == [DID_NOT_HOLD, HELD, HELD]
    assert judged("figure-1", worse_in_long_runs)["a"] == DID_NOT_HOLD, "the longest decide"


def test_figure_1_at_equal_training_loss_differs_from_the_end():
    """A method that has only fitted less overfits no less at equal training loss."""
    def less_fitted(seed, method, **_):
        one = falling(to=5.0 if method == "partitioning" else 1.0)
        one["validation"] = [2 * loss ** 0.5 + seeded(seed) for loss in one["train"]]
        return one | ({"validation": [v + 0.5 for v in one["validation"]]}
                      if method == "partitioning" else {})

    assert told("figure-1", "c", less_fitted) == [HELD, DID_NOT_HOLD]


def test_figure_2():
    def worse(seed, method, **_):
        return falling(to=1.0 + seeded(seed), gap=1.0 if method == "partitioning" else 0.2)

    assert judged("figure-2", worse) == {"a": HELD, "b": HELD, "competitive": DID_NOT_HOLD}
    assert judged("figure-2", better) == {"a": DID_NOT_HOLD, "b": DID_NOT_HOLD,
                                          "competitive": HELD}
    half = judged("figure-2", lambda seed, method, data, **_: falling(
        to=(3 if method == "partitioning" and data == "mnist" else 1) + seeded(seed)))
    assert half["competitive"] == HELD, "one of two sets"


# -- the claims ------------------------------------------------------------------------------------

@pytest.mark.slow
def test_adam_holds_two_vectors_between_steps_and_residual_partitioning_none():
    for method, vectors in (("adam", 2), ("partitioning", 0)):
        assert cost.bytes_of(0, "classifier", 784, method)["held"] == pytest.approx(vectors, abs=.1)


def test_promised_decrease():
    def make(least):
        return lambda **_: {"steps": 10, "met": {name: 10 - (value < 1) for name, value in
                                                 least.items()}, "least": least}

    check("claim-promised-decrease", (make({"bounded": 1.0, "true": 1.0, "loss": 2.0}), HELD),
          (make({"bounded": 1.0, "true": 0.9, "loss": 0.5}), DID_NOT_HOLD),
          (lambda **_: {"diverged": "at once"}, UNDECIDED))


def test_a_promise_is_kept_by_what_is_bounded_and_broken_beyond_rate_two():
    kept = promised_decrease.steps_kept(1, "autoencoder", 1.9, 3)
    assert kept["met"]["bounded"] == 3 and kept["least"]["bounded"] >= 1
    assert np.isfinite(list(kept["least"].values())).all()
    for name, shares in kept["curved"].items():  # ratio = (1 - share eta / 2) / (1 - eta / 2)
        assert max(shares) == pytest.approx((1 - 0.05 * kept["least"][name]) / 0.95, rel=0.01)
        assert 0 < max(shares) < 1


def test_saddle():
    def make(exits, negative=0.0):
        return lambda method, **_: {"exit": exits[method], "negative": [0.0, negative]}

    first = {"partitioning": 20.0, "sgd": 4001, "adam": 60.0}  # SGD never leaves
    check("claim-saddle", (make(first), HELD),
          (make({**first, "partitioning": 80.0}, negative=0.1), DID_NOT_HOLD))


@pytest.mark.parametrize("last, chosen", [(300.0, 300.0), (100.0, 100.0), (30.0, 30.0)])
def test_one_rate_beyond_the_grid_is_tried_where_the_first_to_leave_stands_at_its_end(last, chosen):
    study = STUDIES.of("residual-partitioning")["claim-saddle"]

    def make(rate, method, **_):  # the larger, the sooner, up to a rate
        exits = 1000 / rate if rate <= last else 4001
        return {"exit": exits if method == "partitioning" else 50 + rate, "negative": [0.0, 0.0]}

    made = made_up.results(study, make).arguments(method="partitioning")
    assert {one["rate"] for one in made if one["seed"] == 1} == {chosen}
    tried = {one["rate"] for one in made}
    assert (300.0 in tried) == (last >= 100) and 1000.0 not in tried


def test_negative_coefficients_at_other_rates_are_told_and_decide_nothing():
    study = STUDIES.of("residual-partitioning")["claim-negative-coefficients"]

    def make(case, rate, **_):
        return {"loss": [rate], "negative": [0.0, 0.25 if rate > 100 else 0.0]}

    (found,) = study.judge(made_up.results(study, make), study.settings()).values()
    assert found.verdict == HELD and "at other rates up to 25 %" in found.because


def test_negative_coefficients_are_those_that_the_absolute_value_turns_around():
    """With the other choice, zero for negative coefficients, the curvature differs exactly where
    there are some."""
    x = np.random.default_rng(0).normal(size=(20, 6))
    loss = so.SquaredError()
    for scale, some in ((1e-9, False), (2.0, True)):
        network = so.mlp([6, 5, 6], activation="tanh", rng=1)
        network.theta = scale * network.theta
        both = [so.residual_partitioning.bound(network, loss, x, x, negative_curvature=choice)
                .curvature for choice in ("abs", "max")]
        share = saddle.negative_share(network, loss, x, x)
        assert (share > 0) == (not np.allclose(*both, rtol=1e-12, atol=0)) == some


def test_curvature_quality():
    def made(ours, adam):
        return lambda **_: {name: dict.fromkeys(("pooled", "layers", "quality"), [value] * 4)
                            for name, value in (("partitioning", ours), ("adam", adam))}

    check("claim-curvature-quality", (made(0.9, 0.5), HELD), (made(0.5, 0.9), DID_NOT_HOLD),
          (lambda **_: {"diverged": "at once"}, UNDECIDED))
    for ours, verdict in ((0.9, HELD), (0.1, DID_NOT_HOLD)):  # not finite on the other network
        lost = judged("claim-curvature-quality", lambda kind, **_: made(
            None if kind == "classifier" else ours, 0.5)())
        assert set(lost.values()) == {verdict}


def test_looseness_is_one_where_the_bound_is_tight():
    """One weight, one input, one output: nothing is shared, and the bound is what it bounds."""
    network = so.mlp([1, 1], bias=False, rng=0)
    x, y = np.array([[2.0]]), np.array([[3.0]])
    found = so.residual_partitioning.bound(network, so.SquaredError(), x, y)
    at = network.evaluate(so.SquaredError(), x, y)
    np.testing.assert_allclose(bounded_product(at, np.ones(1)), found.curvature)
    wide = loose_bound.looseness(1, "classifier", "digits", "jensen", [8, 8], [0])
    assert wide["ratios"][0] > 1
