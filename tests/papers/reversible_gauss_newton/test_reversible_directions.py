"""Directions against dense linear algebra on the exact Jacobian."""

import warnings
from functools import partial

import numpy as np
import pytest

import secondorder as so
from harness.reversible_cases import batch, dense_right_inverse, jacobian, network, pieces
from secondorder.papers import reversible_gauss_newton as room
from secondorder.papers.reversible_gauss_newton import RankWarning, RevMLP
from secondorder.papers.reversible_gauss_newton.eq_01_07_gauss_newton import pinv_of_product
from secondorder.papers.reversible_gauss_newton.equations import cases

SQUARED, SOFTMAX = so.SquaredError(), so.SoftmaxCrossEntropy()
# the inverse of the equations, where a test names no other
direction = partial(room.direction, pseudo_inverse="exact")


def told(net, loss, x, y, **options):
    """The direction of the method, and what a step would report."""
    optimizer = so.GaussNewton(net, loss, **{"pseudo_inverse": "exact"} | options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        return optimizer.direction(net.evaluate(loss, x, y)), optimizer.details


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def close(found, expected, tolerance):
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


def limit(J):
    """100 eps times the condition number of J J^T."""
    return 100 * np.finfo(float).eps * np.linalg.cond(J @ J.T)


def partly_fixed(net, place=2, what="trained", value=False):
    """The same reversible network with W of one of its half-coupled layers fixed."""
    layers = [layer.copy() for layer in net.layers]
    getattr(layers[place], what).trainable = value
    fixed = object.__new__(type(net))
    so.Network.__init__(fixed, layers)
    vars(fixed).update({name: value for name, value in vars(net).items()
                        if name not in vars(fixed)})
    return fixed


SHAPES = {"small": (4, 2, 6, 3),
          "deep": (4, 5, 9, 4),
          "odd": (5, 3, 14, 4),
          "wide": (10, 2, 40, 6),
          "one block": (6, 1, 9, 4)}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("activation", ("tanh", "softplus", "relu"))
@pytest.mark.parametrize("bias", (False, True))
def test_right_inverse_is_the_average_of_dense_pseudo_inverses(shape, activation, bias, rng):
    d, blocks, bottleneck, samples = shape
    for _ in range(20):  # a relu may leave features that are not independent
        net = network(rng, d, blocks, bottleneck, activation=activation, bias=bias)
        x, y = batch(rng, net, samples)
        found, report = told(net, SQUARED, x, y)
        if report["rank"] == samples:
            break
    eps, J = (net(x) - y).ravel(), jacobian(net, x)
    expected = -dense_right_inverse(net, x) @ eps
    blockwise = max(limit(J[:, a.start:b.stop]) for a, b in pieces(net))
    close(found, expected, blockwise)
    assert np.abs(J @ found + eps).max() <= blockwise * np.abs(eps).max()
    assert report["rank"] == report["full_rank"] == samples and report["defect"] <= blockwise


def without_its_small_singular_values(S, form, strength):
    """The pseudo-inverse of a matrix as each form defines it, from its singular value
    decomposition.
    """
    U, s, Vt = np.linalg.svd(S, full_matrices=False)
    f = {"truncate": np.where(s >= max(strength * s[0], 1e-5), 1 / s, 0),
         "damp": 1 / (s + strength * s[0]),
         "tikhonov": s / (s**2 + strength * s[0] ** 2)}[form]
    return Vt.T @ (f[:, None] * U.T)


@pytest.mark.parametrize("bias", (False, True))
def test_more_samples_than_features_is_least_squares(bias, rng):
    net = network(rng, d=4, blocks=1, bottleneck=3, activation="tanh", bias=bias)
    x, y = batch(rng, net, samples=9)
    with pytest.warns(RankWarning, match=f"rank is {3 + bias} of 9: samples are not independent"):
        found = direction(net, SQUARED, x, y)
    J, e = jacobian(net, x), net(x) - y
    F = np.tanh(x[:, 2:] @ net.blocks[0].Va.T)
    if bias:
        F = np.hstack([F, np.ones((9, 1))])
    first = np.linalg.lstsq(F, e[:, :2], rcond=None)[0]
    close(found[pieces(net)[0][0]], -(np.concatenate([first[:3].T.ravel(), *first[3:]])), 1e-10)
    same, report = told(net, SQUARED, x, y)
    np.testing.assert_array_equal(same, found)
    assert report["rank"] == 3 + bias and report["full_rank"] == 9
    off = np.linalg.norm(J @ found + e.ravel()) / np.linalg.norm(e)
    assert np.isclose(report["defect"], off) and off > 0.01


@pytest.mark.parametrize("dtype", ("float64", "float32"))
def test_equal_samples_lower_the_rank_by_one(dtype, rng):
    net = network(rng, activation="tanh", bottleneck=24).astype(dtype)
    x, y = batch(rng, net, samples=5)
    x[3] = x[1]
    assert told(net, SQUARED, x, y)[1]["rank"] == 4
    if dtype == "float64":
        assert told(net, SQUARED, x, y, inverse="moore-penrose")[1]["rank"] == 6 * 4


@pytest.mark.parametrize("options", ({}, {"inverse": "moore-penrose"}))
def test_only_an_exact_inverse_that_does_not_exist_is_warned_of(options, rng):
    independent = network(rng, activation="tanh", bottleneck=24)
    dependent = network(rng, blocks=1, bottleneck=2)
    x, y = batch(rng, independent)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        direction(independent, SQUARED, x, y, **options)
        direction(dependent, SQUARED, x, y, pseudo_inverse="damp", **options)
    with pytest.warns(RankWarning):
        direction(dependent, SQUARED, x, y, **options)


@pytest.mark.parametrize("readout", ("orthonormal", "first", "given"))
@pytest.mark.parametrize("inverse", ("right", "moore-penrose"))
def test_readouts_and_the_sum_of_the_losses(readout, inverse, rng):
    R = rng.normal(size=(3, 6)) if readout == "given" else readout
    net = network(rng, outputs=3, readout=R, activation="tanh", bottleneck=24)
    x, y = batch(rng, net)
    p = np.exp(net(x)) / np.exp(net(x)).sum(axis=1, keepdims=True)
    eps = (p - np.eye(3)[y]).ravel()
    found = direction(net, SOFTMAX, x, y, inverse=inverse)
    J = jacobian(net, x)
    close(J @ found, -eps, 1e-8)
    if inverse == "moore-penrose":
        close(found, -np.linalg.pinv(J) @ eps, limit(J))
    else:  # x_L moves along R+ eps only
        bare = RevMLP(6, 3, 24, activation="tanh", rng=0)
        for mine, theirs in zip(net.blocks, bare.blocks):
            for half, other in zip(mine, theirs):
                other.fixed.weight = half.fixed.weight
        bare.theta = net.theta
        wanted = -(eps.reshape(4, 3) @ np.linalg.pinv(net.readout).T).ravel()
        close(jacobian(bare, x) @ found, wanted, 1e-8)


@pytest.mark.parametrize("options", ({}, {"recompute": True}))
def test_the_right_inverse_refuses_a_half_layer_that_is_fixed(options, rng):
    net = partly_fixed(network(rng, activation="tanh"))
    x, y = batch(rng, net)
    words = r"in Coupling\(6.* W is fixed or V is not; inverse='moore-penrose' takes any network"
    with pytest.raises(ValueError, match=words):
        so.GaussNewton(net, SQUARED, **options)
    with pytest.raises(ValueError, match=words):
        direction(net, SQUARED, x, y, **options)
    trained_v = partly_fixed(network(rng, activation="tanh"), 5, "fixed", True)
    with pytest.raises(ValueError, match=words):
        so.GaussNewton(trained_v, SQUARED, **options)


NETWORKS = cases.NETWORKS | {
    "one layer": lambda rng: so.mlp([8, 3], rng=rng),
    "skip above": lambda rng: so.Network([so.Linear(5, 4, rng=rng), so.Activation("tanh"),
                                          so.Skip([so.Linear(4, 4, rng=rng), so.Activation("sin")]),
                                          so.Linear(4, 3, rng=rng)]),
    "reshape between": lambda rng: so.Network([so.Linear(5, 6, rng=rng),
                                               so.nets.Reshape((6,), (2, 3)),
                                               so.Activation("tanh"),
                                               so.nets.Reshape((2, 3), (6,)),
                                               so.Linear(6, 3, rng=rng)]),
    "a half layer that is fixed": lambda rng: partly_fixed(network(rng, d=4, outputs=3, bias=True,
                                                                   activation="tanh"))}


@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
def test_moore_penrose_for_any_network(make, rng):
    net = make(rng)
    x, y = (rng.normal(size=(4, *shape)) for shape in (net.input_shape, net.output_shape))
    J, eps = jacobian(net, x), (net(x) - y).ravel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        found = direction(net, SQUARED, x, y, inverse="moore-penrose")
    close(found, -np.linalg.pinv(J, rcond=1e-10) @ eps, limit(J))
    for form, strength in (("tikhonov", 0.03), ("damp", 0.05), ("truncate", 0.1)):
        expected = -without_its_small_singular_values(J, form, strength) @ eps
        close(direction(net, SQUARED, x, y, inverse="moore-penrose", pseudo_inverse=form,
                        strength=strength), expected, 1e-9)


def test_tikhonov_on_one_sample_with_one_output():
    """J J^T is a number: -J^T eps / (1 + strength) J J^T."""
    net = so.mlp([3, 1], rng=0)
    x = np.array([[0.5, -1.0, 2.0]])
    J = jacobian(net, x)
    eps = net(x)[0]
    found = direction(net, SQUARED, x, np.zeros((1, 1)), inverse="moore-penrose",
                      pseudo_inverse="tikhonov", strength=0.25)
    close(found, -J[0] * eps / (1.25 * J[0] @ J[0]), 1e-14)
    report = told(net, SQUARED, x, np.zeros((1, 1)), inverse="moore-penrose")[1]
    assert (report["rank"], report["full_rank"]) == (1, 1)


def test_the_hessian_view_keeps_the_rank_of_the_jacobian():
    """Two outputs: of three eigenvalues the smallest by size is rounding, whatever its sign."""
    for entries, expected in (((-2.0, 1e-3, 1.0), (-0.5, 0, 1)), ((1e-3, 2.0, 4.0), (0, 0.5, 0.25)),
                              ((-1e-3, 2.0, -4.0), (0, 0.5, -0.25))):
        close(pinv_of_product(np.diag(entries), 2), np.diag(expected), 1e-14)
    assert pinv_of_product(np.diag((2.0, 4.0)), 3)[0, 0] == 0.5


def test_generalised_step_with_the_hessian_of_the_loss(rng):
    net = network(rng, outputs=3, activation="tanh", bottleneck=24)
    x, y = batch(rng, net)
    J = jacobian(net, x)
    p = np.exp(net(x)) / np.exp(net(x)).sum(axis=1, keepdims=True)
    eps = p - np.eye(3)[y]
    H = np.zeros((12, 12))
    for s in range(4):
        H[3 * s:3 * s + 3, 3 * s:3 * s + 3] = np.diag(p[s]) - np.outer(p[s], p[s])
    wanted = -np.linalg.pinv(H, rcond=1e-11) @ eps.ravel()
    for inverse in ("right", "moore-penrose"):
        close(J @ direction(net, SOFTMAX, x, y, inverse=inverse, curvature="loss"), wanted, 1e-8)
    moore = direction(net, SOFTMAX, x, y, inverse="moore-penrose", curvature="loss")
    close(moore, np.linalg.pinv(J) @ wanted, 1e-7)
    weighted = -np.linalg.pinv(J.T @ H @ J, rcond=1e-11, hermitian=True) @ J.T @ eps.ravel()
    close(H @ J @ moore, H @ J @ weighted, 1e-6)  # (7): as far as a softmax sees it
    same = [direction(net, SQUARED, x, np.zeros((4, 3)), curvature=c)
            for c in ("identity", "loss")]
    close(*same, 1e-12)


def test_penalty_is_decoupled(rng):
    net = network(rng, activation="tanh", bottleneck=24)
    x, y = batch(rng, net)
    for inverse in ("right", "moore-penrose"):
        close(direction(net, SQUARED, x, y, inverse=inverse, l2=0.3),
              direction(net, SQUARED, x, y, inverse=inverse) - 0.3 * net.theta, 1e-12)


@pytest.mark.parametrize("dtype, scale, off", [("float64", 0.4, 1e-9), ("float32", 4.0, 1e-3)])
def test_recomputed_activations_make_the_same_step(dtype, scale, off, rng):
    """With large weights in float32 the inverse network misses the input: a second forward pass."""
    net = RevMLP(6, 8, 40, activation="relu", init=scale, rng=rng, dtype=dtype)
    x, y = batch(rng, net)
    optimizer = so.GaussNewton(net, SQUARED, 1e-9, recompute=True, pseudo_inverse="exact")
    stored, report = told(net, SQUARED, x, y)
    close(direction(net, SQUARED, x, y, recompute=True), stored, off)
    info = optimizer.step(x, y)
    assert (info["drift"] > 1e-4) == (dtype == "float32")
    assert info["defect"] == pytest.approx(report["defect"], rel=1e-2, abs=1e-9)


RIGHT_ONLY = "belong to inverse='right'"


@pytest.mark.parametrize("options, words", [
    ({"pseudo_inverse": "exact", "strength": 0.1}, "strength belongs"),
    ({"pseudo_inverse": "damp", "strength": -0.1}, "strength must be above 0"),
    ({"pseudo_inverse": "trunkate"}, "truncate"), ({"inverse": "left"}, "right"),
    ({"curvature": "hessian"}, "identity"),
    ({"inverse": "moore-penrose", "recompute": True}, RIGHT_ONLY),
    ({"inverse": "moore-penrose", "pseudo_inverse": "noise"}, RIGHT_ONLY)], ids=str)
def test_bad_options_are_refused(options, words, rng):
    net = network(rng, outputs=2)
    with pytest.raises((ValueError, TypeError), match=words):
        direction(net, SOFTMAX, *batch(rng, net), **options)


@pytest.mark.parametrize("recompute", (False, True))
def test_bad_data_is_refused(recompute, rng):
    net = network(rng, outputs=2)
    x, y = batch(rng, net)
    for data, words in (((x[:, :5], y), r"expected \(S, 6\)"),
                        ((np.full_like(x, np.inf), y), "NaN or infinite"),
                        ((x[:0], y[:0]), "empty batch"),
                        ((x, y[:3]), "labels"),
                        ((x, y + 5), "out of range")):
        with pytest.raises((ValueError, TypeError), match=words):
            direction(net, SOFTMAX, *data, recompute=recompute)
    with pytest.raises(TypeError, match="needs a RevMLP"):
        direction(so.mlp([3, 2], rng=0), SOFTMAX, np.ones((2, 3)), [0, 1])
    with pytest.raises(TypeError, match="network must be"):
        direction(None, SOFTMAX, x, y)
    net.theta = np.full(net.size, 1e200)
    with pytest.raises(FloatingPointError):
        direction(net, SOFTMAX, x, y, recompute=recompute)
