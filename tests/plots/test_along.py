"""The objective along a direction: the curves are the numbers that they claim to be."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import secondorder as so

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 3)), RNG.integers(0, 2, 12)
NET, LOSS = so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy()
D = RNG.normal(size=NET.size)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def lines(ax):
    return {line.get_label(): line.get_xydata() for line in ax.lines}


@pytest.mark.parametrize("batch_size", [None, 5])
def test_objective_and_quadratic_model(batch_size):
    before = NET.theta.copy()
    found = lines(so.plots.along(NET, LOSS, X, Y, D, l2=0.2, batch_size=batch_size))
    net = NET.copy()
    for t, value in found["objective"]:
        net.theta = before + t * D
        expected = net.evaluate(LOSS, X, Y).loss + 0.1 * net.theta @ net.theta
        assert value == pytest.approx(expected, rel=1e-12)
    steps = found["quadratic model"][:, 0]
    g, H = (made(NET, LOSS, X, Y, l2=0.2) for made in (so.exact.gradient, so.exact.hessian))
    start = NET.evaluate(LOSS, X, Y).loss + 0.1 * before @ before
    model = start + steps * (g @ D) + steps**2 / 2 * (D @ H @ D)
    assert np.allclose(found["quadratic model"][:, 1], model, rtol=1e-12)
    assert steps[0] == -1 and steps[-1] == 2 and (NET.theta == before).all()


def test_a_bound_as_another_model():
    bound = so.residual_partitioning.bound(NET, LOSS, X, Y)
    ax = so.plots.along(NET, LOSS, X, Y, D / 10, steps=[0.0, 0.5, 1.0], title="a ray",
                        models={"bound": bound.value, "zero": lambda d: 0.0})
    found = lines(ax)
    assert np.allclose(found["bound"][:, 1], [bound.value(t * D / 10) for t in (0, 0.5, 1)])
    assert (found["zero"][:, 1] == 0).all() and ax.get_title() == "a ray"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "objective", "quadratic model", "bound", "zero"]
    colours = {line.get_color() for line in ax.lines[:4]}
    assert len(colours) == 4


def test_where_the_objective_overflows_the_line_ends():
    net = so.mlp([3, 4, 2], activation="identity", rng=0)
    ax = so.plots.along(net, so.SquaredError(), X, np.zeros((12, 2)), D, steps=[0.0, 1.0, 1e90])
    values = lines(ax)["objective"][:, 1]
    assert np.isfinite(values[:2]).all() and np.isnan(values[2])
    assert np.isfinite(ax.get_ylim()).all()
