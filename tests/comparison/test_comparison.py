"""All curvatures of one network side by side: numbers by another way, promises, and refusals."""

import json

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import secondorder as so
from harness import slow
from secondorder import cli

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 4)), RNG.integers(0, 3, 30)


def small(activation="tanh", bias=True, seed=0):
    net = so.mlp([4, 3, 2, 3], activation=activation, bias=bias, rng=seed)
    return net, so.SoftmaxCrossEntropy(), X, Y


def row(found, name):
    return next(one for one in found.rows if one["name"] == name)


@pytest.mark.parametrize("seed", [0, *slow([1, 2])])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ["tanh", "softplus", "relu"])
def test_theory_holds(activation, bias, seed):
    found = so.compare(*small(activation, bias, seed=seed))
    assert found.ok, [one for one in found.promises if not one["ok"]]
    assert len({(one["name"], one["promise"]) for one in found.promises}) == len(found.promises)


# loss, targets, whether it is the negative log-likelihood of a model
LOSSES = {
    "squares": (so.SquaredError(), RNG.normal(size=(30, 3)), True),
    "softmax": (so.SoftmaxCrossEntropy(), Y, True),
    "Huber": (so.Huber(delta=0.5), RNG.normal(size=(30, 3)), False),
    "Tukey": (so.TukeyBiweight(), RNG.normal(size=(30, 3)), False),
    "bounded": (so.BoundedCriterion(), Y, False),
    "binary": (so.BinaryCrossEntropy(), np.eye(3)[Y], True),
    "binary, weighted": (so.BinaryCrossEntropy(pos_weight=3.0), np.eye(3)[Y], False),
    "Poisson": (so.PoissonNLL(), RNG.poisson(2.0, size=(30, 3)), True),
}


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_is_compared(name):
    """A loss that is no likelihood has no exact Fisher matrix; its KFAC is the printed one."""
    loss, targets, likelihood = LOSSES[name]
    net = so.mlp([4, 3, 3], rng=0)
    found = so.compare(net, loss, X, targets)
    assert found.ok, [one for one in found.promises if not one["ok"]]
    assert ("Fisher, exact" in found.matrices) == likelihood
    curvature = "fisher-exact" if likelihood else "fisher-empirical"
    np.testing.assert_allclose(found.matrices["KFAC"], so.eacg.matrix(
        net, loss, X, targets, curvature=curvature), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.matrices["Hessian"], so.exact.hessian(
        net, loss, X, targets, method="products"), rtol=0, atol=1e-12)


class Own(so.Loss):
    """An author's loss without a model, and one whose `fisher` is at fault."""

    def value(self, p, target):
        return 0.25 * np.sum((p - target) ** 4, axis=1)

    def gradient(self, p, target):
        return (p - target) ** 3

    def hessian(self, p, target):
        return np.einsum("si,ij->sij", 3 * (p - target) ** 2, np.eye(p.shape[1]))


def test_an_authors_loss_is_compared_and_its_own_errors_are_told():
    target = RNG.normal(size=(30, 3))
    assert "Fisher, exact" not in so.compare(so.mlp([4, 3, 3], rng=0), Own(), X, target).matrices
    wrong = type("Wrong", (Own,), {"fisher": lambda self, p: 1 / len(p[:0])})
    with pytest.raises(ZeroDivisionError):
        so.compare(so.mlp([4, 3, 3], rng=0), wrong(), X, target)


def test_kronecker_rows_are_means_of_outer_products():
    """Entry by entry: E[h_j h_l] B_ik for weights (i, j), (k, l), with h = 1 for a bias."""
    net, loss, x, y = small()
    found = so.compare(net, loss, x, y)
    blocks = so.eacg.bias_curvatures(net, loss, x, y, curvature="pch-1")
    h = np.tanh(x @ net.layers[0].weight.T + net.layers[0].bias)
    n, m, start = 2, 3, 15
    names = [(i, j) for i in range(n) for j in range(m)] + [(i, None) for i in range(n)]
    ones = {None: np.ones(len(x))} | {j: h[:, j] for j in range(m)}
    for a, (i, j) in enumerate(names):
        for b, (k, l) in enumerate(names):
            assert found.matrices["PCH-1"][start + a, start + b] == pytest.approx(
                (ones[j] * ones[l]).mean() * blocks[1][i, k], rel=1e-10, abs=1e-14)
    assert not found.matrices["PCH-1"][:15, 15:].any()


def test_the_step_of_an_indefinite_matrix():
    net, loss, x, y = small()
    before = net.theta.copy()
    found = so.compare(net, loss, x, y, damping=0.5)
    assert np.array_equal(net.theta, before)
    H, g = found.matrices["Hessian"], so.exact.gradient(net, loss, x, y)
    values = np.linalg.eigvalsh(H)
    assert found.damping == pytest.approx(0.5 * abs(values).mean())
    step = -np.linalg.solve(H + (found.damping - values[0]) * np.eye(len(H)), g)
    one = row(found, "Hessian")
    np.testing.assert_allclose(one["direction"], step, rtol=1e-8)
    assert one["angle"] == pytest.approx(0, abs=1e-5)
    other = row(found, "identity")
    cosine = step @ -g / np.linalg.norm(step) / np.linalg.norm(g)
    assert other["angle"] == pytest.approx(np.degrees(np.arccos(cosine)))


def test_rows_of_ones_own():
    net, loss, x, y = small()
    H = so.exact.hessian(net, loss, x, y)
    found = so.compare(net, loss, x, y, extra={"mine": H + np.eye(net.size),
                                               "an operator": aslinearoperator(2 * H)})
    assert row(found, "mine")["above"] and row(found, "mine")["source"] == "yours"
    assert row(found, "an operator")["error"] == pytest.approx(1)
    for extra, words in (({"x": np.eye(3)}, "'x' has shape"), ({"KFAC": H}, "there already"),
                         ({"x": np.full_like(H, np.nan)}, "not finite")):
        with pytest.raises(ValueError, match=words):
            so.compare(net, loss, x, y, extra=extra)


def slightly_off(right):
    return lambda *model, **options: right(*model, **options) * (1 + 1e-6 * (
        options.get("kind") != "empirical"))


def without_its_size(right):
    def tenth(*model, cross=False, **options):
        found = right(*model, cross=cross, **options)
        found.curvature[:] *= 1.0 if cross else 0.1
        return found
    return tenth


@pytest.mark.parametrize("module, name, wrong, row, promise", [
    (so.low_rank, "hessian", slightly_off, "low-rank factors", "equals the Hessian"),
    (so.exact, "fisher", slightly_off, "Fisher, exact", "equals Gauss-Newton"),
    (so.residual_partitioning, "bound", without_its_size, "diagonal bound", "bounds the quad")])
def test_a_wrong_curvature_breaks_its_promise(module, name, wrong, row, promise, monkeypatch):
    """A promise that cannot be broken would say nothing."""
    monkeypatch.setattr(module, name, wrong(getattr(module, name)))
    (broken,) = [one for one in so.compare(*small()).promises if not one["ok"]]
    assert broken["name"] == row and broken["promise"].startswith(promise)


def test_nothing_is_promised_of_gauss_newton_where_the_loss_is_not_convex():
    doubtful = type("Doubtful", (so.SquaredError,), {"convex": False})
    promised = [{(one["name"], one["promise"]) for one in so.compare(
        small()[0], loss, X, X[:, :3]).promises} for loss in (so.SquaredError(), doubtful())]
    assert promised[0] - promised[1] == {("Gauss-Newton", "positive semidefinite")}


def test_bad_input():
    net, loss, x, y = small()
    with pytest.raises(TypeError, match="Chain"):
        so.compare(so.Network([so.Chain([so.Linear(4, 3, rng=0)])]), loss, x, y)
    for bad in (0, np.nan, "a"):
        with pytest.raises((ValueError, TypeError), match="damping"):
            so.compare(net, loss, x, y, damping=bad)
    with pytest.raises(ValueError, match="out of range"):
        so.compare(net, loss, x, y + 5)
    with pytest.raises(MemoryError, match="bytes"):
        so.compare(net, loss, x, y, limit=5)
    net = so.mlp([4, 4, 1], activation="relu", rng=0)
    net.theta = np.zeros(net.size)
    with pytest.raises(ValueError, match="Hessian is zero"):
        so.compare(net, so.TukeyBiweight(), x, np.full((30, 1), 100.0))


def test_without_a_gradient_there_is_no_angle():
    net, x = so.mlp([3, 4, 2], rng=0), np.random.default_rng(0).normal(size=(6, 3))
    net.theta = np.zeros(net.size)
    comparison = so.compare(net, so.SquaredError(), x, np.zeros((6, 2)))
    assert {row["angle"] for row in comparison.rows} == {None}
    lines = str(comparison).splitlines()
    at = lines[0].index("angle") + len("angle") - 1
    assert len(lines) == 1 + len(comparison.rows) and {line[at] for line in lines[1:]} == {"-"}


@pytest.mark.slow
def test_the_command(tmp_path, capsys):
    command = ["compare", "--data", "wine", "--hidden", "2", "--epochs", "1", "--samples", "30"]
    assert cli.main([*command, "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "KFAC" in said and "NOT SO" not in said and "30 of 178 samples" in said
    assert (tmp_path / "out" / "compare.png").stat().st_size > 20000
    assert cli.main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"name", "bytes", "error", "angle", "best_decrease"} <= set(told["rows"][0])
