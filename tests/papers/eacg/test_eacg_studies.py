"""The judges of EA-CG's studies, on made-up results: a clear yes, a clear no, too few seeds, runs
that diverged or never left the plateau; and what they measure, where it is known."""

import numpy as np
import pytest

import secondorder as so
from harness import made_up
from secondorder.papers.eacg.studies import (clock, covariance, covariance_added,
                                             covariance_kept, error_tables, memory, networks,
                                             plateau, training)
from secondorder.studies import DEPENDS, DID_NOT_HOLD, HELD, STUDIES, UNDECIDED


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


def falling(seed, to=0.1, accuracy=0.5, speed=1.0, best=None):
    """A made-up training from log 10 to a loss, 41 looks, `speed` seconds an epoch."""
    wobble = 1e-3 * (seed % 7)
    accuracies = np.full(41, accuracy + wobble)
    if best is not None:
        accuracies[20] = best
    return {"loss": np.geomspace(np.log(10), to * (1 + wobble), 41).tolist(),
            "accuracy": accuracies.tolist(), "seconds": (speed * np.arange(41.0)).tolist(),
            "updates": 100}


def flat(seed, **_):
    return {"loss": [2.303] * 41, "accuracy": [0.1] * 41, "seconds": list(range(41)),
            "updates": 100}


LOST = {"loss": [2.303], "accuracy": [0.1], "seconds": [0.0], "updates": 100,
        "diverged": "epoch 0: inf"}


def as_printed(seed, method, curvature, **_):
    """EA-CG faster and better tested, KFI lower by epoch, SGD the fastest."""
    if method == "sgd":
        return falling(seed, to=0.1, accuracy=0.5, speed=0.05)
    if method == "ea-cg":
        return falling(seed, to=0.1, accuracy=0.5, speed=0.1)
    return falling(seed, to=0.05, accuracy=0.4, speed=1.0 if curvature == "fisher" else 3.0)


def contrary(seed, method, curvature, **_):
    if method == "sgd":
        return falling(seed, to=0.5, accuracy=0.3, speed=9.0)
    if method == "ea-cg":
        return falling(seed, to=0.2 if curvature == "pch-1" else 0.4,
                       accuracy=0.4 if curvature == "pch-1" else 0.3, speed=3.0)
    return falling(seed, to=0.25, accuracy=0.6, speed=1.0 if curvature != "fisher" else 2.0)


# -- the figures -----------------------------------------------------------------------------------

@pytest.mark.thorough
def test_figures_1_and_3():
    assert set(judged("figure-1", as_printed).values()) == {HELD}
    assert set(judged("figure-3", as_printed).values()) == {HELD}
    assert set(judged("figure-1", contrary).values()) == {DID_NOT_HOLD}
    found = judged("figure-3", contrary)
    assert found == {"a": DID_NOT_HOLD, "b": DID_NOT_HOLD}
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


def test_a_claim_that_one_selection_holds_and_the_other_refutes_depends_on_it():
    """Rate .1 has the lower loss and the worse accuracy in the trials, and so differs later."""
    def make(seed, method, rate, **_):
        ours = method == "ea-cg"
        if rate == 0.1:
            return falling(seed, to=0.05, accuracy=0.3 if ours else 0.4)
        return falling(seed, to=0.1, accuracy=0.6 if ours else 0.5)

    assert judged("figure-3", make)["b"] == DEPENDS


def test_figures_2_and_4():
    def make(seed, method, **_):
        if method == "kfi-rank-one":
            return falling(seed, to=0.05, accuracy=0.4, best=0.5)
        return falling(seed, to=0.1)

    assert set(judged("figure-2", make).values()) == {HELD}
    assert set(judged("figure-4", make).values()) == {HELD}

    def other(seed, method, **_):
        if method == "kfi-rank-one":
            return falling(seed, to=0.2, speed=2.0)
        return falling(seed, to=0.1, speed=3.0 if method == "ea-cg" else 1.0)

    assert set(judged("figure-2", other).values()) == {DID_NOT_HOLD}


def test_figures_5_to_8():
    def make(seed, method, curvature, **_):
        if method == "ea-cg":
            return falling(seed, to=0.05 if curvature == "fisher" else 0.06, accuracy=0.5,
                           speed=0.1)
        kfi = 0.055 if curvature == "fisher" else 0.061
        return falling(seed, to=kfi if method != "sgd" else 0.5, accuracy=0.4)

    assert set(judged("figure-5", make).values()) == {HELD}
    found = judged("figure-7", make)
    assert found["b"] == found["c"] == HELD and found["a"] == HELD
    found = judged("figure-8", make)
    assert found == {"a": HELD, "b": DID_NOT_HOLD, "c": DID_NOT_HOLD}
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


# -- the tables ------------------------------------------------------------------------------------

def test_table_1():
    def make(method=None, size=None, samples=None, fast=True, **_):
        if size:
            return {"seconds": 1.0 if fast else 9.0}
        if method:
            times = {"sgd": (1.0, 5.0), "gradient": (1.5, 4.0), "fisher ea-cg": (2.0, 1.0),
                     "ea-cg": (4.0, 2.0), "kfi": (5.0, 3.0)}
            return {"seconds": times[method][0 if fast else 1]}
        return {"kfi_over_ea_cg": {"20": 1.5 if fast else 100.0},
                "pch_over_gradient": 0.9,
                "extra": {"sgd": 0, "fisher ea-cg": 1, "ea-cg": 2, "kfi": 3}}

    assert set(judged("table-1", make).values()) == {HELD}
    assert set(judged("table-1", lambda **told: make(fast=False, **told)).values()) == {
        DID_NOT_HOLD}


@pytest.mark.parametrize("key", ["table-2", "table-3", "table-4", "table-5"])
def test_tables_of_errors(key):
    better = "pch-2" if key in ("table-2", "table-3") else "pch-1"

    def make(seed, criterion, good=True, **_):
        one = 1 + 1e-3 * seed
        made = {"fisher": [3 * one] * 3, "pch-1": [1.0 * one, 2.0, 0.0],
                "pch-2": [1.0 * one, 2.0, 0.0], "norm": [4.0, 4.0, 4.0]}
        made[better] = [0.5 * one, 1.5 * one, 0.0]
        if criterion == "cross-entropy":
            made["gauss-newton"] = [5.0 * one] * 3
        if not good:
            made |= {"fisher": [0.1 * one] * 3, "pch-1": [2.0 * one, 1.0, 0.1],
                     "pch-2": [2.0 * one, 1.0, 0.1], better: [3.0 * one, 1.5, 0.1]}
        return made

    assert set(judged(key, make).values()) == {HELD}
    assert set(judged(key, lambda **told: make(good=False, **told)).values()) == {DID_NOT_HOLD}
    few = judged(key, make, seeds=2)  # along two trajectories each, which are not four seeds
    assert few["a"] == few["b"] == few["d"] == UNDECIDED


def test_errors_are_those_of_the_printed_metric():
    """At the top, where PCH is |mean H| by definition, they are zero up to rounding; and the total
    is the root of the sum of squares."""
    network, loss = networks.network_of("Q", 0), so.BoundedCriterion()
    (x, y), _ = networks.split("Q", 0, 50)
    found = error_tables.errors_at(network, loss, x, y, "bounded")
    assert "gauss-newton" not in found and len(found["pch-1"]) == 3
    assert found["pch-1"][-1] < 1e-5 * found["norm"][-1] < found["fisher"][-1]


# -- the claims ------------------------------------------------------------------------------------

def test_plateau():
    assert set(judged("claim-plateau", lambda updates, **_: {"update": 100}).values()) == {HELD}
    never = judged("claim-plateau", lambda updates, **_: {"update": updates + 1})
    assert set(never.values()) == {DID_NOT_HOLD}
    few = judged("claim-plateau", lambda updates, **_: {"update": 100}, seeds=2)
    assert set(few.values()) == {UNDECIDED}
    assert plateau.of_depth(3) == [768, 256, 128, 10] and len(plateau.of_depth(8)) == 9


def test_a_network_by_its_widths_starts_when_that_of_the_case_does(monkeypatch):
    monkeypatch.setattr(plateau, "LOOK", 1)
    by_case, by_widths = (plateau.first_start(0, "Q", widths, "sgd", 30, 4.0)
                          for widths in (None, list(networks.WIDTHS["Q"])))
    assert by_case == by_widths and 2 < by_case["update"] < 30


def test_sgd_and_its_free_rates():
    def make(seed, method, rate, **_):
        if method == "ea-cg":
            return falling(seed, to=0.1)
        free = rate >= 0.5
        return falling(seed, to=0.01 if free else 0.5, accuracy=0.6 if free else 0.5)

    assert judged("claim-sgd", make) == {"loss": HELD, "loss-free": DID_NOT_HOLD, "accuracy": HELD}
    assert set(judged("claim-sgd", make, seeds=2).values()) == {UNDECIDED}

    def on_the_plateau(seed, method, **_):
        return flat(seed) if method == "sgd" else falling(seed)

    assert set(judged("claim-sgd", on_the_plateau).values()) == {UNDECIDED}


def test_eta_alpha():
    def make(seed, method, rate, alpha, **_):
        corner = np.isclose(rate, 2.0) if method == "sgd" else (rate, alpha) == (0.2, 0.01)
        return LOST if corner and method == "sgd" else falling(seed)

    assert judged("claim-eta-alpha", make) == {"alike": HELD, "corner": HELD}
    found = judged("claim-eta-alpha", lambda seed, method, **_: falling(
        seed, to=0.1 if method == "sgd" else 0.3))
    assert found == {"alike": DID_NOT_HOLD, "corner": DID_NOT_HOLD}


def test_grid_of_conjugate_gradients():
    assert judged("claim-cg-grid", lambda seed, **_: {"loss": 1 + 1e-3 * seed}) == {"a": HELD}
    found = judged("claim-cg-grid", lambda seed, tolerance, **_: {
        "loss": (2.0 if tolerance == 0.1 else 1.0) + 1e-3 * seed})
    assert found == {"a": DID_NOT_HOLD}


def test_instability():
    def make(seed, method, alpha, **_):
        return LOST if method == "kfi-rank-one" and alpha == 0.01 else falling(seed)

    assert judged("claim-13-unstable", make) == {"a": HELD}
    assert judged("claim-13-unstable", lambda seed, **_: LOST) == {"a": DID_NOT_HOLD}
    one = STUDIES.of("ea-cg")["claim-13-unstable"]
    assert len({run.name for run in one.runs(one.settings(), None)}) == 3 * 3 * 2 * 12


def test_memory():
    def make(factor):
        return lambda method, **_: {"peak": 1e9 * (factor if method == "ea-cg" else 1),
                                    "parameters": 1e9}

    assert set(judged("claim-memory", make(1.2)).values()) == {HELD}
    assert judged("claim-memory", make(2.0))["ea-cg"] == DID_NOT_HOLD
    sgd = memory.peak_of("sgd", [500, 8, 10], 5)
    assert sgd["peak"] >= 2 * sgd["parameters"] > 0


def test_covariance():
    assert judged("claim-covariance", lambda **_: {"shares": [[0.01, 0.02]]}) == {"a": HELD}
    assert judged("claim-covariance", lambda **_: {"shares": [[0.01, 0.5]]}) == {"a": DID_NOT_HOLD}
    assert judged("claim-covariance", lambda **_: {"diverged": "x"}) == {"a": DID_NOT_HOLD}


def test_covariance_added():
    def make(covariance, seed, rate, ratio=1.05, cosine=0.95, **_):
        wobble = 1 + 1e-3 * seed
        end = (ratio if covariance else 1.0) * wobble * (1 if rate == 0.2 else 2)
        return {"loss": [2.3, end], "cosine": [cosine * wobble], "length": [1.0]}

    def judge(**more):
        return judged("claim-covariance-added", lambda **told: make(**told, **more))

    assert set(judge().values()) == {HELD}
    for ratio in (1.2, 0.8):
        assert judge(ratio=ratio) == {"step": HELD, "training": DID_NOT_HOLD,
                                      "training-digits": DID_NOT_HOLD}
    assert judge(cosine=0.8)["step"] == DID_NOT_HOLD
    lost = judged("claim-covariance-added", lambda case, rate, **told: {"diverged": "epoch 1"}
                  if case == "R5" else make(rate=rate, **told))
    assert lost["step"] == lost["training"] == UNDECIDED and lost["training-digits"] == HELD


@pytest.mark.parametrize("kept", [True, False])
def test_directions_with_the_covariance_solve_the_dense_blocks(kept):
    """Of E[B_i (x) h_i h_i^T], or E[B_i] (x) E[h_i h_i^T], written out for every image."""
    network, rng = so.mlp([3, 4, 3, 2], activation="sigmoid", rng=1), np.random.default_rng(0)
    x, y = rng.normal(size=(7, 3)), rng.integers(0, 2, 7)
    evaluation = network.evaluate(so.SoftmaxCrossEntropy(), x, y)
    found = covariance_added.directions(evaluation, 0.1, kept)
    start = 0
    for (h, B, g), (D, bias) in zip(covariance_added.positive_blocks(evaluation), found):
        pairs = [np.outer(row, row) for row in h]
        H = (sum(map(np.kron, B, pairs)) / 7 if kept
             else np.kron(sum(B) / 7, sum(pairs) / 7))
        G = evaluation.gradient[start:start + D.size]
        b = evaluation.gradient[start + D.size:start + D.size + bias.size]
        start += D.size + bias.size
        np.testing.assert_allclose(
            D.ravel(), np.linalg.solve(0.9 * H + 0.1 * np.eye(D.size), -G), atol=1e-6)
        np.testing.assert_allclose(
            (0.9 * sum(B) / 7 + 0.1 * np.eye(bias.size)) @ bias, -b, atol=1e-12)
        assert np.linalg.eigvalsh(B).min() > -1e-12


def test_positive_blocks_differ_from_the_exact_ones_by_negative_entries_alone():
    """The layer below the top one: the diagonal's negative entries change their sign."""
    network, rng = so.mlp([3, 4, 2], activation="sigmoid", rng=1), np.random.default_rng(0)
    evaluation = network.evaluate(so.SoftmaxCrossEntropy(), rng.normal(size=(7, 3)),
                                  rng.integers(0, 2, 7))
    (_, exact), (_, positive, _) = (blocks(evaluation)[0] for blocks in (
        covariance.instance_blocks, covariance_added.positive_blocks))
    gap, units = positive - exact, np.arange(4)
    diagonal = gap[:, units, units]
    second = evaluation.saved[1].curvature * evaluation.deltas[1]
    np.testing.assert_allclose(diagonal, 2 * np.maximum(-second, 0), atol=1e-15)
    gap[:, units, units] = 0
    np.testing.assert_allclose(gap, 0, atol=1e-15)


@pytest.mark.parametrize("look, names", [
    (lambda every, **told: covariance_added.trained(
        **told, rate=0.2, alpha=0.02, covariance=False, every=every), ("cosine", "length")),
    (lambda **told: covariance.shares(**told), ("shares",)),
    (lambda **told: covariance_kept.steps_apart(**told, alpha=0.02), ("cosine", "length"))])
def test_who_looks_at_every_third_update_sees_what_stands_there(look, names):
    found = [look(seed=0, case="Q", samples=200, epochs=2, every=every) for every in (1, 3)]
    for name in names:
        assert len(found[0][name]) == 4 and found[1][name] == found[0][name][::3]


def test_of_two_updates_the_errors_are_those_of_the_first_that_is_looked_at():
    (x, y), _ = networks.split("Q", 0, 200)
    rows = np.random.default_rng([0, 1]).permutation(200)[:100]
    loss = so.SoftmaxCrossEntropy()
    expected = error_tables.errors_at(networks.network_of("Q", 0), loss, x[rows], y[rows],
                                      "cross-entropy")
    assert error_tables.errors(0, "Q", "cross-entropy", "sgd", 200, 1, 2, 100) == {
        name: pytest.approx(values) for name, values in expected.items()}


def test_the_dropped_part_against_kronecker_products():
    network, loss = so.mlp([3, 4, 2], activation="sigmoid", rng=0), so.SoftmaxCrossEntropy()
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 3)), rng.integers(0, 2, 6)
    found = covariance.dropped(network.evaluate(loss, x, y))
    for t, (layer, h, W) in enumerate(((network.layers[0], x, 4),
                                       (network.layers[2], network.layers[1].forward(
                                           network.layers[0].forward(x)[0])[0], 2))):
        blocks = []
        for s in range(6):  # the Hessian of one sample in the layer's bias
            H = so.exact.hessian(network, loss, x[s:s + 1], y[s:s + 1])
            where = network.chain.slices[2 * t]
            bias = H[where, where][-W:, -W:]
            blocks.append(np.kron(np.outer(h[s], h[s]), bias))
        mean = np.mean(blocks, axis=0)
        A = np.mean([np.outer(one, one) for one in h], axis=0)
        B = np.mean([block[:W, :W] / h[s, 0] ** 2 for s, block in enumerate(blocks)], axis=0)
        expected = np.linalg.norm(mean - np.kron(A, B)) / np.linalg.norm(mean)
        assert found[t] == pytest.approx(expected, rel=1e-9)


def test_conclusions():
    assert judged("claim-converges", as_printed) == {"faster": HELD, "tests": HELD}
    found = judged("claim-converges", lambda seed, method, case, criterion, **_: falling(
        seed, accuracy=0.5 if method == "ea-cg" else 0.6 if case == "W4" else 0.4))
    assert found["tests"] == DID_NOT_HOLD

    def make(seed, curvature, **_):
        return falling(seed, to=0.1 if curvature == "pch-1" else 0.2)

    assert set(judged("claim-pch-over-gn", make).values()) == {HELD}


def test_each_of_the_four_cases_is_chosen_by_its_own_trials():
    def make(seed, case, rate, batch, **_):
        best = batch == 500 and rate == (0.1 if case == "R5" else 0.2)
        return falling(seed, to=0.1, accuracy=0.6) if best else falling(seed, to=0.3)

    study = STUDIES.of("ea-cg")["claim-converges"]
    told = made_up.results(study, timed_too(make)).arguments(hold_out=False)
    assert {(one["case"], one["criterion"], one["rate"], one["batch"]) for one in told} == {
        (case, criterion, rate, 500) for case, rate in (("R5", 0.1), ("W4", 0.2))
        for criterion in ("cross-entropy", "bounded")}


@pytest.mark.parametrize("accuracy, verdict", [(0.5, HELD), (0.7, DID_NOT_HOLD)])
def test_the_runs_of_two_cases_with_one_point_are_told_apart(accuracy, verdict):
    def make(seed, case, method, batch, **_):
        kfi = accuracy if case == "W4" else 0.5
        return falling(seed, to=0.1 if batch == 500 else 0.3,
                       accuracy=(0.6 if method == "ea-cg" else kfi) - 0.2 * (batch == 100))

    assert judged("claim-converges", make)["tests"] == verdict


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
    found = training.chosen("ea-cg", "pch-1", "bounded", settings, results)
    assert {point[:2] for point in found.values()} == {asked}
    tried = {(one["rate"], one["alpha"]) for one in results.arguments(
        method="ea-cg", curvature="pch-1", hold_out=True)}
    beyond = {(0.4, 0.01), (0.2, 0.005)}
    assert beyond & tried == (set() if asked[1] == 0.02 or asked[0] == 0.1 else beyond)
    assert not {one["rate"] for one in results.arguments(method="sgd")} - {0.1, 0.2}


def test_the_test_part_is_not_seen_when_rates_are_chosen():
    (_, _), (judged_x, _) = networks.split("Q", 5, None)
    (tried_x, _), (held_out, _) = networks.split("Q", 5, None, hold_out=True)
    rows = {row.tobytes() for row in judged_x}
    assert not rows & {row.tobytes() for row in held_out}
    assert len(tried_x) + len(held_out) + len(judged_x) == 1797
    assert training.points("sgd", STUDIES.of("ea-cg")["figure-1"].settings()) == [
        (0.1, 0.0, 100), (0.1, 0.0, 500), (0.2, 0.0, 100), (0.2, 0.0, 500)]


# -- seconds ---------------------------------------------------------------------------------------


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


def test_a_claim_about_seconds_stands_if_all_repeats_agree():
    def made(slow_in):
        def make(**arguments):
            found = timed_too(as_printed)(**arguments)
            if arguments.get("repeat") == slow_in:
                found = {name: seconds * (50 if name.startswith("ea-cg") else 1)
                         for name, seconds in found.items()}
            return found
        return make

    assert made_up.judged("ea-cg", "figure-5", made(None))["a-faster"] == HELD
    assert made_up.judged("ea-cg", "figure-5", made(3))["a-faster"] == UNDECIDED


def test_updates_are_timed_in_turns():
    found = clock.update_seconds(0, "Q", "cross-entropy", [["sgd", "none"], ["kfi", "pch-1"]], 50,
                                 2, 2)
    assert set(found) == {"sgd none", "kfi pch-1"} and 0 < found["sgd none"] < found["kfi pch-1"]
