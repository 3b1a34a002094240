"""The literal functions of residual partitioning against loops over indices, written from the paper's formulas."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Linear, Network
from secondorder.residual_partitioning import algorithm1, bounding, partitions, total_gradient

LAYERS = {"bias": {}, "no bias": {"bias": False}, "fixed": {"trainable": False},
          "fixed, no bias": {"bias": False, "trainable": False}}


def make(rng, options, S=4, n_in=3, n_out=2):
    """A layer, inputs with a zero among them, total gradients with a zero, and coefficients above."""
    layer = Linear(n_in, n_out, init=1.5, rng=rng, **options)
    y, u = rng.normal(size=(S, n_in)), rng.uniform(0.3, 2.0, size=(S, n_in))
    y[1, 2] = u[0, 1] = 0
    return layer, y, u, rng.normal(size=(S, n_out)), rng.uniform(0.1, 1.0, size=(S, n_out))


def weights(layer):
    """Nested list w[i][j] with the bias at j = 0."""
    bias = layer.bias if layer.bias is not None else np.zeros(len(layer.weight))
    return [[bias[i], *layer.weight[i]] for i in range(len(layer.weight))]


def inputs(layer, y):
    """Nested list y[s][j] with y_s0 = 1, or 0 without a bias."""
    return [[1.0 if layer.bias is not None else 0.0, *row] for row in y]


def close(left, right):
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    assert left.shape == right.shape
    assert np.abs(right).max() > 0, "nothing but zeros would be compared"
    np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-13)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


# -- (11), (10) -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
def test_total_gradient_of_an_affine_layer(options, rng):
    layer, y, u, _, _ = make(rng, options)
    x = inputs(layer, y)
    own = [sum(map(abs, row)) if layer.trainable else 0 for row in x]
    expected = [[sum(abs(layer.weight[i, j]) * u[s, j] for j in range(3)) + own[s] for i in range(2)] for s in range(4)]
    close(total_gradient.affine(layer, y, u), expected)


def test_total_gradient_of_an_activation(rng):
    slope, u = rng.normal(size=(3, 4)), rng.uniform(size=(3, 4))
    close(total_gradient.activation(slope, u), [[abs(slope[s, j]) * u[s, j] for j in range(4)] for s in range(3)])


def test_bias_goes_to_column_zero(rng):
    layer = Linear(3, 2, rng=rng)
    W = rng.normal(size=(2, 4))
    close(bounding.flatten(layer, W), [*W[0, 1:], *W[1, 1:], W[0, 0], W[1, 0]])
    close(bounding.unflatten(layer, bounding.flatten(layer, W)), W)


@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
def test_optimal_partition(options, rng):
    layer, y, u, _, _ = make(rng, options)
    x = inputs(layer, y)
    made = partitions.optimal(layer, y, u)
    for s in range(4):
        for i in range(2):
            own = [abs(v) if layer.trainable else 0.0 for v in x[s]]
            below = [abs(layer.weight[i, j]) * u[s, j] for j in range(3)]
            total = sum(own) + sum(below)
            np.testing.assert_allclose(made.eps[s, i], np.array(own) / total, atol=1e-15)
            np.testing.assert_allclose(made.phi[s, i], np.array(below) / total, atol=1e-15)


def test_optimal_output_partition(rng):
    f_ii, u = rng.uniform(0.1, 4.0, size=(3, 4)), rng.uniform(0.1, 2.0, size=(3, 4))
    rows = [[u[s, i] * f_ii[s, i] ** 0.5 for i in range(4)] for s in range(3)]
    close(partitions.optimal_output(f_ii, u), [[v / sum(row) for v in row] for row in rows])


@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
def test_arbitrary_partition_is_valid_and_random(options, rng):
    layer, y, u, _, _ = make(rng, options)
    one, two = partitions.arbitrary(layer, y, u, rng), partitions.arbitrary(layer, y, u, rng)
    partitions.check(one, layer, y, u)
    assert np.abs(one.phi - two.phi).max() > 0.01
    assert one.eps.any() == layer.trainable
    assert not one.eps[1, :, 3].any() and not one.phi[0, :, 1].any(), "nothing goes where there is no term"
    out = partitions.arbitrary_output(np.ones((2, 3)), np.array([[1.0, 0.0, 2.0]] * 2), rng)
    np.testing.assert_allclose(out.sum(axis=1), 1)
    assert not out[:, 1].any() and (out[:, [0, 2]] > 0).all()


# -- (5) --------------------------------------------------------------------------------------------------------------

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
    (lambda eps, phi: (eps[:, :, 1:], phi), r"shapes \(4, 2, 3\) and \(4, 2, 3\), expected \(4, 2, 4\)"),
    (lambda eps, phi: (eps[:3], phi), r"shapes \(3, 2, 4\)"),
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
    made = bounding.partitions_of(at)
    made[2] = partitions.Partition(1.01 * made[2].eps, made[2].phi)
    with pytest.raises(ValueError, match="sum to one"):
        bounding.explicit_bound(at, made)


# -- the simplex ------------------------------------------------------------------------------------------------------

def test_simplex_functions(rng):
    x, eta = rng.normal(size=5), rng.normal(size=5)
    e = [np.exp(v) for v in eta]
    p = np.array([v / sum(e) for v in e])
    close(partitions.softmax_parameters(eta), p)
    close(partitions.softmax_derivative(p), [[p[i] * ((i == k) - p[k]) for i in range(5)] for k in range(5)])
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


# -- (4), (7), (9) ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
def test_change_and_its_bound(options, rng):
    layer, y, u, _, _ = make(rng, options)
    dW, dY = rng.normal(size=(2, 4)) * layer.trainable, rng.normal(size=(4, 3)) * (u > 0)
    x, (eps, phi) = inputs(layer, y), partitions.arbitrary(layer, y, u, rng)
    change, bound = np.zeros((4, 2)), np.zeros((4, 2))
    for s in range(4):
        for i in range(2):
            parts = [(dW[i, j] * x[s][j], eps[s, i, j]) for j in range(4)]
            parts += [(layer.weight[i, j] * dY[s, j], phi[s, i, j]) for j in range(3)]
            change[s, i] = sum(part for part, _ in parts)
            bound[s, i] = sum(part**2 / fraction for part, fraction in parts if part)
    close(bounding.output_change(layer, y, dW, dY), change)
    close(bounding.squared_change_bound(layer, y, dW, dY, partitions.Partition(eps, phi)), bound)
    assert (bound - change**2).min() > -1e-12


@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
def test_coefficients_below_an_affine_layer(options, rng):
    layer, y, u, Y_dot, Y_ddot = make(rng, options)
    x, partition = inputs(layer, y), partitions.arbitrary(layer, y, u, rng)
    made = bounding.affine(layer, y, Y_dot, Y_ddot, partition)
    W_dot, W_ddot, down, down2 = np.zeros((2, 4)), np.zeros((2, 4)), np.zeros((4, 3)), np.zeros((4, 3))
    for s in range(4):
        for i in range(2):
            for j in range(4):
                W_dot[i, j] += Y_dot[s, i] * x[s][j]
                if partition.eps[s, i, j] > 0:
                    W_ddot[i, j] += Y_ddot[s, i] * x[s][j] ** 2 / partition.eps[s, i, j]
            for j in range(3):
                down[s, j] += Y_dot[s, i] * layer.weight[i, j]
                if partition.phi[s, i, j] > 0:
                    down2[s, j] += Y_ddot[s, i] * layer.weight[i, j] ** 2 / partition.phi[s, i, j]
    close(made.W_dot, W_dot)
    close(made.Y_dot, down)
    close(made.Y_ddot, down2)
    assert made.Y_ddot[0, 1] == 0, "void where the unit cannot move"
    if layer.trainable:
        close(made.W_ddot, W_ddot)
    else:
        assert not made.W_ddot.any()


# -- activations and the loss ------------------------------------------------------------------------------------------

CORRECT = {"abs": abs, "max": lambda v: max(v, 0.0), "none": lambda v: v}


@pytest.mark.parametrize("way", CORRECT)
def test_coefficients_below_an_activation(way, rng):
    Y_dot, curvature = np.full((2, 3), 2.0), np.array([[-1.0, 0, 1], [2, -2, -3]])
    slope, Y_ddot = rng.uniform(0.2, 1, size=(2, 3)), rng.uniform(0.1, 1, size=(2, 3))
    slope[0, 0] *= -1
    first, second = bounding.activation(Y_dot, Y_ddot, slope, curvature, way)
    close(first, [[Y_dot[s, j] * slope[s, j] for j in range(3)] for s in range(2)])
    close(second, [[CORRECT[way](Y_ddot[s, j] * slope[s, j] ** 2 + Y_dot[s, j] * curvature[s, j]) for j in range(3)]
                   for s in range(2)])


def test_activation_corrects_by_absolute_value_by_default_and_refuses_unknown_ways():
    one = np.ones((1, 1))
    assert bounding.activation(one, one, one, -5 * one)[1] == 4
    with pytest.raises(ValueError, match="negative_curvature.*'ab'.*'abs'"):
        bounding.activation(one, one, one, one, "ab")


def test_coefficients_at_the_output(rng):
    f_i, f_ii, phi = rng.normal(size=(2, 3)), rng.uniform(0.1, 1, size=(2, 3)), rng.uniform(0.1, 1, size=(2, 3))
    phi[1, 2] = f_ii[1, 2] = 0
    first, second = bounding.output(f_i, f_ii, phi)
    close(first, f_i)
    close(second, [[f_ii[s, i] / phi[s, i] if phi[s, i] else 0.0 for i in range(3)] for s in range(2)])
    close(bounding.output(f_i, f_ii, 1.0)[1], f_ii)


# -- whole networks ---------------------------------------------------------------------------------------------------

def evaluation(rng, activation="tanh", loss=None, **options):
    return evaluate(Network([Linear(3, 4, rng=rng), Activation(activation), Linear(4, 3, rng=rng, **options),
                             Activation(activation), Linear(3, 2, rng=rng)]), rng, loss)


def evaluate(net, rng, loss=None):
    """A network of three inputs and two outputs on four samples."""
    loss, x = so.SquaredError() if loss is None else loss, rng.normal(size=(4, 3))
    classes = isinstance(loss, (so.SoftmaxCrossEntropy, so.BoundedCriterion))
    return net.evaluate(loss, x, rng.integers(0, 2, 4) if classes else rng.normal(size=(4, 2)))


def curvature_by_loops(at, jensen):
    """Algorithm 1, corrected, one sample and one index at a time: Z = Y_ddot u, in the order of theta."""
    total = np.zeros(at.network.size)
    for s in range(at.samples):
        us = [np.zeros(at.x.shape[1])]
        for layer, kept in zip(at.network.layers, at.saved):
            u = us[-1]
            if isinstance(layer, Activation):
                us.append(np.array([abs(kept.slope[s, j]) * u[j] for j in range(len(u))]))
            else:
                own = sum(map(abs, inputs(layer, kept.input)[s])) if layer.trainable else 0.0
                us.append(np.array([own + sum(abs(w) * v for w, v in zip(row, u)) for row in layer.weight]))
        u = us.pop()
        f_ii = [at.loss_function.hessian(at.outputs, at.y)[s, i, i] for i in range(len(u))]
        inner = sum(v * f**0.5 for v, f in zip(u, f_ii)) if jensen else None
        Z = [f**0.5 * inner if jensen else abs(f) * v for v, f in zip(u, f_ii)]
        for n in reversed(range(len(us))):
            layer, kept, u, where = at.network.layers[n], at.saved[n], us[n], at.network.slices[n]
            if isinstance(layer, Activation):
                bend = [at.deltas[n][s, j] * kept.curvature[s, j] * u[j] for j in range(len(u))]
                Z = [abs(abs(kept.slope[s, j]) * Z[j] + bend[j]) for j in range(len(u))]
                continue
            if layer.trainable:
                x = kept.input[s]
                own = [z * abs(v) for z in Z for v in x] + (Z if layer.bias is not None else [])
                total[where] += np.array(own) / at.samples
            Z = [sum(Z[i] * abs(layer.weight[i, j]) for i in range(len(Z))) for j in range(len(u))]
    return total


@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize("activation", ("tanh", "softplus", "relu"))
@pytest.mark.parametrize("softmax", (False, True))
def test_explicit_bound_against_loops(options, activation, softmax, rng):
    at = evaluation(rng, activation, so.SoftmaxCrossEntropy() if softmax else None, **options)
    close(bounding.explicit_bound(at).curvature, curvature_by_loops(at, jensen=True))
    close(bounding.explicit_bound(at).gradient, at.gradient)
    if not softmax:
        close(bounding.explicit_bound(at, output_phi=None).curvature, curvature_by_loops(at, jensen=False))


def test_dead_unit_takes_nothing_and_gives_nothing(rng):
    at = evaluation(rng, "relu")
    at.network.layers[0].bias[1] = -100
    at = at.network.evaluate(at.loss_function, at.x, at.y)
    made = bounding.explicit_bound(at)
    assert np.isfinite(made.curvature).all()
    assert not made.W_ddot[0][1].any(), "the weights into the dead unit"
    assert not made.W_ddot[2][:, 2].any(), "the weights out of it"
    assert made.W_ddot[0][[0, 2, 3]].any() and made.u[2][:, 1].max() == 0
    close(made.curvature, curvature_by_loops(at, jensen=True))


def test_explicit_bound_refuses_unknown_options(rng):
    at = evaluation(rng)
    with pytest.raises(ValueError, match="output_phi"):
        bounding.explicit_bound(at, output_phi="best")
    linear = evaluate(Network([Linear(3, 2, rng=rng)]), rng)  # no activation that would look at the option
    with pytest.raises(ValueError, match="negative_curvature"):
        bounding.explicit_bound(linear, partitions="never read", negative_curvature="clip")


def test_printed_algorithm_against_loops(rng):
    """The printed backward line: sum_i (Y_ddot u)_i |w_ij|, then taken for Y_ddot itself."""
    at = evaluation(rng, "softplus")
    made, expected = algorithm1.algorithm_1_as_printed(at, learning_rate=0.5), np.zeros(at.network.size)
    us = total_gradient.total_gradients(at.network.layers, at.saved)
    for s in range(at.samples):
        u = us[-1][s]
        Y_ddot = [sum(us[-1][s]) / u[i] for i in range(len(u))]
        for n in reversed(range(len(at.network.layers))):
            layer, kept, where = at.network.layers[n], at.saved[n], at.network.slices[n]
            if isinstance(layer, Activation):
                bend = at.deltas[n][s] * kept.curvature[s]
                Y_ddot = [abs(Y_ddot[j] * kept.slope[s, j] ** 2 + bend[j]) for j in range(len(Y_ddot))]
                continue
            Z, x = [Y_ddot[i] * us[n + 1][s, i] for i in range(len(Y_ddot))], kept.input[s]
            expected[where] += np.array([z * abs(v) for z in Z for v in x] + Z) / at.samples
            Y_ddot = [sum(Z[i] * abs(layer.weight[i, j]) for i in range(len(Z))) for j in range(len(x))]
    close(made.W_ddot, expected)
    close(made.W_dot, at.gradient)
    close(made.delta, -0.5 * at.gradient / expected)
