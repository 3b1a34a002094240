"""The fast directions against dense linear algebra on the exact Jacobian."""

import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import secondorder as so
from harness.reversible_cases import batch, dense_right_inverse, jacobian, network, pieces
from secondorder.papers.reversible_gauss_newton import (RankWarning, RevMLP, Ridge,
                                                        directions, options)
from secondorder.papers.reversible_gauss_newton.dense import steps
from secondorder.papers.reversible_gauss_newton.equations import cases
from secondorder.papers.reversible_gauss_newton.recomputed import drift
from secondorder.papers.reversible_gauss_newton.sweep import sweep

SQUARED, SOFTMAX = so.SquaredError(), so.SoftmaxCrossEntropy()
# the inverse of the equations, where a test names no other
direction = partial(directions.direction, pseudo_inverse="exact")
Options = partial(options.Options, pseudo_inverse="exact")
update = partial(directions.update, options=Options())


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
    so.Network.__init__(net, layers)
    return net


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
        found = update(net, SQUARED, x, y, options=Options())
        if found.rank == samples:
            break
    eps, J = (net(x) - y).ravel(), jacobian(net, x)
    expected = -dense_right_inverse(net, x) @ eps
    blockwise = max(limit(J[:, a.start:b.stop]) for a, b in pieces(net))
    close(found.direction, expected, blockwise)
    assert np.abs(J @ found.direction + eps).max() <= blockwise * np.abs(eps).max()
    assert found.rank == found.full_rank == samples and found.residual <= blockwise


def without_its_small_singular_values(S, form, strength):
    """The pseudo-inverse of a matrix as each form defines it, from its singular value
    decomposition.
    """
    U, s, Vt = np.linalg.svd(S, full_matrices=False)
    f = {"truncate": np.where(s >= max(strength * s[0], 1e-5), 1 / s, 0),
         "damp": 1 / (s + strength * s[0]),
         "tikhonov": s / (s**2 + strength * s[0] ** 2)}[form]
    return Vt.T @ (f[:, None] * U.T)


def test_noise_uses_the_pseudo_inverse_of_noisy_features(rng):
    net = network(rng, activation="tanh", blocks=1, bias=True)
    x, y = batch(rng, net)
    noisy = direction(net, SQUARED, x, y, pseudo_inverse="noise", strength=0.3, rng=5)
    noise = np.random.default_rng(5)
    e = net(x) - y
    block, expected = net.blocks[0], []
    F1 = np.tanh(x[:, 3:] @ block.Va.T)
    x1 = net.features(x)[:, :3]
    F2, slope = np.tanh(x1 @ block.Vb.T), 1 - np.tanh(x1 @ block.Vb.T) ** 2
    one = np.ones((4, 1))
    first = (np.linalg.pinv(np.hstack([F1 + 0.3 * F1.std() * noise.standard_normal(F1.shape), one]))
             @ e[:, :3])
    u = np.hstack([F1, one]) @ first
    bracket = e[:, 3:] - (slope * (u @ block.Vb.T)) @ block.W2.T
    second = (np.linalg.pinv(np.hstack([F2 + 0.3 * F2.std() * noise.standard_normal(F2.shape),
                                        one])) @ bracket)
    for part in (first, second):
        expected += [part[:-1].T.ravel(), part[-1]]
    close(noisy, -np.concatenate(expected), 1e-9)


@pytest.mark.parametrize("bias", (False, True))
def test_more_samples_than_features_is_least_squares(bias, rng):
    net = network(rng, d=4, blocks=1, bottleneck=3, activation="tanh", bias=bias)
    x, y = batch(rng, net, samples=9)
    with pytest.warns(RankWarning, match="9 samples are not independent"):
        found = direction(net, SQUARED, x, y)
    J, e = jacobian(net, x), net(x) - y
    F = np.tanh(x[:, 2:] @ net.blocks[0].Va.T)
    if bias:
        F = np.hstack([F, np.ones((9, 1))])
    first = np.linalg.lstsq(F, e[:, :2], rcond=None)[0]
    close(found[pieces(net)[0][0]], -(np.concatenate([first[:3].T.ravel(), *first[3:]])), 1e-10)
    report = update(net, SQUARED, x, y, options=Options())
    assert report.rank == 3 + bias and report.full_rank == 9
    assert np.isclose(report.residual, np.linalg.norm(J @ found + e.ravel()) / np.linalg.norm(e))
    assert report.residual > 0.01
    close(direction_quietly(net, x, y, decomposition="svd"), found, 1e-9)


def direction_quietly(net, x, y, loss=SQUARED, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        return direction(net, loss, x, y, **options)


def test_a_linear_first_block_is_detected_and_weights_avoid_it(rng):
    net = network(rng, blocks=3, bottleneck=30, activation="tanh", first_activation="identity",
                  bias=True, outputs=2)
    x, y = batch(rng, net, samples=8)
    with pytest.warns(RankWarning) as warned:
        direction(net, SOFTMAX, x, y)
    assert (len(warned) == 1 and "block 1" in str(warned[0].message)
            and "block 2" not in str(warned[0].message))
    report = update(net, SOFTMAX, x, y, options=Options())
    np.testing.assert_array_equal(report.ranks, [[4, 4], [8, 8], [8, 8]])  # half of 6, and the bias
    assert report.residual > 1e-3
    better = update(net, SOFTMAX, x, y, options=Options(block_weights="full-rank"))
    np.testing.assert_allclose(better.weights, [0, 0.5, 0.5])
    assert better.residual < 1e-8


@pytest.mark.parametrize("dtype", ("float64", "float32"))
def test_equal_samples_lower_the_rank_by_one(dtype, rng):
    net = network(rng, activation="tanh", bottleneck=24).astype(dtype)
    x, y = batch(rng, net, samples=5)
    x[3] = x[1]
    report = update(net, SQUARED, x, y, options=Options())
    assert (report.ranks == 4).all()
    assert update(net, SQUARED, x, y, options=Options(inverse="moore-penrose")).rank == 6 * 4
    assert (update(net, SQUARED, x, y, options=Options(decomposition="svd")).ranks == 4).all()


def test_blocks_that_have_no_share_have_no_rank(rng):
    net = network(rng, activation="tanh", bottleneck=24)
    x, y = batch(rng, net)
    for weights in ("last", [0, 0, 1]):
        found = update(net, SQUARED, x, y, options=Options(block_weights=weights))
        assert found.ranks.tolist() == [[-1, -1], [-1, -1], [4, 4]]


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


def test_a_block_that_is_dead_has_no_shortest_share(rng):
    net = network(rng, activation="relu", bottleneck=24)
    x, y = batch(rng, net)
    net.blocks[1].first.fixed.weight = np.zeros((24, 3))  # relu(0) = 0: nothing to fit with
    net.blocks[1].second.fixed.weight = np.zeros((24, 3))
    with pytest.warns(RankWarning, match="block 2"):
        found = direction(net, SQUARED, x, y, block_weights="shortest")
    with pytest.warns(RankWarning):
        uniform = direction(net, SQUARED, x, y)
    np.testing.assert_array_equal(found, uniform)
    assert np.linalg.norm(found) > 0 and not found[net.blocks[1].W1.size * 2:][:144].any()


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


@pytest.mark.parametrize("options", ({}, {"recompute": True}, {"block_weights": "last"}))
def test_the_right_inverse_refuses_a_half_layer_that_is_fixed(options, rng):
    net = partly_fixed(network(rng, activation="tanh"))
    x, y = batch(rng, net)
    words = r"and W of Coupling\(6.*trainable=False.*moore-penrose.* takes layers that are fixed"
    with pytest.raises(ValueError, match=words):
        so.GaussNewton(net, SQUARED, **options)
    with pytest.raises(ValueError, match=words):
        direction(net, SQUARED, x, y, **options)
    trained_v = partly_fixed(network(rng, activation="tanh"), 5, "fixed", True)
    with pytest.raises(ValueError, match=r"and V of Coupling\(6.*trainable=True"):
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
    made = update(net, SQUARED, x, np.zeros((1, 1)), options=Options("moore-penrose"))
    assert (made.rank, made.full_rank, made.drift) == (1, 1, 0)


def test_the_hessian_view_keeps_the_rank_of_the_jacobian():
    """Two outputs: of three eigenvalues the smallest by size is rounding, whatever its sign."""
    for entries, expected in (((-2.0, 1e-3, 1.0), (-0.5, 0, 1)), ((1e-3, 2.0, 4.0), (0, 0.5, 0.25)),
                              ((-1e-3, 2.0, -4.0), (0, 0.5, -0.25))):
        close(steps._pinv_of_product(np.diag(entries), np.zeros((2, 3))), np.diag(expected), 1e-14)
    assert steps._pinv_of_product(np.diag((2.0, 4.0)), np.zeros((3, 2)))[0, 0] == 0.5


def test_generalised_step_with_the_hessian_of_the_loss(rng):
    net = network(rng, outputs=3, activation="tanh", bottleneck=24)
    x, y = batch(rng, net)
    loss, J = Ridge(SOFTMAX, 0.2), jacobian(net, x)
    p = np.exp(net(x)) / np.exp(net(x)).sum(axis=1, keepdims=True)
    eps = p - np.eye(3)[y] + 0.2 * net(x)
    H = np.zeros((12, 12))
    for s in range(4):
        H[3 * s:3 * s + 3, 3 * s:3 * s + 3] = np.diag(p[s]) - np.outer(p[s], p[s]) + 0.2 * np.eye(3)
    moore = direction(net, loss, x, y, inverse="moore-penrose", curvature="loss")
    close(
        moore, -np.linalg.pinv(J.T @ H @ J, rcond=1e-11, hermitian=True) @ J.T @ eps.ravel(), 1e-6
    )  # Eq. (7)
    close(J @ direction(net, loss, x, y, curvature="loss"), -np.linalg.solve(H, eps.ravel()), 1e-8)
    same = [direction(net, SQUARED, x, rng.normal(size=(4, 3)) * 0,
                      curvature=c) for c in ("identity", "loss")]
    np.testing.assert_array_equal(*same)


def test_penalty_is_decoupled(rng):
    net = network(rng, activation="tanh", bottleneck=24)
    x, y = batch(rng, net)
    for inverse in ("right", "moore-penrose"):
        close(direction(net, SQUARED, x, y, inverse=inverse, l2=0.3),
              direction(net, SQUARED, x, y, inverse=inverse) - 0.3 * net.theta, 1e-12)


def test_drift_of_the_inverse_is_noticed_and_repaired(rng):
    net = RevMLP(6, 8, 40, activation="relu", init=4.0, rng=rng, dtype="float32")
    x, y = batch(rng, net)
    stored = update(net, SQUARED, x, y, options=Options())
    drifted = update(net, SQUARED, x, y, options=Options(recompute=True, drift_tolerance=1e9))
    repaired = update(net, SQUARED, x, y, options=Options(recompute=True))
    assert repaired.drift == drifted.drift > 1e-4 and stored.drift == 0
    np.testing.assert_array_equal(stored.direction, repaired.direction)
    assert np.abs(drifted.direction - stored.direction).max() > 0
    for tolerance, same in ((drifted.drift, drifted), (np.nextafter(drifted.drift, 0), stored)):
        found = update(net, SQUARED, x, y, options=Options(
            recompute=True, drift_tolerance=tolerance))
        np.testing.assert_array_equal(found.direction, same.direction)
    assert np.isclose(repaired.residual, stored.residual, rtol=1e-3)


def test_the_sweep_knows_the_largest_entry_of_either_sign(rng):
    net = network(rng, blocks=2, bottleneck=24, activation="tanh")
    x, y = batch(rng, net)
    states = [(block, [half.forward(x)[1] for half in block]) for block in net.blocks]
    output = np.zeros_like(x)
    output[1, 0] = -50.0
    states[1][1][1] = states[1][1][1]._replace(output=output)
    made = sweep(net, iter(states[::-1]), y, Options())
    assert made.largest == 50


def test_drift_is_relative_to_the_largest_entry_of_either_sign():
    def state(at, output):
        return None, (SimpleNamespace(input=np.array(at)), SimpleNamespace(output=np.array(output)))

    start, made = np.array([[1.0, 1.0]]), SimpleNamespace(start=None, largest=2.0)
    below = [state([[9.0, 9.0]], [[3.0, -8.0]]), state([[1.5, 0.0]], [[1.0, 1.0]])]
    assert drift(start, made, iter(below)) == 1 / 8


def test_rank_deficient_kernel_of_large_size_goes_by_pivots(rng, monkeypatch):
    net = network(rng, d=4, blocks=1, bottleneck=3, activation="tanh")
    x, y = batch(rng, net, samples=9)
    J, eps = jacobian(net, x), (net(x) - y).ravel()
    expected = -np.linalg.pinv(J) @ eps
    monkeypatch.setattr("secondorder.papers.reversible_gauss_newton.gram.LARGE", 4)
    with pytest.warns(RankWarning, match=f"rank {np.linalg.matrix_rank(J)} of 36"):
        close(direction(net, SQUARED, x, y, inverse="moore-penrose"), expected, 1e-8)


RIGHT_ONLY = "belongs to inverse='right'"


@pytest.mark.parametrize("options, words", [
    ({"pseudo_inverse": "exact", "strength": 0.1}, "strength belongs"),
    ({"pseudo_inverse": "damp", "strength": -0.1}, "strength must be above 0"),
    ({"pseudo_inverse": "truncate", "strength": 1.1}, "strength must be at most 1"),
    ({"block_weights": "unifrom"}, "uniform"), ({"block_weights": [0.5, 0.5]}, r"expected \(3,\)"),
    ({"block_weights": [0.5, 0.5, 0.5]}, "sum 1"),
    ({"inverse": "moore-penrose", "recompute": True}, RIGHT_ONLY),
    ({"inverse": "moore-penrose", "pseudo_inverse": "noise"}, RIGHT_ONLY),
    ({"inverse": "moore-penrose", "block_weights": [1, 0, 0]}, RIGHT_ONLY),
    ({"curvature": "loss"}, "invertible")], ids=str)
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
