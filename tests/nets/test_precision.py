"""float32 end to end: converted once at the door, kept throughout, results as good as float32 can
give."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import LOSSES, MIDDLE, network, off_kinks, relative, targets

EPS = np.finfo(np.float32).eps
TOLERANCE = 100 * EPS  # a few dozen roundings on the way through four layers and back


def twins(make, loss, seed=3, samples=5):
    """A float32 network and a float64 one with exactly the same parameters and data."""
    rng = np.random.default_rng(seed)
    net, x = off_kinks(make, samples, rng)
    single = net.astype("float32")
    y = targets(loss, rng, samples).astype(np.float32)
    return single, single.astype("float64"), x.astype(np.float32), y


LONG = ("chain-convolution", "chain-max-pool", "chain-recurrent", "chain-autonomous")  # to compile


@pytest.mark.parametrize("middle, name", [
    pytest.param(m, sorted(LOSSES)[i % len(LOSSES)],
                 marks=[pytest.mark.slow] * m.startswith(LONG)) for i, m in enumerate(MIDDLE)])
def test_curvature_in_single_precision(middle, name):
    loss = LOSSES[name]()
    single, double, x, y = twins(lambda r: network(middle, r), loss)
    v = np.random.default_rng(0).normal(size=single.size).astype(np.float32)
    exact = so.exact
    computations = {
        "outputs": lambda net: net(x),
        "gradient": lambda net: exact.gradient(net, loss, x, y, l2=0.1),
        "jacobian": lambda net: exact.jacobian(net, x),
        "product": lambda net: exact.hessian_vector_product(net, loss, x, y, v, l2=0.1),
        "products": lambda net: exact.hessian(net, loss, x, y, method="products", l2=0.1),
        "auto": lambda net: exact.hessian(net, loss, x, y, l2=0.1),
        "gauss_newton": lambda net: exact.gauss_newton(net, loss, x, y, l2=0.1),
        "empirical": lambda net: exact.fisher(net, loss, x, y, kind="empirical", l2=0.1),
        "operator": lambda net: exact.HessianOperator(net, loss, x, y, l2=0.1) @ v,
        "gauss_newton operator": lambda net: exact.GaussNewtonOperator(net, loss, x, y, l2=0.1) @ v,
        "empirical operator": lambda net: exact.FisherOperator(net, loss, x, y, kind="empirical",
                                                               l2=0.1) @ v,
    }
    for what, compute in computations.items():
        ours, reference = compute(single), compute(double)
        assert ours.dtype == np.float32 and reference.dtype == np.float64, what
        assert relative(ours, reference) < TOLERANCE, what
        assert relative(ours, reference) > 0, f"{what}: a float64 computation in disguise"


def test_scalars_are_summed_in_double():
    """The mean of many losses of the same size: a float32 running sum would be off by far more than
    one rounding."""
    net = so.mlp([1, 1], dtype="float32")
    net.theta = np.array([0, 0.1], np.float32)
    n = 200_001
    x, y = np.zeros((n, 1), np.float32), np.full((n, 1), 1.0, np.float32)
    e = net.evaluate(so.SquaredError(), x, y)
    assert e.loss == pytest.approx(float(e.losses[0]), rel=1e-12)
    value, slope, _ = so.exact.two_jet(net, so.SquaredError(), x, y, np.array([0, 1], np.float32))
    assert all(isinstance(number, float) for number in (value, slope))
    assert slope == pytest.approx(float(np.float32(0.1)) - 1, rel=1e-7)


def test_a_jet_sums_what_cancels_in_double():
    """Slopes of 1e8, 1 and -1e8: a sum in float32 would lose the one in the middle."""
    net = so.mlp([1, 1], bias=False, dtype="float32")
    net.theta = [0.0]
    y = np.array([[-1e8], [-1], [1e8]])
    _, slope, curvature = so.exact.two_jet(net, so.SquaredError(), np.ones((3, 1)), y, np.ones(1))
    assert slope == pytest.approx(1 / 3, rel=1e-12) and curvature == 1
