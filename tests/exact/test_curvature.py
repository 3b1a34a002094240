"""Gradient, Jacobian, Hessian by three routes, products, Gauss-Newton: decimals, differences,
rates, closed forms."""

import numpy as np
import pytest

from harness import derivations, slow
import secondorder as so
from harness.cases import (ACTIVATION_NAMES, LOSSES, MIDDLE, SMOOTH, all_activations, network,
                           off_kinks, relative, targets)
from secondorder.exact import finite_differences as fd
from secondorder.nets import Activation, Linear, Network
from secondorder.nets.layers.chain import STILL

# Every layer in the middle with one loss or another, with and without biases and penalty.
MIDDLE_CASES = [(middle, sorted(LOSSES)[i % len(LOSSES)], i % 3 != 1, (0.0, 0.3)[i % 2])
                for i, middle in enumerate(MIDDLE)]
# Every activation with every loss, biases on and off in turn.
PAIRS = [(activation, loss, (i + j) % 2 == 0)
         for i, activation in enumerate(ACTIVATION_NAMES) for j, loss in enumerate(LOSSES)]


def draw(make, loss, seed, samples):
    rng = np.random.default_rng(seed)
    net, x = off_kinks(make, samples, rng)
    return net, x, targets(loss, rng, samples, net.output_shape[0])


def methods(net):
    return ["products", "polarisation"] + ["blocks"] * all(type(layer) in (Linear, Activation)
                                                           for layer in net.layers)


# -- (a) 60-digit arithmetic ----------------------------------------------------------------


@pytest.mark.parametrize("middle, name, bias, l2", [*MIDDLE_CASES[:3], *slow(MIDDLE_CASES[3:])])
def test_everything_against_decimals(middle, name, bias, l2):
    loss = LOSSES[name]()
    net, x, y = draw(lambda r: network(middle, r, bias=bias, outputs=2), loss, seed=11, samples=2)
    value, gradient, H = derivations.objective_jet(net, loss, x, y, l2)
    assert relative(so.exact.gradient(net, loss, x, y, l2=l2), gradient) < 1e-13
    for method in methods(net):
        assert relative(so.exact.hessian(net, loss, x, y, method=method, l2=l2), H) < 1e-13
    v = np.random.default_rng(0).normal(size=net.size)
    assert relative(so.exact.hessian_vector_product(net, loss, x, y, v, l2=l2), H @ v) < 1e-13
    scale = np.abs(gradient) @ np.abs(v), np.abs(v) @ np.abs(H) @ np.abs(v)
    assert so.exact.two_jet(net, loss, x, y, v, l2=l2) == (
        pytest.approx(value, rel=1e-14),
        pytest.approx(gradient @ v, abs=1e-14 * scale[0]),
        pytest.approx(v @ H @ v, abs=1e-14 * scale[1]),
    )
    J = derivations.jacobian(net, x)
    assert relative(so.exact.jacobian(net, x), J) < 1e-13
    H_p = derivations.loss_jet(loss, net(x), y)[2]
    G = sum(J[s].T @ H_p[s] @ J[s] for s in range(len(x))) / len(x) + l2 * np.eye(net.size)
    assert relative(so.exact.gauss_newton(net, loss, x, y, l2=l2), G) < 1e-13


# -- (b) finite differences ----------------------------------------------------------------


@pytest.mark.parametrize("activation, name, bias", [*PAIRS[:6], *slow(PAIRS[6:])])
def test_every_activation_with_every_loss(activation, name, bias):
    """Gradient and Hessian against central differences to the predicted error; the three routes
    against each other."""
    loss = LOSSES[name]()
    net, x, y = draw(lambda r: all_activations(activation, r, bias=bias), loss, seed=3, samples=4)
    gradient = so.exact.gradient(net, loss, x, y, l2=0.2)
    assert fd.central(fd.objective(net, loss, x, y, l2=0.2), net.theta).excess(gradient) <= 1
    H = so.exact.hessian(net, loss, x, y, method="blocks", l2=0.2)
    assert fd.central(fd.gradient_of_objective(net, loss, x, y, l2=0.2), net.theta).excess(H) <= 1
    assert relative(so.exact.hessian(net, loss, x, y, method="products", l2=0.2), H) < 1e-12
    if name in ("softmax", "tukey"):
        assert relative(so.exact.hessian(net, loss, x, y, method="polarisation", l2=0.2), H) < 1e-12


@pytest.mark.parametrize("middle", ["linear", "skip-nested", *slow(
    m for m in MIDDLE if m not in ("relu", "leaky_relu", "linear", "skip-nested"))])
def test_complex_step(middle):
    """The whole objective is analytic: gradient and Hessian to rounding."""
    for name in ("squared", "bounded"):
        loss = LOSSES[name]()
        net, x, y = draw(lambda r: network(middle, r), loss, seed=7, samples=3)
        gradient = so.exact.gradient(net, loss, x, y, l2=0.1)
        assert relative(gradient,
                        fd.complex_step(fd.objective(net, loss, x, y, 0.1), net.theta)) < 1e-13
        H = fd.complex_step(fd.gradient_of_objective(net, loss, x, y, 0.1), net.theta)
        assert relative(so.exact.hessian(net, loss, x, y, l2=0.1), H) < 1e-13


# -- the two identities ----------------------------------------------------------------


@pytest.mark.parametrize("middle", sorted(MIDDLE))
def test_curvature_is_output_curvature_plus_the_bend_of_every_layer(middle):
    """v^T H v = mean [p_tangent^T f_pp p_tangent + sum over layers <y_bar, second_tangent>]."""
    loss = so.BoundedCriterion()
    net, x, y = draw(lambda r: network(middle, r), loss, seed=13, samples=4)
    v = np.random.default_rng(2).normal(size=net.size)
    e = net.evaluate(loss, x, y)
    rows, moved = net.chain.tangents(e.saved, None, v)
    bends = sum(np.vdot(y_bar, layer.second_tangent(saved, of_layer, None))
                for layer, saved, of_layer, y_bar in zip(net.chain.parts, e.saved.held, moved,
                                                         e.deltas) if of_layer is not STILL)
    J = so.exact.jacobian(net, x)
    np.testing.assert_allclose(rows, J @ v, rtol=1e-10, atol=1e-13)
    through_outputs = sum((J[s] @ v) @ loss.hessian(e.outputs, y)[s] @ (J[s] @ v) for s in range(4))
    curvature = v @ so.exact.hessian(net, loss, x, y, method="products") @ v
    assert (through_outputs + bends) / 4 == pytest.approx(curvature, rel=1e-11)
    assert abs(bends) > 1e-3 * abs(through_outputs)  # the second part is not idle here
    value, slope, bend = so.exact.two_jet(net, loss, x, y, v)
    assert bend == pytest.approx(curvature, rel=1e-11) and value == e.loss
    assert slope == pytest.approx(e.gradient @ v, rel=1e-11)


@pytest.mark.parametrize("middle", ["linear", "linear-frozen", "skip-nested", "skip-frozen",
                                    "softplus", "relu"])
def test_polarisation(middle):
    """v^T H w = (q(v + w) - q(v) - q(w)) / 2 with q the two-jet."""
    loss = so.TukeyBiweight(c=3.0)
    net, x, y = draw(lambda r: network(middle, r), loss, seed=17, samples=4)
    v, w = np.random.default_rng(3).normal(size=(2, net.size))

    def q(u):
        return so.exact.two_jet(net, loss, x, y, u, l2=0.2)[2]

    Hw = so.exact.hessian_vector_product(net, loss, x, y, w, l2=0.2)
    assert (q(v + w) - q(v) - q(w)) / 2 == pytest.approx(v @ Hw, rel=1e-11)


# -- closed forms ----------------------------------------------------------------


def moments(x, bias=True):
    rows = np.hstack([x, np.ones((len(x), 1))]) if bias else x
    return sum(np.outer(r, r) for r in rows) / len(rows)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("method", ["blocks", "products", "polarisation"])
def test_one_linear_layer_with_squared_error(bias, method):
    """H = I (outputs) kron moments of (x, 1), in weight-then-bias order; so are Gauss-Newton and
    Fisher."""
    rng = np.random.default_rng(0)
    net, x, y = so.mlp([3, 2], bias=bias, rng=1), rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    M = moments(x, bias)
    expected = np.kron(np.eye(2), M)
    if bias:
        order = [0, 1, 2, 4, 5, 6, 3, 7]  # rows (w_i1, w_i2, w_i3, b_i) to weights first
        expected = expected[np.ix_(order, order)]
    loss = so.SquaredError()
    for matrix in (so.exact.hessian(net, loss, x, y, method=method),
                   so.exact.gauss_newton(net, loss, x, y),
                   so.exact.fisher(net, loss, x, y)):
        assert relative(matrix, expected) < 1e-14
    Wb = net.theta.reshape(2, 3) if not bias else np.hstack([net.theta[:6].reshape(2, 3),
                                                             net.theta[6:, None]])
    rows = np.hstack([x, np.ones((7, 1))]) if bias else x
    G = sum(np.outer(Wb @ r - t, r) for r, t in zip(rows, y)) / 7
    expected_gradient = G.ravel() if not bias else np.concatenate([G[:, :3].ravel(), G[:, 3]])
    assert relative(so.exact.gradient(net, loss, x, y), expected_gradient) < 1e-14


def test_softmax_regression():
    """H = mean of (diag(q) - q q^T) kron x x^T."""
    rng = np.random.default_rng(0)
    net = so.mlp([2, 3], bias=False, rng=1)
    x = rng.normal(size=(6, 2))
    labels = np.array([0, 1, 2, 2, 1, 0])
    q = np.exp(x @ net.theta.reshape(3, 2).T)
    q /= q.sum(axis=1, keepdims=True)
    expected = sum(np.kron(np.diag(a) - np.outer(a, a), np.outer(r, r)) for a, r in zip(q, x)) / 6
    assert relative(so.exact.hessian(net, so.SoftmaxCrossEntropy(), x, labels), expected) < 1e-14
    assert relative(so.exact.gauss_newton(net, so.SoftmaxCrossEntropy(), x, labels),
                    expected) < 1e-14


def test_one_unit_by_hand():
    """p = b tanh(a x), squared error to t, one sample: all derivatives on paper."""
    a, b, x, t = 0.7, -1.3, 0.9, 0.4
    net = so.mlp([1, 1, 1], bias=False)
    net.theta = [a, b]
    s = np.tanh(a * x)
    d, r = 1 - s * s, b * s - t
    gradient = [r * b * d * x, r * s]
    H = [[(b * d * x) ** 2 - 2 * r * b * s * d * x * x, b * d * x * s + r * d * x],
         [b * d * x * s + r * d * x, s * s]]
    inputs, target = np.array([[x]]), np.array([[t]])
    np.testing.assert_allclose(so.exact.gradient(net, so.SquaredError(), inputs, target), gradient,
                               rtol=1e-14)
    for method in ("blocks", "products", "polarisation"):
        ours = so.exact.hessian(net, so.SquaredError(), inputs, target, method=method)
        np.testing.assert_allclose(ours, H, rtol=1e-13)


# -- batches, penalty, structure ----------------------------------------------------------------


@pytest.mark.parametrize("function", ["hessian", "gauss_newton", "fisher", "gradient"])
def test_the_objective_is_a_mean_over_samples(function):
    net, rng = all_activations("softplus", np.random.default_rng(1)), np.random.default_rng(2)
    x, y, loss = rng.normal(size=(5, 2)), rng.integers(0, 3, size=5), so.SoftmaxCrossEntropy()
    compute = getattr(so.exact, function)
    whole = compute(net, loss, x, y)
    assert relative(whole, sum(compute(net, loss, x[i:i + 1], y[i:i + 1]) for i in range(5))
                    / 5) < 1e-13
    assert relative(whole, compute(net, loss, np.vstack([x, x]), np.concatenate([y, y]))) < 1e-13


def test_the_penalty_is_half_l2_theta_squared_biases_included():
    net, rng = all_activations("tanh", np.random.default_rng(1)), np.random.default_rng(2)
    x = rng.normal(size=(5, 2))
    y = rng.normal(size=(5, 3))
    loss = so.SquaredError()
    v = rng.normal(size=net.size)
    exact, theta, P = so.exact, net.theta, net.size
    difference = exact.gradient(net, loss, x, y, l2=0.5) - exact.gradient(net, loss, x, y)
    np.testing.assert_allclose(difference, 0.5 * theta, rtol=1e-11)
    for compute in (exact.hessian, exact.gauss_newton, exact.fisher):
        difference = compute(net, loss, x, y, l2=0.5) - compute(net, loss, x, y)
        np.testing.assert_allclose(difference, 0.5 * np.eye(P), atol=1e-14)
    product = exact.hessian_vector_product
    difference = product(net, loss, x, y, v, l2=0.5) - product(net, loss, x, y, v)
    np.testing.assert_allclose(difference, 0.5 * v, rtol=1e-11, atol=1e-14)
    with_penalty = exact.two_jet(net, loss, x, y, v, l2=0.5)
    without = exact.two_jet(net, loss, x, y, v)
    expected = [0.25 * theta @ theta, 0.5 * theta @ v, 0.5 * v @ v]
    np.testing.assert_allclose(np.subtract(with_penalty, without), expected, rtol=1e-11)


def test_blocks_with_a_frozen_layer_first_in_the_middle_and_last():
    rng = np.random.default_rng(8)
    loss, x = so.SoftmaxCrossEntropy(), rng.normal(size=(4, 2))
    y = rng.integers(0, 3, size=4)
    for frozen in range(8):
        flags = [bool(frozen >> k & 1) for k in range(3)]
        if all(flags):
            continue
        first, second, third = (not flag for flag in flags)
        net = Network([Activation("sin"), Linear(2, 4, trainable=first, rng=rng),
                       Activation("tanh"),
                       Activation("softplus"), Linear(4, 3, bias=False, trainable=second, rng=rng),
                       Linear(3, 3, trainable=third, rng=rng),
                       Activation("sin")])
        blocks, products = (so.exact.hessian(net, loss, x, y, method=m)
                            for m in ("blocks", "products"))
        assert relative(blocks, products) < 1e-13


def test_auto_is_blocks_where_they_apply_and_products_elsewhere():
    loss, rng = so.SquaredError(), np.random.default_rng(0)
    for middle, method in (("tanh", "blocks"), ("skip", "products"), ("chain", "products")):
        net, x = network(middle, rng), rng.normal(size=(4, 2))
        y = rng.normal(size=(4, 3))
        assert np.array_equal(so.exact.hessian(net, loss, x, y),
                              so.exact.hessian(net, loss, x, y, method=method))


def test_blocks_do_not_claim_a_subclass_of_a_layer():
    class Doubled(Linear):
        def forward(self, x):
            return super().forward(2 * x)

    net = Network([Doubled(2, 2, rng=0)])
    with pytest.raises(TypeError, match="method='blocks'.*products"):
        so.exact.hessian(net, so.SquaredError(), np.ones((1, 2)), np.ones((1, 2)), method="blocks")


@pytest.mark.parametrize("activation", SMOOTH)
def test_all_zero_weights(activation):
    """Nothing divides by a weight, a slope or an activation."""
    net = so.mlp([2, 3, 2], activation=activation)
    net.theta = np.zeros(net.size)
    x, y = np.random.default_rng(0).normal(size=(4, 2)), np.array([0, 1, 1, 1])
    loss = so.SoftmaxCrossEntropy()
    Hessians = [so.exact.hessian(net, loss, x, y, method=m) for m in methods(net)]
    difference = fd.central(fd.gradient_of_objective(net, loss, x, y), net.theta)
    assert all(difference.excess(H) <= 1 for H in Hessians)


def test_dead_relus_give_zero_rows():
    net = so.mlp([2, 4, 3], activation="relu", rng=0)
    net.layers[0].bias = [-100.0, 1, -100.0, 1]
    x, y = np.random.default_rng(0).normal(size=(5, 2)), np.array([0, 1, 2, 0, 1])
    H = so.exact.hessian(net, so.SoftmaxCrossEntropy(), x, y)
    assert np.isfinite(H).all() and H.any()
    dead = [0, 1, 4, 5, 8, 10]  # incoming weights and biases of units 0 and 2
    assert not H[dead].any() and not H[:, dead].any()
    assert relative(H, so.exact.hessian(net, so.SoftmaxCrossEntropy(), x, y,
                                        method="products")) < 1e-13
