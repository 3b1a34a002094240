"""The judges of EA-CG's figures, on made-up trainings: a clear yes, a clear no, too few seeds, runs
that diverged or never left the plateau; how rates are chosen and seconds are compared."""


import numpy as np
import pytest

import secondorder as so
from harness import made_up
from harness.eacg_trainings import LOST, as_printed, contrary, falling, flat, judged, timed_too
from secondorder.papers.eacg.figures import clock, networks, training
from secondorder.papers.eacg.figures.figures_1_to_12 import fall
from secondorder.papers.eacg.figures.trainings import Trainings
from secondorder.studies import DID_NOT_HOLD, HELD, STUDIES, UNDECIDED, Verdict


def without_pch(found):
    """The verdicts but those on PCH-1 against Gauss-Newton, which have a test of their own."""
    return {verdict for letter, verdict in found.items() if not letter.startswith("pch")}


@pytest.mark.slow
def test_figures_1_and_3():
    assert without_pch(judged("figure-1", as_printed)) == {HELD}
    assert set(judged("figure-3", as_printed).values()) == {HELD}
    assert without_pch(judged("figure-1", contrary)) == {DID_NOT_HOLD}
    found = judged("figure-3", contrary)
    assert found == {"a": DID_NOT_HOLD}
    assert set(judged("figure-1", as_printed, seeds=2).values()) == {UNDECIDED}


@pytest.mark.parametrize("key", ["figure-1", "figure-2", "figure-7", "figure-8", "figure-9"])
def test_runs_on_the_plateau_have_no_say(key):
    assert set(judged(key, flat).values()) == {UNDECIDED}


def test_a_comparison_with_a_run_that_diverged_is_undecided():
    def lost(seed, method, **told):
        return LOST if method == "kfi" and seed == 2 else as_printed(seed, method, **told)

    found = judged("figure-1", lost)
    assert {found[letter] for letter in "abde"} == {UNDECIDED}
    assert found["c-loss"] == found["c-accuracy"] == HELD, "KFI has no part in these"


def test_a_claim_that_one_selection_holds_and_the_other_refutes_is_undecided():
    """Rate .1 has the lower loss and the worse accuracy in the trials, and so differs later."""
    def make(seed, method, rate, **_):
        ours = method == "ea-cg"
        if rate == 0.1:
            return falling(seed, to=0.05, accuracy=0.3 if ours else 0.4)
        return falling(seed, to=0.1, accuracy=0.6 if ours else 0.5)

    assert judged("figure-1", make)["b"] == UNDECIDED


def test_figures_2_and_4():
    def make(seed, method, **_):
        if method == "kfi-rank-one":
            return falling(seed, to=0.05, accuracy=0.4, early=0.42)
        return falling(seed, to=0.1)

    assert set(judged("figure-2", make).values()) == {HELD}

    def other(seed, method, **_):
        if method == "kfi-rank-one":
            return falling(seed, to=0.2, speed=2.0, early=0.48)
        return falling(seed, to=0.1, speed=3.0 if method == "ea-cg" else 1.0)

    assert set(judged("figure-2", other).values()) == {DID_NOT_HOLD}


def test_a_fall_is_of_means_and_not_of_the_best_look():
    noisy = {"accuracy": [0.4] * 10 + [0.5] * 6 + [0.4] * 10 + [0.9] + [0.4] * 14}
    assert fall(noisy) == pytest.approx(0.1)
    assert fall({"accuracy": [0.1, 0.2, 0.3]}) == pytest.approx(0.0)  # a training of two epochs
    assert np.isnan(fall(LOST))


def test_figures_5_to_8():
    def make(seed, method, curvature, **_):
        if method == "ea-cg":
            return falling(seed, to=0.05 if curvature == "fisher" else 0.06, accuracy=0.5,
                           speed=0.1)
        kfi = 0.055 if curvature == "fisher" else 0.061
        return falling(seed, to=kfi if method != "sgd" else 0.5, accuracy=0.4)

    assert set(judged("figure-5", make).values()) == {HELD}
    assert judged("figure-7", make) == {"a": HELD}
    assert judged("figure-6", make) == {"a": HELD, "b": DID_NOT_HOLD}
    assert judged("figure-8", make) == {"c": DID_NOT_HOLD}
    assert judged("figure-6", contrary)["a"] == DID_NOT_HOLD
    near = judged("figure-6", lambda seed, method, **_: falling(
        seed, accuracy=0.5 + 0.005 * (method == "ea-cg")))
    assert near["b"] == HELD


def test_figures_9_to_12():
    for key in ("figure-9", "figure-10", "figure-11", "figure-12"):
        assert set(judged(key, lambda seed, curvature, **_: falling(
            seed, to=0.1 if curvature == "pch-1" else 0.102)).values()) == {HELD}
        assert set(judged(key, lambda seed, curvature, **_: falling(
            seed, to=0.1 if curvature == "pch-1" else 0.2,
            accuracy=0.5 if curvature == "pch-1" else 0.4)).values()) == {DID_NOT_HOLD}


def test_pch_against_gauss_newton():
    def make(seed, curvature, **_):
        return falling(seed, to=0.2 if curvature == "gauss-newton" else 0.1)

    found = judged("figure-1", make)
    assert found["pch-ea-cg"] == found["pch-kfi"] == HELD


@pytest.mark.parametrize("wanted, asked", [
    ({(0.4, 0.01)}, (0.4, 0.01)), ({(0.2, 0.005)}, (0.2, 0.005)), (set(), (0.2, 0.01)),
    ({(0.2, 0.02)}, (0.2, 0.02)), ({(0.1, 0.01)}, (0.1, 0.01))])
def test_a_choice_of_the_corner_asks_for_one_step_beyond_it(wanted, asked):
    """The largest rate with the smallest alpha is the best of the grid, but for `wanted`."""
    def make(seed, method, rate, alpha, batch, **_):
        loss = 0.05 if (rate, alpha) in wanted else 0.1 if (rate, alpha) == (0.2, 0.01) else 0.2
        loss *= 1 + 0.1 * (batch == 500) + 0.2 * (rate == 0.1)
        return falling(seed, to=loss, accuracy=0.9 - loss)

    study = STUDIES.of("ea-cg")["figure-5"]
    settings, results = study.settings(), made_up.results(study, timed_too(make))
    found = Trainings("bounded", settings, results).chosen(("ea-cg", "pch-1"))
    assert {point[:2] for point in found.values()} == {asked}
    tried = {(one["rate"], one["alpha"]) for one in results.arguments(
        method="ea-cg", curvature="pch-1", hold_out=True)}
    beyond = {(0.4, 0.01), (0.2, 0.005)}
    assert beyond & tried == (set() if asked[1] == 0.02 or asked[0] == 0.1 else beyond)
    assert not {one["rate"] for one in results.arguments(method="sgd")} - {0.1, 0.2}


def curve(losses, update):
    return {"loss": losses, "seconds": [update * k for k in range(len(losses))]}


def test_who_is_first_at_a_loss():
    slow, quick = curve([4.0, 2.0, 1.0], 3.0), curve([4.0, 1.0], 2.0)
    assert clock.ahead(quick, slow, 1.0) == pytest.approx(np.log(6.0 / 2.0))
    assert clock.ahead(slow, quick, 2.0) == pytest.approx(np.log(1.0 / 3.0))  # half of a log scale
    stays = curve([4.0, 3.9], 9.0)
    assert clock.ahead(quick, stays, 1.0) == pytest.approx(np.log(9.0 / 2.0))  # 9 at the least
    assert clock.ahead(stays, quick, 1.0) == pytest.approx(np.log(2.0 / 9.0))
    assert np.isnan(clock.ahead(curve([4.0, 3.9], 1.0), quick, 1.0))  # it might be there at 1.5
    assert np.isnan(clock.ahead(stays, stays, 1.0))


def test_losses_at_equal_seconds_are_read_where_the_quicker_one_ends():
    quick, slow = curve([4.0, 1.0], 2.0), curve([4.0, 0.04], 4.0)
    assert clock.at_equal_seconds(quick, slow) == pytest.approx(np.log(0.4 / 1.0))
    assert clock.at_equal_seconds(slow, quick) == pytest.approx(np.log(1.0 / 0.4))
    assert np.isnan(clock.at_equal_seconds(quick, slow | {"diverged": "x"}))


def slowed(**where):
    """Trainings as printed, with EA-CG 50 times as slow in some of the timings."""
    def make(**arguments):
        told = timed_too(as_printed)(**arguments)
        if any(arguments.get(name) == value for name, value in where.items()):
            told = {name: seconds * (50 if name.startswith("ea-cg") else 1)
                    for name, seconds in told.items()}
        return told
    return make


def test_a_claim_about_seconds_stands_if_all_repeats_agree():
    assert made_up.judged("ea-cg", "figure-5", slowed())["a-faster"] == HELD
    assert made_up.judged("ea-cg", "figure-5", slowed(repeat=3))["a-faster"] == UNDECIDED


@pytest.mark.parametrize("by_loss, by_accuracy, expected", [
    (HELD, HELD, HELD), (HELD, DID_NOT_HOLD, UNDECIDED), (DID_NOT_HOLD, HELD, UNDECIDED),
    (HELD, UNDECIDED, UNDECIDED), (DID_NOT_HOLD, DID_NOT_HOLD, DID_NOT_HOLD)])
def test_a_verdict_that_both_selections_share(by_loss, by_accuracy, expected):
    """Of two that agree the one with the weaker evidence is told."""
    told = iter([Verdict(by_loss, 0.25, p=0.001), Verdict(by_accuracy, -1.5, p=0.01)])
    found = Trainings("bounded", {}, None).shared(lambda at: next(told))
    assert (found.verdict, found.effect) == (expected, -1.5 if by_loss == by_accuracy else 0.25)


def test_the_timing_takes_the_solvers_of_the_paper():
    def options(method):
        return training.as_printed(network, loss, method, "fisher", 0.1, 0.02)

    network, loss = networks.network_of("Q", 0), so.SoftmaxCrossEntropy()
    found = [options(method) for method in ("kfi", "kfi-rank-one", "ea-cg")]
    assert [one.solver for one in found] == ["kfi-printed", "kfi-rank-one", "ea-cg-printed"]
    assert all((one.max_cg, one.curvature) == (20, "fisher-empirical") for one in found)
    sgd = training.as_printed(network, loss, "sgd", "none", 0.1, 0.0)
    assert isinstance(sgd, so.Momentum)


def test_updates_are_timed_in_turns():
    found = clock.update_seconds(0, "Q", "cross-entropy", [["sgd", "none"], ["kfi", "pch-1"]], 50,
                                 2, 2)
    assert set(found) == {"sgd none", "kfi pch-1"} and 0 < found["sgd none"] < found["kfi pch-1"]
