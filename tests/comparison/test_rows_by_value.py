"""The rows of `so.compare` against what stands in their names, entry by entry and byte by byte, and
where numbers are no numbers."""

import numpy as np
import pytest
from scipy import linalg

import secondorder as so

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(30, 4)), RNG.integers(0, 3, 30)
SIZES = [4, 3, 2, 3]


@pytest.fixture(scope="module")
def found():
    return so.compare(so.mlp(SIZES, rng=0), so.SoftmaxCrossEntropy(), X, Y)


def row(found, name):
    return next(one for one in found.rows if one["name"] == name)


def test_the_absolute_hessian_is_the_root_of_its_square(found):
    """|H| = (H H)^(1/2): of a negative eigenvalue the size, not 0."""
    H, M = found.matrices["Hessian"], found.matrices["|H|"]
    assert np.linalg.eigvalsh(H)[0] < -1e-3  # a case that tells
    np.testing.assert_allclose(M @ M, H @ H, atol=1e-13)
    assert np.linalg.eigvalsh(M)[0] >= -1e-12
    np.testing.assert_allclose(M, linalg.polar(H)[1], atol=1e-12)


def test_other_rows_are_what_their_names_say(found):
    net, loss = so.mlp(SIZES, rng=0), so.SoftmaxCrossEntropy()
    J = so.exact.jacobian(net, X)  # (S, C, P)
    np.testing.assert_allclose(found.matrices["J'J / S"], np.einsum("scp,scq->pq", J, J) / len(X),
                               atol=1e-13)
    rows = so.exact.sample_gradients(net, loss, X, Y)
    np.testing.assert_allclose(found.matrices["Fisher, empirical"], rows.T @ rows / len(X),
                               atol=1e-13)
    p = np.exp(net(X)) / np.exp(net(X)).sum(axis=1, keepdims=True)
    of_loss = np.einsum("sc,cd->scd", p, np.eye(3)) - p[:, :, None] * p[:, None]
    for name in ("Gauss-Newton", "Fisher, exact"):
        np.testing.assert_allclose(
            found.matrices[name], np.einsum("scp,scd,sdq->pq", J, of_loss, J) / len(X), atol=1e-13)
    for name, cross in (("diagonal bound", False), ("diagonal bound, cross terms", True)):
        bound = so.residual_partitioning.bound(net, loss, X, Y, cross=cross).curvature
        np.testing.assert_array_equal(found.matrices[name], np.diag(bound))
    for name, curvature in (("PCH-1", "pch-1"), ("PCH-2", "pch-2"), ("KFRA", "gauss-newton"),
                            ("KFAC", "fisher-exact")):
        matrix = so.eacg.matrix(net, loss, X, Y, curvature=curvature)
        np.testing.assert_allclose(found.matrices[name], matrix, atol=1e-15)
    np.testing.assert_array_equal(found.matrices["identity"], np.eye(net.size))


def test_what_every_row_takes_to_store(found):
    """A dense matrix 8 P^2 bytes, a diagonal 8 P, Kronecker factors 8 (n^2 + (m + 1)^2) a layer;
    the low-rank factors are those of every sample.
    """
    P = so.mlp(SIZES, rng=0).size
    for name in ("Hessian", "Gauss-Newton", "J'J / S", "Fisher, exact", "Fisher, empirical", "|H|"):
        assert row(found, name)["bytes"] == 8 * P * P
    for name in ("diagonal bound", "diagonal bound, cross terms"):
        assert row(found, name)["bytes"] == 8 * P
    factors = sum(8 * (n * n + (m + 1)**2) for m, n in zip(SIZES, SIZES[1:]))
    for name in ("PCH-1", "PCH-2", "KFRA", "KFAC"):
        assert row(found, name)["bytes"] == factors
    assert row(found, "identity")["bytes"] == 0
    few = so.compare(so.mlp(SIZES, rng=0), so.SoftmaxCrossEntropy(), X[:10], Y[:10])
    one = so.compare(so.mlp(SIZES, rng=0), so.SoftmaxCrossEntropy(), X[:1], Y[:1])
    stored = row(one, "low-rank factors")["bytes"]
    assert stored > 0 and row(few, "low-rank factors")["bytes"] == 10 * stored
    assert row(found, "low-rank factors")["bytes"] == 30 * stored


def test_no_bias_and_a_fixed_layer_take_less():
    loss = so.SoftmaxCrossEntropy()
    plain = so.compare(so.mlp(SIZES, bias=False, rng=0), loss, X, Y)
    assert row(plain, "KFAC")["bytes"] == sum(8 * (n * n + m * m)
                                              for m, n in zip(SIZES, SIZES[1:]))
    fixed = so.Network([so.Linear(4, 3, trainable=False, rng=0), so.Activation("tanh"),
                        so.Linear(3, 3, rng=1)])
    half = so.compare(fixed, loss, X, Y)
    assert half.ok and half.matrices["KFAC"].shape == (12, 12)
    assert row(half, "KFAC")["bytes"] == 8 * (9 + 16)


def test_best_of_many_rates_and_the_change_at_rate_one(found):
    net, loss = so.mlp(SIZES, rng=0), so.SoftmaxCrossEntropy()
    start, theta = net.evaluate(loss, X, Y).loss, net.theta.copy()
    for name in ("Gauss-Newton", "KFAC", "identity"):
        one, drops = row(found, name), {}
        for rate in np.logspace(-3, 3, 61):
            net.theta = theta + rate * one["direction"]
            drops[rate] = start - net.evaluate(loss, X, Y).loss
        best = max(drops, key=drops.get)
        assert one["best_rate"] == pytest.approx(best) and one["best_decrease"] == pytest.approx(
            drops[best], rel=1e-9)
        np.testing.assert_allclose(one["along"], [-drop for drop in drops.values()], atol=1e-12)
        assert one["decrease"] == pytest.approx(-one["along"][30], rel=1e-12)


def test_blocks_and_diagonal_of_an_error_are_their_own():
    """A row that is right within the layers, and one that is right on the diagonal alone."""
    net, loss = so.mlp(SIZES, rng=0), so.SoftmaxCrossEntropy()
    H = so.exact.hessian(net, loss, X, Y)
    within = np.zeros_like(H)
    for a, b in ((0, 15), (15, 23), (23, 32)):
        within[a:b, a:b] = H[a:b, a:b]
    found = so.compare(net, loss, X, Y, extra={"blocks": within, "diagonal": np.diag(np.diag(H))})
    blocks, diagonal = row(found, "blocks"), row(found, "diagonal")
    assert blocks["block_error"] == diagonal["diagonal_error"] == blocks["diagonal_error"] == 0
    assert blocks["error"] == pytest.approx(np.linalg.norm(H - within) / np.linalg.norm(H))
    assert diagonal["error"] == pytest.approx(
        np.sqrt(1 - (np.diag(H)**2).sum() / (H**2).sum()))
    assert diagonal["block_error"] == pytest.approx(
        np.sqrt(1 - (np.diag(H)**2).sum() / (within**2).sum()))
    np.testing.assert_allclose(blocks["eigenvalues"], np.linalg.eigvalsh(within), atol=1e-13)


def test_the_bound_is_above_and_gauss_newton_is_not(found):
    """`above`: whether M - H is positive semidefinite, against the least eigenvalue of it."""
    H = found.matrices["Hessian"]
    seen = set()
    for one in found.rows:
        least = np.linalg.eigvalsh(found.matrices[one["name"]] - H)[0]
        if abs(least) > 1e-10:
            assert one["above"] == (least > 0), one["name"]
            seen.add(one["above"])
        values = np.linalg.eigvalsh(found.matrices[one["name"]])
        assert one["negative"] == (values < -1e-12).sum(), one["name"]
    assert False in seen
    assert row(found, "Hessian")["above"] and row(found, "|H|")["above"]


def test_an_error_on_nothing_is_no_number():
    """w2 w1 x at zero: the Hessian is c beside its diagonal, and 0 on it and within the layers."""
    net = so.mlp([1, 1, 1], activation="identity", bias=False, rng=0)
    net.theta = np.zeros(2)
    with np.errstate(invalid="ignore"):  # the gradient is zero, and with it every direction
        found = so.compare(net, so.SquaredError(), np.ones((2, 1)), np.full((2, 1), 3.0))
    np.testing.assert_allclose(found.matrices["Hessian"], [[0, -3], [-3, 0]], atol=1e-15)
    for one in found.rows:
        assert np.isnan(one["diagonal_error"]) and np.isnan(one["block_error"]), one["name"]
    assert row(found, "diagonal bound")["error"] == pytest.approx(1)


def test_a_rate_at_which_the_loss_overflows_is_never_the_best():
    """Eleven linear layers in float32: at a thousand times a step outputs are beyond its range."""
    net = so.mlp([2] * 12, activation="identity", init=1.0, rng=0).astype("float32")
    found = so.compare(net, so.SquaredError(), X[:, :2], X[:, 2:])
    infinite = [np.isinf(one["along"]) for one in found.rows]
    assert any(many[-1] for many in infinite) and not any(many[0] for many in infinite)
    for one in found.rows:
        assert not np.isnan(one["along"]).any() and (one["along"] > -np.inf).all()
        assert np.isfinite(one["best_decrease"])
        assert one["best_decrease"] == -one["along"].min()
