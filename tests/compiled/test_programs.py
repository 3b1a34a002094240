"""Compiled passes against the literal ones, and which networks have them."""

import pickle

import numpy as np
import pytest

import secondorder as so
from harness.two_forms import RUNS, both, check_every_quantity, close
from secondorder.nets import (Activation, BinaryCrossEntropy, BoundedCriterion, Chain, Huber,
                              Linear, Network, PoissonNLL, SoftmaxCrossEntropy, SquaredError, Tanh,
                              TukeyBiweight)
from secondorder.nets import evaluation as evaluations


def dense(dtype="float64", bias=True, rng=0):
    """Activations first, in a row, and last; a chain inside; widths that all differ."""
    rng = np.random.default_rng(rng)
    return Network([Activation("sin"), Linear(6, 9, bias=bias, rng=rng), Activation("tanh"),
                    Chain([Linear(9, 7, rng=rng), Activation("softplus"), Activation("sigmoid")]),
                    Linear(7, 5, bias=bias, rng=rng), Activation("leaky_relu")],
                   dtype=dtype, input_shape=(6,))


def residual(dtype="float64", bias=True, rng=0):
    """What adds its input, in each other, first and last; what normalises, first and inside; other
    shapes."""
    rng = np.random.default_rng(rng)
    net = Network([
        so.Flatten(), so.Skip([so.LayerNorm(6), Linear(6, 6, bias=bias, rng=rng)]),
        Activation("tanh"), Linear(6, 8, bias=bias, rng=rng), so.nets.Reshape(8, (2, 4)),
        so.LayerNorm((2, 4)), so.Flatten(),
        Chain([so.Skip([Linear(8, 8, rng=rng), Activation("softplus"),
                        so.Skip([Linear(8, 8, rng=rng), so.LayerNorm(8, 0.1)]), Activation("sin")]),
               Activation("tanh"), Linear(8, 5, bias=bias, rng=rng)]),
        so.Skip([Activation("sin")])], dtype=dtype, input_shape=(2, 3))
    net.theta = net.theta + rng.normal(size=net.size) / 5  # a LayerNorm begins with 1 and 0
    return net


def normalised(dtype="float64", bias=True):
    return Network([so.LayerNorm(6), Linear(6, 5, bias=bias, rng=0)], dtype=dtype,
                   input_shape=(6,))


def targets(loss, samples, outputs=5, rng=1):
    rng = np.random.default_rng(rng)
    if isinstance(loss, (SoftmaxCrossEntropy, BoundedCriterion)):
        return rng.integers(0, outputs, samples)
    if isinstance(loss, BinaryCrossEntropy):
        return rng.random((samples, outputs))
    if isinstance(loss, PoissonNLL):
        return rng.integers(0, 9, (samples, outputs))
    return rng.normal(size=(samples, outputs))


LOSSES = [SquaredError(), SoftmaxCrossEntropy(), BoundedCriterion(3.0, 0.3), TukeyBiweight(1.5),
          BinaryCrossEntropy(), BinaryCrossEntropy(np.arange(1.0, 6)), Huber(0.4), PoissonNLL()]


@pytest.mark.everyday(22)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("make, loss", [(dense, loss) for loss in LOSSES] + [
    (make, loss) for make in (residual, normalised) for loss in LOSSES[:2]],
    ids=lambda one: getattr(one, "__name__", repr(one)))
def test_every_quantity_is_the_literal_one(make, loss, dtype):
    for samples, bias in ((11, True), (1, False)):
        net = make(dtype, bias)
        x = np.random.default_rng(2).normal(size=(samples, *net.input_shape))
        check_every_quantity(net, loss, x, targets(loss, samples))


@pytest.mark.parametrize("dtype, size", [("float32", 1e-4), ("float64", 30.0), ("float32", 1e18)])
def test_rows_far_from_0_are_normalised(dtype, size):
    """Of which squares overflow, or the epsilon is most of the variance."""
    net = normalised(dtype)
    x = size * np.random.default_rng(4).normal(size=(9, 6))
    given = net, SquaredError(), x, np.zeros((9, 5))
    close(*both(lambda: net(x)), ulp=200)
    close(*both(lambda: so.exact.gradient(*given)), ulp=200)


def test_a_sure_softmax_and_weights_that_are_no_distribution():
    """Outputs far apart, where 1 - q cancels; a weight 0; the largest output last, and twice."""
    p = np.array([[0.0, 300, -5, 5], [40, 0, 0, -40], [0, 0, 0, 90.5], [7, 7, 7, 7],
                  [1000, -1000, 999, 0]])
    for dtype in ("float64", "float32"):
        net = Network([Activation("identity")], input_shape=(4,), dtype=dtype)
        for loss in (SoftmaxCrossEntropy(), BoundedCriterion()):
            for t in (np.eye(4)[[1, 2, 3, 0, 0]], np.random.default_rng(0).random((5, 4)),
                      np.array([0, 1, 3, 3, 2])):
                compiled, literal = both(lambda: net.evaluate(loss, p, t))
                np.testing.assert_allclose(compiled.losses, literal.losses, rtol=30 * np.finfo(
                    dtype).eps)
                np.testing.assert_allclose(compiled.deltas[0], literal.deltas[0],
                                           rtol=100 * np.finfo(dtype).eps,
                                           atol=np.finfo(dtype).tiny)


# -- arrays ----------------------------------------------------------------------------------------


def test_inputs_in_any_layout_give_the_same_bits():
    net, loss = dense("float32"), SquaredError()
    x, y = np.random.default_rng(0).normal(size=(8, 6)).astype("f4"), targets(loss, 8)
    y = y.astype("f4")
    wanted = so.exact.gradient(net, loss, x, y)
    frozen = x.copy()
    frozen.flags.writeable = False
    for other in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], frozen, x.tolist()):
        assert np.array_equal(so.exact.gradient(net, loss, other, y), wanted)
        assert np.array_equal(net.evaluate(loss, other, np.asfortranarray(y)).gradient, wanted)
    assert np.array_equal(
        so.exact.hessian_vector_product(net, loss, x, y, np.repeat(net.theta, 2)[::2]),
        so.exact.hessian_vector_product(net, loss, x, y, net.theta))


def test_an_evaluation_keeps_its_numbers_in_a_pickle_and_a_copy():
    net, loss = dense(), SquaredError()
    e = net.evaluate(loss, np.ones((3, 6)), targets(loss, 3))
    other = pickle.loads(pickle.dumps(e))
    for name in ("outputs", "losses", "gradient"):
        assert np.array_equal(getattr(other, name), getattr(e, name))


# -- what is not finite ----------------------------------------------------------------------------


def test_what_is_not_finite_is_named_by_the_literal_passes():
    net = so.mlp([3, 4, 4, 2], activation="relu", rng=0)
    net.layers[2].weight = np.full((4, 4), 1e300)
    x, y = np.full((5, 3), 1e300), np.zeros((5, 2))
    for work in (lambda: so.exact.gradient(net, SquaredError(), x, y), lambda: net(x),
                 lambda: net.evaluate(SquaredError(), x, y),
                 lambda: so.SGD(net, SquaredError()).step(x, y)):
        with pytest.raises(FloatingPointError, match=r"layer 2, Linear\(4, 4\), are not finite"):
            work()
    with pytest.raises(FloatingPointError, match="loss of sample 0 is inf"):
        so.exact.gradient(so.mlp([1, 1], rng=0), SquaredError(), [[1e200]], [[0.0]])


@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("literal", [False, True])
def test_a_gradient_that_overflows_is_named(literal, l2):
    """Outputs and losses are finite."""
    net = so.Network([Linear(2, 1, bias=False, rng=0)])
    net.theta = [1e-60, 1e-60]
    with so.literal(literal), pytest.raises(FloatingPointError, match="the gradient in the param"):
        so.exact.gradient(net, SquaredError(), [[1e200, 1.0]], [[0.0]], l2=l2)


@pytest.mark.parametrize("literal", [False, True])
def test_the_mean_and_the_penalty(literal):
    net, (x, y) = dense(), (np.ones((4, 6)), np.zeros((4, 5)))
    v = np.random.default_rng(0).normal(size=net.size)
    with so.literal(literal):
        for work, penalised in ((so.exact.gradient, net.theta),
                                (lambda *a, **k: so.exact.hessian_vector_product(*a, v, **k), v)):
            one, plain, more = (work(net, SquaredError(), *batch, l2=l2) for batch, l2 in (
                ((x[:1], y[:1]), 0.0), ((x, y), 0.0), ((x, y), 0.3)))
            np.testing.assert_allclose(plain, one, rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(more, plain + 0.3 * penalised, rtol=1e-12, atol=1e-14)


# -- which networks --------------------------------------------------------------------------------


class Louder(Tanh):
    def value(self, x):
        return 2 * super().value(x)


class Renamed(Linear):
    """Overrides nothing."""


class Halved(Linear):
    def forward(self, x):
        y, saved = super().forward(x)
        return y / 2, saved._replace(output=y / 2)


class Doubled(SquaredError):
    def value(self, p, target):
        return 2 * super().value(p, target)


@pytest.mark.parametrize("make, why", [
    (lambda: [Linear(3, 2, rng=0), Activation(Louder())], r"Louder\(\) has no compiled form"),
    (lambda: [Halved(3, 2, rng=0)], "Halved has no compiled form"),
    (lambda: [so.Skip([Halved(3, 3, rng=0)]), Linear(3, 2, rng=0)], "Halved has no compiled form"),
    (lambda: [so.Recurrent(3, steps=2, activation=Louder(), rng=0), Linear(3, 2, rng=0)],
     r"Louder\(\) has no compiled form")])
def test_a_network_with_anything_that_has_no_entry_runs_literally(make, why, capsys):
    net = Network(make())
    net.summary()
    assert f"literal passes run: {why}".replace("\\", "") in capsys.readouterr().out
    assert evaluations.program_of(net) is None
    given = net, SquaredError(), np.ones((4, 3)), np.zeros((4, 2))
    assert np.array_equal(*both(lambda: so.exact.gradient(*given)))  # bit for bit: the same passes


def test_a_subclass_that_overrides_nothing_runs_compiled(capsys):
    net = Network([Renamed(3, 2, rng=0)])
    net.summary()
    assert capsys.readouterr().out.endswith(f"{RUNS}\n")
    with so.literal():
        net.summary()
    assert capsys.readouterr().out.endswith("literal passes run, as asked\n")


def test_every_method_evaluates_by_the_compiled_passes():
    net, loss = dense(), SquaredError()
    x, y = np.ones((4, 6)), targets(loss, 4)
    for optimizer in (so.SGD(net, loss), so.TruncatedNewton(net, loss), so.EACG(net, loss),
                      so.ResidualPartitioning(net, loss, cross=True),
                      so.CubicRegularization(so.SGD(net, loss), sigma=1.0)):
        assert optimizer._own_evaluation(x, y).work is not None
        with so.literal():
            assert optimizer._own_evaluation(x, y).work is None


def test_a_loss_of_the_authors_runs_by_its_own_passes():
    net = so.mlp([3, 2], rng=0)
    x, y = np.ones((4, 3)), np.zeros((4, 2))
    found = net.evaluate(Doubled(), x, y)
    assert evaluations.settled(net).criterion(Doubled()) is None and found.work is None
    np.testing.assert_allclose(found.losses, 2 * net.evaluate(SquaredError(), x, y).losses)


def test_what_is_changed_later_is_noticed():
    net, x = so.mlp([3, 4, 2], rng=0), np.ones((2, 3))
    smooth = net(x)
    net.layers[1].function = so.nets.LeakyReLU(0.5)
    leaky = net(x)
    net.layers[1].function.negative_slope = 0.25
    other = net(x)
    with so.literal():
        assert not np.array_equal(smooth, leaky) and not np.array_equal(leaky, other)
        np.testing.assert_allclose(net(x), other, rtol=1e-14)
    net.layers[0].forward = lambda x: (np.zeros((len(x), 4)), None)
    assert evaluations.program_of(net) is None
    np.testing.assert_allclose(net(x), np.tile(net.layers[2].bias, (2, 1)))
