"""The literal functions of residual partitioning against the sums of their equations, index by
index."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Linear, Network
from secondorder.papers.residual_partitioning import (algorithm_1, coefficients, explicit,
                                                      partitions)
from secondorder.papers.residual_partitioning.equations import reference
from secondorder.papers.residual_partitioning.equations.reference import Reading

LAYERS = {"bias": {}, "no bias": {"bias": False}, "fixed": {"trainable": False},
          "fixed, no bias": {"bias": False, "trainable": False}}


def make(rng, options, S=4, n_in=3, n_out=2):
    """A layer, inputs with a zero among them, total gradients with a zero, and coefficients
    above."""
    layer = Linear(n_in, n_out, init=1.5, rng=rng, **options)
    y, u = rng.normal(size=(S, n_in)), rng.uniform(0.3, 2.0, size=(S, n_in))
    y[1, 2] = u[0, 1] = 0
    return layer, y, u, rng.normal(size=(S, n_out)), rng.uniform(0.1, 1.0, size=(S, n_out))


def close(left, right):
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    assert left.shape == right.shape
    assert np.abs(right).max() > 0, "nothing but zeros would be compared"
    np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-13)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


# -- (11), (10) ------------------------------------------------------------------------------------

def test_bias_goes_to_column_zero(rng):
    layer = Linear(3, 2, rng=rng)
    W = rng.normal(size=(2, 4))
    close(coefficients.flatten(layer, W), [*W[0, 1:], *W[1, 1:], W[0, 0], W[1, 0]])
    close(coefficients.unflatten(layer, coefficients.flatten(layer, W)), W)
    without, W[:, 0] = Linear(3, 2, bias=False, rng=rng), 0
    close(coefficients.flatten(without, W), W[:, 1:].ravel())
    close(coefficients.unflatten(without, W[:, 1:].ravel()), W)
    narrow = Linear(1, 2, bias=False, rng=rng)
    close(coefficients.unflatten(narrow, np.array([3.0, 5.0])), [[0, 3], [0, 5]])


@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
def test_the_numbers_that_share_a_simplex(options, rng):
    layer, y, u, _, _ = make(rng, options)
    expected = np.zeros((4, 2, 7))
    for s, i in np.ndindex(4, 2):
        if layer.trainable:
            expected[s, i, 0] = layer.bias is not None
            expected[s, i, 1:4] = abs(y[s])
        for j in range(3):
            expected[s, i, 4 + j] = abs(layer.weight[i, j]) * u[s, j]
    close(partitions.affine_terms(layer, y, u), expected)


@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
def test_arbitrary_partition_is_valid_and_random(options, rng):
    layer, y, u, _, _ = make(rng, options)
    one, two = partitions.arbitrary(layer, y, u, rng), partitions.arbitrary(layer, y, u, rng)
    partitions.check(one, layer, y, u)
    assert np.abs(one.phi - two.phi).max() > 0.01
    assert one.eps.any() == layer.trainable
    assert not one.eps[1, :, 3].any() and not one.phi[0, :, 1].any(), (
        "nothing goes where there is no term"
    )
    out = partitions.arbitrary_output(np.ones((2, 3)), np.array([[1.0, 0.0, 2.0]] * 2), rng)
    np.testing.assert_allclose(out.sum(axis=1), 1)
    assert not out[:, 1].any() and (out[:, [0, 2]] > 0).all()


# -- (5) -------------------------------------------------------------------------------------------

def spoil(change):
    """A valid partition after `change(eps, phi)`, and what `check` needs."""
    rng = np.random.default_rng(3)
    layer, y, u, _, _ = make(rng, {})
    eps, phi = (part.copy() for part in partitions.optimal(layer, y, u))
    return partitions.Partition(*(change(eps, phi) or (eps, phi))), layer, y, u


def move(eps, phi):
    """A negative entry, with the sum kept at one."""
    eps[0, 0, 0], eps[0, 0, 1] = eps[0, 0, 0] + eps[0, 0, 1] + 0.1, -0.1


def empty(eps, phi):
    """Nothing for a term that is not zero, with the sum kept at one."""
    eps[2, 1, 1], eps[2, 1, 0] = 0, eps[2, 1, 0] + eps[2, 1, 1]


def poison(eps, phi):
    phi[0, 0, 0] = np.nan


@pytest.mark.parametrize("change, words", [
    (lambda eps, phi: (eps[:, :, 1:], phi),
     r"eps has shape \(4, 2, 3\), expected \(4, 2, 4\)"),
    (lambda eps, phi: (eps, phi[:3]), r"phi has shape \(3, 2, 3\), expected \(4, 2, 3\)"),
    (move, "not negative"),
    (poison, "finite"),
    (lambda eps, phi: (1.001 * eps, phi), "sum to one"),
    (lambda eps, phi: (eps, 0 * phi), "sum to one"),
    (empty, "zero although its term is not"),
], ids=["no bias column", "samples", "negative", "nan", "too much", "too little", "empty term"])
def test_invalid_partitions_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        partitions.check(*spoil(change))


def test_valid_partition_is_accepted_and_checked_by_the_bound(rng):
    partitions.check(*spoil(lambda eps, phi: None))
    at = evaluation(rng)
    made = explicit.partitions_of(at)
    made[2] = partitions.Partition(1.01 * made[2].eps, made[2].phi)
    with pytest.raises(ValueError, match="sum to one"):
        explicit.explicit_bound(at, made)
    eps = made[2].eps.copy()
    eps[:, :, 0] = 1 - eps[:, :, 1:].sum(axis=2)
    made[2] = partitions.Partition(eps, np.zeros_like(made[2].phi))
    with pytest.raises(ValueError, match="zero although its term is not"):
        explicit.explicit_bound(at, made)


def test_optimal_fractions_are_accepted_in_single_precision(rng):
    at = evaluation(rng)
    single = at.network.astype("float32").evaluate(at.loss_function, at.x, at.y)
    found = explicit.explicit_bound(single)
    assert found.curvature.dtype == np.float32
    np.testing.assert_allclose(found.curvature, explicit.explicit_bound(at).curvature, rtol=1e-4)
    eps, phi = partitions.optimal(single.network.layers[2], single.saved[2].input, found.u[2])
    with pytest.raises(ValueError, match="sum to one"):
        partitions.check(partitions.Partition(eps * np.float32(1.0001), phi),
                         single.network.layers[2], single.saved[2].input, found.u[2])


# -- the simplex -----------------------------------------------------------------------------------

def test_simplex_functions(rng):
    x, eta = rng.normal(size=5), rng.normal(size=5)
    e = [np.exp(v) for v in eta]
    p = np.array([v / sum(e) for v in e])
    close(partitions.softmax_parameters(eta), p)
    close(partitions.softmax_parameters(np.array([eta, 2 - eta])),
          [p, 1 / np.array(e) / sum(1 / np.array(e))])
    close(partitions.softmax_parameters(np.array([1000.0, 0.0, -1000.0])), [1, 0, 0])
    close(partitions.softmax_derivative(p),
          [[p[i] * ((i == k) - p[k]) for i in range(5)] for k in range(5)])
    close(partitions.simplex_optimum(x), [abs(v) / sum(map(abs, x)) for v in x])
    c = sum(x[i] ** 2 / p[i] for i in range(5))
    expected = [p[i] * (c - x[i] ** 2 / p[i] ** 2) for i in range(5)]
    close(partitions.simplex_gradient(x, p), expected)
    close(partitions.simplex_gradient_as_printed(x, p), [-v for v in expected])
    rows = np.array([[3.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
    close(partitions.simplex_optimum(rows), [[0.75, 0.25, 0], [0, 0, 0]])


def test_ratio_leaves_zero_where_the_denominator_is_zero():
    close(partitions.ratio(np.array([1.0, 2.0, 0.0]), np.array([4.0, 0.0, 0.0])), [0.25, 0, 0])
    assert partitions.ratio(np.ones(2, np.float32), np.ones(2, np.float32)).dtype == np.float32


# -- (4), (7), (9) ---------------------------------------------------------------------------------

@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
def test_change_and_its_bound(options, rng):
    layer, y, u, _, _ = make(rng, options)
    dW, dY = rng.normal(size=(2, 4)) * layer.trainable, rng.normal(size=(4, 3)) * (u > 0)
    x, partition = reference.parts(layer, y, dW, dY), partitions.arbitrary(layer, y, u, rng)
    bound = coefficients.squared_change_bound(layer, y, dW, dY, partition)
    close(coefficients.output_change(layer, y, dW, dY), x.sum(axis=2))
    close(bound, reference.squares(x, np.concatenate(partition, axis=2)))
    assert (bound - x.sum(axis=2) ** 2).min() > -1e-12


# -- activations and the loss ----------------------------------------------------------------------

def test_activation_corrects_by_absolute_value_by_default_and_refuses_unknown_ways():
    one = np.ones((1, 1))
    assert coefficients.activation(one, one, one, -5 * one)[1] == 4
    with pytest.raises(ValueError, match="negative_curvature.*'ab'.*'abs'"):
        coefficients.activation(one, one, one, one, "ab")


# -- whole networks --------------------------------------------------------------------------------

def evaluation(rng, activation="tanh", loss=None, **options):
    return evaluate(Network([Linear(3, 4, rng=rng), Activation(activation),
                             Linear(4, 3, rng=rng, **options),
                             Activation(activation), Linear(3, 2, rng=rng)]), rng, loss)


def evaluate(net, rng, loss=None):
    """A network of three inputs and two outputs on four samples."""
    loss, x = so.SquaredError() if loss is None else loss, rng.normal(size=(4, 3))
    classes = isinstance(loss, (so.SoftmaxCrossEntropy, so.BoundedCriterion))
    return net.evaluate(loss, x, rng.integers(0, 2, 4) if classes else rng.normal(size=(4, 2)))


def test_dead_unit_takes_nothing_and_gives_nothing(rng):
    at = evaluation(rng, "relu")
    at.network.layers[0].bias[1] = -100
    at = at.network.evaluate(at.loss_function, at.x, at.y)
    made = explicit.explicit_bound(at)
    assert np.isfinite(made.curvature).all()
    assert not made.W_ddot[0][1].any(), "the weights into the dead unit"
    assert not made.W_ddot[2][:, 2].any(), "the weights out of it"
    assert made.W_ddot[0][[0, 2, 3]].any() and made.u[2][:, 1].max() == 0
    close(made.curvature, reference.algorithm(at)[1])


def test_explicit_bound_refuses_unknown_options(rng):
    at = evaluation(rng)
    with pytest.raises(ValueError, match="output_phi"):
        explicit.explicit_bound(at, output_phi="best")
    # no activation that would look at the option
    linear = evaluate(Network([Linear(3, 2, rng=rng)]), rng)
    with pytest.raises(ValueError, match="negative_curvature"):
        explicit.explicit_bound(linear, partitions="never read", negative_curvature="clip")


def test_printed_algorithm_against_loops(rng):
    """The printed backward line: sum_i (Y_ddot u)_i |w_ij|, then taken for Y_ddot itself."""
    at = evaluation(rng, "softplus")
    found = algorithm_1.algorithm_1_as_printed(at, learning_rate=0.5)
    W_dot, W_ddot = reference.algorithm(at, Reading(carried="Y_ddot"))
    close(found.W_ddot, W_ddot)
    close(found.W_dot, W_dot)
    close(found.W_dot, at.gradient)
    close(found.delta, -0.5 * W_dot / W_ddot)
