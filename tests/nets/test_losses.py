"""Losses against 60-digit arithmetic, at extreme outputs, and their probabilistic side."""

import decimal
from decimal import Decimal

import itertools
import math
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from harness import derivations
import secondorder as so
from harness.cases import LOSSES, relative, targets
from secondorder.nets import DiagonalLoss, Loss

EPS = np.finfo(np.float64).eps


@pytest.fixture(params=sorted(LOSSES))
def loss(request):
    return LOSSES[request.param]()


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def draw(loss, rng, samples=12, outputs=4, scale=1.5):
    return rng.normal(size=(samples, outputs)) * scale, targets(loss, rng, samples, outputs)


def test_value_gradient_hessian(loss, rng):
    p, t = draw(loss, rng)
    value, gradient, hessian = derivations.loss_jet(loss, p, t)
    np.testing.assert_allclose(loss.value(p, t), value, rtol=1e-14)
    assert relative(loss.gradient(p, t), gradient) < 4e-15
    assert relative(loss.hessian(p, t), hessian) < 1e-14


def test_hessian_in_its_other_forms(loss, rng):
    """Products also with as many directions as samples, where a wrong axis has the right shape."""
    p, t = draw(loss, rng)
    _, _, hessian = derivations.loss_jet(loss, p, t)
    for v in rng.normal(size=p.shape), rng.normal(size=(len(p), *p.shape)):
        product = np.einsum("sij,...sj->...si", hessian, v)
        assert relative(loss.hessian_product(p, t, v), product) < 1e-14
    assert relative(loss.hessian_diagonal(p, t), np.array([np.diag(H) for H in hessian])) < 1e-14


@pytest.mark.parametrize("dtype, exact", [("float64", 1e-15), ("float32", 1e-6)])
def test_kernels_are_the_formulas_of_complex_networks(dtype, exact, rng):
    """Softmax cross-entropy by its loops and, for complex numbers, in NumPy; labels and weights."""
    loss, p = so.SoftmaxCrossEntropy(), (3 * rng.normal(size=(6, 5))).astype(dtype)
    v = rng.normal(size=(3, 6, 5)).astype(dtype)
    for t in (rng.integers(0, 5, 6), rng.random((6, 5)).astype(dtype)):
        for by_loop, plain in (
                (loss.value(p, t), loss.value(p.astype(complex), t)),
                (loss.gradient(p, t), loss.gradient(p.astype(complex), t)),
                (loss.hessian_product(p, t, v), loss.hessian_product(p.astype(complex), t, v)),
                (loss.hessian_diagonal(p, t), loss.hessian_diagonal(p.astype(complex), t))):
            assert by_loop.dtype == dtype and relative(by_loop, plain.real) < 4 * exact


def test_kernels_in_python():
    """As NUMBA_DISABLE_JIT=1 runs them, one row after the other."""
    code = """
import numpy as np
from secondorder.nets import SoftmaxCrossEntropy
rng, loss = np.random.default_rng(0), SoftmaxCrossEntropy()
p, t, v = rng.normal(size=(4, 3)), rng.random((4, 3)), rng.normal(size=(2, 4, 3))
for found in (loss.value(p, t), loss.gradient(p, t), loss.hessian_diagonal(p, t),
              loss.hessian_product(p, t, v)):
    print(*found.ravel().tolist())
"""
    printed = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              check=True, env=os.environ | {"NUMBA_DISABLE_JIT": disabled}).stdout
               for disabled in ("0", "1")]
    for compiled, python in zip(*(text.splitlines() for text in printed), strict=True):
        assert relative(*(np.array(line.split(), float) for line in (compiled, python))) < 1e-15


def test_one_output(loss, rng):
    p, t = draw(loss, rng, outputs=1)
    value, gradient, hessian = derivations.loss_jet(loss, p, t)
    # Tukey's subtracts from c^2/6
    np.testing.assert_allclose(loss.value(p, t), value, rtol=1e-14, atol=8 * EPS)
    np.testing.assert_allclose(loss.gradient(p, t), gradient, rtol=1e-13, atol=EPS)
    np.testing.assert_allclose(loss.hessian(p, t), hessian, rtol=1e-13, atol=EPS)


def test_complex_step(loss, rng):
    p, t = draw(loss, rng, samples=3)
    for i in range(p.shape[1]):
        moved = p + 1e-30j * np.eye(p.shape[1])[i]
        assert relative(loss.value(moved, t).imag / 1e-30, loss.gradient(p, t)[:, i]) < 1e-13
        assert relative(loss.gradient(moved, t).imag / 1e-30, loss.hessian(p, t)[:, i]) < 1e-13


def test_labels_are_one_hot_rows(rng):
    p, labels = rng.normal(size=(6, 4)), np.array([0, 3, 1, 1, 2, 0])
    for loss in (so.SoftmaxCrossEntropy(), so.BoundedCriterion()):
        one_hot = loss.prepare_target(labels, p.shape, np.float64)
        assert np.array_equal(one_hot, np.eye(4)[labels])
        for method in (loss.value, loss.gradient, loss.hessian, loss.hessian_diagonal):
            assert np.array_equal(method(p, labels), method(p, one_hot))
    for kind in (np.uint8, np.int16, np.int64):
        one_hot = so.SoftmaxCrossEntropy().prepare_target(labels.astype(kind), p.shape, np.float32)
        assert one_hot.dtype == np.float32 and np.array_equal(one_hot, np.eye(4)[labels])


def test_bounded_criterion_at_the_papers_settings():
    """delta = 5, epsilon = 0.2: at uniform outputs of C classes the criterion is 1 / (1 + exp(5
    (1/C - 0.2)))."""
    loss = so.BoundedCriterion()
    assert (loss.delta, loss.epsilon) == (5.0, 0.2)
    for classes in (2, 5, 10):
        value = loss.value(np.zeros((1, classes)), np.array([0]))[0]
        assert value == pytest.approx(1 / (1 + np.exp(5 * (1 / classes - 0.2))), rel=1e-15)


def test_tukey_is_flat_outside():
    loss, t = so.TukeyBiweight(c=2.0), np.zeros((1, 4))
    p = np.array([[2.0, -2.0, 5.0, -1e8]])
    np.testing.assert_allclose(loss.value(p, t), 4 * 4 / 6, rtol=1e-15)
    assert not loss.gradient(p, t).any()
    assert not loss.hessian(p, t).any()
    assert not loss.hessian_product(p, t, p).any()


# -- softmax far out ----------------------------------------------------------------

EXTREMES = np.array([[1000.0, 0, -1000], [-1000, 1000, 1000], [1e300, -1e300, 0], [40, 0, 0],
                     [0, 0, 0], [36.8, 0, -5]])


@pytest.mark.parametrize("label", [0, 1, 2])
def test_softmax_extremes(label):
    """Confident and right, confident and wrong: every entry is right to a few units, nothing
    overflows or warns."""
    loss, labels = so.SoftmaxCrossEntropy(), np.full(len(EXTREMES), label)
    with np.errstate(all="raise", under="ignore"):
        value, gradient, H = (f(EXTREMES, labels)
                              for f in (loss.value, loss.gradient, loss.hessian))
    for i, row in enumerate(EXTREMES):
        exact_value, exact_gradient, exact_H = softmax_closed_form(row, label)
        np.testing.assert_allclose(value[i], exact_value, rtol=1e-15,
                                   atol=EPS * np.max(np.abs(row)))
        np.testing.assert_allclose(gradient[i], exact_gradient, rtol=1e-13, atol=1e-300)
        np.testing.assert_allclose(H[i], exact_H, rtol=1e-13, atol=1e-300)
        diagonal = loss.hessian_diagonal(EXTREMES, labels)[i]
        np.testing.assert_allclose(diagonal, np.diag(exact_H), rtol=1e-13, atol=1e-300)


def softmax_closed_form(row, label):
    """Cross-entropy of one label, its gradient and Hessian, in 600 digits."""
    with decimal.localcontext() as context:
        context.prec = 600
        p = [Decimal(a) - Decimal(max(row)) for a in row]
        e = [a.exp() if a > -5000 else Decimal(0) for a in p]
        q = [a / sum(e) for a in e]
        gradient = [a - (i == label) for i, a in enumerate(q)]
        H = [[a * ((i == j) - b) for j, b in enumerate(q)] for i, a in enumerate(q)]
        return float(sum(e).ln() - p[label]), derivations.floats(gradient), derivations.floats(H)


@pytest.mark.parametrize("dtype, gap", [("float32", 18.0), ("float32", 30.0), ("float64", 38.0),
                                        ("float64", 60.0)])
def test_one_minus_q_does_not_cancel(dtype, gap):
    """Where the network is sure, 1 - q rounds to nothing; gradient, Hessian and products must
    not."""
    p, label = np.array([[gap, 0.5, -1.0]], dtype), np.array([0])
    _, gradient, H = softmax_closed_form(p[0].astype(float), 0)
    loss, eps = so.SoftmaxCrossEntropy(), np.finfo(dtype).eps
    assert 0 < np.abs(gradient).max() < eps
    np.testing.assert_allclose(loss.gradient(p, label)[0], gradient, rtol=8 * eps)
    np.testing.assert_allclose(loss.hessian(p, label)[0], H, rtol=8 * eps)
    np.testing.assert_allclose(loss.hessian_diagonal(p, label)[0], np.diag(H), rtol=8 * eps)
    for v in np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [2, -1, 3]], dtype):
        exact = H @ v.astype(float)
        product = loss.hessian_product(p, label, v[None])[0]
        np.testing.assert_allclose(product, exact, rtol=16 * eps, atol=16 * eps * np.max(np.abs(H)))
    np.testing.assert_allclose(loss.fisher(p)[0], H, rtol=16 * eps)


def test_a_sure_and_right_loss_keeps_its_value():
    """log(1 + e^-gap) is far below 1's rounding, whatever the level of the logits; the largest of
    them may stand anywhere, and twice."""
    loss = so.SoftmaxCrossEntropy()
    for level in (0.0, 1000.0, -1000.0):
        for gap, label in itertools.product((15.0, 30.0, 60.0), (0, 1)):
            p = np.full((1, 2), level)
            p[0, label] += gap
            value = loss.value(p, np.array([label]))[0]
            assert value == pytest.approx(math.log1p(math.exp(-gap)), rel=4 * EPS, abs=0)
            single = loss.value(p.astype(np.float32), np.array([label]))[0]
            assert single == pytest.approx(math.log1p(math.exp(-gap)), rel=5e-7, abs=0)
    twice = loss.value(np.array([[50.0, 0.0, 50.0]]), np.array([2]))[0]
    assert twice == pytest.approx(math.log(2), rel=4 * EPS)


@pytest.mark.parametrize("gap", [18.0, 30.0])
def test_bounded_criterion_where_the_network_is_sure(gap):
    p, label = np.array([[gap, 0.5, -1.0]], np.float32), np.array([0])
    loss, eps = so.BoundedCriterion(), np.finfo(np.float32).eps
    exact = derivations.loss_jet(loss, p.astype(float), np.array([[1.0, 0, 0]]))
    np.testing.assert_allclose(loss.gradient(p, label), exact[1], rtol=32 * eps)
    assert relative(loss.hessian(p, label), exact[2]) < 32 * eps


# -- models of the target ----------------------------------------------------------------


def test_fisher_of_softmax_is_the_expectation_over_labels(rng):
    loss, p = so.SoftmaxCrossEntropy(), rng.normal(size=(5, 4)) * 2
    expectation = np.zeros((5, 4, 4))
    for s in range(5):
        q = np.exp(p[s]) / np.exp(p[s]).sum()
        for label in range(4):
            score = loss.gradient(p[s:s + 1], np.array([label]))[0]
            expectation[s] += q[label] * np.outer(score, score)
    assert relative(loss.fisher(p), expectation) < 1e-14
    assert relative(loss.fisher(p), loss.hessian(p, np.zeros(5, int))) < 1e-14


def test_fisher_of_squared_error_is_the_identity(rng):
    assert np.array_equal(so.SquaredError().fisher(rng.normal(size=(2, 3))),
                          np.stack([np.eye(3)] * 2))


def test_sampled_labels_follow_the_softmax(rng):
    logits, n = np.array([1.0, -0.5, 0.3, -3.0]), 40000
    draws = so.SoftmaxCrossEntropy().sample_targets(np.tile(logits, (n, 1)), rng)
    assert draws.shape == (n, 4) and np.array_equal(draws.sum(axis=1),
                                                    np.ones(n)) and set(np.unique(draws)) == {0, 1}
    q = np.exp(logits) / np.exp(logits).sum()
    assert np.all(np.abs(draws.mean(axis=0) - q) < 4 * np.sqrt(q * (1 - q) / n))


def test_sampled_labels_where_one_class_is_certain(rng):
    p = np.array([[1000.0, -1000, 0], [-1000, 0, 1000], [0, 1000, -1000]])
    assert np.array_equal(so.SoftmaxCrossEntropy().sample_targets(p, rng), np.eye(3)[[0, 2, 1]])


def test_sampled_targets_of_squared_error_are_gaussian(rng):
    p = np.tile(np.array([3.0, -1.0]), (40000, 1))
    draws = so.SquaredError().sample_targets(p, rng)
    assert np.all(np.abs((draws - p).mean(axis=0)) < 4 / 200)
    assert np.all(np.abs((draws - p).var(axis=0) - 1) < 4 * np.sqrt(2) / 200)


def test_losses_without_a_model_say_so():
    for loss in (so.BoundedCriterion(), so.TukeyBiweight()):
        for call in (loss.fisher, lambda p: loss.sample_targets(p, np.random.default_rng(0))):
            with pytest.raises(TypeError, match=f"{type(loss).__name__}.*empirical"):
                call(np.zeros((2, 3)))


# -- a user's own loss ----------------------------------------------------------------


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


@pytest.mark.parametrize("base, method", [(Loss, "value"), (Loss, "gradient"), (Loss, "hessian"),
                                          (DiagonalLoss, "hessian_diagonal")])
def test_the_base_class_names_what_is_missing(base, method):
    mine = type("Mine", (base,), {})()
    with pytest.raises(TypeError, match=rf"Mine does not define {method}\("):
        getattr(mine, method)(np.zeros((1, 2)), np.zeros((1, 2)))


def test_tukey_at_both_ends():
    """Small residuals keep their relative accuracy, outliers whose squares overflow are flat and
    not NaN."""
    loss = so.TukeyBiweight()
    for dtype, small, huge in ((np.float32, 1e-4, 1e25), (np.float64, 1e-9, 1e250)):
        p = np.array([[small], [huge], [-huge]], dtype)
        target = np.zeros_like(p)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            value, hessian = loss.value(p, target), loss.hessian_diagonal(p, target)
            gradient = loss.gradient(p, target)
        assert np.isclose(value[0], small**2 / 2, rtol=10 * np.finfo(dtype).eps)
        np.testing.assert_allclose(value[1:], loss.c**2 / 6, rtol=10 * np.finfo(dtype).eps)
        assert (hessian[1:] == 0).all() and (gradient[1:] == 0).all() and hessian[0, 0] == 1


@pytest.mark.parametrize("make", [lambda: so.BoundedCriterion(delta=1e300),
                                  lambda: so.TukeyBiweight(c=1e200)])
def test_numbers_whose_squares_overflow_are_refused(make):
    with pytest.raises(ValueError, match=r"must be at most 1e\+100, got 1e\+[23]00"):
        make()
