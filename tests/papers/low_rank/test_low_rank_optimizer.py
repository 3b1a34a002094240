"""Cubic regularisation around other methods: its step, its options, its counts and its memory."""

import numpy as np
import pytest
from harness.cases import network, relative
from harness.forms import form  # noqa: F401  both forms

import secondorder as so
from secondorder.papers.low_rank import joint_rates, optimizer, steps

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


def problem(activation="tanh", loss=None, seed=0, sizes=(4, 6, 5, 3), samples=12, **options):
    rng = np.random.default_rng(seed)
    net = so.mlp(list(sizes), activation=activation, rng=rng, **options)
    loss = so.SoftmaxCrossEntropy() if loss is None else loss
    return net, loss, rng.normal(size=(samples, sizes[0])), rng.integers(0, sizes[-1], samples)


def made(base=so.SGD, l2=L2, **options):
    net, loss, x, y = problem()
    return so.CubicRegularization(base(net, loss, l2=l2), **options), x, y


def dense(method, x, y):
    args = method.network, method.loss, x, y
    return so.exact.gradient(*args, l2=method.l2), so.exact.hessian(
        *args, method="products", l2=method.l2
    )


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
    info = method.step(x, y)
    assert np.isclose(
        info["rate"], so.low_rank.step_length(a, h, np.linalg.norm(g), 1.0), rtol=1e-12
    )


def test_layers_on_their_own_and_together():
    for coupled in (False, True):
        method, x, y = made(sigma=3.0, rates="layer", coupled=coupled)
        g, H = dense(method, x, y)
        before = method.network.theta.copy()
        info = method.step(x, y)
        blocks = [w for w in method.network.slices if w.stop > w.start]
        a = -np.array([g[w] @ g[w] for w in blocks])
        Q = np.array([[g[r] @ H[r, k] @ g[k] for k in blocks] for r in blocks])
        norms = np.sqrt(-a)
        s = (
            joint_rates.coupled_rates(a, Q, norms, 3.0)
            if coupled
            else np.array([so.low_rank.step_length(*one, 3.0) for one in zip(a, np.diag(Q), norms)])
        )
        expected = np.zeros_like(g)
        for rate, w in zip(s, blocks):
            expected[w] = -rate * g[w]
        assert relative(method.network.theta - before, expected) < 1e-9
        assert np.isclose(info["smallest_rate"], s.min()) and np.isclose(
            info["largest_rate"], s.max()
        )
        assert np.isclose(info["slope"], a.sum()) and np.isclose(info["curvature"], Q.sum())
        assert info["descent"] is True
        model = (a @ s + s @ Q @ s / 2 + 3.0 * np.linalg.norm(norms * s) ** 3 / 6 if coupled
                 else sum(steps.model_change(*one, 3.0, s_k)
                          for *one, s_k in zip(a, np.diag(Q), norms, s)))
        assert np.isclose(info["predicted_decrease"], -model, rtol=1e-9)
        if coupled:
            single = so.low_rank.step_length(a.sum(), Q.sum(), np.linalg.norm(norms), 3.0)
            model = -steps.model_change(a.sum(), Q.sum(), np.linalg.norm(norms), 3.0, single)
            assert info["predicted_decrease"] >= model * (1 - 1e-12)


def test_every_parameter_on_its_own():
    method, x, y = made(sigma=50.0, rates="variable")
    g, H = dense(method, x, y)
    before = method.network.theta.copy()
    info = method.step(x, y)
    s = np.array(
        [so.low_rank.step_length(-abs(gi), hi, 1.0, 50.0) for gi, hi in zip(g, np.diag(H))]
    )
    assert relative(method.network.theta - before, -np.sign(g) * s) < 1e-9
    assert info["descent"] is True and np.isclose(info["slope"], -g @ g)
    assert np.isclose(info["curvature"], g**2 @ np.diag(H))
    rates = s / abs(g)
    assert np.isclose(info["smallest_rate"], rates.min())
    assert np.isclose(info["largest_rate"], rates.max())
    changes = [steps.model_change(-abs(gi), hi, 1.0, 50.0, si)
               for gi, hi, si in zip(g, np.diag(H), s)]
    assert np.isclose(info["predicted_decrease"], -sum(changes))


@pytest.mark.parametrize("averaging", ("step", "rate"))
@pytest.mark.parametrize("l2", (0.0, L2))
def test_averages_of_the_samples_own_steps(averaging, l2):
    method, x, y = made(l2=l2, sigma=10.0, averaging=averaging)
    rates, gradients, slopes, curvatures = [], [], [], []
    for s in range(len(x)):
        g, H = dense(method, x[s:s + 1], y[s:s + 1])
        slopes.append(-g @ g)
        curvatures.append(g @ H @ g)
        rates.append(so.low_rank.step_length(-g @ g, g @ H @ g, np.linalg.norm(g), 10.0))
        gradients.append(g)
    rates, gradients = np.array(rates), np.array(gradients)
    expected = {
        "step": -(rates[:, None] * gradients).mean(axis=0),
        "rate": -rates.mean() * gradients.mean(axis=0),
    }
    before = method.network.theta.copy()
    info = method.step(x, y)
    assert relative(method.network.theta - before, expected[averaging]) < 1e-10
    expected = {"slope": np.mean(slopes), "curvature": np.mean(curvatures),
                "smallest_rate": rates.min(), "largest_rate": rates.max()}
    assert {name: info[name] for name in expected} == pytest.approx(expected, rel=1e-9)
    assert info["descent"] is True and "predicted_decrease" not in info


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
    for rates, coupled in (("layer", False), ("layer", True), ("variable", None)):
        net, loss, x, y = problem()
        method = so.CubicRegularization(Uphill(net, loss), rates=rates, coupled=coupled)
        assert method.step(x, y)["descent"] is False and method.ascents == 1
        assert method.step(x, y)["descent"] is False and method.ascents == 2


def test_nothing_to_follow():
    class Still(so.SGD):
        def direction(self, evaluation):
            return np.zeros_like(self.network.theta)

    for options in (
        {},
        {"rates": "layer"},
        {"rates": "layer", "coupled": False},
        {"rates": "variable"},
    ):
        net, loss, x, y = problem()
        method = so.CubicRegularization(Still(net, loss), **options)
        before = net.theta.copy()
        info = method.step(x, y)
        assert info["rate"] == 0 and method.skipped == 1 and (net.theta == before).all()
        assert info["descent"] is True and method.ascents == 0, "nor does anything rise"


STEPS = ({}, {"curvature": "printed"}, {"adaptive": True}, {"rates": "layer"},
         {"rates": "layer", "coupled": False}, {"rates": "variable"}, {"averaging": "step"},
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


def test_numbers_of_the_model_that_are_not_finite(monkeypatch):
    def refused(words):
        before = method.network.theta.copy()
        with pytest.raises(FloatingPointError, match=words):
            method.step(x, y)
        assert method.skipped == 0 and (method.network.theta == before).all()

    method, x, y = made()
    for found, words in (((-1.0, np.nan), "the curvature along"), ((np.inf, 1.0), "the slope al")):
        monkeypatch.setattr(optimizer, "directional_curvature_at", lambda *args, f=found: f)
        refused(words)
    method, x, y = made(averaging="rate")
    of_samples = -np.ones(12), np.where(np.arange(12) == 5, np.inf, 1.0), np.ones(12)
    monkeypatch.setattr(optimizer, "sample_curvatures_at", lambda *args: of_samples)
    refused("the curvature of sample 5 along")
    whole = np.full(12, -1e308), np.ones(12), np.ones(12)  # finite, their sum is not
    monkeypatch.setattr(optimizer, "sample_curvatures_at", lambda *args: whole)
    with np.errstate(over="ignore"):
        refused("the slope along")
    method, x, y = made(rates="variable")
    monkeypatch.setattr(optimizer, "hessian_diagonal_at",
                        lambda *args: np.where(np.arange(len(method.network.theta)) == 7, np.nan,
                                               1.0))
    refused("the curvature of parameter 7 along")
    thirds, hurt = [slice(0, 5), slice(5, 9), slice(9, None)], np.eye(3)
    hurt[1, 2] = hurt[2, 1] = np.inf
    for coupled in (True, False):
        method, x, y = made(rates="layer", coupled=coupled)
        for found, words in (
            ((np.ones(3), hurt, np.ones(3), thirds), "the curvature of trained layer 1 along"),
            ((np.array([1.0, 1.0, np.inf]), np.eye(3), np.ones(3), thirds),
             "the slope of trained layer 2 along"),
            ((np.ones(3), np.eye(3), np.array([np.inf, 1.0, 1.0]), thirds),
             "the length of trained layer 0 along"),
        ):
            monkeypatch.setattr(optimizer, "layer_products", lambda *args, f=found: f)
            refused(words)


def test_a_batch_of_one_and_float32():
    for options in (
        {},
        {"rates": "layer"},
        {"rates": "variable"},
        {"averaging": "step"},
        {"averaging": "rate"},
    ):
        net, loss, x, y = problem(dtype="float32")
        method = so.CubicRegularization(so.SGD(net, loss), **options)
        info = method.step(x[:1], y[:1])
        assert info["rate"] > 0 and net.theta.dtype == np.float32
        double, *_ = problem()
        twin = so.CubicRegularization(so.SGD(double, loss), **options)
        assert np.isclose(twin.step(x[:1], y[:1])["rate"], info["rate"], rtol=1e-3)


def test_one_sample_makes_the_three_averages_one():
    changes = []
    for averaging in ("direction", "step", "rate"):
        method, x, y = made(averaging=averaging)
        before = method.network.theta.copy()
        method.step(x[:1], y[:1])
        changes.append(method.network.theta - before)
    assert relative(changes[1], changes[0]) < 1e-11 and relative(changes[2], changes[0]) < 1e-11


def test_sigma_adapts_between_limits():
    method, x, y = made(sigma=1e4, adaptive=True)
    for _ in range(30):
        info = method.step(x, y)
        assert info["decrease_ratio"] > 0 and info["accepted"]
    assert method.sigma == 100.0 == method.smallest_sigma
    method, x, y = made(sigma=8.0, adaptive=True, smallest_sigma=8.0)
    method.step(x, y)
    assert method.sigma == 8.0


@pytest.mark.parametrize(
    "factor, ratio, sigma, moved",
    [
        (1.0, 1.0, 50.0, True),
        (0.5, 0.5, 100.0, True),
        (0.1, 0.1, 200.0, True),
        (-3.0, -1.0, 200.0, False),
    ],
)
def test_rules_for_sigma(monkeypatch, factor, ratio, sigma, moved):
    """With a made-up objective after the step, `factor` times the promised decrease."""
    method, x, y = made(sigma=100.0, adaptive=True)

    def after(method, evaluation, change):
        return method.objective(evaluation) - factor * method.details["predicted_decrease"]

    monkeypatch.setattr(optimizer, "objective_after", after)
    before = method.network.theta.copy()
    info = method.step(x, y)
    assert (
        np.isclose(info["decrease_ratio"], ratio)
        and method.sigma == sigma
        and info["accepted"] == moved
    )
    assert (method.network.theta != before).any() == moved and method.rejected == (not moved)


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


def test_the_objective_after_a_change():
    method, x, y = made(adaptive=True)
    at, theta = method.evaluate(x, y), method.network.theta.copy()
    change = np.random.default_rng(0).normal(size=theta.size)
    value = optimizer.objective_after(method, at, change)
    assert (method.network.theta == theta).all()
    method.network.theta = theta + change
    assert np.isclose(value, method.objective(method.evaluate(x, y)), rtol=1e-14)
    method.network.theta = theta
    with np.errstate(over="ignore", invalid="ignore"):
        assert optimizer.objective_after(method, at, change * 1e308) == np.inf


def test_layers_of_any_kind():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 2)), rng.normal(size=(6, 3))
    for options in (
        {},
        {"rates": "layer"},
        {"rates": "layer", "coupled": False},
        {"rates": "variable"},
        {"adaptive": True},
    ):
        method = so.CubicRegularization(
            so.SGD(network("skip", np.random.default_rng(1)), so.SquaredError()), **options
        )
        losses = [method.step(x, y)["loss"] for _ in range(20)]
        assert losses[-1] < losses[0]
    for options in ({"averaging": "step"}, {"curvature": "printed"}):
        with pytest.raises(TypeError, match="does not support the layer Skip"):
            so.CubicRegularization(so.SGD(network("skip", rng), so.SquaredError()), **options)


@pytest.mark.parametrize(
    "options, word",
    [
        ({"sigma": np.nan}, "sigma"),
        ({"smallest_sigma": 200.0}, "smallest_sigma"),
        ({"averaging": "step", "rates": "layer"}, "needs SGD"),
        ({"averaging": "rate", "adaptive": True}, "adaptive"),
        ({"curvature": "printed", "rates": "layer"}, "rates='single'"),
        ({"averaging": "step", "curvature": "printed"}, "printed"),
    ],
)
def test_options_that_do_not_go(options, word):
    net, loss, *_ = problem()
    with pytest.raises(ValueError, match=word):
        so.CubicRegularization(so.SGD(net, loss), **options)


def test_other_refusals():
    net, loss, *_ = problem()
    with pytest.raises(ValueError, match="averaging='rate' needs SGD as base"):
        so.CubicRegularization(so.Momentum(net, loss), averaging="rate")
    assert "SGD" in repr(so.CubicRegularization(so.SGD(net, loss))) and "sigma=100" in repr(
        so.CubicRegularization(so.SGD(net, loss)))
