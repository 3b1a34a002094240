"""Losses against 60-digit arithmetic, far out, at their kinks, and as models of their targets."""

import decimal
import math
from decimal import Decimal

import numpy as np
import pytest

import secondorder as so
from harness import cases, derivations
from harness.cases import relative
from secondorder.nets import DiagonalLoss, Loss

EPS = np.finfo(np.float64).eps
LIMIT = so.PoissonNLL.limit
LOSSES = cases.LOSSES | {
    "binary": so.BinaryCrossEntropy, "binary-weighted": lambda: so.BinaryCrossEntropy(2.5),
    "huber": so.Huber, "huber-wide": lambda: so.Huber(2.5), "poisson": so.PoissonNLL}


@pytest.fixture(params=sorted(LOSSES))
def loss(request):
    return LOSSES[request.param]()


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def draw(loss, rng, samples=12, outputs=4, scale=1.5):
    t = cases.targets(loss, rng, samples, outputs)
    t = np.abs(t) if isinstance(loss, so.PoissonNLL) else t
    t = t % 1 if isinstance(loss, so.BinaryCrossEntropy) else t
    return rng.normal(size=(samples, outputs)) * scale, t


@pytest.mark.parametrize("outputs, scale", [(4, 1.5), (1, 1.5), (4, 8.0)])
def test_value_gradient_hessian_in_all_forms(loss, outputs, scale, rng):
    """Products also with as many directions as samples, where a wrong axis has the right shape."""
    p, t = draw(loss, rng, outputs=outputs, scale=scale)
    value, gradient, hessian = derivations.loss_jet(loss, p, t)
    np.testing.assert_allclose(loss.value(p, t), value, rtol=1e-13, atol=8 * EPS)
    np.testing.assert_allclose(loss.gradient(p, t), gradient, rtol=1e-12, atol=4 * EPS)
    np.testing.assert_allclose(loss.hessian(p, t), hessian, rtol=1e-12, atol=8 * EPS)
    diagonal = np.einsum("sii->si", hessian)
    np.testing.assert_allclose(loss.hessian_diagonal(p, t), diagonal, rtol=1e-12, atol=8 * EPS)
    for v in rng.normal(size=p.shape), rng.normal(size=(len(p), *p.shape)):
        product = np.einsum("sij,...sj->...si", hessian, v)
        np.testing.assert_allclose(loss.hessian_product(p, t, v), product, rtol=1e-12,
                                   atol=20 * EPS * max(1, np.abs(hessian).max()))


def test_complex_step(loss, rng):
    p, t = draw(loss, rng, samples=3)
    for i in range(p.shape[1]):
        moved = p + 1e-30j * np.eye(p.shape[1])[i]
        assert relative(loss.value(moved, t).imag / 1e-30, loss.gradient(p, t)[:, i]) < 1e-13
        assert relative(loss.gradient(moved, t).imag / 1e-30, loss.hessian(p, t)[:, i]) < 1e-13
    found = loss.hessian_product(p.astype(complex), t, p), loss.hessian_diagonal(p + 0j, t)
    assert relative(found[0], loss.hessian_product(p, t, p) + 0j) < 1e-14
    assert relative(found[1], loss.hessian_diagonal(p, t) + 0j) < 1e-14


def test_float32_is_kept_and_far_outputs_are_finite(loss, rng):
    p, t = draw(loss, rng)
    for far in (p, 1000 * p):
        single, known = far.astype(np.float32), t.astype(np.float32)
        for name in ("value", "gradient", "hessian", "hessian_diagonal"):
            found = getattr(loss, name)(single, known)
            assert found.dtype == np.float32 and np.isfinite(found).all()
            assert relative(found, getattr(loss, name)(single.astype(float), known)) < 1e-4


def test_the_checker_finds_nothing(loss):
    assert so.verify.loss(loss), str(so.verify.loss(loss))


def test_labels_are_one_hot_rows(rng):
    p, labels = rng.normal(size=(6, 4)), np.array([0, 3, 1, 1, 2, 0])
    for loss in (so.SoftmaxCrossEntropy(), so.BoundedCriterion()):
        for kind in (np.uint8, np.int64):
            one_hot = loss.prepare_target(labels.astype(kind), p.shape, np.float64)
            assert np.array_equal(one_hot, np.eye(4)[labels])
        for method in (loss.value, loss.gradient, loss.hessian, loss.hessian_diagonal):
            assert np.array_equal(method(p, labels), method(p, one_hot))


def test_bounded_criterion_at_the_papers_settings():
    """delta = 5, epsilon = 0.2: at uniform outputs of C classes the criterion is 1 / (1 + exp(5
    (1/C - 0.2)))."""
    for classes in (2, 5, 10):
        value = so.BoundedCriterion().value(np.zeros((1, classes)), np.array([0]))[0]
        assert value == pytest.approx(1 / (1 + np.exp(5 * (1 / classes - 0.2))), rel=1e-15)


# -- where the network is sure ---------------------------------------------------------------------

EXTREMES = np.array([[1000.0, 0, -1000], [-1000, 1000, 1000], [1e300, -1e300, 0], [40, 0, 0],
                     [0, 0, 0], [36.8, 0, -5]])


def softmax_closed_form(row, label):
    """Cross-entropy of one label, its gradient and Hessian, in 600 digits."""
    with decimal.localcontext() as context:
        context.prec = 600
        p = [Decimal(float(a)) - Decimal(float(max(row))) for a in row]
        e = [a.exp() if a > -5000 else Decimal(0) for a in p]
        q = [a / sum(e) for a in e]
        gradient = [a - (i == label) for i, a in enumerate(q)]
        H = [[a * ((i == j) - b) for j, b in enumerate(q)] for i, a in enumerate(q)]
        return float(sum(e).ln() - p[label]), derivations.floats(gradient), derivations.floats(H)


@pytest.mark.parametrize("label", [0, 1, 2])
def test_softmax_extremes(label):
    """Confident and right, confident and wrong: every entry is right to a few units."""
    loss, labels = so.SoftmaxCrossEntropy(), np.full(len(EXTREMES), label)
    with np.errstate(all="raise", under="ignore"):
        found = [f(EXTREMES, labels) for f in (loss.value, loss.gradient, loss.hessian)]
    for i, row in enumerate(EXTREMES):
        value, gradient, H = softmax_closed_form(row, label)
        np.testing.assert_allclose(found[0][i], value, rtol=1e-15, atol=EPS * np.max(np.abs(row)))
        np.testing.assert_allclose(found[1][i], gradient, rtol=1e-13, atol=1e-300)
        np.testing.assert_allclose(found[2][i], H, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("dtype, gap", [("float32", 18.0), ("float32", 30.0), ("float64", 38.0),
                                        ("float64", 60.0)])
def test_one_minus_q_does_not_cancel(dtype, gap):
    """Where the network is sure, 1 - q rounds to nothing; value, gradient, Hessian and products
    must not."""
    p, label = np.array([[gap, 0.5, -1.0]], dtype), np.array([0])
    value, gradient, H = softmax_closed_form(p[0], 0)
    loss, eps = so.SoftmaxCrossEntropy(), np.finfo(dtype).eps
    assert 0 < np.abs(gradient).max() < eps
    np.testing.assert_allclose(loss.value(p, label), value, rtol=8 * eps)
    np.testing.assert_allclose(loss.gradient(p, label)[0], gradient, rtol=8 * eps)
    np.testing.assert_allclose(loss.hessian(p, label)[0], H, rtol=8 * eps)
    np.testing.assert_allclose(loss.hessian_diagonal(p, label)[0], np.diag(H), rtol=8 * eps)
    for v in np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [2, -1, 3]], dtype):
        product = loss.hessian_product(p, label, v[None])[0]
        np.testing.assert_allclose(product, H @ v.astype(float), rtol=16 * eps,
                                   atol=16 * eps * np.max(np.abs(H)))
    np.testing.assert_allclose(loss.fisher(p)[0], H, rtol=16 * eps)
    if dtype == "float32":  # the differences of 60 digits that are left at 60 are few
        loss = so.BoundedCriterion()
        exact = derivations.loss_jet(loss, p.astype(float), np.array([[1.0, 0, 0]]))
        np.testing.assert_allclose(loss.gradient(p, label), exact[1], rtol=32 * eps)


def test_binary_cross_entropy_where_the_network_is_sure():
    """The loss is exp(-p), not 0 or rounding."""
    loss, p, t = so.BinaryCrossEntropy(), np.array([[40.0], [-40.0]]), np.array([[1.0], [0.0]])
    np.testing.assert_allclose(loss.value(p, t), math.exp(-40), rtol=1e-14)
    np.testing.assert_allclose(loss.gradient(p, t), [[-math.exp(-40)], [math.exp(-40)]], rtol=1e-14)
    np.testing.assert_allclose(loss.hessian_diagonal(p, t), math.exp(-40), rtol=1e-14)


def test_weights_of_positive_targets_by_output():
    weights = np.array([0.5, 2.0])
    p, t = np.random.default_rng(0).normal(size=(5, 2)), np.tile([1.0, 0.25], (5, 1))
    found = so.BinaryCrossEntropy(pos_weight=weights).gradient(p, t)
    for c in range(2):
        alone = so.BinaryCrossEntropy(pos_weight=float(weights[c]))
        assert np.array_equal(found[:, c : c + 1], alone.gradient(p[:, c : c + 1], t[:, c : c + 1]))


def test_kinks():
    """Huber's curvature jumps at delta, Tukey's biweight is flat outside c, Poisson's loss goes on
    as a line."""
    loss, p = so.Huber(delta=0.5), np.array([[0.5], [-0.5], [np.nextafter(0.5, 0)]])
    np.testing.assert_allclose(loss.value(p, 0 * p), 0.125, rtol=1e-14)
    assert loss.hessian_diagonal(p, 0 * p).ravel().tolist() == [0, 0, 1]
    loss, p = so.TukeyBiweight(c=2.0), np.array([[2.0, -2.0, 5.0, -1e8]])
    np.testing.assert_allclose(loss.value(p, 0 * p), 4 * 4 / 6, rtol=1e-15)
    assert not loss.gradient(p, 0 * p).any() and not loss.hessian(p, 0 * p).any()
    loss, t, slope = so.PoissonNLL(), np.array([[1e17]]), math.exp(LIMIT) - 1e17
    at, after = (loss.value(np.array([[LIMIT + d]]), t)[0] for d in (0.0, 5.0))
    assert at == pytest.approx(math.exp(LIMIT) - 1e17 * LIMIT, rel=1e-14)
    assert after - at == pytest.approx(5 * slope, rel=1e-13)
    for d, curvature in ((0.0, math.exp(LIMIT)), (1e-9, 0.0), (5.0, 0.0)):
        p = np.array([[LIMIT + d]])
        assert loss.gradient(p, t)[0, 0] == pytest.approx(slope, rel=1e-14)
        assert loss.hessian_diagonal(p, t)[0, 0] == pytest.approx(curvature, rel=1e-14)


# -- models of the target --------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [so.SquaredError(), so.SoftmaxCrossEntropy(),
                                  so.BinaryCrossEntropy(), so.PoissonNLL()], ids=repr)
def test_a_model_draws_targets_and_its_fisher_is_the_mean_of_their_scores(loss):
    """All four are in their natural parameters: Fisher is the Hessian, whatever the target."""
    p, n, rng = np.array([[0.5, -0.4, 0.1]]), 40_000, np.random.default_rng(0)
    rows = np.tile(p, (n, 1))
    drawn = loss.sample_targets(rows, rng)
    assert np.array_equal(loss.prepare_target(drawn, rows.shape, rows.dtype), drawn)
    score = loss.gradient(rows, drawn)
    assert np.abs(score.mean(axis=0)).max() < 4 * score.std() / np.sqrt(n)
    assert relative(score.T @ score / n, loss.fisher(p)[0]) < 0.05
    assert relative(loss.fisher(p), loss.hessian(p, drawn[:1])) < 1e-14
    if isinstance(loss, so.SoftmaxCrossEntropy):
        sure = np.array([[1000.0, -1000, 0], [-1000, 0, 1000]])
        assert np.array_equal(loss.sample_targets(sure, rng), np.eye(3)[[0, 2]])


def test_losses_without_a_model_say_so():
    for loss in (so.BoundedCriterion(), so.TukeyBiweight(), so.BinaryCrossEntropy(2.0)):
        for call in (loss.fisher, lambda p: loss.sample_targets(p, np.random.default_rng(0))):
            with pytest.raises(TypeError, match=type(loss).__name__):
                call(np.zeros((2, 3)))


# -- a user's own loss, and doors ------------------------------------------------------------------


def test_hessian_forms_follow_from_the_hessian(rng):
    class Quartic(Loss):
        def hessian(self, p, target):
            return 3 * p[:, :, None] * p[:, None, :]

    p, v = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    product = 3 * p * np.sum(p * v, axis=1, keepdims=True)
    np.testing.assert_allclose(Quartic().hessian_product(p, p, v), product, rtol=1e-13)
    diagonal = Quartic().hessian_diagonal(p, p)
    np.testing.assert_allclose(diagonal, 3 * p**2, rtol=1e-15)
    diagonal[...] = 0  # a copy, not a read-only view
    for base, method in ((Loss, "value"), (Loss, "gradient"), (Loss, "hessian"),
                         (DiagonalLoss, "hessian_diagonal")):
        with pytest.raises(TypeError, match=f"Mine does not define {method}"):
            getattr(type("Mine", (base,), {})(), method)(p, p)


@pytest.mark.parametrize("loss, y, error, words", [
    (so.BinaryCrossEntropy(), [[0.5], [1.1]], ValueError, "from 0 to 1, got 1.1 in sample 1"),
    (so.BinaryCrossEntropy(), [0, 1], ValueError, "a single output takes"),
    (so.BinaryCrossEntropy([1.0, 2.0]), [[0], [1]], ValueError, "pos_weight"),
    (so.PoissonNLL(), [[3], [-1]], ValueError, "got -1 in sample 1"),
    (so.Huber(), [["a"], ["b"]], TypeError, "targets"), (so.Huber(), [[np.nan], [1]], ValueError,
                                                         "NaN")])
def test_bad_targets(loss, y, error, words):
    with pytest.raises(error, match=words):
        so.exact.gradient(so.mlp([2, 1], rng=0), loss, np.ones((2, 2)), y)


@pytest.mark.parametrize("made, name, value, bad", [
    (so.BinaryCrossEntropy, "pos_weight", np.array([2.0, 3.0]), [1.0, -1]),
    (so.Huber, "delta", 0.3, -1), (so.TukeyBiweight, "c", 0.7, 0),
    (so.BoundedCriterion, "delta", 2.0, -1), (so.BoundedCriterion, "epsilon", 0.4, "much")])
def test_a_number_set_is_checked_and_used(made, name, value, bad):
    loss, p = made(), np.array([[0.5, -1.0], [2.0, 0.1]])
    setattr(loss, name, value)
    for door in (lambda: setattr(loss, name, bad), lambda: made(**{name: bad})):
        with pytest.raises((TypeError, ValueError), match=name):
            door()
    assert np.array_equal(loss.gradient(p, np.eye(2)), made(**{name: value}).gradient(p, np.eye(2)))
