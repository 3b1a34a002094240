"""The judges of EA-CG's figures and claims, on made-up results: a clear yes, a clear no, too few
seeds, runs that diverged or never left the plateau; how rates are chosen and seconds compared.
"""

import numpy as np
import pytest

import secondorder as so
from harness import made_up
from harness.made_up import verdicts
from secondorder.papers.eacg.figures import clock, error_tables, memory, networks, training
from secondorder.papers.eacg.figures.figures_1_to_12 import fall
from secondorder.papers.eacg.figures.trainings import Trainings
from secondorder.studies import DID_NOT_HOLD, HELD, STUDIES, UNDECIDED, Verdict


def judged(key, make, seeds=None):
    return made_up.judged("ea-cg", key, timed_too(make), seeds)


def timed_too(make):
    """Beside trainings the timings of their updates, by the seconds of the trainings' epochs."""
    def made(**arguments):
        if "repeat" not in arguments:
            return make(**arguments)
        return {f"{method} {curvature}": make(
            seed=1, method=method, curvature=curvature, case=arguments["case"], rate=0.1,
            criterion=arguments["criterion"], alpha=0.01, batch=arguments["batch"])["seconds"][-1]
            / (40 * 100) for method, curvature in arguments["methods"]}
    return made


def falling(seed, to=0.1, accuracy=0.5, speed=1.0, early=None):
    """A made-up training from log 10 to a loss, 41 looks, `speed` seconds an epoch; `early`: the
    accuracy of epochs 10 to 15.
    """
    wobble = 1e-3 * (seed % 7)
    accuracies = np.full(41, accuracy + wobble)
    if early is not None:
        accuracies[10:16] = early + wobble / 2
    return {"loss": np.geomspace(np.log(10), to * (1 + wobble), 41).tolist(),
            "accuracy": accuracies.tolist(), "seconds": (speed * np.arange(41.0)).tolist(),
            "updates": 100}


def flat(seed, **_):
    return falling(seed, to=2.29)


LOST = {"loss": [2.303], "accuracy": [0.1], "seconds": [0.0], "updates": 100,
        "diverged": "epoch 0: inf"}


def as_printed(seed, method, curvature, **_):
    """EA-CG faster and better tested, KFI lower by epoch, SGD the fastest; PCH-1 the lowest."""
    to = 0.102 if curvature == "gauss-newton" else 0.1
    if method == "sgd":
        return falling(seed, to=to, accuracy=0.5, speed=0.05)
    if method == "ea-cg":
        return falling(seed, to=to, accuracy=0.5, speed=0.1)
    return falling(seed, to=to / 2, accuracy=0.4, speed=1.0 if curvature == "fisher" else 3.0)


def contrary(seed, method, curvature, **_):
    pch = curvature == "pch-1"
    if method == "sgd":
        return falling(seed, to=0.5, accuracy=0.3, speed=9.0)
    if method == "ea-cg":
        return falling(seed, to=0.4 if pch else 0.2, accuracy=0.4 if pch else 0.3, speed=3.0)
    return falling(seed, to=0.3 if pch else 0.25, accuracy=0.6,
                   speed=1.0 if curvature != "fisher" else 2.0)


def with_wide_inputs(seed, method, **_):
    if method == "kfi-rank-one":
        return falling(seed, to=0.05, accuracy=0.4, early=0.42)
    return falling(seed, to=0.1)


def with_wide_inputs_not(seed, method, **_):
    if method == "kfi-rank-one":
        return falling(seed, to=0.2, speed=2.0, early=0.48)
    return falling(seed, to=0.1, speed=3.0 if method == "ea-cg" else 1.0)


def pch_alike(ratio, accuracy):
    def make(seed, curvature, **_):
        one = curvature == "pch-1"
        return falling(seed, to=0.1 if one else 0.1 * ratio, accuracy=0.5 if one else accuracy)
    return make


def table_of_errors(better):
    def make(good):
        def made(seed, criterion, **_):
            one = 1 + 1e-3 * seed
            told = {"fisher": [2 * one, 3.0, 3.0], "pch-1": [1.0 * one, 2.0, 0.0],
                    "pch-2": [1.0 * one, 2.0, 0.0], "norm": [4.0, 4.0, 4.0]}
            told[better] = [0.5 * one, 1.5 * one, 0.0]
            if criterion == "cross-entropy":
                told["gauss-newton"] = [4.0 * one, 5.0, 0.0]
            if not good:
                told |= {"fisher": [0.1 * one] * 3, "pch-1": [2.0 * one, 1.0, 0.1],
                         "pch-2": [2.0 * one, 1.0, 0.1], better: [3.0 * one, 1.5, 0.1]}
            return told
        return made

    return make(True), make(False)


def table_1(fast):
    def make(method=None, **_):
        if method:
            times = {"sgd": (1.0, 5.0), "gradient": (1.5, 4.0), "fisher ea-cg": (2.0, 1.0),
                     "ea-cg": (4.0, 2.0), "kfi": (5.0, 3.0)}
            return {"seconds": times[method][0 if fast else 1]}
        return {"kfi_over_ea_cg": {"20": 1.5 if fast else 100.0, "50": 1.0},
                "extra": {"sgd": 0, "fisher ea-cg": 1, "ea-cg": 2, "kfi": 3}}
    return make


def with_solver(ratio):
    return lambda seed, tolerance, **_: {"loss": (ratio if tolerance == 0.1 else 1) + 1e-3 * seed}


def kept(ratio):
    return lambda seed, method, **_: falling(seed, to=0.1 * (ratio if method == "cg" else 1))


def beside_sgd(to, accuracy):
    def make(seed, method, **_):
        return falling(seed) if method == "ea-cg" else falling(seed, to=to, accuracy=accuracy)
    return make


#: Study -> runs of which every claim holds, and runs of which none does. A loss at most 1.1 times
#: SGD's and an accuracy at most 2 points below it are competitive.
CLEAR = {
    "figure-1": (as_printed, contrary), "figure-2": (with_wide_inputs, with_wide_inputs_not),
    "figure-3": (as_printed, contrary), "table-1": (table_1(True), table_1(False)),
    "claim-plateau": (lambda updates, **_: {"update": 100},
                      lambda updates, **_: {"update": updates + 1}),
    "claim-cg-grid": (with_solver(1.0), with_solver(2.0)),
    "claim-sgd": (beside_sgd(0.1 / 1.08, 0.515), beside_sgd(0.1 / 1.13, 0.525)),
    "claim-covariance-kept": (kept(1.05), kept(0.6)),
} | {f"figure-{number}": (pch_alike(1.02, 0.5), pch_alike(2.0, 0.4)) for number in (9, 10, 11, 12)
     } | {f"table-{number}": table_of_errors("pch-2" if number < 4 else "pch-1")
          for number in (2, 3, 4, 5)}


@pytest.mark.parametrize("key", CLEAR)
def test_a_clear_yes_and_a_clear_no(key):
    yes, no = CLEAR[key]
    assert verdicts(judged(key, yes)) == {HELD}
    assert verdicts(judged(key, no)) == {DID_NOT_HOLD}


@pytest.mark.parametrize("key", ["figure-2", "figure-9", "table-2", "claim-plateau", "claim-sgd"])
def test_two_seeds_are_too_few(key):
    found = judged(key, CLEAR[key][0], seeds=2)
    assert verdicts(found) == {UNDECIDED}


@pytest.mark.parametrize("key", ["figure-1", "figure-2", "figure-7", "figure-8", "figure-9"])
def test_runs_on_the_plateau_have_no_say(key):
    assert verdicts(judged(key, flat)) == {UNDECIDED}


def test_a_comparison_with_a_run_that_diverged_is_undecided():
    def lost(seed, method, **told):
        return LOST if method == "kfi" and seed == 2 else as_printed(seed, method, **told)

    found = judged("figure-1", lost)
    assert {found[letter] for letter in "abde"} == {UNDECIDED}
    assert found["c-loss"] == found["c-accuracy"] == HELD, "KFI has no part in these"


def test_figures_5_to_8():
    def make(seed, method, curvature, **_):
        if method == "ea-cg":
            return falling(seed, to=0.05 if curvature == "fisher" else 0.06, accuracy=0.5,
                           speed=0.1)
        kfi = 0.055 if curvature == "fisher" else 0.061
        return falling(seed, to=kfi if method != "sgd" else 0.5, accuracy=0.4)

    assert verdicts(judged("figure-5", make)) == {HELD}
    assert judged("figure-7", make) == {"a": HELD}
    assert judged("figure-6", make) == {"a": HELD, "b": DID_NOT_HOLD}
    assert judged("figure-8", make) == {"c": DID_NOT_HOLD}
    assert judged("figure-6", contrary)["a"] == DID_NOT_HOLD
    near = judged("figure-6", lambda seed, method, **_: falling(
        seed, accuracy=0.5 + 0.005 * (method == "ea-cg")))
    assert near["b"] == HELD


def test_a_fall_is_of_means_and_not_of_the_best_look():
    noisy = {"accuracy": [0.4] * 10 + [0.5] * 6 + [0.4] * 10 + [0.9] + [0.4] * 14}
    assert fall(noisy) == pytest.approx(0.1)
    assert fall({"accuracy": [0.1, 0.2, 0.3]}) == pytest.approx(0.0)  # a training of two epochs
    assert np.isnan(fall(LOST))


# -- how rates are chosen --------------------------------------------------------------------------


def test_a_claim_that_one_selection_holds_and_the_other_refutes_is_undecided():
    """Rate .1 has the lower loss and the worse accuracy in the trials, and so differs later."""
    def make(seed, method, rate, **_):
        ours = method == "ea-cg"
        if rate == 0.1:
            return falling(seed, to=0.05, accuracy=0.3 if ours else 0.4)
        return falling(seed, to=0.1, accuracy=0.6 if ours else 0.5)

    assert judged("figure-1", make)["b"] == UNDECIDED


@pytest.mark.parametrize("by_loss, by_accuracy, expected", [
    (HELD, HELD, HELD), (HELD, DID_NOT_HOLD, UNDECIDED), (HELD, UNDECIDED, UNDECIDED)])
def test_a_verdict_that_both_selections_share(by_loss, by_accuracy, expected):
    """Of two that agree the one with the weaker evidence is told."""
    told = iter([Verdict(by_loss, 0.25, p=0.001), Verdict(by_accuracy, -1.5, p=0.01)])
    found = Trainings("bounded", {}, None).shared(lambda at: next(told))
    assert (found.verdict, found.effect) == (expected, -1.5 if by_loss == by_accuracy else 0.25)


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


# -- seconds ---------------------------------------------------------------------------------------


def curve(losses, update):
    return {"loss": losses, "seconds": [update * k for k in range(len(losses))]}


def test_who_is_first_at_a_loss_and_lower_where_the_quicker_one_ends():
    slow, quick = curve([4.0, 2.0, 1.0], 3.0), curve([4.0, 1.0], 2.0)
    assert clock.ahead(quick, slow, 1.0) == pytest.approx(np.log(6.0 / 2.0))
    assert clock.ahead(slow, quick, 2.0) == pytest.approx(np.log(1.0 / 3.0))  # half of a log scale
    stays = curve([4.0, 3.9], 9.0)
    assert clock.ahead(quick, stays, 1.0) == pytest.approx(np.log(9.0 / 2.0))  # 9 at the least
    assert clock.ahead(stays, quick, 1.0) == pytest.approx(np.log(2.0 / 9.0))
    assert np.isnan(clock.ahead(curve([4.0, 3.9], 1.0), quick, 1.0))  # it might be there at 1.5
    assert np.isnan(clock.ahead(stays, stays, 1.0))
    slow = curve([4.0, 0.04], 4.0)
    assert clock.at_equal_seconds(quick, slow) == pytest.approx(np.log(0.4 / 1.0))
    assert clock.at_equal_seconds(slow, quick) == pytest.approx(np.log(1.0 / 0.4))
    assert np.isnan(clock.at_equal_seconds(quick, slow | {"diverged": "x"}))


@pytest.mark.parametrize("where, verdict", [({}, HELD), ({"repeat": 3}, UNDECIDED)])
def test_a_claim_about_seconds_stands_if_all_repeats_agree(where, verdict):
    """EA-CG is 50 times as slow in one of the timings."""
    def make(**arguments):
        told = timed_too(as_printed)(**arguments)
        slow = where and arguments.get("repeat") == where["repeat"]
        return {name: seconds * (50 if name.startswith("ea-cg") else 1)
                for name, seconds in told.items()} if slow else told

    assert made_up.judged("ea-cg", "figure-5", make)["a-faster"] == verdict


def test_the_timing_takes_the_solvers_of_the_paper_in_turns():
    network, loss = networks.network_of("Q", 0), so.SoftmaxCrossEntropy()
    found = [training.optimizer_of(network, loss, method, "fisher", 0.1, 0.02, 20)
             for method in ("kfi", "kfi-rank-one", "ea-cg")]
    assert [one.solver for one in found] == ["kfi-printed", "kfi-rank-one", "ea-cg-printed"]
    assert all((one.max_cg, one.curvature) == (20, "fisher-empirical") for one in found)
    found = clock.update_seconds(0, "Q", "cross-entropy", [["sgd", "none"], ["kfi", "pch-1"]], 50,
                                 2, 2)
    assert set(found) == {"sgd none", "kfi pch-1"} and 0 < found["sgd none"] < found["kfi pch-1"]


def test_sgd_has_free_rates_and_is_trained_on_to_the_seconds_of_ea_cg():
    """A third of EA-CG's seconds an epoch: behind 40 epochs SGD is above EA-CG, behind 120 below.
    """
    def make(seed, method, rate, epochs=40, **_):
        if method == "ea-cg":
            return falling(seed, to=0.1, accuracy=0.5, speed=3.0)
        if epochs <= 40:
            return falling(seed, to=0.01 if rate >= 0.5 else 0.5, accuracy=0.45)
        return falling(seed, to=0.01, accuracy=0.6) | {"updates": 300}  # 41 looks as well

    assert judged("claim-sgd", make) == {"loss": HELD, "accuracy": HELD,
                                         "loss-timed": DID_NOT_HOLD, "tests-timed": DID_NOT_HOLD}
    study = STUDIES.of("ea-cg")["claim-sgd"]
    told = study.judge(made_up.results(study, timed_too(make)), study.settings())["loss"]
    assert "at its rates up to 4: did not hold" in told.because


# -- tables and claims -----------------------------------------------------------------------------


def test_an_error_in_the_middle_and_one_of_another_curvature_count():
    def table(seed, **other):
        up = [1 + 1e-3 * seed, 1.5, 2.0, 0.0]
        return {"fisher": up, "gauss-newton": up, "pch-1": up, "pch-2": up, "norm": [4.0] * 4
                } | other

    large = [1.0, 2.5, 2.0, 0.0]
    assert judged("table-2", lambda seed, **_: table(seed))["b"] == HELD
    for name in ("pch-1", "fisher"):
        told = judged("table-2", lambda seed, name=name, **_: table(seed, **{name: large}))
        assert told["b"] == DID_NOT_HOLD
    relative = judged("table-2", lambda seed, **_: table(seed, norm=[1.0, 2.0, 8.0, 4.0]))
    assert (relative["b"], relative["b-relative"]) == (HELD, DID_NOT_HOLD)
    assert error_tables.in_print(5) == "in print it is not so for Fisher, PCH-1, PCH-2"


def test_memory():
    def make(factor):
        return lambda method, **_: {"peak": 1e9 * (factor if method == "ea-cg" else 1),
                                    "parameters": 1e9}

    assert verdicts(judged("claim-memory", make(1.2))) == {HELD}
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
