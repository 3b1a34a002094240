"""Binary cross-entropy, Huber's and Poisson's loss: decimals, closed forms, far outputs."""

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative

LIMIT = so.PoissonNLL.limit
ONE, TWO = Decimal(1), Decimal(2)
getcontext().prec = 60


def bce(p, t, w=1.0):
    log_q = -(ONE + (-p).exp()).ln()
    log_rest = -(ONE + p.exp()).ln()
    return -Decimal(w) * t * log_q - (ONE - t) * log_rest


def huber(p, t, delta=1.0):
    r, delta = abs(p - t), Decimal(delta)
    return r * r / TWO if r <= delta else delta * (r - delta / TWO)


def poisson(p, t):
    return p.exp() - t * p


def derivatives(f, p, *rest, h=Decimal("1e-12")):
    """Value and two derivatives by central differences of 60 digits: right to 1e-23."""
    low, here, high = (f(p + k * h, *rest) for k in (-1, 0, 1))
    return here, (high - low) / (2 * h), (high - 2 * here + low) / (h * h)


LOSSES = {
    "bce": (so.BinaryCrossEntropy, {}, bce, (0, 1)),
    "bce-weighted": (so.BinaryCrossEntropy, {"pos_weight": 2.5}, lambda p, t: bce(p, t, 2.5),
                     (0, 1)),
    "huber": (so.Huber, {}, huber, (-3, 3)),
    "huber-wide": (so.Huber, {"delta": 2.5}, lambda p, t: huber(p, t, 2.5), (-3, 3)),
    "poisson": (so.PoissonNLL, {}, poisson, (0, 9)),
}


def make(name):
    cls, options, formula, interval = LOSSES[name]
    return cls(**options), formula, interval


def draw(name, samples=40, scale=3.0, seed=0):
    loss, formula, (low, high) = make(name)
    rng = np.random.default_rng(seed)
    target = rng.uniform(low, high, size=(samples, 3))
    target[::3] = np.round(target[::3])
    return loss, formula, scale * rng.normal(size=(samples, 3)), target


@pytest.mark.parametrize("scale", [0.5, 3.0, 12.0])
@pytest.mark.parametrize("name", LOSSES)
def test_against_decimals(name, scale):
    loss, formula, p, t = draw(name, scale=scale)
    expected = np.array([[[float(d) for d in derivatives(formula, Decimal(a), Decimal(b))]
                          for a, b in zip(*rows)] for rows in zip(p.tolist(), t.tolist())])
    if name == "huber-wide":
        assert (np.abs(np.abs(p - t) - 2.5) > 1e-9).all()
    assert relative(loss.value(p, t), expected[:, :, 0].sum(axis=1)) < 1e-14
    np.testing.assert_allclose(loss.gradient(p, t), expected[:, :, 1], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(loss.hessian_diagonal(p, t), expected[:, :, 2], rtol=1e-12,
                               atol=1e-12)
    assert relative(loss.hessian(p, t)[:, 1, 1], loss.hessian_diagonal(p, t)[:, 1]) < 1e-15
    v = np.random.default_rng(9).normal(size=p.shape)
    assert relative(loss.hessian_product(p, t, v), expected[:, :, 2] * v) < 1e-12


@pytest.mark.parametrize("loss", [
    so.BinaryCrossEntropy(), so.BinaryCrossEntropy(pos_weight=2.5),
    so.BinaryCrossEntropy(pos_weight=np.array([0.5, 1.0, 2.0, 3.0])), so.Huber(), so.Huber(2.5),
    so.PoissonNLL()], ids=repr)
def test_the_checker_finds_nothing(loss):
    report = so.verify.loss(loss)
    assert report, report


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", LOSSES)
def test_outputs_of_any_size(name, dtype):
    """Finite, of the right sign, without a warning, at 1e308 and at the largest number."""
    loss, _, (low, high) = make(name)
    most = float(np.finfo(dtype).max)
    with np.errstate(all="raise", under="ignore"):
        for size in (50.0, 1000.0, 1e38, min(1e308, most), most):
            for sign in (1, -1):
                for target in (low, high, (low + high) / 2):
                    p = np.full((2, 3), sign * size, dtype)
                    t = np.full((2, 3), target, dtype)
                    value, gradient = loss.value(p, t), loss.gradient(p, t)
                    curvature = loss.hessian_diagonal(p, t)
                    product = loss.hessian_product(p, t, np.ones_like(p))
                    for found in (value, gradient, curvature, product):
                        assert np.isfinite(found).all() and found.dtype == dtype
                    assert (gradient * sign > -1e-20).all() and (curvature >= 0).all()
    if name == "bce":
        far, one = np.array([[1e30]], dtype), np.ones((1, 1), dtype)
        assert loss.value(far, one) == 0 and loss.value(-far, one) == far
        assert loss.gradient(-far, one) == -1 and loss.gradient(far, one) == 0


def test_training_at_the_edge():
    """A logit of 1e308 in a network: loss, gradient and products are numbers."""
    net = so.mlp([1, 1], bias=False, init=1.0, rng=0)
    net.theta = [1.0]
    x = np.array([[1e308], [-1e308]])
    evaluation = net.evaluate(so.BinaryCrossEntropy(), x[:1], np.zeros((1, 1)))
    assert evaluation.loss == 1e308 and np.isfinite(evaluation.gradient).all()
    assert so.exact.hessian(net, so.BinaryCrossEntropy(), x[:1] * 1e-200, np.ones((1, 1))) == 0


def test_binary_cross_entropy_keeps_small_numbers():
    """Where the network is sure and right the loss is exp(-p), not 0 or rounding."""
    loss, p = so.BinaryCrossEntropy(), np.array([[40.0], [-40.0]])
    t = np.array([[1.0], [0.0]])
    np.testing.assert_allclose(loss.value(p, t), math.exp(-40), rtol=1e-14)
    np.testing.assert_allclose(loss.gradient(p, t), [[-math.exp(-40)], [math.exp(-40)]], rtol=1e-14)
    np.testing.assert_allclose(loss.hessian_diagonal(p, t), math.exp(-40), rtol=1e-14)


def test_binary_cross_entropy_is_softmax_of_two():
    """With logits (p, 0) for the classes 1 and 0."""
    rng = np.random.default_rng(0)
    p, label = rng.normal(size=(8, 1)), rng.integers(0, 2, 8)
    two = np.hstack([np.zeros_like(p), p])
    binary, softmax = so.BinaryCrossEntropy(), so.SoftmaxCrossEntropy()
    t = label[:, None].astype(float)
    np.testing.assert_allclose(binary.value(p, t), softmax.value(two, label), rtol=1e-14)
    np.testing.assert_allclose(binary.gradient(p, t)[:, 0], softmax.gradient(two, label)[:, 1],
                               rtol=1e-13)
    np.testing.assert_allclose(binary.hessian(p, t)[:, 0, 0], softmax.hessian(two, label)[:, 1, 1],
                               rtol=1e-13)


def test_weights_of_positive_targets_by_output():
    weights = np.array([0.5, 2.0])
    p, t = np.random.default_rng(0).normal(size=(5, 2)), np.tile([1.0, 0.25], (5, 1))
    found = so.BinaryCrossEntropy(pos_weight=weights).gradient(p, t)
    for c in range(2):
        alone = so.BinaryCrossEntropy(pos_weight=float(weights[c]))
        assert np.array_equal(found[:, c : c + 1], alone.gradient(p[:, c : c + 1], t[:, c : c + 1]))


def test_huber_at_its_kink():
    """The value and the gradient meet; the second derivative is 0 there, and 1 just inside."""
    loss = so.Huber(delta=0.5)
    p = np.array([[0.5], [-0.5], [np.nextafter(0.5, 0)], [np.nextafter(0.5, 1)]])
    t = np.zeros_like(p)
    np.testing.assert_allclose(loss.value(p, t), 0.125, rtol=1e-14)
    np.testing.assert_allclose(np.abs(loss.gradient(p, t)), 0.5, rtol=1e-14)
    assert loss.hessian_diagonal(p, t).ravel().tolist() == [0, 0, 1, 0]


def test_huber_is_squared_error_for_small_residuals():
    p, t = np.random.default_rng(0).normal(size=(2, 5, 3))
    wide, squared = so.Huber(delta=100.0), so.SquaredError()
    np.testing.assert_allclose(wide.value(p, t), squared.value(p, t), rtol=1e-14)
    assert np.array_equal(wide.gradient(p, t), squared.gradient(p, t))


def test_poisson_goes_on_as_a_line():
    """Value and gradient meet at the limit; beyond it the slope stays."""
    loss, t = so.PoissonNLL(), np.array([[1e17]])
    at, after = (loss.value(np.array([[LIMIT + d]]), t)[0] for d in (0.0, 5.0))
    slope = math.exp(LIMIT) - 1e17
    assert at == pytest.approx(math.exp(LIMIT) - 1e17 * LIMIT, rel=1e-14)
    assert after - at == pytest.approx(5 * slope, rel=1e-13)
    for d, curvature in ((0.0, math.exp(LIMIT)), (1e-9, 0.0), (5.0, 0.0)):
        p = np.array([[LIMIT + d]])
        assert loss.gradient(p, t)[0, 0] == pytest.approx(slope, rel=1e-14)
        assert loss.hessian_diagonal(p, t)[0, 0] == pytest.approx(curvature, rel=1e-14)


@pytest.mark.everyday(1)
@pytest.mark.parametrize("loss", [so.BinaryCrossEntropy(), so.PoissonNLL()], ids=repr)
def test_fisher_is_gauss_newton_for_natural_parameters(loss):
    rng = np.random.default_rng(1)
    net, x = so.mlp([3, 4, 2], rng=0), rng.normal(size=(7, 3))
    y = rng.integers(0, 2, (7, 2))
    G = so.exact.gauss_newton(net, loss, x, y)
    assert relative(so.exact.fisher(net, loss, x, y), G) < 1e-14
    sampled = so.exact.fisher(net, loss, x, y, kind="sampled", rng=0, draws=4000)
    assert relative(sampled, G) < 0.1


@pytest.mark.parametrize("name", LOSSES)
def test_a_network_with_it(name):
    """The Hessian of a network by three routes, and the bound, which takes a diagonal loss."""
    loss, _, _, t = draw(name, samples=6)
    net = so.mlp([2, 4, 3], activation="sigmoid", rng=0)
    x = np.random.default_rng(3).normal(size=(6, 2))
    H = so.exact.hessian(net, loss, x, t)
    assert relative(H, so.exact.hessian(net, loss, x, t, method="polarisation")) < 1e-11
    gradient = so.exact.finite_differences.gradient_of_objective(net, loss, x, t)
    assert relative(H, so.exact.finite_differences.central(gradient, net.theta).value) < 1e-6
    bound = so.residual_partitioning.bound(net, loss, x, t)
    assert so.ResidualPartitioning(net, loss).output == "diagonal"
    assert (bound.curvature >= 0).all()
    info = [so.Adam(net, loss, 0.05).step(x, t)["loss"] for _ in range(40)]
    assert info[-1] < info[0]


@pytest.mark.parametrize("make, error, words", [
    (lambda: so.BinaryCrossEntropy(pos_weight=[1.0, -1]), ValueError, "pos_weight must be above 0"),
    (lambda: so.BinaryCrossEntropy(pos_weight="2"), TypeError, "pos_weight"),
    (lambda: so.BinaryCrossEntropy(pos_weight=[[1.0]]), ValueError, "pos_weight must be a number"),
    (lambda: so.Huber(delta=0), ValueError, "delta must be above 0")])
def test_bad_options(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("loss, y, error, words", [
    (so.BinaryCrossEntropy(), [[0.5], [1.1]], ValueError, "from 0 to 1, got 1.1 in sample 1"),
    (so.BinaryCrossEntropy(), [0, 1], ValueError, r"a single output takes y\[:, None\]"),
    (so.BinaryCrossEntropy([1.0, 2.0]), [[0], [1]], ValueError, "pos_weight has 2 entries, exp"),
    (so.BinaryCrossEntropy(), [["a"], ["b"]], TypeError, "targets must be real numbers"),
    (so.PoissonNLL(), [[3], [-1]], ValueError, "from 0 to 2.35e.17, got -1 in sample 1"),
    (so.Huber(), [[np.nan], [1]], ValueError, "NaN")])
def test_bad_targets(loss, y, error, words):
    with pytest.raises(error, match=words):
        so.exact.gradient(so.mlp([2, 1], rng=0), loss, np.ones((2, 2)), y)


def test_what_methods_may_rely_on():
    """Convex sums over outputs; draws far out are targets that the loss takes."""
    for loss in (so.BinaryCrossEntropy(), so.Huber(), so.PoissonNLL()):
        assert loss.convex and loss.diagonal_hessian
    p, loss = np.full((3, 2), 60.0), so.PoissonNLL()
    drawn = loss.sample_targets(p, 0)
    assert np.array_equal(loss.prepare_target(drawn, p.shape, p.dtype), drawn)
    assert (drawn > 0.9 * math.exp(LIMIT)).all()


@pytest.mark.parametrize("made, name, value, bad", [
    (so.BinaryCrossEntropy, "pos_weight", np.array([2.0, 3.0]), np.nan),
    (so.Huber, "delta", 0.3, -1), (so.TukeyBiweight, "c", 0.7, 0),
    (so.BoundedCriterion, "delta", 2.0, -1), (so.BoundedCriterion, "epsilon", 0.4, "much")])
def test_a_number_set_is_checked_and_used(made, name, value, bad):
    loss, p = made(), np.array([[0.5, -1.0], [2.0, 0.1]])
    setattr(loss, name, value)
    with pytest.raises((TypeError, ValueError), match=f"{name} must be"):
        setattr(loss, name, bad)
    assert np.array_equal(loss.gradient(p, np.eye(2)), made(**{name: value}).gradient(p, np.eye(2)))
