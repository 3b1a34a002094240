"""`Recurrent`: step by step, index by index, through the three channels, refusals."""

import tracemalloc

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from secondorder.nets import Network, Recurrent
from test_activations import Cube


def test_autonomous_step_by_step():
    layer = Recurrent(3, steps=4, rng=0)
    x = np.random.default_rng(1).normal(size=(2, 3))
    y, saved = layer.forward(x)
    for s in range(2):
        v = x[s].tolist()
        for _ in range(4):
            v = [np.tanh(sum(layer.weight[i, j] * v[j] for j in range(3)) + layer.bias[i])
                 for i in range(3)]
        assert relative(y[s], v) < 1e-14
    assert saved.output is y and np.array_equal(saved.states[0], x) and len(saved.states) == 5
    assert len(saved.slopes) == len(saved.curvatures) == 4


def test_with_an_input_at_every_step():
    layer = Recurrent(2, 3, activation="softplus", rng=0)
    x = np.random.default_rng(1).normal(size=(2, 5, 2))
    y, _ = layer.forward(x)
    for s in range(2):
        v = [0.0] * 3
        for t in range(5):
            v = [np.log1p(np.exp(sum(layer.weight_hh[i, j] * v[j] for j in range(3))
                                 + sum(layer.weight_ih[i, j] * x[s, t, j] for j in range(2))
                                 + layer.bias[i])) for i in range(3)]
        assert relative(y[s], v) < 1e-14


def test_parameters_begin_within_one_over_the_root_of_the_width():
    layer = Recurrent(40, 25, rng=0)
    for values in layer.parameters.values():
        assert 0.9 / 5 < np.abs(values).max() <= 1 / 5


def test_zero_steps_and_the_like():
    for steps, error, words in [(0, ValueError, "steps must be at least 1, got 0"),
                                (-2, ValueError, "steps"), (2.5, TypeError, "steps"),
                                (None, ValueError, "steps must be given")]:
        with pytest.raises(error, match=words):
            Recurrent(3, steps=steps)
    with pytest.raises(ValueError, match="do not pass steps"):
        Recurrent(2, 3, steps=4)


@pytest.mark.parametrize("layer, shape, words", [
    (Recurrent(2, 3), (0, 2), "T at least 1"), (Recurrent(2, 3), (4, 3), r"shape \(T, 2\)"),
    (Recurrent(2, 3), (2,), "takes sequences"), (Recurrent(2, 3), (1, 4, 2), "takes sequences"),
    (Recurrent(2, steps=3), (3,), r"takes its first state, one sample of shape \(2,\), got \(3,\)"),
])
def test_inputs_that_do_not_fit(layer, shape, words):
    with pytest.raises(ValueError, match=words):
        layer.output_shape(shape)


def test_sequences_go_through_a_network():
    net = Network([Recurrent(2, 3, rng=0), so.Linear(3, 1, rng=0)], input_shape=(4, 2))
    assert net(np.ones((5, 4, 2))).shape == (5, 1)
    with pytest.raises(ValueError, match=r"expected \(S, 4, 2\)"):
        net(np.ones((5, 3, 2)))
    assert Network([Recurrent(3, steps=2)]).input_shape == (3,)


def problem_of(layer, x, rng):
    saved = layer.forward(x)[1]
    y_bar = rng.normal(size=(len(x), layer.hidden_size)).astype(x.dtype)
    return saved, y_bar


@pytest.mark.parametrize("layer, shape", [
    (Recurrent(2, 3, activation="softplus", rng=0), (5, 4, 2)),
    (Recurrent(3, steps=4, rng=0), (5, 3)),
    (Recurrent(2, 3, bias=False, rng=0), (1, 1, 2)),
], ids=str)
def test_gradients_in_the_weights_index_by_index(layer, shape):
    """One product over steps and samples is what the triple sum over t, s and the entries gives."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=shape)
    saved, y_bar = problem_of(layer, x, rng)
    a_bars, _ = layer.argument_gradients(saved, y_bar)
    expected = {name: np.zeros_like(value) for name, value in layer.parameters.items()}
    for t, a_bar in enumerate(a_bars):
        for s, i in np.ndindex(a_bar.shape):
            for j in range(layer.hidden_size):
                expected["weight_hh"][i, j] += a_bar[s, i] * saved.states[t][s, j]
            for j in range(layer.input_size if layer.has_input else 0):
                expected["weight_ih"][i, j] += a_bar[s, i] * x[s, t, j]
            if layer.bias is not None:
                expected["bias"][i] += a_bar[s, i]
    whole = np.concatenate([value.ravel() for value in expected.values()])[:layer.size]
    assert relative(layer.parameter_gradient(saved, y_bar), whole) < 1e-14
    assert relative(layer.flat_parameter_gradients(saved, y_bar).sum(axis=0), whole) < 1e-14


def test_the_gradient_of_a_batch_makes_no_row_a_sample():
    layer, rng = Recurrent(4, 128, rng=0), np.random.default_rng(3)
    x = rng.normal(size=(100, 2, 4))
    saved, y_bar = problem_of(layer, x, rng)
    rows = 100 * layer.size * 8
    moved = layer.flat_tangent(saved, x, None)[1]
    for call in (lambda: layer.parameter_gradient(saved, y_bar),
                 lambda: layer.backward_tangent(saved, moved, y_bar, y_bar)):
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < rows / 2


def test_a_function_of_three_parts_is_asked_for_them():
    layer = Recurrent(2, 3, activation=Cube(), rng=0)
    x = np.random.default_rng(1).normal(size=(2, 4, 2))
    y, saved = layer.forward(x)
    a = layer.argument(layer.weight_ih, layer.weight_hh, x, 4, saved.states[3]) + layer.bias
    assert (y == a**3).all() and (saved.slopes[-1] == 3 * a**2).all()
    assert (saved.curvatures[-1] == 6 * a).all()
