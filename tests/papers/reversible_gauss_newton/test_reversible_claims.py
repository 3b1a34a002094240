"""The judges of the reversible paper's Figures 13 to 15 and of its claims, on made-up results."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from harness import made_up
from harness.made_up import verdicts
from secondorder.compiled import forms as compiled_forms
from secondorder.papers.reversible_gauss_newton.studies import (batch_overfit, compared, cost,
                                                                figure_8, figure_15, lazy_explains,
                                                                training)
from secondorder.studies import (DEPENDS, DID_NOT_HOLD, HELD, HELD_BY_RULE, STUDIES, UNDECIDED,
                                 Results)

LOST = {"diverged": "epoch 3"}


def judged(key, make, seeds=None):
    return made_up.judged("reversible-gauss-newton", key, make, seeds)


def run(end, epochs=100, seed=0, saturates=False, **more):
    """A made-up run that falls to `end`, at once or only by the last epoch."""
    at = np.arange(1, epochs + 1, dtype=float)
    shape = np.maximum(2.3 - 0.2 * at, end) if saturates else 2.3 - (2.3 - end) * at / epochs
    told = (shape * (1 + 0.001 * seed)).tolist()
    return {"loss": told, "test": told, "accuracy": [0.5] * epochs, "change": [-1.0] * epochs,
            "carried": [-0.5] * epochs, "size": [1.0] * epochs, "rank": [0] * epochs, "looks": []
            } | more


def lost_where(method, make):
    def lose(**arguments):
        found = make(**arguments)
        return found | LOST if arguments["method"] == method else found
    return lose


def decayed(end):
    def make(seed, epochs, l2=0.0, **_):
        return run(1.5 if not l2 else end if l2 == 1e-3 else 2.2, epochs, seed)
    return make


def test_figure_13():
    assert verdicts(judged("figure-13", decayed(1.48))) == {HELD}
    assert verdicts(judged("figure-13", decayed(1.2))) == {DID_NOT_HOLD}
    assert verdicts(judged("figure-13", decayed(1.48), seeds=2)) == {UNDECIDED}
    assert verdicts(judged("figure-13", lost_where("gn", decayed(1.48)))) == {UNDECIDED}


def forms(ends):
    def make(method, seed, epochs, options=None, **_):
        if method == "adam":
            return run(1.2, epochs, seed)
        form = (options or {"pseudo_inverse": "truncate"})["pseudo_inverse"]
        best = options is None or options["strength"] == 0.01
        return run(ends[form] if best else 2.2, epochs, seed)
    return make


def test_figure_14():
    yes = {"truncate": 1.80, "damp": 1.77, "tikhonov": 1.78, "noise": 1.9}
    no = {"truncate": 1.1, "damp": 1.15, "tikhonov": 1.4, "noise": 0.9}
    assert verdicts(judged("figure-14", forms(yes))) == {HELD}
    assert verdicts(judged("figure-14", forms(no))) == {DID_NOT_HOLD}
    assert judged("figure-14", forms(yes | {"damp": 1.5}))["a"] == DID_NOT_HOLD
    assert verdicts(judged("figure-14", forms(yes), seeds=2)) == {UNDECIDED}
    assert judged("figure-14", lost_where("adam", forms(yes)))["c"] == UNDECIDED


def test_one_batch_of_figure_15_takes_the_largest_rate_that_does_not_diverge():
    """Its loss of epoch 1 is that of the start, whatever the rate."""
    study, results = STUDIES.of("reversible-gauss-newton")["figure-15"], Results()
    settings = study.settings()
    for one in figure_15.TRAININGS["full"].choosing(settings, "full", "adam"):
        rate = one.arguments["rate"]
        told = {"loss": np.geomspace(1.0, 0.1 * (1 + abs(np.log(rate / 1e-3))), 20).tolist()}
        if rate == 1e-2:
            told["loss"][3] = 2.5
        results.add(one.name, {"arguments": one.arguments, "result": told, "seconds": 1})
    chosen = figure_15.TRAININGS["full"].rates(results, settings, "full", "adam")
    assert chosen == {"P": 3e-3, "B": 1e-3}


def test_figure_15():
    def made(yes):
        def make(method, seed, epochs, batch, samples=None, **_):
            at = np.arange(epochs)
            if batch == samples:
                fast = (method == "gn") == yes
                return {"loss": (np.exp(-(1.0 if fast else 0.2) * at) + 1e-4 * seed).tolist(),
                        "test": []}
            return run(1.8 if (method == "gn") == yes else 1.2, epochs, seed,
                       saturates=(method == "gn") and yes)
        return make

    assert verdicts(judged("figure-15", made(True))) == {HELD}
    assert verdicts(judged("figure-15", made(False))) == {DID_NOT_HOLD}
    assert verdicts(judged("figure-15", made(True), seeds=2)) == {UNDECIDED}
    lost = judged("figure-15", lost_where("gn", made(False)))
    assert verdicts(lost) == {UNDECIDED}

    def early(epochs, **rest):
        return made(True)(epochs=3 if rest["method"] == "gn" else epochs, **rest) | (
            LOST if rest["method"] == "gn" else {})

    assert judged("figure-15", early)["a"] == UNDECIDED


@pytest.mark.everyday(1)
@pytest.mark.parametrize("method", ["gn", "adam", "sgd"])
def test_a_regression_falls(method):
    rate = {"gn": 0.1, "adam": 1e-3, "sgd": 0.03}[method]
    one = figure_15.regress(1, method, rate, 4, 32, 64)
    assert one["loss"][-1] < one["loss"][0] and len(one["test"]) == 4
    full = figure_15.regress(1, method, rate, 4, 32, 64, samples=32)
    assert np.all(np.diff(full["loss"]) < 0)
    assert "diverged" in figure_15.regress(1, "sgd", 1e9, 4, 32, 64)


@pytest.mark.parametrize("losses, expected", [
    ([50.0, 4e4], False), ([50.0, 6e4], True), ([0.5, 4e2, 999.0], False),
    ([0.5, 4e2, 1001.0], True), ([2.0], False), ([np.nan], True), ([2.0, np.inf], True)])
def test_a_loss_is_out_of_bounds_above_a_thousand_times_the_first(losses, expected):
    assert training.out_of_bounds(losses) is expected


def without(ratio):
    def make(method, seed, epochs, **_):
        return run(1.5 * (ratio if method == "exact" else 1), epochs, seed)
    return make


def test_regularisation():
    assert verdicts(judged("claim-regularisation", without(1.3))) == {HELD}
    assert verdicts(judged("claim-regularisation", without(1.0))) == {DID_NOT_HOLD}
    assert verdicts(judged("claim-regularisation", without(1.3), seeds=2)) == {UNDECIDED}
    assert verdicts(judged("claim-regularisation", lost_where("exact", without(1.0)))) == {HELD}


def at(ends):
    def make(method, seed, epochs, options=None, **_):
        if method == "adam":
            return run(1.2, epochs, seed)
        strength = (options or {"strength": 0.01})["strength"]
        return run(ends[strength], epochs, seed, saturates=ends[strength] > 1.2)
    return make


def test_tolerance():
    same, other = {0.001: 1.8, 0.01: 1.7, 0.1: 1.9}, {0.001: 0.9, 0.01: 1.7, 0.1: 1.9}
    assert verdicts(judged("claim-tolerance", at(same))) == {HELD}
    assert verdicts(judged("claim-tolerance", at(other))) == {DID_NOT_HOLD}
    assert verdicts(judged("claim-tolerance", at(same), seeds=2)) == {UNDECIDED}
    assert judged("claim-tolerance", lost_where("adam", at(same)))["a"] == UNDECIDED


RATES = {name: (grid[2], grid[3]) for name, grid in compared.RATES.items()}  # by rule P, by rule B


def by_rates(of_rule_p, of_rule_b):
    """Rule P chooses the third rate of each method, rule B the fourth, where it runs otherwise."""
    def make(method, rate, seed, epochs, **more):
        by_epoch_1, later = RATES["gn" if method == "exact" else method]
        if seed == compared.CHOOSING and not more.keys() & {"options", "l2"}:
            start, end = {by_epoch_1: (1.0, 0.9), later: (1.5, 0.1)}.get(rate, (2.0, 2.0))
            losses = np.linspace(start, end, epochs).tolist()
            return run(1.0, epochs) | {"loss": losses, "test": losses}
        rule = of_rule_p if rate == by_epoch_1 else of_rule_b
        return rule(method=method, rate=rate, seed=seed, epochs=epochs, **more)
    return make


def long_runs(yes):
    def make(method, seed, epochs, **_):
        low = 1.8 if (method == "gn") == yes else 1.2
        found = run(low, epochs, seed, saturates=method == "gn" and yes)
        if method == "gn" and yes:
            found["loss"][-20:] = [2.0] * 20
        return found
    return make


def taken_over(mixed, back):
    def make(method, seed, epochs, then=None, **_):
        end = ({"gn": 1.8, "adam": 1.2}[method] if then is None else
               mixed if method == "adam" else back)
        return run(end, epochs, seed, saturates=True)
    return make


def sizes(ends, saturates):
    def make(method, seed, epochs, init=1e-3, **_):
        return run(1.25 if method == "adam" else ends[init], epochs, seed, saturates=saturates)
    return make


def by_key():
    """Key -> runs that a claim holds of, and runs that it does not."""
    rising = dict(zip(figure_8.SIGMAS, (0.8, 0.9, 1.0, 1.1, 1.3)))
    falling = dict(zip(figure_8.SIGMAS, (2.0, 1.9, 1.8, 1.7, 1.6)))
    return {
        "figure-6": (long_runs(True), long_runs(False)),
        "figure-7": (taken_over(1.5, 1.5), taken_over(1.1, 1.9)),
        "figure-8": (sizes(falling, True), sizes(rising, False)),
        "figure-13": (decayed(1.48), decayed(1.2)),
        "figure-14": (forms({"truncate": 1.80, "damp": 1.77, "tikhonov": 1.78, "noise": 1.9}),
                      forms({"truncate": 1.1, "damp": 1.15, "tikhonov": 1.4, "noise": 0.9})),
        "claim-regularisation": (without(1.3), without(1.0)),
        "claim-tolerance": (at({0.001: 1.8, 0.01: 1.7, 0.1: 1.9}),
                            at({0.001: 0.9, 0.01: 1.7, 0.1: 1.9}))}


@pytest.mark.everyday(2)
@pytest.mark.parametrize("key", by_key())
def test_a_claim_is_judged_by_both_rules_of_rates(key):
    yes, no = by_key()[key]
    alone = judged(key, by_rates(yes, yes)), judged(key, by_rates(no, no))
    held, refused = judged(key, by_rates(yes, no)), judged(key, by_rates(no, yes))
    assert HELD in alone[0].values() and DID_NOT_HOLD in alone[1].values()
    for letter in held:
        first, second = (one[letter] for one in alone)
        if (first, second) == (HELD, DID_NOT_HOLD):
            assert (held[letter], refused[letter]) == (HELD_BY_RULE, DEPENDS)
        elif (first, second) == (DID_NOT_HOLD, HELD):
            assert (held[letter], refused[letter]) == (DEPENDS, HELD_BY_RULE)
        elif first == second:
            assert held[letter] == refused[letter] == first
        else:
            assert held[letter] == refused[letter] == UNDECIDED


def test_batch_overfit():
    def sharing(gn, adam):
        def make(method, seed, epochs, rate, **_):
            grid = compared.RATES[method]
            own = -5.0 * (1 + grid.index(rate))
            share = gn if method == "gn" else adam
            return run(1.5, epochs, seed, change=[own] * epochs,
                       carried=[(share + 0.01 * seed * (method == "gn")) * own] * epochs)
        return make

    assert verdicts(judged("claim-batch-overfit", sharing(0.2, 0.6))) == {HELD}
    assert verdicts(judged("claim-batch-overfit", sharing(0.6, 0.2))) == {DID_NOT_HOLD}
    assert verdicts(judged("claim-batch-overfit", sharing(0.2, 0.6), seeds=2)) == {UNDECIDED}
    assert verdicts(judged("claim-batch-overfit",
                           lost_where("gn", sharing(0.2, 0.6)))) == {UNDECIDED}


def test_what_carries_over_is_read_at_equal_change_of_the_own_batch():
    runs = [{"change": [-10.0], "carried": [-8.0]}, {"change": [-20.0], "carried": [-4.0]},
            {"change": [5.0], "carried": [5.0]}, {"change": [-30.0], "carried": [0.0]} | LOST]
    assert batch_overfit.by_change(runs) == [(10.0, 0.8), (20.0, 0.2)]
    # both reach 10 to 12; at 11 the shares are 0.74 and 0.75
    other = [{"change": [-8.0], "carried": [-8.0]}, {"change": [-12.0], "carried": [-8.0]}]
    expected = (1 + 3 / 4 * (8 / 12 - 1)) - (0.8 - 0.06)
    assert batch_overfit.gap({"gn": runs, "adam": other}) == pytest.approx(expected)
    assert batch_overfit.gap({"gn": other, "adam": runs}) == pytest.approx(-expected)


def test_what_carries_over_is_not_read_where_one_method_alone_comes():
    small, large = ([{"change": [-own], "carried": [-1.0]} for own in owns]
                    for owns in ((1.0, 8.9), (9.0, 20.0)))
    assert np.isnan(batch_overfit.gap({"gn": large, "adam": small}))
    assert np.isnan(batch_overfit.gap({"gn": large, "adam": [{"change": [1.0], "carried": [1.0]}]}))


def lazy(sign):
    moved = {"gn": 0.1, "sgd": 0.2, "adam": 0.5}

    def make(method, seed, epochs, rate, **_):
        first = rate == compared.RATES[method][0]
        change = moved[method] + 0.01 * (not first)
        end = 1.2 if first else 1.3  # rule B takes the first rate, rule P the second
        told = run(end, epochs, seed, looks=[{"ntk": 1.0}, {"ntk": 1 - change}])
        told["loss"][0] = 2.2 if first else 2.0
        told["loss"][1] = told["loss"][2] = 1.99
        return told | {"accuracy": [0.5 + sign * change] * epochs}
    return make


def test_lazy_explains():
    assert verdicts(judged("claim-lazy-explains", lazy(1))) == {HELD}
    assert verdicts(judged("claim-lazy-explains", lazy(-1))) == {DID_NOT_HOLD}
    assert verdicts(judged("claim-lazy-explains", lazy(1), seeds=2)) == {UNDECIDED}
    assert np.isnan(lazy_explains.correlation([("gn", "P", 0.1, 0.5)] * 6))


def test_exact():
    def missing(defects, rank=393):
        def make(kind, **_):
            return {"first": [defects.get(kind, 0.0), rank, 1024],
                    "last": [defects.get(kind, 0.0) / 2, rank, 1024]}
        return make

    found = judged("claim-exact", missing({"gn": 0.25, "exact": 1e-6}))
    assert found == {"exact": HELD, "gn": DID_NOT_HOLD, "code": DID_NOT_HOLD}
    assert verdicts(judged("claim-exact", missing({}, 1024))) == {HELD}
    assert judged("claim-exact", missing({"exact": 0.1}))["exact"] == DID_NOT_HOLD
    assert verdicts(judged("claim-exact", missing({}, 1024), seeds=2)) == {UNDECIDED}

    def lost(**_):
        return {"first": [], "last": []} | LOST

    assert verdicts(judged("claim-exact", lost)) == {DID_NOT_HOLD}


def test_theorem():
    def curves(apart):
        def make(method, seed, epochs, **_):
            told = run(0.1, epochs, seed)
            return told | {"loss": [loss * (apart if method == "mp" else 1)
                                    for loss in told["loss"]]}
        return make

    assert verdicts(judged("claim-theorem", curves(1.03))) == {HELD}
    assert verdicts(judged("claim-theorem", curves(1.08))) == {DID_NOT_HOLD}
    assert verdicts(judged("claim-theorem", curves(1.03), seeds=2)) == {UNDECIDED}
    assert verdicts(judged("claim-theorem", lost_where("mp", curves(1.03)))) == {DID_NOT_HOLD}


@pytest.mark.parametrize("key, limit", [("claim-cost", 1.5), ("claim-memory", 1.1)])
def test_cost_and_memory(key, limit):
    def times(ratio):
        def make(method, **_):
            value = ratio if method == "gn" else 1.0
            return {"seconds": value, "bytes": 1000 * value}
        return make

    assert verdicts(judged(key, times(0.99 * limit))) == {HELD}
    assert verdicts(judged(key, times(1.01 * limit))) == {DID_NOT_HOLD}
    found = judged(key, lambda form, **rest: times(
        (1.01 if form == "compiled" else 0.99) * limit)(**rest))
    assert found == {"mnist": HELD, "cifar": HELD,
                     "mnist-compiled": DID_NOT_HOLD, "cifar-compiled": DID_NOT_HOLD}


@pytest.mark.parametrize("form", ["literal", "compiled"])
def test_a_step_is_measured_in_the_form_that_is_asked(form, monkeypatch):
    monkeypatch.setattr(cost, "_step", lambda *about: (about, compiled_forms.name()))
    assert cost.step(0, form, 4, 2, 8, 3, "gn", 1) == ((0, 4, 2, 8, 3, "gn", 1), form)


def test_bars_of_costs_begin_at_zero_and_show_the_limit():
    results = Results()
    shape = {"inputs": 4, "blocks": 2, "width": 8, "batch": 3}
    for form in ("literal", "compiled"):
        for method, value in (("gn", 1.2), ("sgd", 1.0)):
            results.add(f"{form} {method}", {
                "arguments": {"form": form, "method": method, **shape},
                "result": {"seconds": value}, "seconds": 1.0})
    figure = Figure()
    cost.bars(results, figure, "seconds", 1.5, "time")
    panel, = figure.axes
    low, high = panel.get_ylim()
    assert low == 0 and high > 1.5 and panel.patches[0].get_height() == pytest.approx(1.2)


def test_size():
    assert verdicts(judged("claim-size", cost.weights)) == {HELD}
    assert verdicts(judged("claim-size", lambda **_: {"weights": 12_544_001})) == {DID_NOT_HOLD}
