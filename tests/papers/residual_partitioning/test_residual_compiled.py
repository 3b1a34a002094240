"""The compiled step of residual partitioning against the formula in NumPy."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import evaluation as evaluations
from secondorder.papers.residual_partitioning import compiled
from secondorder.papers.residual_partitioning.fast import sums
from secondorder.papers.residual_partitioning.optimizer import curvature_sums, serve
from secondorder.papers.residual_partitioning.options import checked
from secondorder.papers.residual_partitioning.rules import LinearRule, rules

DTYPES = (np.dtype("float64"), np.dtype("float32"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 1024, 2500])
def test_partition_step_moves_and_reports(size, dtype):
    rng, eps = np.random.default_rng(size), float(np.finfo(dtype).eps)
    total, theta, sums_of = rng.normal(size=size), rng.normal(size=size), rng.exponential(size=size)
    sums_of[3:900:4], sums_of[1:2] = 0, 50  # both extremes stand in the first block
    total, theta, sums_of = (a.astype(dtype) for a in (total, theta, sums_of))
    for damping in (0.0, 0.2):
        samples, l2, one, rate, damping, shrink = map(
            dtype.type, (7, 0.3, 1, 0.5, damping, 0.15))
        g, c, d = total * (1 / samples) + l2 * theta, sums_of * (1 / samples), np.zeros_like(theta)
        for i in np.flatnonzero(c + damping):
            d[i] = -g[i] / (c[i] + damping + shrink)
        moved, kept, found = theta + rate * d, theta.copy(), np.empty_like(theta)
        sums, reports, ends = np.zeros(5), np.zeros(3), compiled.NO_ENDS.copy()
        compiled.partition_step(total, theta, found, samples, l2, one, rate, sums, sums_of,
                                damping, shrink, reports, ends)
        assert np.array_equal(theta, kept)
        np.testing.assert_array_less(np.abs(found - moved),
                                     4 * eps * (np.abs(theta) + rate * np.abs(d)))
        idle = np.count_nonzero(c + damping == 0)
        g, theta64, c, d, moved = (a.astype(np.float64) for a in (g, theta, c, d, moved))
        np.testing.assert_allclose(sums, [g @ g, theta64 @ theta64, d @ d, moved @ moved, c.sum()],
                                   rtol=40 * eps)
        np.testing.assert_allclose(reports, [g @ d, c @ d**2, idle], rtol=40 * eps)
        np.testing.assert_allclose([compiled.number(bits, dtype) for bits in ends],
                                   [c.min(), c.max(), np.abs(d).max()], rtol=4 * eps)
        assert size == 1 or bool((d == 0).any()) == (damping == 0)


def network(dtype, bias):
    """Activations first, in a row and last; a chain inside; widths that differ; slopes of both
    signs."""
    rng = np.random.default_rng(3)
    net = so.Network([so.Flatten(), so.Activation("sin"), so.Linear(6, 9, bias=bias, rng=rng),
                      so.Activation("tanh"), so.Activation("sigmoid"),
                      so.Chain([so.Linear(9, 7, rng=rng), so.Activation("leaky_relu")]),
                      so.Linear(7, 4, bias=bias, rng=rng), so.Activation("sin"),
                      so.Activation("softplus")], dtype=dtype, input_shape=(2, 3))
    net.theta = 4 * net.theta
    return net


def branched(dtype, bias):
    """A skip around what is trained first and one behind it, one in the other; fixed layers first,
    inside and last; nothing trained below."""
    rng = np.random.default_rng(4)

    def fixed(n, m):
        return so.Linear(n, m, bias=bias, trainable=False, rng=rng)

    return so.Network([so.Flatten(), so.Activation("sin"), fixed(6, 6), so.Skip(
        [fixed(6, 5), so.Linear(5, 6, rng=rng), so.Activation("softplus")]), so.Activation("tanh"),
        so.Skip([so.Linear(6, 7, bias=bias, rng=rng), so.Skip([so.Activation("sigmoid")]),
                 fixed(7, 6)]), so.Linear(6, 5, bias=bias, rng=rng), so.Activation("tanh"),
        fixed(5, 4)], dtype=dtype, input_shape=(2, 3))


@pytest.mark.parametrize("network", [network, branched])
@pytest.mark.parametrize("output, negative, loss", [
    ("jensen", "abs", so.SoftmaxCrossEntropy()), ("jensen", "max", so.PoissonNLL()),
    ("pairwise", "max", so.SoftmaxCrossEntropy()),
    ("diagonal", "max", so.PoissonNLL()), ("diagonal", "abs", so.TukeyBiweight(1.0)),
    ("pairwise", "abs", so.BoundedCriterion())])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_walks_give_the_sums_of_the_rules(dtype, output, negative, loss, network):
    for samples, bias in ((11, True), (1, False)):
        net, rng = network(dtype, bias), np.random.default_rng(samples)
        x, y = rng.normal(size=(samples, 2, 3)), rng.integers(0, 4, samples)
        y = rng.integers(0, 5, (samples, 4)) if isinstance(loss, so.nets.DiagonalLoss) else y
        options = checked(net, loss, output, negative, False)
        optimizer = so.ResidualPartitioning(net, loss, output=output, negative_curvature=negative)
        with so.literal():
            literal = net.evaluate(loss, x, y)
            wanted = sums(literal, options)[2]
        if network is not branched and samples > 1:
            assert literal.saved[-2].slope.min() < -0.1
        for evaluation in (net.evaluate(loss, x, y), optimizer._own_evaluation(x, y)):
            assert serve(net, evaluation.work.program)
            found = curvature_sums(evaluation, options)
            assert found.dtype == dtype
            np.testing.assert_allclose(found, wanted, rtol=100 * np.finfo(dtype).eps,
                                       atol=20 * np.finfo(dtype).eps * wanted.max())


def test_a_rule_of_the_authors_goes_by_the_rules():
    class Wider(so.Linear):
        """With a rule of its own."""

    @rules.register(Wider)
    class WiderRule(LinearRule):
        @staticmethod
        def backward(layer, saved, context, u, g, Z, options):
            Z_in, curvature = LinearRule.backward(layer, saved, context, u, g, Z, options)
            return Z_in, 2 * curvature

    net, loss = so.Network([Wider(3, 2, rng=0)]), so.SquaredError()
    plain = so.Network([so.Linear(3, 2, rng=0)])
    options = checked(net, loss, "auto", "abs", False)
    assert not serve(net, evaluations.program_of(net))
    assert serve(plain, evaluations.program_of(plain))
    found, wanted = (curvature_sums(n.evaluate(loss, np.ones((4, 3)), np.zeros((4, 2))), options)
                     for n in (net, plain))
    np.testing.assert_allclose(found, 2 * wanted)


def test_products_of_changes_go_by_the_rules():
    net, loss, rng = so.mlp([3, 4, 2], rng=0), so.SquaredError(), np.random.default_rng(0)
    at = net.evaluate(loss, rng.normal(size=(5, 3)), rng.normal(size=(5, 2)))
    cross, plain = (checked(net, loss, "auto", "abs", with_them) for with_them in (True, False))
    found = curvature_sums(at, cross)
    np.testing.assert_array_equal(found, sums(at, cross)[2])
    assert (found > 1.1 * curvature_sums(at, plain)).any()


@pytest.mark.parametrize("options", [{}, {"l2": 0.3}, {"l2": 0.3, "penalty": "plain"},
                                     {"l2": 0.1, "damping": 0.2, "output": "pairwise"},
                                     {"l2": 0.1, "negative_curvature": "max", "cross": True}])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_compiled_step_is_the_literal_step(dtype, options):
    """One input is always 0, so that its weights have no curvature."""
    rng, nets = np.random.default_rng(0), [so.mlp([30, 40, 3], rng=1, dtype=dtype) for _ in "ab"]
    one, other = (so.ResidualPartitioning(net, so.SoftmaxCrossEntropy(), learning_rate=0.7,
                                          **options) for net in nets)
    accuracy = 1e-10 if dtype == "float64" else 2e-4
    for _ in range(3):
        x, y = rng.normal(size=(8, 30)).astype(dtype), rng.integers(0, 3, 8)
        x[:, 5] = 0
        info = one.step(x, y)
        with so.literal():
            expected = other.step(x, y)
        np.testing.assert_allclose(*(net.theta for net in nets), rtol=accuracy, atol=accuracy)
        assert info == pytest.approx(expected, rel=accuracy, abs=accuracy)
        assert (info["idle_parameters"] == 0) == ("damping" in options)
        assert all(type(value) in (int, float) for value in expected.values())
        nets[1].theta = nets[0].theta
