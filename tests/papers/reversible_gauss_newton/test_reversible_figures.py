"""What the judges of the reversible paper's figures read off made-up results, beyond a clear yes
and a clear no: see ``test_reversible_claims``."""

import numpy as np
import pytest

from harness.made_up import verdicts
from harness.reversible_trainings import (CLEAR, LAZY, LOST, at_rates, flat, forms,
                                          judged, lost_where, moving, regressions, run,
                                          slow, turned)
from secondorder.papers.reversible_gauss_newton.figures import (compared, figure_15,
                                                                figures_1_to_4)
from secondorder.papers.reversible_gauss_newton.figures.figures_1_to_4 import saturation_of
from secondorder.papers.reversible_gauss_newton.figures.figures_5_to_9 import correlation
from secondorder.papers.reversible_gauss_newton.figures.figures_10_to_14 import Figure11, between
from secondorder.papers.reversible_gauss_newton.figures.training import weighted
from secondorder.studies import DID_NOT_HOLD, HELD, UNDECIDED

# -- rates -----------------------------------------------------------------------------------------


def test_rules_for_a_rate():
    bold = {"loss": [1.0, 1.2, 1.1, 1.0]}       # best at first, but unstable
    good, late = {"loss": [1.2, 1.1, 1.1, 1.1]}, {"loss": [1.5, 1.2, 1.0, 0.1]}
    nan = {"loss": [0.5]} | LOST
    assert compared.early([late, bold, good, nan]) == 2
    assert compared.late([late, bold, good, nan]) == 0
    assert compared.early([bold, nan]) == 0
    high = {"loss": [1.0, 2.1, 0.1]}  # one batch: above twice the start
    assert figures_1_to_4.boldest([late, good, bold, high, nan]) == 2
    assert figures_1_to_4.lowest([good, late, nan]) == 1


# -- one batch -------------------------------------------------------------------------------------


def test_figure_1_of_a_method_that_diverged():
    lost = judged("figure-1", lost_where("gn", lambda **a: run(flat, 15, seed=a["seed"])))
    assert lost["a-mnist"] == lost["b-mnist"] == UNDECIDED


@pytest.mark.parametrize("losses, steps", [([2.3, 0.05], 1), ([2.3, 0.5, 0.099], 2), ([0.05], 0),
                                           ([2.3, 0.1], 1), ([2.3, 0.5, 0.4], 4)])
def test_steps_to_a_loss_are_whole(losses, steps):
    assert compared.reached({"loss": losses}, 0.1) == steps


@pytest.mark.parametrize("loss, verdict", [
    (lambda t: 0.3 * np.exp(-0.05 * t), HELD),
    (lambda t: 0.9 / (t + 30), DID_NOT_HOLD),                       # t x loss rises all the way
    (lambda t: 0.9 / (t + 30) * (1 + 0.2 * np.sin(t)), UNDECIDED),  # as far from one as from both
])
def test_the_law_of_a_fall_is_the_clearly_better_fit(loss, verdict):
    def make(method, seed, epochs, **_):
        return run(loss if method == "gn" else slow, epochs, seed=seed)

    assert judged("figure-1", make)["b-mnist"] == verdict


def test_what_a_straight_line_leaves_unexplained():
    """1 - R^2 is 1 - r^2 with r the correlation, for one regressor."""
    t, values = np.arange(20), np.random.default_rng(0).normal(size=20)
    correlation = np.corrcoef(t, values)[0, 1]
    assert figures_1_to_4.unexplained(t, values) == pytest.approx(1 - correlation**2)


# -- mini-batches ----------------------------------------------------------------------------------


def test_a_verdict_that_a_run_that_diverged_may_change_is_undecided():
    found = judged("figure-2", lost_where("gn", CLEAR["figure-2"][0]))
    assert found["a-cifar"] == found["f-cifar"] == UNDECIDED


@pytest.mark.parametrize("key, letter", [("figure-4", "a"), ("figure-10", "c")])
def test_every_method_has_its_own_claim_on_similarity(key, letter):
    """SGD leaves its start, in one block; the claims of the others stand."""
    cka = {"gn": [0.96] * 6, "sgd": [0.96, 0.96, 0.8, 0.96, 0.96, 0.96], "adam": [0.5] * 6}
    found = judged(key, moving(LAZY | {"sgd": 0.8}, cka))
    assert (found[f"{letter}-sgd"], found[f"{letter}-gn"], found[f"{letter}-adam"]) == (
        DID_NOT_HOLD, HELD, HELD)


def test_packed_gram_matrices_give_the_same_cka_and_are_packed_once():
    """To half a hundredth, for matrices of 60 images as the study has them."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 4)) + 0.7 * rng.normal(size=(30, 60, 4))
    grams = [weighted(one @ one.T / np.linalg.norm(one @ one.T)) for one in features]
    packed = [Figure11.packed({"loss": [1.0], "grams": [gram.tolist()], "looks": []}, {})
              for gram in grams]
    assert set(packed[0]) == {"loss", "grams"}
    for k, gram in enumerate(grams):
        assert Figure11.packed(packed[k], {}) == packed[k]
        true = gram @ grams[0] / np.linalg.norm(gram) / np.linalg.norm(grams[0])
        told = between(*({"grams": one["grams"] * 6} for one in (packed[k], packed[0])))
        assert told == pytest.approx(np.full(6, true), abs=0.005)
        assert k == 0 or told[0] < 0.95, "no two are the same"


@pytest.mark.parametrize("saturated, verdict", [(1, DID_NOT_HOLD), (2, UNDECIDED), (7, UNDECIDED),
                                                (8, HELD)])
def test_a_lost_run_hinders_no_verdict_that_it_cannot_change(saturated, verdict):
    runs = [run(flat, 100, seed=k) if k < saturated else run(slow, 100, seed=k) for k in range(9)]
    found = saturation_of({"gn": [*runs, run(flat, 100) | LOST]}, ("gn",), ())
    assert found.verdict == verdict


def test_figure_6_reads_a_run_that_diverged_as_far_as_it_went():
    yes, _ = CLEAR["figure-6"]
    late = judged("figure-6", lost_where("gn", yes))
    assert (late["a"], late["b"]) == (HELD, HELD)  # it rose, and it had the time to gain

    def early(epochs, **arguments):  # too soon for a gain after an eighth of the epochs
        found = yes(epochs=epochs, **arguments)
        return found | LOST | {"loss": found["loss"][:epochs // 4 - 1]} if (
            arguments["method"] == "gn") else found

    found = judged("figure-6", early)
    assert (found["a"], found["b"]) == (UNDECIDED, HELD)


def test_ends_that_diverged_are_the_highest_of_a_correlation():
    assert correlation([5, 4, np.inf]) == pytest.approx(0.5)


def test_figure_9_asks_for_half_of_a_turn():
    near = turned({"gn": 0.9, "adam": 0.925, "sgd": 0.95}, {"gn": 9.0, "adam": 8.0, "sgd": 1.0})
    assert judged("figure-9", near)["b-xavier"] == DID_NOT_HOLD, "two thirds is not half"


def test_figure_12_at_single_rates():
    found = judged("figure-12", at_rates(1.8, 1.5, goes_on=(2.0,)))
    assert found["d"] == HELD  # above the rate of the paper's rule

    def lost(rates):
        def make(method, rate, **rest):
            one = at_rates(1.8, 1.5)(method=method, rate=rate, **rest)
            return one | LOST if method == "gn" and rate in rates else one
        return make

    assert verdicts(judged("figure-12", lost((2.0, 4.0)))) == {HELD}
    assert judged("figure-12", lost((0.1,)))["d"] == UNDECIDED


def test_figure_14_of_damping_that_gains_much_and_of_adam_lost():
    far = {"truncate": 1.80, "damp": 1.5, "tikhonov": 1.78, "noise": 1.9}
    assert judged("figure-14", forms(far))["a"] == DID_NOT_HOLD
    assert judged("figure-14", lost_where("adam", CLEAR["figure-14"][0]))["c"] == UNDECIDED


def test_figure_15_of_a_method_that_diverged():
    assert verdicts(judged("figure-15", lost_where("gn", regressions(False)))) == {UNDECIDED}

    def early(epochs, **rest):
        return regressions(True)(epochs=3 if rest["method"] == "gn" else epochs, **rest) | (
            LOST if rest["method"] == "gn" else {})

    assert judged("figure-15", early)["a"] == UNDECIDED


@pytest.mark.parametrize("method", ["gn", "adam", "sgd"])
def test_a_regression_falls(method):
    rate = {"gn": 0.1, "adam": 1e-3, "sgd": 0.03}[method]
    one = figure_15.regress(1, method, rate, 4, 32, 64)
    assert one["loss"][-1] < one["loss"][0] and len(one["test"]) == 4
    full = figure_15.regress(1, method, rate, 4, 32, 64, samples=32)
    assert np.all(np.diff(full["loss"]) < 0)
    assert "diverged" in figure_15.regress(1, "sgd", 1e9, 4, 32, 64)
