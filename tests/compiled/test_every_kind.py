"""Every kind of layer in the compiled form: as the literal one, with arrays of its own, in threads,
in parts; and what is not finite, by name."""


import numpy as np
import pytest

import secondorder as so
from harness.compiled_kinds import (KINDS, LOSSES, QUANTITIES, WITH_PARAMETERS,
                                    batch, network)
from harness.everyday import all_but
from harness.two_forms import RUNS, both
from secondorder.nets import (AvgPool2d, Conv2d, Flatten, Linear, MaxPool2d, Network,
                              SoftmaxCrossEntropy, SquaredError)
from secondorder.nets import evaluation as evaluations

DTYPES = ("float64", "float32")
FLOAT64_EVERY_DAY = all_but(DTYPES, "float32")
LONG = ("recurrent", "states", "convolution", "average-pool", "max-pool")  # to compile: 10 s
KINDS_AND_DTYPES = [
    pytest.param(kind, dtype, marks=[pytest.mark.slow] * (dtype == "float32" and kind in LONG))
    for kind in KINDS for dtype in DTYPES]
LOSSES_BY_OUTPUT = [so.nets.BinaryCrossEntropy(), so.nets.Huber(0.4), so.nets.PoissonNLL(),
                    SquaredError(), so.nets.TukeyBiweight()]


def within(found, wanted, ulp):
    """Within so many units in the last place of the largest entry."""
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    error = np.abs(found - wanted).max() / (np.finfo(wanted.dtype).eps * np.abs(wanted).max())
    assert error <= ulp, f"{error:.1f} units in the last place"


def agree(net, loss, x, y, looser=1):
    """All quantities, by both forms; the compiled one found nothing that is not finite, for then
    the literal passes run again.
    """
    assert evaluations.form(net) == RUNS and net.evaluate(loss, x, y).work is not None
    for work, ulp in QUANTITIES.values():
        within(*both(lambda: work(net, loss, x, y)), looser * ulp)


# -- the two forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind, dtype", KINDS_AND_DTYPES)
def test_forms_agree_to_units_in_the_last_place(kind, dtype):
    """One sample, and more than eight."""
    net = network(kind, dtype)
    for samples, loss in ((1, SquaredError()), (9, SoftmaxCrossEntropy())):
        agree(net, loss, *batch(samples, loss))


@pytest.mark.everyday(8)
@pytest.mark.parametrize("dtype", FLOAT64_EVERY_DAY)
@pytest.mark.parametrize("options", [{"bias": False}, {"trainable": False}],
                         ids=["no bias", "fixed"])
@pytest.mark.parametrize("kind", WITH_PARAMETERS)
def test_forms_agree_without_biases_and_where_a_layer_is_fixed(kind, options, dtype):
    loss = SoftmaxCrossEntropy()
    agree(network(kind, dtype, **options), loss, *batch(5, loss))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_forms_agree_for_every_loss(loss, dtype):
    agree(network("linear", dtype), loss, *batch(9, loss))


@pytest.mark.parametrize("dtype", FLOAT64_EVERY_DAY)
@pytest.mark.parametrize("shape", [(1, 2, 700), (2, 40, 90)])
def test_a_wide_image_takes_many_turns(shape, dtype):
    """Of which one sample alone fills some, and the last is shorter than the others."""
    layers = [Conv2d(shape[0], 3, 2, padding=1, rng=0), MaxPool2d(2, 1), Conv2d(3, 2, 1, rng=1),
              AvgPool2d(2), Flatten()]
    width, = so.Chain(layers).output_shape(shape)
    net, rng = Network([*layers, Linear(width, 3, rng=2)], dtype, shape), np.random.default_rng(0)
    sizes = evaluations.program_of(net).sizes
    assert sizes[0, 3] * 3 > sizes[0, -1] and sizes[0, 3] * 3 % sizes[0, -1]
    x, y = rng.normal(size=(3, *shape)), rng.normal(size=(3, 3))
    agree(net, SquaredError(), x, y, looser=8)


@pytest.mark.parametrize("dtype", FLOAT64_EVERY_DAY)
def test_of_equal_entries_both_forms_take_the_first(dtype):
    """Images of two values, and of one: bit for bit the same maxima, gradients and choices."""
    net = Network([MaxPool2d((2, 3), 1), Flatten()], dtype, (2, 4, 5))
    x = np.random.default_rng(0).integers(0, 2, (6, 2, 4, 5)).astype(float)
    x[0] = -1
    saved = both(lambda: net.evaluate(SquaredError(), x, np.zeros((6, 18))).saved[0])
    assert np.array_equal(saved[0].chosen, saved[1].chosen) and saved[1].chosen.max() > 0
    assert np.array_equal(saved[0].output, saved[1].output)
    net = Network([Conv2d(2, 2, 1, bias=False, rng=0), MaxPool2d(2), Flatten()], dtype, (2, 4, 4))
    x = np.ones((3, 2, 4, 4))
    agree(net, SquaredError(), x, np.zeros((3, 8)))


# -- arrays ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_no_views_of_a_work_array_and_stay(kind):
    net, loss = network(kind), SquaredError()
    evaluation = net.evaluate(loss, *batch(6))
    results = [np.asarray(work(net, loss, *batch(6))) for work, _ in QUANTITIES.values()]
    results += [evaluation.gradient, *evaluation.deltas]
    kept = [result.copy() for result in results]
    for samples in (6, 9, 2):
        for work, _ in QUANTITIES.values():
            work(net, loss, *batch(samples, seed=samples))
    for workspace in net.workspaces._idle:
        for held in vars(workspace).values():
            work = held if hasattr(held, "array") else None
            assert work is None or not any(np.shares_memory(result, work.array)
                                           for result in results)
    assert all(map(np.array_equal, results, kept))


@pytest.mark.parametrize("kind", KINDS)
def test_two_optimizers_take_turns_through_shorter_last_batches(kind):
    """Bit for bit the steps from evaluations that have arrays of their own."""
    ends = []
    for reuse in (True, False):
        net, loss = network(kind), SquaredError()
        methods = [so.SGD(net, loss, 0.01), so.Adam(net, loss, 0.01, l2=0.1)]
        for samples in (7, 7, 3, 7, 1, 10, 3):
            for method in methods:
                x, y = batch(samples, seed=samples)
                method.step(x, y) if reuse else method.step_from(net.evaluate(loss, x, y))
        ends.append(net.theta.copy())
    assert np.array_equal(*ends)


# -- what is not finite ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind, dtype", [one for one in KINDS_AND_DTYPES
                                         if one.values[0] in WITH_PARAMETERS])
def test_what_is_not_finite_is_named_as_by_the_literal_passes(kind, dtype):
    """From a parameter of the layer under test."""
    net, messages = network(kind, dtype), []
    where = next(where for layer, where in zip(net.layers[2:], net.slices[2:])
                 if where.stop > where.start)
    net.theta[where.start:where.stop] = np.nan
    for literal in (False, True):
        with so.literal(literal), pytest.raises(FloatingPointError) as caught:
            net(np.ones((2, 5)))
        messages.append(str(caught.value))
    assert messages[0] == messages[1] and "layer" in messages[0]


@pytest.mark.parametrize("kind", ["convolution", "average-pool", "max-pool", "layer-norm"])
def test_a_nan_between_layers_is_found_by_both_forms(kind):
    """From an infinite output of the layer before, which only these kinds look at closely."""
    net = network(kind)
    net.layers[0].weight[3] = np.inf
    for literal in (False, True):
        with so.literal(literal), pytest.raises(FloatingPointError, match="layer 0, Linear"):
            so.exact.gradient(net, SquaredError(), *batch(2))


def summed_to_overflow():
    """A recurrence whose states are 0: of three steps, the bias alone sums what is too much."""
    net = Network([so.Recurrent(2, 3, activation="identity", rng=0), Linear(3, 1, rng=0)],
                  input_shape=(3, 2))
    recurrent, linear = net.layers
    net.theta = np.zeros(net.size)
    recurrent.parameters["weight_hh"][...] = np.eye(3)
    linear.weight[...] = 1e308
    return net, np.zeros((1, 3, 2))


def test_a_bias_alone_that_is_not_finite_is_told():
    net, x = summed_to_overflow()
    for literal in (False, True):
        with so.literal(literal), pytest.raises(FloatingPointError, match="layer 0, Recurrent"):
            so.exact.sample_gradients(net, SquaredError(), x, [[1.0]])


def test_rows_of_a_later_layer_that_are_not_finite_are_told():
    net = Network([Linear(1, 1, bias=False, rng=0), Linear(1, 1, bias=False, rng=0)])
    net.theta = np.array([1e160, 0.0])  # h = 1e160, y = 0, y_bar = 1e153: only their product is
    for literal in (False, True):
        with so.literal(literal), pytest.raises(FloatingPointError, match="layer 1, Linear"):
            so.exact.sample_gradients(net, SquaredError(), np.ones((1, 1)), [[-1e153]])


@pytest.mark.parametrize("dtype, size", [("float64", 400.0), ("float32", 60.0)])
@pytest.mark.parametrize("loss", LOSSES_BY_OUTPUT, ids=repr)
def test_second_derivatives_of_losses_keep_their_tails(loss, dtype, size):
    """One output, far from 0 on both sides: the curvature in the bias is the loss's own."""
    net = Network([Linear(1, 1, init=0.0, rng=0)], dtype=dtype)
    for p in (-size, -3.0, 3.0, size):
        net.layers[0].bias[...] = p
        found, wanted = both(lambda: so.exact.hessian_vector_product(
            net, loss, [[0.0]], [[1.0]], [0.0, 1.0])[1])
        assert found == pytest.approx(wanted, rel=100 * float(np.finfo(dtype).eps), abs=0)
