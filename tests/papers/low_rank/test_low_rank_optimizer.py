"""Cubic regularisation around other methods: its step against dense derivatives, and what it tells.
"""

import numpy as np
import pytest
from harness.cases import relative

import secondorder as so
from secondorder.papers.low_rank import method as room
from secondorder.papers.low_rank.eq_08_09_cubic_model import eq_8_change
from secondorder.papers.low_rank.section_4_rates_by_layer import joint_change, joint_rates

BASES = (so.SGD, so.Momentum, so.Adagrad, so.Adadelta, so.Adam, so.TruncatedNewton,
         so.ResidualPartitioning)
L2 = 0.1
OPTIONS = ("option 1", "option 2")


def problem(activation="tanh", loss=None, dtype="float64"):
    rng = np.random.default_rng(0)
    net = so.mlp([4, 6, 5, 3], activation=activation, rng=rng, dtype=dtype)
    loss = so.SoftmaxCrossEntropy() if loss is None else loss
    return net, loss, rng.normal(size=(12, 4)), rng.integers(0, 3, 12)


def made(base=so.SGD, **options):
    net, loss, x, y = problem()
    return so.CubicRegularization(base(net, loss, l2=L2), **options), x, y


def dense(method, x, y):
    args, l2 = (method.network, method.loss, x, y), method.l2
    return so.exact.gradient(*args, l2=l2), so.exact.hessian(*args, method="products", l2=l2)


@pytest.mark.parametrize("base", BASES)
def test_the_step_is_the_models_minimiser_along_the_bases_direction(base):
    method, x, y = made(base, sigma=20.0)
    for _ in range(2):
        g, H = dense(method, x, y)
        before, kept = method.network.theta.copy(), method.base.state_dict()
        d = method.base.direction(method.base.evaluate(x, y))
        method.base.load_state_dict(kept)
        info = method.step(x, y)
        model = d @ g, d @ H @ d, np.linalg.norm(d)
        s = so.low_rank.step_length(*model, 20.0)
        assert relative(method.network.theta - before, s * d) < 1e-10
        told = {"rate": s, "slope": model[0], "curvature": model[1],
                "predicted_decrease": -eq_8_change(*model, 20.0, s), "descent": bool(d @ g <= 0)}
        assert {name: info[name] for name in told} == pytest.approx(told, rel=1e-9)
    assert method.steps == method.base.steps == 2


def test_printed_curvature():
    method, x, y = made(sigma=1.0, rates="printed")
    args = method.network, method.loss, x, y
    g = so.exact.gradient(*args, l2=L2)
    a, h = so.low_rank.directional_curvature(*args, -g, form="printed", l2=L2)
    expected = so.low_rank.step_length(a, h, np.linalg.norm(g), 1.0)
    assert np.isclose(method.step(x, y)["rate"], expected, rtol=1e-12)


def test_layers_together_by_the_printed_curvature():
    """Q_kr is half of what two pieces of a direction have together and not apart. With ReLU the
    print lacks nothing but f_pp between hidden layers.
    """
    net, loss, x, y = problem("relu")
    args = net, loss, x, y
    method = so.CubicRegularization(so.SGD(net, loss, l2=L2), sigma=3.0, rates="layer printed")
    g, before = so.exact.gradient(*args, l2=L2), net.theta.copy()
    pieces = [np.where((np.arange(net.size) >= w.start) & (np.arange(net.size) < w.stop), -g, 0)
              for w in net.slices if w.stop > w.start]

    def h(v):
        return so.low_rank.directional_curvature(*args, v, form="printed", l2=L2)[1]

    Q = np.array([[(h(v + w) - h(v) - h(w)) / 2 for w in pieces] for v in pieces])
    s = joint_rates(np.array([g @ v for v in pieces]), Q,
                    np.array([np.linalg.norm(v) for v in pieces]), 3.0)
    _, corrected = so.low_rank.directional_curvature(*args, -g, l2=L2)
    info = method.step(x, y)
    assert np.isclose(info["curvature"], Q.sum(), rtol=1e-9)
    assert relative(net.theta - before, s @ pieces) < 1e-9
    assert not np.isclose(info["curvature"], corrected, rtol=1e-3)


@pytest.mark.parametrize("rates", ("separate", "layer"))
def test_layers_on_their_own_and_together(rates):
    method, x, y = made(sigma=3.0, rates=rates)
    g, H = dense(method, x, y)
    before = method.network.theta.copy()
    info = method.step(x, y)
    blocks = [w for w in method.network.slices if w.stop > w.start]
    a = -np.array([g[w] @ g[w] for w in blocks])
    Q = np.array([[g[r] @ H[r, k] @ g[k] for k in blocks] for r in blocks])
    norms = np.sqrt(-a)
    if rates == "layer":
        s = joint_rates(a, Q, norms, 3.0)
        model = joint_change(a, Q, norms, 3.0, s)
    else:
        s = so.low_rank.step_length(a, np.diag(Q), norms, 3.0)
        model = np.sum(eq_8_change(a, np.diag(Q), norms, 3.0, s))
    expected = np.zeros_like(g)
    for rate, w in zip(s, blocks):
        expected[w] = -rate * g[w]
    assert relative(method.network.theta - before, expected) < 1e-9
    told = {"slope": a.sum(), "curvature": Q.sum(), "predicted_decrease": -model, "descent": True,
            "rate": np.linalg.norm(expected) / np.linalg.norm(g)}
    assert {name: info[name] for name in told} == pytest.approx(told, rel=1e-9)


@pytest.mark.parametrize("rates", [r for r in room.RATES if r not in OPTIONS])
def test_a_direction_that_goes_uphill_is_not_followed(rates):
    class Uphill(so.SGD):
        def direction(self, evaluation):
            return -super().direction(evaluation)

    net, loss, x, y = problem()
    method, before = so.CubicRegularization(Uphill(net, loss), rates=rates), net.theta.copy()
    info = method.step(x, y)
    assert info["descent"] is False and method.steps == 1
    if rates in ("layer", "layer printed"):  # the joint model looks both ways
        assert net.evaluate(loss, x, y).loss < info["loss"]
    else:
        assert info["rate"] == 0 and (net.theta == before).all()


@pytest.mark.parametrize("rates", room.RATES)
def test_nothing_to_follow(rates):
    """A network that is right everywhere is at a stationary point."""
    net, loss, x, _ = problem(loss=so.SquaredError())
    method, before = so.CubicRegularization(so.SGD(net, loss), rates=rates), net.theta.copy()
    info = method.step(x, net(x))
    assert info["rate"] == 0 and (net.theta == before).all() and info["descent"] is True


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("rates", room.RATES)
def test_a_model_that_overflows_changes_nothing(rates):
    net, loss, x, y = problem("relu")
    method = so.CubicRegularization((so.SGD if rates in OPTIONS else so.Momentum)(net, loss),
                                    rates=rates)
    method.step(x, y)
    theta, state = net.theta.copy(), repr(method.state_dict())
    with pytest.raises(FloatingPointError, match="step 2: .*not finite|Hessian.*not finite"):
        method.step(1e200 * x, y)
    assert (net.theta == theta).all() and repr(method.state_dict()) == state
    assert method.step(x, y)["rate"] > 0


@pytest.mark.parametrize("rates", room.RATES)
def test_a_batch_of_one_and_float32(rates):
    net, loss, x, y = problem(dtype="float32")
    double, *_ = problem()
    single, twin = (so.CubicRegularization(so.SGD(one, loss), rates=rates).step(x[:1], y[:1])
                    for one in (net, double))
    assert net.theta.dtype == np.float32 and single["rate"] > 0
    for name in ("rate", "slope", "curvature", "predicted_decrease"):
        assert type(single[name]) is float and np.isclose(twin[name], single[name], rtol=1e-3)


@pytest.mark.parametrize("base, options, word", [
    (so.SGD, {"sigma": np.nan}, "sigma"),
    (so.SGD, {"rates": "varable"}, "did you mean 'variable'"),
    (so.Momentum, {"rates": "option 2"}, "needs SGD with l2=0 as base"),
])
def test_arguments_that_do_not_go(base, options, word):
    net, loss, *_ = problem()
    with pytest.raises(ValueError, match=word):
        so.CubicRegularization(base(net, loss), **options)
