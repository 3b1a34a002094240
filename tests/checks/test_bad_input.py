"""What bad input gets: an error that names the argument, what was given and what is expected,
before any work.
"""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Chain, Linear, Network, Skip

NET = so.mlp([3, 4, 10], rng=0)
X = np.random.default_rng(0).normal(size=(5, 3))
LABELS = np.array([0, 9, 3, 3, 1])
SOFTMAX, SQUARED = so.SoftmaxCrossEntropy(), so.SquaredError()
V = np.ones(NET.size)


def with_entry(array, value):
    array = np.array(array, dtype=float)
    array.flat[-1] = value
    return array


BAD_X = {
    "too few columns": (X[:, :2], ValueError, r"x has shape \(5, 2\), expected \(S, 3\)"),
    "one sample without its axis": (X[0], ValueError, r"x has shape \(3,\), expected \(S, 3\)"),
    "an empty batch": (np.empty((0, 3)), ValueError, r"empty batch.*\(0, 3\)"),
    "infinity": (with_entry(X, -np.inf), ValueError, "x holds NaN or infinite"),
    "complex": (X + 0j, TypeError, "x must hold real numbers, got dtype complex128"),
    "None": (None, TypeError, "x must hold real numbers, got dtype object"),
}


@pytest.mark.parametrize("what", sorted(BAD_X))
def test_bad_inputs(what):
    x, error, message = BAD_X[what]
    for call in (NET, NET.forward, lambda x: so.exact.jacobian(NET, x),
                 lambda x: so.exact.hessian(NET, SOFTMAX, x, LABELS)):
        with pytest.raises(error, match=message):
            call(x)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("call, said", [
    (lambda: so.mlp([3, 4, 2], init=1e39, dtype="float32", rng=0), r"weight of Linear\(3, 4\) "),
    (lambda: so.mlp([3, 2], init=1e39, rng=0).astype("float32"), ""),
    (lambda: so.mlp([3, 2], dtype="float32")(np.full((1, 3), 1e200)), "x holds numbers")])
def test_numbers_too_large_for_float32(call, said):
    with pytest.raises(ValueError, match=f"{said}.*too large for float32"):
        call()


BAD_LABELS = {
    "label 10 of 10": ([0, 9, 10, 3, 1], ValueError,
                       r"label 10 of sample 2 is out of range.*10 outputs.*0 to 9"),
    "negative": ([0, 9, 3, 3, -1], ValueError, r"label -1 of sample 4 is out of range"),
    "floats": ([0.0, 9, 3, 3, 1], TypeError, "labels must be integers, got dtype float64"),
    "a column": (LABELS[:, None], ValueError,
                 r"shape \(5, 1\), expected integer labels of shape \(5,\) or weights"),
    "negative weights": (with_entry(np.eye(10)[LABELS], -0.1), ValueError,
                         "class weights must not be negative"),
    "NaN weights": (with_entry(np.eye(10)[LABELS], np.nan), ValueError,
                    "targets hold NaN or infinite"),
}


@pytest.mark.parametrize("loss", [SOFTMAX, so.BoundedCriterion()])
@pytest.mark.parametrize("what", BAD_LABELS)
def test_bad_labels(what, loss):
    y, error, message = BAD_LABELS[what]
    with pytest.raises(error, match=message):
        so.exact.gradient(NET, loss, X, y)


T = np.zeros((5, 10))
BAD_TARGETS = {
    "labels": (LABELS, ValueError, r"targets of \w+ have shape \(5,\), expected \(5, 10\)"),
    "NaN": (with_entry(T, np.nan), ValueError, "targets hold NaN or infinite"),
    "complex": (T + 0j, TypeError, "targets must be real numbers, got dtype complex128"),
}


@pytest.mark.parametrize("loss", [SQUARED, so.TukeyBiweight()])
@pytest.mark.parametrize("what", BAD_TARGETS)
def test_bad_targets(loss, what):
    y, error, message = BAD_TARGETS[what]
    with pytest.raises(error, match=message):
        so.exact.gradient(NET, loss, X, y)


def test_bad_vectors():
    for wrong, error in ((V + 1j, TypeError), (with_entry(V, np.inf), ValueError)):
        with pytest.raises(error, match="v (must hold float64|holds NaN or infinite)"):
            so.exact.hessian_vector_product(NET, SOFTMAX, X, LABELS, wrong)


# -- names and choices ----------------------------------------------------------------


@pytest.mark.parametrize("call, message", [
    (lambda: so.mlp([2, 2, 2], activation="tanhh"),
     "unknown activation 'tanhh': did you mean 'tanh'"),
    (lambda: so.mlp([2, 2], init="uniforn"), "unknown init 'uniforn': did you mean 'uniform'"),
    (lambda: NET.astype("int64"), "dtype must be 'float64' or 'float32'"),
    (lambda: so.mlp([3]), "sizes needs at least an input and an output width, got"),
    (lambda: so.mlp([2, 2], init=1e308), r"half-width must be at least 0 and below 1e\+150"),
    (lambda: so.mlp([2, 2], init=np.nan), "half-width must be finite"),
])
def test_values_out_of_range(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("call, message", [
    (lambda: Network([Linear(3, 2), Skip([Linear(3, 3)])]),
     r"takes an input of shape \(3,\), got \(2,\)"),
    (lambda: Network([Skip([Linear(3, 2)])]), r"Skip.*\(3,\) into \(2,\).*same shape"),
    (lambda: Network([Activation("tanh")]), "input_shape must be given"),
    (lambda: Network([Chain([Activation("tanh")]), Linear(3, 2)], input_shape=(2, 3)),
     r"shape \(3,\), got \(2, 3\)"),
])
def test_layers_that_do_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_trainable_is_settled_once_the_layer_is_in_a_network():
    layer = Linear(3, 2, rng=0)
    layer.trainable = False
    net = Network([layer, Linear(2, 2, rng=0)])
    assert net.size == 6
    with pytest.raises(ValueError, match="trainable"):
        layer.trainable = True


# -- networks without parameters, outputs of another shape -----------------------------------------


def test_networks_without_parameters():
    net = Network([Linear(3, 10, trainable=False), Activation("tanh")])
    assert net.size == 0 and net(X).shape == (5, 10)
    evaluation = net.evaluate(SOFTMAX, X, LABELS)
    assert evaluation.losses.shape == (5,) and len(evaluation.deltas) == 2
    for call in (lambda: evaluation.gradient, lambda: so.exact.jacobian(net, X),
                 lambda: so.exact.gradient(net, SOFTMAX, X, LABELS),
                 lambda: so.exact.hessian(net, SOFTMAX, X, LABELS),
                 lambda: so.exact.HessianOperator(net, SOFTMAX, X, LABELS),
                 lambda: so.exact.HessianOperator.at(evaluation)):
        with pytest.raises(ValueError, match="no trainable parameters"):
            call()


def test_a_loss_needs_a_vector_of_outputs():
    net = Network([Activation("tanh")], input_shape=(2, 3))
    with pytest.raises(ValueError, match=r"outputs of shape \(S, C\).*\(2, 3\)"):
        net.evaluate(SQUARED, np.ones((4, 2, 3)), np.ones((4, 6)))


# -- numerical trouble ----------------------------------------------------------------


def test_overflow_names_the_layer():
    net = so.mlp([3, 4, 2], activation="softplus", rng=0)
    net.layers[2].weight = np.full((2, 4), 1e308)
    with pytest.raises(FloatingPointError, match=r"layer 2, Linear\(4, 2\)"):
        net(X * 10)


def test_nan_in_the_parameters_is_found_at_its_layer():
    for trainable in (True, False):
        net = Network([Linear(3, 4, rng=0), Activation("relu"),
                       Linear(4, 2, trainable=trainable, rng=0)])
        net.layers[2].weight[1, 1] = np.nan
        for function in (so.exact.gradient, so.exact.hessian, so.exact.HessianOperator):
            with pytest.raises(FloatingPointError, match=r"layer 2, Linear\(4, 2"):
                function(net, SQUARED, X, np.zeros((5, 2)))


@pytest.mark.parametrize("theta, x, y, message", [
    (1.0, [[1.0], [1e200]], [[0.0], [0.0]], "SquaredError: the loss of sample 1 is inf"),
    (1e-200, [[1e250]], [[-1e100]], r"gradient.*layer 0, Linear\(1, 1")])
def test_a_loss_and_a_gradient_that_overflow(theta, x, y, message):
    net = so.mlp([1, 1], bias=False)
    net.theta = [theta]
    with pytest.raises(FloatingPointError, match=message):
        so.exact.gradient(net, SQUARED, x, y)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("compute", [
    lambda *case: so.exact.hessian(*case), lambda *case: so.exact.hessian(*case, method="products"),
    lambda *case: so.exact.hessian(*case, method="polarisation"), so.exact.gauss_newton,
    lambda *case: so.exact.hessian_vector_product(*case, np.ones(1)),
    lambda *case: so.exact.two_jet(*case, np.ones(1)),
    lambda *case: so.exact.GaussNewtonOperator(*case) @ np.ones(1)])
def test_curvature_that_overflows_is_an_error(compute):
    """Outputs, loss and gradient are finite, x^2 = 1e400 is not."""
    net = so.mlp([1, 1], bias=False)
    net.theta = [1e-200]
    case = net, SQUARED, [[1e200]], [[0.5]]
    assert np.isfinite(so.exact.gradient(*case)).all()
    with pytest.raises(FloatingPointError, match="not finite"):
        compute(*case)
