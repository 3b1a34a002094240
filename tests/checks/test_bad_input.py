"""What bad input gets: an error that names the argument, what was given and what is expected,
before any work."""

import warnings

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Chain, LeakyReLU, Linear, Network, Skip

NET = so.mlp([3, 4, 10], rng=0)
X = np.random.default_rng(0).normal(size=(5, 3))
LABELS = np.array([0, 9, 3, 3, 1])
SOFTMAX, SQUARED = so.SoftmaxCrossEntropy(), so.SquaredError()
V = np.ones(NET.size)
# What refuses a batch everywhere stands in harness/malformed_calls.py; here are all ways to be bad.
DOORS = (so.exact.gradient, so.exact.hessian, so.exact.sample_gradients, so.exact.gauss_newton,
         so.exact.fisher, so.exact.HessianOperator, so.exact.GaussNewtonOperator,
         so.exact.FisherOperator)


def with_entry(array, value):
    array = np.array(array, dtype=float)
    array.flat[-1] = value
    return array


BAD_X = {
    "too few columns": (X[:, :2], ValueError, r"x has shape \(5, 2\), expected \(S, 3\)"),
    "too many columns": (np.ones((5, 4)), ValueError, r"x has shape \(5, 4\), expected \(S, 3\)"),
    "one sample without its axis": (X[0], ValueError, r"x has shape \(3,\), expected \(S, 3\)"),
    "an axis too many": (X[None], ValueError, r"x has shape \(1, 5, 3\), expected \(S, 3\)"),
    "a number": (1.0, ValueError, r"x has shape \(\)"),
    "an empty batch": (np.empty((0, 3)), ValueError, r"empty batch.*\(0, 3\)"),
    "an empty list": ([], ValueError, r"x has shape \(0,\)"),
    "NaN": (with_entry(X, np.nan), ValueError, "x holds NaN or infinite"),
    "infinity": (with_entry(X, -np.inf), ValueError, "x holds NaN or infinite"),
    "complex": (X + 0j, TypeError, "x must hold real numbers, got dtype complex128"),
    "strings": (X.astype(str), TypeError, "x must hold real numbers, got dtype <U"),
    "objects": (X.astype(object), TypeError, "x must hold real numbers, got dtype object"),
    "None": (None, TypeError, "x must hold real numbers, got dtype object"),
    "dates": (np.zeros((5, 3), "M8[s]"), TypeError, "x must hold real numbers"),
}


@pytest.mark.parametrize("what", sorted(BAD_X))
def test_bad_inputs(what):
    x, error, message = BAD_X[what]
    for call in (NET, NET.forward, lambda x: so.exact.jacobian(NET, x),
                 lambda x: so.exact.hessian(NET, SOFTMAX, x, LABELS)):
        with pytest.raises(error, match=message):
            call(x)


def test_parameters_too_large_for_float32():
    with pytest.raises(ValueError, match=r"weight of Linear\(3, 4\) .* too large for float32"):
        so.mlp([3, 4, 2], init=1e39, dtype="float32", rng=0)
    net = so.mlp([3, 2], init=1e39, rng=0)
    with pytest.raises(ValueError, match="too large for float32"):
        net.astype("float32")


def test_a_mean_loss_that_overflows():
    """Every loss is finite, their sum is not: for class weights near the largest numbers."""
    evaluation = so.mlp([3, 2], rng=0).evaluate(so.SoftmaxCrossEntropy(), np.zeros((6, 3)),
                                                np.full((6, 2), 5e307))
    assert np.isfinite(evaluation.losses).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FloatingPointError, match="mean of the losses"):
            print(evaluation.loss)


def test_inputs_too_large_for_float32():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="x holds numbers too large for float32"):
            so.mlp([3, 2], dtype="float32")(np.full((1, 3), 1e200))


BAD_LABELS = {
    "label 10 of 10": ([0, 9, 10, 3, 1], ValueError,
                       r"label 10 of sample 2 is out of range.*10 outputs.*0 to 9"),
    "negative": ([0, 9, 3, 3, -1], ValueError, r"label -1 of sample 4 is out of range"),
    "floats": ([0.0, 9, 3, 3, 1], TypeError, "labels must be integers, got dtype float64"),
    "booleans": ([True, False, True, True, False], TypeError,
                 "labels must be integers, got dtype bool"),
    "strings": (["0", "1", "2", "3", "4"], TypeError, "labels must be integers"),
    "objects": (np.array([0, 9, None, 3, 1]), TypeError,
                "labels must be integers, got dtype object"),
    "too few": ([0, 9, 3, 3], ValueError, r"labels have shape \(4,\), expected \(5,\)"),
    "too many": ([0] * 6, ValueError, r"labels have shape \(6,\), expected \(5,\)"),
    "a column": (LABELS[:, None], ValueError,
                 r"shape \(5, 1\), expected integer labels of shape \(5,\) or weights"),
    "a number": (3, ValueError, r"shape \(\), expected"),
    "rows too short": (np.eye(9)[:5], ValueError, r"shape \(5, 9\), expected"),
    "negative weights": (with_entry(np.eye(10)[LABELS], -0.1), ValueError,
                         "class weights must not be negative"),
    "NaN weights": (with_entry(np.eye(10)[LABELS], np.nan), ValueError,
                    "targets hold NaN or infinite"),
    "complex weights": (np.eye(10)[LABELS] + 0j, TypeError,
                        "targets must be real numbers, got dtype complex128"),
}


@pytest.mark.parametrize("loss", [SOFTMAX, so.BoundedCriterion()])
@pytest.mark.parametrize("what", sorted(BAD_LABELS))
def test_bad_labels(what, loss):
    y, error, message = BAD_LABELS[what]
    with pytest.raises(error, match=message):
        so.exact.gradient(NET, loss, X, y)


T = np.zeros((5, 10))
BAD_TARGETS = {
    "labels": (LABELS, ValueError, r"targets of \w+ have shape \(5,\), expected \(5, 10\)"),
    "transposed": (T.T, ValueError, r"shape \(10, 5\), expected \(5, 10\)"),
    "one row, to be broadcast": (T[:1], ValueError, r"shape \(1, 10\), expected \(5, 10\)"),
    "one column, to be broadcast": (T[:, :1], ValueError, r"shape \(5, 1\), expected \(5, 10\)"),
    "a number": (0.0, ValueError, r"shape \(\), expected \(5, 10\)"),
    "NaN": (with_entry(T, np.nan), ValueError, "targets hold NaN or infinite"),
    "infinity": (with_entry(T, np.inf), ValueError, "targets hold NaN or infinite"),
    "strings": (T.astype(str), TypeError, "targets must be real numbers, got dtype <U"),
    "objects": (T.astype(object), TypeError, "targets must be real numbers, got dtype object"),
    "complex": (T + 0j, TypeError, "targets must be real numbers, got dtype complex128"),
    "None": (None, TypeError, "targets must be real numbers, got dtype object"),
}


@pytest.mark.parametrize("loss", [SQUARED, so.TukeyBiweight()])
@pytest.mark.parametrize("what", sorted(BAD_TARGETS))
def test_bad_targets(loss, what):
    y, error, message = BAD_TARGETS[what]
    with pytest.raises(error, match=message):
        so.exact.gradient(NET, loss, X, y)


@pytest.mark.parametrize("loss", [None, "squared", so.SquaredError, lambda p, y: 0.0])
def test_what_is_not_a_loss(loss):
    for function in (*DOORS, lambda net, *case: net.evaluate(*case)):
        with pytest.raises(TypeError, match="loss must be a Loss instance"):
            function(NET, loss, X, LABELS)


@pytest.mark.parametrize("l2", [-1e-9, np.nan, np.inf, None, [0.1], np.zeros(3), "0.1", 1j])
def test_bad_l2(l2):
    with pytest.raises(ValueError, match="l2 must be a finite number that is not negative"):
        so.exact.gradient(NET, SOFTMAX, X, LABELS, l2=l2)


@pytest.mark.parametrize("l2", [0, 1, np.float32(0.5), np.int64(2)])
def test_l2_may_be_any_real_number(l2):
    expected = so.exact.gradient(NET, SOFTMAX, X, LABELS) + float(l2) * NET.theta
    np.testing.assert_allclose(so.exact.gradient(NET, SOFTMAX, X, LABELS, l2=l2), expected,
                               rtol=1e-13)


@pytest.mark.parametrize("v, error, message", [
    (np.ones(NET.size - 1), ValueError,
     rf"v has shape \({NET.size - 1},\), expected \({NET.size},\)"),
    (np.ones((NET.size, 1)), ValueError, r"v has shape"),
    (1.0, ValueError, r"v has shape \(\)"),
    (V + 1j, TypeError, "v must hold float64, got complex128"),
    (V.astype(str), TypeError, "v must hold float64, got <U"),
    (V.astype(object), TypeError, "v must hold float64, got object"),
    (V * np.nan, ValueError, "v holds NaN or infinite"),
    (with_entry(V, np.inf), ValueError, "v holds NaN or infinite"),
])
def test_bad_vectors(v, error, message):
    for function in (so.exact.hessian_vector_product, so.exact.two_jet):
        with pytest.raises(error, match=message):
            function(NET, SOFTMAX, X, LABELS, v)


# -- names and choices ----------------------------------------------------------------


@pytest.mark.parametrize("call, message", [
    (lambda: so.mlp([2, 2, 2], activation="tanhh"),
     "unknown activation 'tanhh': did you mean 'tanh'"),
    (lambda: Activation("leaky"), "unknown activation 'leaky': .*leaky_relu"),
    (lambda: so.mlp([2, 2], init="uniforn"), "unknown init 'uniforn': did you mean 'uniform'"),
    (lambda: Linear(2, 2, init="qqq"), "unknown init 'qqq': choose from uniform, xavier"),
    (lambda: so.mlp([2, 2], dtype="float16"),
     "dtype must be 'float64' or 'float32', got 'float16'"),
    (lambda: NET.astype("int64"), "dtype must be 'float64' or 'float32'"),
    (lambda: so.exact.hessian(NET, SOFTMAX, X, LABELS, method="polarization"),
     "method .*did you mean 'polarisation'"),
    (lambda: so.exact.hessian(NET, SOFTMAX, X, LABELS, method="block"),
     "unknown method .*did you mean 'blocks'"),
    (lambda: so.exact.FisherOperator(NET, SOFTMAX, X, LABELS, kind="sample"),
     "unknown kind .*did you mean 'sampled'"),
    (lambda: so.exact.fisher(NET, SOFTMAX, X, LABELS, "sampled", draws=0),
     "draws must be at least 1, got 0"),
    (lambda: so.mlp([3]), "sizes needs at least an input and an output width, got"),
    (lambda: so.mlp([3, 0, 2]), "out_features must be at least 1, got 0"),
    (lambda: so.mlp([2, 2], init=-0.5), "init: the half-width must be at least 0"),
    (lambda: so.mlp([2, 2], init=np.nan), "half-width must be finite"),
    (lambda: LeakyReLU(-0.1), "negative_slope must be at least 0, got -0.1"),
    (lambda: LeakyReLU(np.inf), "negative_slope must be finite"),
    (lambda: so.BoundedCriterion(delta=0), "delta must be above 0, got 0"),
    (lambda: so.BoundedCriterion(epsilon=np.nan), "epsilon must be finite, got nan"),
])
def test_values_out_of_range(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("call, message", [
    (lambda: so.exact.fisher(NET, SOFTMAX, X, LABELS, "sampled", draws=1.5),
     "draws must be a whole number, got 1"),
    (lambda: so.TukeyBiweight(c="4"), "c must be a number, got '4'"),
    (lambda: so.BoundedCriterion(delta=5j), "delta must be a number, got 5j"),
    (lambda: Linear(2.0, 2), "in_features must be a whole number, got 2.0"),
    (lambda: Linear(2, True), "out_features must be a whole number, got True"),
    (lambda: Activation(3), "activation must be a name"),
    (lambda: Activation(so.nets.Tanh), "activation must be a name"),
    (lambda: so.mlp([2, 2], init=None), "init must be a string"),
    (lambda: so.exact.hessian(NET, SOFTMAX, X, LABELS, method=3), "method must be a string"),
    (lambda: Network([Linear(2, 2), "tanh"]), "layers: expected Layer instances, got 'tanh'"),
    (lambda: Network([Linear]), "layers: expected Layer instances"),
    (lambda: Network(3), "layers: expected a sequence of Layer instances, got 3"),
    (lambda: so.mlp(3), "sizes must be a sequence of integers, got 3"),
])
def test_wrong_types(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("call, message", [
    (lambda: Network([]), "at least one layer"),
    (lambda: Skip([]), "at least one layer"),
    (lambda: Network([Linear(3, 2), Linear(3, 2)]),
     r"Linear\(3, 2\) takes an input of shape \(3,\), got \(2,\)"),
    (lambda: Network([Linear(3, 2), Skip([Linear(3, 3)])]),
     r"takes an input of shape \(3,\), got \(2,\)"),
    (lambda: Network([Skip([Linear(3, 2)])]), r"Skip.*\(3,\) into \(2,\).*same shape"),
    (lambda: Network([Linear(3, 2)], input_shape=(4,)),
     r"takes an input of shape \(3,\), got \(4,\)"),
    (lambda: Network([Activation("tanh")]), "input_shape must be given"),
    (lambda: Network([Chain([Activation("tanh")]), Linear(3, 2)], input_shape=(2, 3)),
     r"shape \(3,\), got \(2, 3\)"),
])
def test_layers_that_do_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("wrong", [lambda s, i, o, r: np.zeros(s[::-1] + (1,)),
                                   lambda s, i, o, r: np.full(s, np.nan),
                                   lambda s, i, o, r: 0.5, lambda s, i, o, r: np.zeros(s, complex)])
def test_an_initialiser_that_returns_something_else(wrong):
    with pytest.raises(ValueError, match=r"init must return finite real numbers of shape \(2, 3\)"):
        Linear(3, 2, init=wrong)


def test_trainable_is_settled_once_the_layer_is_in_a_network():
    layer = Linear(3, 2, rng=0)
    layer.trainable = False
    net = Network([layer, Linear(2, 2, rng=0)])
    assert net.size == 6
    with pytest.raises(ValueError, match="trainable"):
        layer.trainable = True


# -- networks without parameters, outputs of another shape -----------------------------------------


@pytest.mark.parametrize("layers", [lambda: [Linear(3, 10, trainable=False)],
                                    lambda: [Linear(3, 10, trainable=False), Activation("tanh")]])
def test_networks_without_parameters(layers):
    net = Network(layers())
    assert net.size == 0 and net(X).shape == (5, 10)
    evaluation = net.evaluate(SOFTMAX, X, LABELS)
    assert evaluation.losses.shape == (5,) and len(evaluation.deltas) == len(net.layers)
    for call in (lambda *_: evaluation.gradient, *DOORS):
        with pytest.raises(ValueError, match="no trainable parameters"):
            call(net, SOFTMAX, X, LABELS)


def test_a_jacobian_without_parameters():
    with pytest.raises(ValueError, match="no trainable parameters"):
        so.exact.jacobian(Network([Activation("tanh")], input_shape=(3,)), X)
    evaluation = Network([Linear(3, 10, trainable=False)]).evaluate(SOFTMAX, X, LABELS)
    for operator in (so.exact.HessianOperator, so.exact.GaussNewtonOperator,
                     so.exact.FisherOperator):
        with pytest.raises(ValueError, match="no trainable parameters"):
            operator.at(evaluation)


def test_a_loss_needs_a_vector_of_outputs():
    net = Network([Activation("tanh")], input_shape=(2, 3))
    with pytest.raises(ValueError, match=r"outputs of shape \(S, C\).*\(2, 3\)"):
        net.evaluate(SQUARED, np.ones((4, 2, 3)), np.ones((4, 6)))


@pytest.mark.parametrize("name", ["hessian", "gauss_newton", "fisher"])
def test_memory_limit(name):
    """P = 90: 64,800 bytes; refused a byte below, done at the limit."""
    compute = getattr(so.exact, name)
    need = NET.size**2 * 8
    limit = max(need, 5 * 10 * NET.size * 8) if name != "hessian" else need
    assert compute(NET, SOFTMAX, X, LABELS, max_bytes=limit).shape == (NET.size, NET.size)
    with pytest.raises(MemoryError,
                       match=rf"\({NET.size}, {NET.size}\) needs {need:,} bytes "
                             rf".*max_bytes={need - 1:,}"):
        compute(NET, SOFTMAX, X, LABELS, max_bytes=need - 1)


def test_memory_limit_of_the_jacobian_comes_before_the_work():
    need = 5 * 10 * NET.size * 8
    assert so.exact.jacobian(NET, X, max_bytes=need).nbytes == need
    with pytest.raises(MemoryError,
                       match=rf"Jacobian of shape \(5, 10, {NET.size}\) needs {need:,} bytes"):
        so.exact.jacobian(NET, X, max_bytes=need - 1)
    with pytest.raises(MemoryError, match="GiB"):
        so.exact.hessian(so.mlp([400, 400, 2], rng=0), SQUARED, np.ones((1, 400)), np.ones((1, 2)))


# -- numerical trouble ----------------------------------------------------------------


def test_overflow_names_the_layer():
    net = so.mlp([3, 4, 2], activation="softplus", rng=0)
    net.layers[2].weight = np.full((2, 4), 1e308)
    with pytest.raises(FloatingPointError, match=r"layer 2, Linear\(4, 2\)"):
        net(X * 10)
    net = so.mlp([3, 4, 2], activation="relu", rng=0)
    net.layers[0].weight = np.full((4, 3), 1e308)
    with pytest.raises(FloatingPointError, match=r"layer 0, Linear\(3, 4\)"):
        net.evaluate(SQUARED, np.full((2, 3), 10.0), np.zeros((2, 2)))


def test_nan_in_the_parameters_is_found_at_its_layer():
    for trainable in (True, False):
        net = Network([Linear(3, 4, rng=0), Activation("relu"),
                       Linear(4, 2, trainable=trainable, rng=0)])
        net.layers[2].weight[1, 1] = np.nan
        for function in (so.exact.gradient, so.exact.hessian, so.exact.HessianOperator):
            with pytest.raises(FloatingPointError, match=r"layer 2, Linear\(4, 2"):
                function(net, SQUARED, X, np.zeros((5, 2)))


def test_overflow_inside_a_skip_names_it():
    net = Network([Linear(3, 3, rng=0), Skip([Linear(3, 3, rng=0)])])
    net.layers[1].layers[0].weight = np.full((3, 3), 1e308)
    with pytest.raises(FloatingPointError, match=r"layer 1, Skip"):
        net(X * 10)


def test_a_loss_that_overflows_names_the_sample():
    net = so.mlp([1, 1], bias=False)
    net.theta = [1.0]
    with pytest.raises(FloatingPointError, match="SquaredError: the loss of sample 1 is inf"):
        so.exact.gradient(net, SQUARED, [[1.0], [1e200]], [[0.0], [0.0]])


def test_a_gradient_that_overflows_names_the_layer():
    net = so.mlp([1, 1], bias=False)
    net.theta = [1e-200]
    with pytest.raises(FloatingPointError, match=r"gradient.*layer 0, Linear\(1, 1"):
        so.exact.gradient(net, SQUARED, [[1e250]], [[-1e100]])


@pytest.mark.parametrize("compute", [
    lambda *case: so.exact.hessian(*case), lambda *case: so.exact.hessian(*case, method="products"),
    lambda *case: so.exact.hessian(*case, method="polarisation"),
    lambda *case: so.exact.gauss_newton(*case),
    lambda *case: so.exact.fisher(*case),
    lambda *case: so.exact.hessian_vector_product(*case, np.ones(1)),
    lambda *case: so.exact.two_jet(*case, np.ones(1)), lambda *case: so.exact.HessianOperator(*case)
    @ np.ones(1),
    lambda *case: so.exact.GaussNewtonOperator(*case) @ np.ones(1)])
def test_curvature_that_overflows_is_an_error(compute):
    """Outputs, loss and gradient are finite, x^2 = 1e400 is not."""
    net = so.mlp([1, 1], bias=False)
    net.theta = [1e-200]
    case = net, SQUARED, [[1e200]], [[0.5]]
    assert np.isfinite(so.exact.gradient(*case)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(FloatingPointError, match="not finite"):
            compute(*case)


def test_a_refused_call_leaves_the_network_as_it_was():
    before = NET.theta.copy()
    for what in BAD_X.values():
        with pytest.raises((ValueError, TypeError)):
            so.exact.gradient(NET, SOFTMAX, what[0], LABELS)
    assert np.array_equal(NET.theta, before)


@pytest.mark.parametrize("limit", [np.nan, 0, -1, "1G", None, True])
def test_limits_of_memory(limit):
    with pytest.raises(ValueError, match="max_bytes must be a positive number of bytes, got"):
        so.exact.hessian(so.mlp([3, 2], rng=0), SQUARED, np.ones((1, 3)), np.ones((1, 2)),
                         max_bytes=limit)


def test_a_half_width_that_overflows():
    with pytest.raises(ValueError,
                       match=r"half-width must be at least 0 and below 1e\+150, got 1e\+308"):
        so.mlp([3, 2], init=1e308)


def test_a_layer_without_named_outputs_may_overflow_too():
    class Plain(so.Layer):
        def forward(self, x):
            return x * 1e308 * 10, (x,)

    with pytest.raises(FloatingPointError, match="the outputs of the network are not finite"):
        Network([Plain()], input_shape=(2,))(np.ones((1, 2)))
