"""What the low-rank paper's claims in prose measure, and their judges on made-up results where the
recorded ones decide nothing or one way only."""

import numpy as np
import pytest
from test_low_rank_studies import diverging, halves, judged, training

import secondorder as so
from harness.made_up import verdicts
from secondorder.papers.low_rank.figures import averaging, costs, sigma
from secondorder.studies import DID_NOT_HOLD, HELD, UNDECIDED


def modelled(bend, leave=400):
    """A run whose rate follows (37), with curvature `bend` from leaving on: |a| = |g| = sigma = 1
    would make the balance bend^2 / 2; here |g| = .1, sigma = 100, a = -.01, c = .1."""
    one, later = training(leave), np.arange(2000) >= leave
    h = np.where(later, bend, 0.0)
    one["rate"] = ((-h + np.sqrt(h**2 + 2 * 0.01 * 0.1)) / 0.1).tolist()
    return one | {"slope": [-0.01] * 2000, "curvature": h.tolist(), "norm": [0.1] * 2000}


def test_balance_of_curvature_and_sigma():
    one = modelled(1.0)
    np.testing.assert_allclose(sigma.balance(one)[500:], 1 / 0.002)
    assert sigma.flat_share(one) == 1 and sigma.curved_share(one) == 1
    one["rate"] = [1.03 * rate for rate in one["rate"]]
    assert sigma.flat_share(one) == 0


def test_the_most_curved_quarter_is_judged_apart():
    """Every fourth of the iterations after leaving is curved: 1 / 4 of all, all of the quarter."""
    one = modelled(0.01)
    one["curvature"][500::4] = [1.0] * len(one["curvature"][500::4])
    assert sigma.curved_share(one) == 0.25
    assert sigma.curved_share(one, most=0.25) == 1
    assert judged("claim-sigma-mechanism", lambda **_: one)["curved"] == UNDECIDED
    # where h is 1, h / |g|^2 is 1 and the balance 0.5; elsewhere they are 10 and 5
    one["norm"] = [0.1 if h < 1 else 1.0 for h in one["curvature"]]
    one["curvature"] = [max(h, 0.1) for h in one["curvature"]]
    assert sigma.curved_share(one, most=0.25) == 1


@pytest.mark.parametrize("make, flat, curved", [
    (lambda **_: modelled(1.0), HELD, HELD), (lambda **_: modelled(0.01), HELD, DID_NOT_HOLD),
    (lambda **_: modelled(1.0, leave=0), DID_NOT_HOLD, HELD),
    (diverging, DID_NOT_HOLD, DID_NOT_HOLD)])
def test_sigma_mechanism(make, flat, curved):
    assert judged("claim-sigma-mechanism", make) == {"flat": flat, "curved": curved}


def test_steps_of_the_three_options():
    """The third is what the optimizer takes; the first two are means over samples by themselves."""
    rng = np.random.default_rng(0)
    network = so.mlp([5, 6, 6, 3], activation="relu", bias=False, init=0.5, rng=1)
    x, y = rng.random((4, 5)), rng.integers(0, 3, 4)
    loss = so.SoftmaxCrossEntropy()
    found = averaging.options_at(network, loss, x, y)
    for name, (_, step) in found.items():
        twin = network.copy()
        before = twin.theta.copy()
        rates = {"step": "option 1", "rate": "option 2", "direction": "single"}[name]
        so.CubicRegularization(so.SGD(twin, loss), averaging.SIGMA, rates).step(x, y)
        np.testing.assert_allclose(step, twin.theta - before, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(averaging.projected([[3.0, 1], [1, -1]]), [3, 1])


def test_counted_multiplications():
    """Two hidden layers of 3 and ten outputs: pairs (0, 1), (0, 2), (1, 2) of 3 weight matrices."""
    assert costs.multiplications("eta", 2, 3) == 32 * (27 + 90 + 90)
    assert costs.multiplications("tangent", 2, 3) == 32 * 3 * (9 + 9 + 30)


@pytest.mark.parametrize("one, batch, eta", [(1.4, 1.9, HELD), (1.4, 33, UNDECIDED),
                                             (2.1, 33, DID_NOT_HOLD)])
def test_storage(one, batch, eta):
    def make(route, samples, **_):
        share = batch if route == "eta" and samples == 32 else one
        return {"curvature": 1000 * share, "gradient": 1000}

    assert judged("claim-storage", make) == {
        "eta": eta, "tangent": HELD if one < 1.5 else DID_NOT_HOLD}


def test_batch_rank():
    def growing(samples=1, data=None, **_):
        return {"rank": 20 * samples, "weights": 1696 if data is None else 10**6}

    def full(samples=1, **_):
        return {"rank": 1696, "weights": 1696}

    assert verdicts(judged("claim-batch-rank", growing)) == {HELD}
    assert verdicts(judged("claim-batch-rank", full)) == {DID_NOT_HOLD}


def test_start_scale():
    def as_reported(half_width, curvature, base=None, **_):
        size = {0.1: 1e-3, 0.2: 1.0, 0.6: 1e5, 1.0: 1e8}.get(half_width, 1.0)
        return training() if base else {"loss": size, "norm": size, "bend": size,
                                        "after": None if half_width == 1.0 else 1.0}

    def opposite(base=None, **_):
        return training(leave=100) if base else {"loss": 2.3, "norm": 1.0, "bend": 1.0,
                                                 "after": 0.1}

    assert verdicts(judged("claim-start-scale", as_reported)) == {HELD}
    assert verdicts(judged("claim-start-scale", opposite)) == {DID_NOT_HOLD}


@pytest.mark.parametrize("make, verdict", [
    (lambda half_width, **_: halves(half_width, 400, 0.1, before=5.0, after=0.05), HELD),
    (lambda half_width, **_: halves(half_width, 400, 0.1, before=0.05, after=0.5), DID_NOT_HOLD),
    (lambda **_: training(400, end=1.9), UNDECIDED), (diverging, UNDECIDED)])
def test_converged_or_stuck(make, verdict):
    assert judged("claim-converged-or-stuck", make) == {"a": verdict}
