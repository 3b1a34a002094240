"""EA-CG's curvatures against the exact Hessian and Fisher matrices, and what is refused."""

import numpy as np
import pytest

import secondorder as so
from secondorder import eacg
from secondorder.nets import Activation, Chain, Linear, Network
from secondorder.papers.eacg import eq_04_hessian as hessians
from secondorder.papers.eacg import method
from secondorder.papers.eacg.eq_08_pch import eq_8b_as_printed

LOSSES = {
    "softmax": so.SoftmaxCrossEntropy,
    "bounded": so.BoundedCriterion,
    "tukey": lambda: so.TukeyBiweight(c=2.0),
    "squared": so.SquaredError,
}


def case(seed, activation="sigmoid", loss="softmax", sizes=(5, 6, 4, 3), samples=7, **options):
    """A random network with biases, a loss and a batch."""
    rng = np.random.default_rng([seed, *map(ord, activation + loss)])
    net = so.mlp(sizes, activation=activation, init=1.2 / np.sqrt(sizes[0]), rng=rng, **options)
    x = rng.normal(size=(samples, sizes[0]))
    classes = loss in ("softmax", "bounded")
    y = (rng.integers(0, sizes[-1], samples) if classes
         else 1.5 * rng.normal(size=(samples, sizes[-1])))
    return net, LOSSES[loss](), x, y


def exact_blocks(net, H):
    """Blocks of a full (P, P) Hessian in the biases of the linear layers."""
    places = [slice(where.start + layer.weight.size, where.stop)
              for layer, where in zip(net.layers, net.slices)
              if layer.size and isinstance(layer, Linear)]
    return [H[own, own] for own in places]


def relative(left, right):
    return np.abs(left - right).max() / np.abs(right).max()


# -- exact -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("activation", ("sigmoid", "sin", "leaky_relu", "identity"))
def test_exact_means_are_blocks_of_the_hessian(activation, loss):
    net, criterion, x, y = case(0, activation, loss)
    blocks = exact_blocks(net, so.exact.hessian(net, criterion, x, y, method="products"))
    for B, wanted in zip(eacg.bias_curvatures(net, criterion, x, y, "hessian"), blocks,
                         strict=True):
        assert np.abs(B - wanted).max() <= 1e-12 * np.abs(wanted).max()


def test_memory_is_bounded_by_parts_of_the_batch():
    net, criterion, x, y = case(4, samples=11)
    evaluation = net.evaluate(criterion, x, y)
    layers = hessians.layers_of(evaluation)
    for max_bytes, sizes in ((1, [1] * 11), (4 * 36 * 8 * 3, [3, 3, 3, 2])):
        seen = []
        hessians.mean_of_instances(
            layers, lambda rows: (seen.append(len(evaluation.y[rows])), method.top(evaluation, rows)
                                  )[1], hessians.exact_step, max_bytes)
        assert seen == sizes


# -- approximations --------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ("softmax", "squared"))
def test_fisher_kinds(loss):
    net, criterion, x, y = case(7, "tanh", loss, samples=5)
    for kind, name in (("empirical", "fisher-empirical"),
                       ("exact", "fisher-exact"),
                       ("sampled", "fisher-sampled")):
        full = so.exact.fisher(net, criterion, x, y, kind=kind, rng=3)
        for B, of_bias in zip(eacg.bias_curvatures(net, criterion, x, y, name, rng=3),
                              exact_blocks(net, full)):
            assert relative(B, of_bias) < 1e-12, name


# -- networks of other shapes ----------------------------------------------------------------------


def test_frozen_layers_chains_and_an_activation_at_the_end():
    rng = np.random.default_rng(0)
    inside = Chain([Linear(4, 4, bias=False, rng=rng),
                    Activation("sin"),
                    Linear(4, 3, trainable=False, rng=rng)])
    net = Network([Linear(5, 4, rng=rng), Activation("tanh"), inside, Activation("softplus")])
    x, y = rng.normal(size=(6, 5)), rng.integers(0, 3, 6)
    loss = so.SoftmaxCrossEntropy()
    found = eacg.bias_curvatures(net, loss, x, y, "hessian")
    assert [B.shape for B in found] == [(4, 4), (4, 4), (3, 3)]
    of_bias = exact_blocks(net, so.exact.hessian(net, loss, x, y))[0]
    assert relative(found[0], of_bias) < 1e-12
    step = eacg.direction(net, loss, x, y, "pch-1", "exact", alpha=0.1)
    assert step.shape == (net.size,) and step @ so.exact.gradient(net, loss, x, y) < 0


@pytest.mark.parametrize("gamma", (-1.0, 0.0))
def test_8b_as_printed(gamma):
    """Means of h'' and of W^T g apart, before what is negative is corrected."""
    rng, S = np.random.default_rng(0), 5
    W, g, B = rng.normal(size=(2, 3)), rng.normal(size=(S, 2)), np.array([[2.0, 0.5], [0.5, 1.0]])
    slope, bent = rng.normal(size=(2, S, 3))
    wanted = (W.T @ B @ W) * np.mean([np.outer(h, h) for h in slope], axis=0)
    for u in range(3):
        entry = sum(bent[:, u]) / S * (W[:, u] @ sum(g)) / S
        wanted[u, u] += entry if entry > 0 else gamma * entry
    found = eq_8b_as_printed(W, B, g @ W, slope, bent, gamma)
    np.testing.assert_allclose(found, wanted, atol=1e-13)


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_curvature_that_overflows_is_named():
    net, criterion, x, y = case(0, "identity")
    net.layers[0].bias[...] = 0
    net.layers[2].weight[...] *= 1e160
    with pytest.raises(FloatingPointError, match="curvature of linear layer 1 is not finite"):
        eacg.bias_curvatures(net, criterion, 1e-160 * x, y)


@pytest.mark.parametrize("dtype", ("float64", "float32"))
@pytest.mark.parametrize("name", eacg.CURVATURES)
def test_a_penalty_adds_its_multiple_of_the_identity(name, dtype):
    net, criterion, x, y = case(0, dtype=dtype)
    bare, found = (eacg.bias_curvatures(net, criterion, x, y, name, rng=0, l2=l2)
                   for l2 in (0.0, 0.75))
    for B, wanted in zip(found, bare, strict=True):
        assert B.dtype == dtype
        np.testing.assert_allclose(B, wanted + 0.75 * np.eye(len(B)), rtol=1e-6, atol=1e-15)


def test_semidefinite_curvatures_are_those_that_have_no_negative_eigenvalue():
    """On a batch and a loss for which all others have one."""
    rng = np.random.default_rng(0)
    net, loss = so.mlp([4, 6, 5, 3], activation="tanh", rng=3), so.SoftmaxCrossEntropy()
    x, y = rng.normal(size=(12, 4)), rng.integers(0, 3, 12)
    least = {name: min(np.linalg.eigvalsh(one)[0] for one in so.eacg.bias_curvatures(
        net, loss, x, y, curvature=name, rng=0)) for name in eacg.CURVATURES}
    assert eacg.POSITIVE == tuple(name for name in least if least[name] >= -1e-12), least
