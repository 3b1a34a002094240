"""What the table and the page of `so.compare` tell, and its edges: numbers that are no numbers,
angles beyond a right one, rows of one's own that are not symmetric."""


import numpy as np
import pytest

import secondorder as so

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 4)), RNG.integers(0, 3, 30)


def problem():
    return so.mlp([4, 3, 2, 3], rng=0), so.SoftmaxCrossEntropy(), X, Y


@pytest.fixture(scope="module")
def found():
    return so.compare(*problem())


def row(found, name):
    return next(one for one in found.rows if one["name"] == name)


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


def test_only_the_symmetric_part_of_a_row_counts():
    net, loss, x, y = problem()
    H = so.exact.hessian(net, loss, x, y)
    turn = np.random.default_rng(1).normal(size=H.shape)
    found = so.compare(net, loss, x, y, extra={"turned": H + turn - turn.T})
    np.testing.assert_allclose(found.matrices["turned"], H, atol=1e-13)
    assert row(found, "turned")["error"] < 1e-12 and row(found, "turned")["above"]


# -- promises that are broken ----------------------------------------------------------------------


def broken(found):
    return [(one["name"], one["promise"]) for one in found.promises if not one["ok"]]


def test_a_fisher_matrix_that_is_off_by_a_millionth_breaks_its_promise(monkeypatch):
    right = so.exact.fisher
    monkeypatch.setattr(so.exact, "fisher", lambda *model, kind, **options: (
        right(*model, kind=kind, **options) * (1 + 1e-6 * (kind == "exact"))))
    assert broken(so.compare(*problem())) == [("Fisher, exact", "equals Gauss-Newton")]


def test_a_diagonal_that_is_no_bound_breaks_its_own_promise(monkeypatch):
    """The other diagonal, with cross terms, is one still."""
    right = so.residual_partitioning.bound

    def halved(*model, cross=False, **options):
        found = right(*model, cross=cross, **options)
        if not cross:
            found.curvature[:] *= 0.1
        return found

    monkeypatch.setattr(so.residual_partitioning, "bound", halved)
    found = broken(so.compare(*problem()))
    assert len(found) == 1 and found[0][0] == "diagonal bound" and "bounds" in found[0][1]


def test_nothing_is_promised_of_gauss_newton_where_the_loss_is_not_convex():
    class Doubtful(so.SquaredError):
        """A loss whose author does not say that it is convex."""

        convex = False

    net, _, x, _ = problem()
    promised = {loss.convex: {(one["name"], one["promise"])
                              for one in so.compare(net, loss, x, x[:, :3]).promises}
                for loss in (so.SquaredError(), Doubtful())}
    assert promised[True] - promised[False] == {("Gauss-Newton", "positive semidefinite")}
