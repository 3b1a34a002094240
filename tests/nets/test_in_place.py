"""Every twin against the literal passes that it stands for: bit for bit, in arrays full of NaN, for
batches of several lengths; and who is run by his own passes instead."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import (ACTIVATIONS, Activation, ActivationFunction, Chain, Linear, Network,
                              Reshape, Skip, SoftmaxCrossEntropy, SquaredError, Tanh,
                              activation_function)
from secondorder.nets.in_place import InPlace, LossInPlace, in_place, losses, twins
from secondorder.nets.in_place.activations import jets

LARGE = 80  # rows of a batch whose activations go through the compiled loops
DTYPES = ["float64", "float32"]


def linear(rng, **options):
    return Linear(60, 60, rng=rng, **options)


LAYERS = {
    "linear": lambda rng: linear(rng),
    "no bias": lambda rng: linear(rng, bias=False),
    "frozen": lambda rng: linear(rng, trainable=False),
    "frozen, no bias": lambda rng: linear(rng, bias=False, trainable=False),
    "narrowing": lambda rng: Linear(60, 7, rng=rng),
    "reshape": lambda rng: Reshape(60, (3, 20)),
    "chain": lambda rng: Chain([linear(rng, trainable=False), Activation("tanh"), linear(rng),
                                Activation("relu"), Chain([linear(rng, bias=False)])]),
    "nothing trained": lambda rng: Chain([Activation("sin"), linear(rng, trainable=False)]),
    "skip": lambda rng: Skip([linear(rng), Activation("softplus"), linear(rng, bias=False)]),
    "frozen skip": lambda rng: Skip([linear(rng, trainable=False), Activation("sigmoid")]),
    "skip inside": lambda rng: Chain([linear(rng), Skip([Activation("tanh"), linear(rng)])]),
    **{name: lambda rng, name=name: Activation(name) for name in ACTIVATIONS}}


def spoil(twin):
    """Fill with NaN whatever a twin, and those inside it, may write into."""
    for memory in twin._memory.values():
        memory.fill(np.nan)
    for inner in [*getattr(twin, "layers", ()), *[getattr(twin, "inner", None)]]:
        if inner is not None:
            spoil(inner)


def same(found, expected):
    """Equal, entry by entry, in dtype too."""
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def saved_arrays(saved):
    """All arrays in a saved tuple, or in a list of them."""
    for part in saved:
        if isinstance(part, np.ndarray):
            yield part
        elif part is not None:
            yield from saved_arrays(part)


class Case:
    """A layer, its twin, and arguments of all passes for a batch of `rows`."""

    def __init__(self, name, dtype):
        self.rng, self.dtype = np.random.default_rng(3), np.dtype(dtype)
        self.layer = LAYERS[name](self.rng)
        self.net = Network([self.layer], dtype=dtype, input_shape=(60,))
        self.twin = in_place(self.layer, (60,), self.dtype)

    def draw(self, *shape):
        return self.rng.normal(size=shape).astype(self.dtype)

    def arguments(self, rows):
        self.twin.resize(rows)
        self.x = self.draw(rows, 60)
        y, self.saved = self.layer.forward(self.x)
        self.x_tangent, self.y_bar = self.draw(rows, 60), self.draw(*y.shape)
        self.y_bar_tangent = self.draw(*y.shape)
        self.theta_tangent = self.draw(self.layer.size) if self.layer.size else None

    def nans(self, *shape):
        return np.full(shape, np.nan, self.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LAYERS)
def test_a_twin_gives_what_the_layer_gives(name, dtype):
    case = Case(name, dtype)
    layer, twin, size = case.layer, case.twin, case.layer.size
    for rows in (5, LARGE, 3, 5):
        case.arguments(rows)
        x, saved, y_bar = case.x, case.saved, case.y_bar
        spoil(twin)
        made = twin.forward(x)
        for found, expected in zip(saved_arrays([made]), saved_arrays([layer.forward(x)]),
                                   strict=True):
            same(found, expected)
        spoil(twin)
        same(twin.input_gradient(saved, y_bar), layer.input_gradient(saved, y_bar))
        for pass_name, shape in (("parameter_gradient", (size,)),
                                 ("parameter_gradients", (rows, size))):
            spoil(twin)
            out = case.nans(*shape)
            assert getattr(twin, pass_name)(saved, y_bar, out) is out
            same(out, getattr(layer, pass_name)(saved, y_bar))
        for x_tangent in (case.x_tangent, None):
            for theta_tangent in (case.theta_tangent, None):
                spoil(twin)
                same(twin.tangent(saved, x_tangent, theta_tangent),
                     layer.tangent(saved, x_tangent, theta_tangent))
                spoil(twin)
                given = saved, x_tangent, theta_tangent, y_bar, case.y_bar_tangent
                out = case.nans(size)
                x_part, theta_part = twin.backward_tangent(*given, out)
                expected = layer.backward_tangent(*given)
                assert theta_part is out
                same(x_part, expected[0])
                same(out, expected[1])
                out = case.nans(size)
                twin.backward_tangent(*given, out, needs_input=False)
                same(out, expected[1])


@pytest.mark.parametrize("name", LAYERS)
def test_a_twin_uses_its_arrays_again_and_leaves_the_arguments_alone(name):
    case = Case(name, "float64")
    case.arguments(4)
    given = [case.x, case.y_bar, case.x_tangent, case.y_bar_tangent]
    before = [array.copy() for array in given]
    theta = case.net.theta.copy()
    out = case.nans(case.layer.size)

    def results():
        twin = case.twin
        return (twin.forward(case.x)[0], twin.input_gradient(case.saved, case.y_bar),
                twin.tangent(case.saved, case.x_tangent, case.theta_tangent),
                twin.backward_tangent(case.saved, case.x_tangent, case.theta_tangent, case.y_bar,
                                      case.y_bar_tangent, out)[0])
    once = results()
    for array in given:  # other numbers in the same places
        array *= 2
    for found, again in zip(once, results()):
        shared = np.shares_memory(found, again)
        assert shared or (type(case.twin) is InPlace)
    for array, then in zip(given, before):
        assert np.array_equal(array, 2 * then)
    assert np.array_equal(case.net.theta, theta)


@pytest.mark.parametrize("name", ["chain", "skip inside", "linear"])
def test_a_whole_chain_from_gradients_at_all_outputs(name):
    """What an evaluation asks of a chain or its twin, one like the other."""
    rng = np.random.default_rng(0)
    net = Network([Linear(4, 60, rng=rng), Activation("tanh"), LAYERS[name](rng)])
    chain, twin = net.chain, in_place(net.chain, (4,), net.dtype)
    twin.resize(6)
    x = rng.normal(size=(6, 4))
    y, saved = chain.forward(x)
    y_bar, v, y_bar_tangent = rng.normal(size=y.shape), rng.normal(size=net.size), y + 1
    for stop in (0, 1, 2):
        bars = chain.output_gradients(saved, y_bar, stop=stop)
        for found, expected in zip(twin.output_gradients(saved, y_bar, stop=stop), bars,
                                   strict=True):
            same(found, expected)
    bars = chain.output_gradients(saved, y_bar)
    same(twin.parameter_gradient_from(saved, bars), chain.parameter_gradient_from(saved, bars))
    tangents = chain.input_tangents(saved, None, v)
    for found, expected in zip(twin.input_tangents(saved, None, v), tangents, strict=True):
        assert found is expected is None or np.array_equal(found, expected)
    H_y = np.zeros((6, y.shape[1], y.shape[1]))
    at_all = chain.input_hessian_from(saved, bars, H_y)  # from the network's input on
    assert len(at_all) == len(net.layers) + 1 and at_all[0].shape == (6, 4, 4)
    out = np.full(net.size, np.nan)
    twin.backward_tangent_from(saved, tangents, v, bars, y_bar_tangent, out, needs_input=False)
    same(out, chain.backward_tangent_from(saved, tangents, v, bars, y_bar_tangent)[1])


# -- losses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("loss", [SquaredError(), SoftmaxCrossEntropy()], ids=repr)
def test_the_twin_of_a_loss_gives_what_the_loss_gives(loss, labels, dtype):
    rng, twin = np.random.default_rng(1), losses.find(loss)(loss, 4, np.dtype(dtype))
    assert type(twin) is not LossInPlace
    for rows in (5, 9, 2):
        twin.resize(rows)
        p, v = (rng.normal(size=(rows, 4), scale=20).astype(dtype) for _ in range(2))
        p[0] = 0, 300, -5, 5  # where a softmax is sure
        given = rng.normal(size=(rows, 4)) ** 2
        if labels and isinstance(loss, SoftmaxCrossEntropy):
            given = rng.integers(0, 4, rows)
        spoil(twin)
        target = loss.prepare_target(given, p.shape, p.dtype)
        same(twin.prepare_target(given, p.shape, p.dtype), target)
        for name, arguments in (("value", ()), ("gradient", ()), ("hessian", ()),
                                ("hessian_diagonal", ()), ("hessian_product", (v,))):
            spoil(twin)
            same(getattr(twin, name)(p, target, *arguments),
                 getattr(loss, name)(p, target, *arguments))


def test_the_twin_of_a_loss_refuses_what_the_loss_refuses():
    for loss in (SquaredError(), SoftmaxCrossEntropy()):
        twin = losses.find(loss)(loss, 4, np.dtype("float64"))
        twin.resize(3)
        p = np.ones((3, 4))
        for wrong in (np.ones((3, 1)), np.ones((1, 4))):
            with pytest.raises(ValueError, match="targets and vectors must be arrays of the shape"):
                twin.value(p, wrong)
            with pytest.raises(ValueError, match="targets and vectors must be arrays of the shape"):
                twin.hessian_product(p, p, wrong)
    with pytest.raises(ValueError, match="label 4 of sample 1 is out of range"):
        twin.prepare_target(np.array([0, 4, 1]), (3, 4), np.float64)


# -- who has a twin --------------------------------------------------------------------------------


class Louder:
    """A mixin: twice what the class beside it makes."""

    def forward(self, x):
        y, saved = super().forward(x)
        return 2 * y, saved._replace(output=2 * y)


class Mixed(Louder, Linear):
    pass


class Masked(Linear):
    @property
    def weight(self):
        return super().weight * 0.5


class Named(Linear):
    def __init__(self, name):
        super().__init__(3, 2, rng=0)
        self.name = name

    def __repr__(self):
        return self.name


class Below(Mixed):
    pass


def test_whoever_overrides_anything_is_run_by_his_own_passes():
    def twin_of(layer):
        return twins.find(layer)

    assert [kind.__name__ for kind in map(twin_of, (Linear(3, 2), Named("one")))] == 2 * [
        "LinearInPlace"]
    assert {twin_of(kind(3, 2)) for kind in (Mixed, Below, Masked)} == {InPlace}
    shadowed = Linear(3, 2)
    shadowed.forward = lambda x: None
    assert twin_of(shadowed) is InPlace and twin_of(Linear(3, 2)) is not InPlace

    class OwnHalf(Skip):
        def input_gradient(self, saved, y_bar):
            return super().input_gradient(saved, y_bar)

    assert twin_of(OwnHalf([Activation("tanh")])) is InPlace
    assert twin_of(Reshape(4, (2, 2))) is InPlace

    class Robust(SquaredError):
        def value(self, p, target):
            return super().value(p, target)

    assert losses.find(Robust()) is LossInPlace is losses.find(so.TukeyBiweight())

    class Steep(Tanh):
        def slope(self, x):
            return 2 * super().slope(x)

    assert jets.find(Steep()) is None and jets.find(Tanh()) is not None
    assert jets.find(activation_function("identity")) is None


def test_a_masked_layer_trains_by_its_own_weight():
    """A subclass whose `weight` is computed has no settled one."""
    net = Network([Masked(3, 4, rng=0), Activation("tanh"), Linear(4, 2, rng=1)])
    x, y = np.random.default_rng(0).normal(size=(2, 5, 3))
    y = y[:, :2]
    loss = so.SquaredError()
    opt = so.SGD(net, loss, learning_rate=0.1)
    opt.step(x, y)
    literal = net.evaluate(loss, x, y)
    assert opt.step(x, y)["loss"] == literal.loss


def test_a_twin_registered_later_is_found():
    class Plain(so.Layer):
        def forward(self, x):
            return x, (x, x)

    assert twins.find(Plain()) is InPlace

    @twins.register(Plain)
    class PlainInPlace(InPlace):
        pass

    try:
        assert twins.find(Plain()) is PlainInPlace
    finally:
        del twins.registry[Plain]
        twins._found.clear()


def test_a_layer_that_changes_the_dtype_is_named_in_a_step():
    class Upcasting(Tanh):
        def value(self, x):
            return np.tanh(x) / np.sqrt(np.float64(2))

    net = Network([Linear(3, 2, rng=0), Activation(Upcasting()), Linear(2, 2, rng=0)],
                  dtype="float32")
    opt = so.SGD(net, so.SquaredError())
    with pytest.raises(TypeError, match=r"the outputs of layer 1, Activation\(tanh\), must hold "
                                        "float32 like the network, got float64"):
        opt.step(np.ones((1, 3)), np.ones((1, 2)))


def test_networks_lend_workspaces_that_threads_do_not_share():
    net = so.mlp([3, 4, 2], rng=0)
    with net.workspaces.lend(5) as one, net.workspaces.lend(5) as two:
        assert one is not two
    with net.workspaces.lend(5) as again:
        assert again is two or again is one
    with net.workspaces.lend(10**6) as large:
        assert large is not one and large is not two
    assert net.copy().workspaces._idle == []


class Cube(ActivationFunction):
    """One that has no twin."""

    def value(self, x):
        return x**3

    def slope(self, x):
        return 3 * x**2

    def curvature(self, x):
        return 6 * x


@pytest.mark.parametrize("first, then", [("tanh", "relu"), ("relu", "tanh"), ("softplus", Cube()),
                                         (Cube(), "sin")])
def test_another_function_set_afterwards_counts_everywhere(first, then):
    rng = np.random.default_rng(0)
    net, x, y = so.mlp([3, 4, 2], activation=first, rng=0), *rng.normal(size=(2, 5, 3))
    problem = so.SquaredError(), x, y[:, :2]
    net(x), so.exact.gradient(net, *problem)  # so that its arrays and twins are there
    net.layers[1].function = activation_function(then)
    new = net.copy()
    assert np.array_equal(net(x), new(x))
    assert np.array_equal(so.exact.gradient(net, *problem), so.exact.gradient(new, *problem))
    np.testing.assert_allclose(net.evaluate(*problem).gradient, so.exact.gradient(net, *problem),
                               rtol=1e-13)
