"""Cubic regularisation around other methods: its step, its options, its counts and its memory."""

import numpy as np
import pytest
from harness.cases import network, relative

import secondorder as so
from secondorder.papers.low_rank import curvature, joint_rates, optimizer, steps

BASES = {
    "sgd": so.SGD,
    "momentum": so.Momentum,
    "adagrad": so.Adagrad,
    "adadelta": so.Adadelta,
    "adam": so.Adam,
    "truncated-newton": so.TruncatedNewton,
    "residual-partitioning": so.ResidualPartitioning,
}
L2 = 0.1
RATES = ({}, {"rates": "layer"}, {"rates": "layer", "coupled": False}, {"rates": "variable"})


def problem(activation="tanh", loss=None, seed=0, sizes=(4, 6, 5, 3), samples=12, **options):
    rng = np.random.default_rng(seed)
    net = so.mlp(list(sizes), activation=activation, rng=rng, **options)
    loss = so.SoftmaxCrossEntropy() if loss is None else loss
    return net, loss, rng.normal(size=(samples, sizes[0])), rng.integers(0, sizes[-1], samples)


def made(base=so.SGD, l2=L2, **options):
    net, loss, x, y = problem()
    return so.CubicRegularization(base(net, loss, l2=l2), **options), x, y


def dense(method, x, y):
    args, l2 = (method.network, method.loss, x, y), method.l2
    return so.exact.gradient(*args, l2=l2), so.exact.hessian(*args, method="products", l2=l2)


@pytest.mark.parametrize("base", BASES)
def test_the_step_is_the_models_minimiser_along_the_bases_direction(base):
    method, x, y = made(BASES[base], sigma=20.0)
    for _ in range(4):
        g, H = dense(method, x, y)
        before, kept = method.network.theta.copy(), method.base.state_dict()
        d = method.base.direction(method.base.evaluate(x, y))
        method.base.load_state_dict(kept)
        info = method.step(x, y)
        s = so.low_rank.step_length(d @ g, d @ H @ d, np.linalg.norm(d), 20.0)
        assert relative(method.network.theta - before, s * d) < 1e-10
        assert np.isclose(info["rate"], s, rtol=1e-11)
        assert np.isclose(info["slope"], d @ g) and np.isclose(info["curvature"], d @ H @ d)
        assert info["descent"] == (d @ g <= 0) and info["sigma"] == 20.0
        decrease = -steps.model_change(d @ g, d @ H @ d, np.linalg.norm(d), 20.0, s)
        assert np.isclose(info["predicted_decrease"], decrease)
    assert method.steps == method.base.steps == 4
    assert len(method.rates_taken) == 4 and method.rates_taken[-1] == info["rate"]


def test_printed_curvature():
    method, x, y = made(sigma=1.0, curvature="printed")
    args = method.network, method.loss, x, y
    g = so.exact.gradient(*args, l2=L2)
    a, h = so.low_rank.directional_curvature(*args, -g, form="printed", l2=L2)
    expected = so.low_rank.step_length(a, h, np.linalg.norm(g), 1.0)
    assert np.isclose(method.step(x, y)["rate"], expected, rtol=1e-12)


@pytest.mark.parametrize("coupled", (False, True))
def test_layers_on_their_own_and_together(coupled):
    method, x, y = made(sigma=3.0, rates="layer", coupled=coupled)
    g, H = dense(method, x, y)
    before = method.network.theta.copy()
    info = method.step(x, y)
    blocks = [w for w in method.network.slices if w.stop > w.start]
    a = -np.array([g[w] @ g[w] for w in blocks])
    Q = np.array([[g[r] @ H[r, k] @ g[k] for k in blocks] for r in blocks])
    norms = np.sqrt(-a)
    if coupled:
        s = joint_rates.coupled_rates(a, Q, norms, 3.0)
        model = a @ s + s @ Q @ s / 2 + 3.0 * np.linalg.norm(norms * s) ** 3 / 6
    else:
        s = so.low_rank.step_length(a, np.diag(Q), norms, 3.0)
        model = np.sum(steps.model_change(a, np.diag(Q), norms, 3.0, s))
    expected = np.zeros_like(g)
    for rate, w in zip(s, blocks):
        expected[w] = -rate * g[w]
    assert relative(method.network.theta - before, expected) < 1e-9
    told = {"smallest_rate": s.min(), "largest_rate": s.max(), "slope": a.sum(),
            "curvature": Q.sum(), "predicted_decrease": -model, "descent": True}
    assert {name: info[name] for name in told} == pytest.approx(told, rel=1e-9)


def test_every_parameter_on_its_own():
    method, x, y = made(sigma=50.0, rates="variable")
    g, H = dense(method, x, y)
    h, before = np.diag(H), method.network.theta.copy()
    info = method.step(x, y)
    s = so.low_rank.step_length(-np.abs(g), h, np.ones_like(g), 50.0)
    assert relative(method.network.theta - before, -np.sign(g) * s) < 1e-9
    rates = s / np.abs(g)
    told = {"smallest_rate": rates.min(), "largest_rate": rates.max(), "slope": -g @ g,
            "curvature": g**2 @ h, "descent": True,
            "predicted_decrease": -np.sum(steps.model_change(-np.abs(g), h, 1.0, 50.0, s))}
    assert {name: info[name] for name in told} == pytest.approx(told, rel=1e-8)


@pytest.mark.parametrize("averaging", ("step", "rate"))
def test_averages_report_the_samples_models(averaging):
    method, x, y = made(sigma=10.0, averaging=averaging)
    a, h, lengths = curvature.sample_curvatures_at(method.evaluate(x, y), L2)
    rates = so.low_rank.step_length(a, h, lengths, 10.0)
    info = method.step(x, y)
    told = {"slope": a.mean(), "curvature": h.mean(), "smallest_rate": rates.min(),
            "largest_rate": rates.max(), "descent": True}
    assert {name: info[name] for name in told} == pytest.approx(told, rel=1e-9)
    assert "predicted_decrease" not in info


def test_a_direction_that_goes_uphill():
    class Uphill(so.SGD):
        def direction(self, evaluation):
            return -super().direction(evaluation)

    for ascent in ("skip", "flip", "minimum"):
        net, loss, x, y = problem()
        method = so.CubicRegularization(Uphill(net, loss), sigma=5.0, ascent=ascent)
        before, (g, H) = net.theta.copy(), dense(method, x, y)
        info = method.step(x, y)
        assert method.ascents == 1 and info["descent"] is False
        s = so.low_rank.step_length(g @ g, g @ H @ g, np.linalg.norm(g), 5.0, ascent)
        assert np.allclose(net.theta - before, s * g, atol=1e-12) and method.skipped == (s == 0)
        assert (s != 0) == (ascent == "flip")
    for options in RATES[1:]:
        net, loss, x, y = problem()
        method = so.CubicRegularization(Uphill(net, loss), **options)
        for ascents in (1, 2):
            assert method.step(x, y)["descent"] is False and method.ascents == ascents


@pytest.mark.parametrize("options", RATES)
def test_nothing_to_follow(options):
    """A network that is right everywhere is at a stationary point."""
    net, loss, x, _ = problem(loss=so.SquaredError())
    method = so.CubicRegularization(so.SGD(net, loss), **options)
    before = net.theta.copy()
    info = method.step(x, net(x))
    assert info["rate"] == 0 and method.skipped == 1 and (net.theta == before).all()
    assert info["descent"] is True and method.ascents == 0, "nor does anything rise"


STEPS = (*RATES, {"curvature": "printed"}, {"adaptive": True}, {"averaging": "step"},
         {"averaging": "rate"})


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("options", STEPS)
def test_a_model_that_overflows_is_named_and_changes_nothing(options):
    net, loss, x, y = problem("relu")
    base = so.SGD if "averaging" in options else so.Momentum
    method = so.CubicRegularization(base(net, loss), **options)
    method.step(x, y)
    theta, state = net.theta.copy(), method.state_dict()
    with pytest.raises(FloatingPointError, match="step 2: the (slope|curvature).* is not finite"):
        method.step(1e200 * x, y)
    assert (net.theta == theta).all() and len(method.rates_taken) == 1
    after = method.state_dict()
    assert {k: after[k] for k in method.state_names} == {k: state[k] for k in method.state_names}
    if base is so.Momentum:
        assert all(np.array_equal(after["base"][k], v) for k, v in state["base"].items())
    assert method.step(x, y)["rate"] > 0


def test_a_sample_whose_model_is_not_finite_is_named(monkeypatch):
    method, x, y = made(averaging="rate")
    numbers = -np.ones(12), np.where(np.arange(12) == 5, np.inf, 1.0), np.ones(12)
    monkeypatch.setattr(optimizer, "sample_curvatures_at", lambda *args: numbers)
    with pytest.raises(FloatingPointError, match="the curvature of sample 5 along"):
        method.step(x, y)


@pytest.mark.parametrize("options", (*RATES, {"averaging": "step"}, {"averaging": "rate"}))
def test_a_batch_of_one_and_float32(options):
    net, loss, x, y = problem(dtype="float32")
    double, *_ = problem()
    single, twin = (so.CubicRegularization(so.SGD(one, loss), **options).step(x[:1], y[:1])["rate"]
                    for one in (net, double))
    assert net.theta.dtype == np.float32 and single > 0 and np.isclose(twin, single, rtol=1e-3)


def test_sigma_adapts_between_limits():
    method, x, y = made(sigma=1e4, adaptive=True)
    for _ in range(30):
        info = method.step(x, y)
        assert info["decrease_ratio"] > 0 and info["accepted"]
    assert method.sigma == 100.0 == method.smallest_sigma
    method, x, y = made(sigma=8.0, adaptive=True, smallest_sigma=8.0)
    method.step(x, y)
    assert method.sigma == 8.0


@pytest.mark.parametrize("ratio, sigma", [(np.nextafter(0.8, 1), 50), (0.8, 100), (0.2, 100),
                                          (np.nextafter(0.2, 0), 200), (1e-300, 200), (0.0, 200),
                                          (-1e-300, 200)])
def test_rules_for_sigma_at_their_ends(monkeypatch, ratio, sigma):
    """A decrease of 1 is promised; what does not fall is taken back."""
    method, x, y = made(sigma=100.0, adaptive=True, smallest_sigma=1.0)
    at, change = method.evaluate(x, y), np.ones(method.network.size)
    monkeypatch.setattr(method, "objective", lambda evaluation: 0.0)
    monkeypatch.setattr(optimizer, "objective_after", lambda *args: -ratio)
    method.details = {"predicted_decrease": 1.0}
    method._adapt(at, change)
    assert method.details["decrease_ratio"] == ratio and method.sigma == sigma
    assert method.details["accepted"] == (ratio > 0) == bool(change.all()) != method.rejected


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_decrease_that_may_be_rounding_leaves_sigma(dtype):
    net, loss, x, y = problem(dtype=dtype)
    method = so.CubicRegularization(so.SGD(net, loss), adaptive=True)
    at, eps = method.evaluate(x, y), float(np.finfo(dtype).eps)
    for factor, adapts in ((8.0, False), (8.01, True)):
        method.details = {"predicted_decrease": factor * eps * method.objective(at)}
        method._adapt(at, np.zeros_like(net.theta))
        assert ("decrease_ratio" in method.details) == adapts == (method.sigma != 100.0)


@pytest.mark.parametrize("options", (*RATES, {"adaptive": True}))
def test_layers_of_any_kind(options):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 2)), rng.normal(size=(6, 3))
    method = so.CubicRegularization(so.SGD(network("skip", rng), so.SquaredError()), **options)
    losses = [method.step(x, y)["loss"] for _ in range(20)]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("base, options, word", [
    (so.SGD, {"sigma": np.nan}, "sigma"),
    (so.SGD, {"smallest_sigma": 200.0}, "smallest_sigma"),
    (so.Momentum, {"averaging": "rate"}, "needs SGD as base"),
    (so.SGD, {"averaging": "step", "rates": "layer"}, "needs SGD"),
    (so.SGD, {"averaging": "rate", "adaptive": True}, "adaptive"),
    (so.SGD, {"curvature": "printed", "rates": "layer"}, "rates='single'"),
    (so.SGD, {"averaging": "step", "curvature": "printed"}, "printed"),
])
def test_options_that_do_not_go(base, options, word):
    net, loss, *_ = problem()
    with pytest.raises(ValueError, match=word):
        so.CubicRegularization(base(net, loss), **options)
