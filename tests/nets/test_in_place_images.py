"""Twins of convolutions and pooling, and their compiled loops, against the literal passes: in
arrays full of NaN, for batches of several lengths, one sample at a time and many."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from harness.shaped_networks import problem
from secondorder.nets import AvgPool2d, Conv2d, MaxPool2d, Network, Skip, Workspace
from secondorder.nets.in_place import InPlace, convolution, in_place, loops
from secondorder.nets.layers import windows
from test_in_place import saved_arrays, spoil

LAYERS = {
    "plain": (lambda: Conv2d(2, 3, 3, rng=0), (2, 5, 6)),
    "one channel, padding": (lambda: Conv2d(1, 4, 3, padding=1, rng=0), (1, 4, 4)),
    "strides": (lambda: Conv2d(3, 2, (2, 3), (3, 2), (2, 1), rng=0), (3, 6, 7)),
    "no bias": (lambda: Conv2d(2, 2, 2, bias=False, rng=0), (2, 3, 3)),
    "frozen": (lambda: Conv2d(2, 2, 2, trainable=False, rng=0), (2, 3, 3)),
    "as large as the image": (lambda: Conv2d(2, 3, (4, 3), rng=0), (2, 4, 3)),
    "one pixel, in the padding too": (lambda: Conv2d(2, 3, 1, padding=2, stride=3, rng=0),
                                      (2, 3, 4)),
    "mean": (lambda: AvgPool2d(2), (3, 5, 4)), "means that overlap": (
        lambda: AvgPool2d((3, 2), (1, 2)), (2, 5, 6)),
    "largest": (lambda: MaxPool2d(2), (3, 4, 5)), "largest, overlapping": (
        lambda: MaxPool2d((2, 3), 1), (2, 4, 5)),
    "largest, with gaps": (lambda: MaxPool2d(1, 2), (2, 4, 5)),
}


class Case:
    def __init__(self, name, dtype):
        make, self.shape = LAYERS[name]
        self.rng, self.dtype, self.layer = np.random.default_rng(3), np.dtype(dtype), make()
        self.net = Network([self.layer], dtype=dtype, input_shape=self.shape)
        self.twin = in_place(self.layer, self.shape, self.dtype)
        self.tolerance = 32 * np.finfo(dtype).eps

    def draw(self, *shape):
        return self.rng.normal(size=shape).astype(self.dtype)

    def same(self, found, expected):
        assert found.shape == expected.shape and found.dtype == expected.dtype
        if expected.size:
            assert relative(found, expected) < self.tolerance


@pytest.mark.parametrize("room", [1, convolution.ROOM], ids=["one by one", "many"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", LAYERS)
def test_a_twin_gives_what_the_layer_gives(name, dtype, room, monkeypatch):
    monkeypatch.setattr(convolution, "ROOM", room)
    case = Case(name, dtype)
    layer, twin, size = case.layer, case.twin, case.layer.size
    assert type(twin) is not InPlace
    for rows in (5, 12, 1):
        twin.resize(rows)
        x, x_tangent = case.draw(rows, *case.shape), case.draw(rows, *case.shape)
        y, saved = layer.forward(x)
        y_bar, y_bar_tangent = case.draw(*y.shape), case.draw(*y.shape)
        v = case.draw(size) if size else None
        spoil(twin)
        for found, expected in zip(saved_arrays([twin.forward(x)]), saved_arrays([(y, saved)]),
                                   strict=True):
            case.same(found, expected)
        spoil(twin)
        case.same(twin.input_gradient(saved, y_bar), layer.input_gradient(saved, y_bar))
        for pass_name, shape in (("parameter_gradient", (size,)),
                                 ("parameter_gradients", (rows, size))):
            spoil(twin)
            out = np.full(shape, np.nan, case.dtype)
            assert getattr(twin, pass_name)(saved, y_bar, out) is out
            case.same(out, getattr(layer, pass_name)(saved, y_bar))
        for moving_x in (x_tangent, None):
            for moving_theta in (v, None):
                spoil(twin)
                case.same(twin.tangent(saved, moving_x, moving_theta),
                          layer.tangent(saved, moving_x, moving_theta))
                spoil(twin)
                given = saved, moving_x, moving_theta, y_bar, y_bar_tangent
                expected, out = layer.backward_tangent(*given), np.full(size, np.nan, case.dtype)
                x_part, theta_part = twin.backward_tangent(*given, out)
                assert theta_part is out
                case.same(x_part, expected[0])
                case.same(out, expected[1])
                out = np.full(size, np.nan, case.dtype)
                twin.backward_tangent(*given, out, needs_input=False)
                case.same(out, expected[1])


@pytest.mark.parametrize("name", LAYERS)
def test_arguments_are_left_alone_and_may_be_views(name):
    case = Case(name, "float64")
    case.twin.resize(4)
    wide = case.draw(8, *case.shape)
    x = wide[::2]
    y, saved = case.layer.forward(x)
    y_bar = case.draw(8, *y.shape[1:])[::2]
    before = x.copy(), y_bar.copy(), case.net.theta.copy()
    case.same(case.twin.forward(x)[0], y)
    case.same(case.twin.input_gradient(saved, y_bar), case.layer.input_gradient(saved, y_bar))
    for now, then in zip((x, y_bar, case.net.theta), before):
        assert np.array_equal(now, then)


@pytest.mark.parametrize("kernel, stride, padding, image", [
    ((2, 3), (1, 1), (0, 0), (5, 4)), ((2, 2), (3, 2), (1, 0), (5, 4)),
    ((1, 1), (1, 1), (3, 2), (2, 1)), ((3, 2), (2, 3), (4, 5), (1, 2)), ((4, 5), (1, 1), (0, 0),
                                                                        (4, 5))])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_loops_give_what_the_windows_give(kernel, stride, padding, image, dtype):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 3, *image)).astype(dtype)
    expected = windows.windows(x, kernel, stride, padding)
    places = expected.shape[2:4]
    z = np.full((2, 3, *kernel, *places), np.nan, dtype)
    loops.gather(x.ravel(), x.shape, kernel, stride, padding, places, z.reshape(-1))
    assert np.array_equal(z.transpose(0, 1, 4, 5, 2, 3), expected)
    back = np.full_like(x, np.nan)
    loops.spread(z.ravel(), x.shape, kernel, stride, padding, places, back.reshape(-1))
    assert relative(back, windows.windows_back(expected, x.shape, stride, padding)) < 1e-6


def test_ties_and_negative_maxima_through_the_loop():
    net = Network([MaxPool2d(2)], input_shape=(1, 2, 2))
    twin = in_place(net.layers[0], (1, 2, 2), net.dtype)
    twin.resize(3)
    x = np.array([[[[1.0, 3.0], [3.0, 3.0]]], [[[0.0, 0.0], [0.0, 0.0]]],
                  [[[-5.0, -7.0], [-1.0, -2.0]]]])
    y, saved = twin.forward(x)
    assert y.ravel().tolist() == [3.0, 0.0, -1.0] and saved.chosen.ravel().tolist() == [1, 0, 2]


@pytest.mark.parametrize("name", ["convolutional", "recurrent", "normalised"])
def test_training_steps_are_those_of_the_literal_passes(name, monkeypatch):
    """A workspace, with shorter batches between, against evaluations without."""
    net, loss, x, y = problem(name, samples=9)
    workspace = Workspace()
    for rows in (9, 2, 9, 5):
        fast, literal = net.evaluate(loss, x[:rows], y[:rows], workspace), net.evaluate(
            loss, x[:rows], y[:rows])
        assert relative(fast.gradient, literal.gradient) < 1e-13
    monkeypatch.setattr(convolution, "ROOM", 1)
    if name != "normalised":
        method = so.ResidualPartitioning(net.copy(), loss, learning_rate=1.0)
        found = so.residual_partitioning.bound(net, loss, x, y)
        method.step(x, y)
        moved = np.where(found.curvature > 0, -found.gradient / np.where(
            found.curvature > 0, found.curvature, 1), 0)
        assert relative(method.network.theta - net.theta, moved) < 1e-12


def test_a_subclass_that_overrides_a_pass_is_heard():
    class Doubled(Conv2d):
        def forward(self, x):
            y, saved = super().forward(x)
            return 2 * y, saved

    net = Network([Doubled(1, 1, 2), Skip([AvgPool2d(1)])], input_shape=(1, 3, 3))
    assert type(in_place(net.layers[0], (1, 3, 3), net.dtype)) is InPlace
