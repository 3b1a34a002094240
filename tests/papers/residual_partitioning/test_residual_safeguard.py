"""What the bound promises and what it does not: the second-order model falls, the loss may rise;
with a safeguard it does not."""

import numpy as np
import pytest

import secondorder as so

LOSSES = {"softmax": (so.SoftmaxCrossEntropy(), lambda rng: rng.integers(0, 3, 8)),
          "Poisson": (so.PoissonNLL(), lambda rng: rng.poisson(2.0, size=(8, 3)))}


def first_step(seed, scale, name, l2=0.0, **options):
    """The objective before and after, what the model says of the step, and what is reported."""
    rng = np.random.default_rng(seed)
    net = so.cnn((1, 6, 6), [3, 4], 3, activation=("tanh", "softplus", "relu")[seed % 3],
                 padding=1, rng=seed)
    net.theta = scale * net.theta
    loss, targets = LOSSES[name]
    x, y, theta, twin = rng.normal(size=(8, 1, 6, 6)), targets(rng), net.theta.copy(), net.copy()
    optimizer = so.ResidualPartitioning(net, loss, 1.0, l2=l2, cross=True, **options)
    info, d = optimizer.step(x, y), net.theta - theta
    model = (so.exact.gradient(twin, loss, x, y) @ d
             + d @ so.exact.hessian_vector_product(twin, loss, x, y, d) / 2)
    before, after = (one.evaluate(loss, x, y).loss + l2 / 2 * one.theta @ one.theta
                     for one in (twin, net))
    return before, after, model, info


@pytest.mark.parametrize("scale, name, most", [(1, "softmax", 0), (1, "Poisson", 0),
                                               (3, "softmax", 6), (3, "Poisson", 12)])
def test_the_model_falls_and_the_loss_may_rise(scale, name, most):
    """A rise is rare, and with large weights it does happen."""
    steps = [first_step(seed, scale, name) for seed in range(30)]
    assert all(model <= 0 and -model >= info["bound_decrease"] * (1 - 1e-9)
               for _, _, model, info in steps)
    rising = sum(after > before for before, after, _, _ in steps)
    assert rising <= most and (rising > 0) == (most > 0)


@pytest.mark.parametrize("name, l2", [("softmax", 0.0), ("Poisson", 0.0), ("Poisson", 0.1)])
def test_with_a_safeguard_no_step_raises_the_objective(name, l2):
    halved = 0
    for seed in range(12, 20):
        before, after, _, info = first_step(seed, 3, name, l2, safeguard=True)
        _, free_after, _, free = first_step(seed, 3, name, l2)
        assert after <= before * (1 + 1e-14) and info["accepted"]
        assert info["step_norm"] == pytest.approx(free["step_norm"] * 0.5**info["halvings"],
                                                  rel=1e-12)
        # no halving more than it takes, and none where none is needed
        assert (info["halvings"] == 0) == (free_after <= before)
        halved += info["halvings"] > 0
    assert halved


class Kink(so.nets.DiagonalLoss):
    """It rises with every change, whatever its derivatives say."""

    def value(self, p, target):
        return np.abs(p - target).sum(axis=1)

    def gradient(self, p, target):
        return np.ones_like(p)

    def hessian_diagonal(self, p, target):
        return np.ones_like(p)


def test_a_step_that_never_descends_is_left_out():
    net = so.mlp([3, 2], rng=0)
    x = np.random.default_rng(0).normal(size=(5, 3))
    theta, y = net.theta.copy(), net(x)
    info = so.ResidualPartitioning(net, Kink(), safeguard=True).step(x, y)
    assert (info["accepted"], info["halvings"], info["step_norm"]) == (False, 20, 0)
    np.testing.assert_array_equal(net.theta, theta)
