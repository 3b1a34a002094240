"""Fisher matrices, and curvature matrices as SciPy operators: the same matrix without the
matrix."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import secondorder as so
from harness.cases import LOSSES, all_activations, network, relative, targets

FORMS = {
    "hessian": (so.exact.HessianOperator, so.exact.hessian, {}),
    "gauss_newton": (so.exact.GaussNewtonOperator, so.exact.gauss_newton, {}),
    "fisher-exact": (so.exact.FisherOperator, so.exact.fisher, {"kind": "exact"}),
    "fisher-empirical": (so.exact.FisherOperator, so.exact.fisher, {"kind": "empirical"}),
    "fisher-sampled": (so.exact.FisherOperator, so.exact.fisher, {"kind": "sampled", "draws": 3}),
}


@pytest.fixture
def case():
    rng = np.random.default_rng(4)
    net = network("skip-frozen", rng)
    return net, so.SoftmaxCrossEntropy(), rng.normal(size=(6, 2)), rng.integers(0, 3, size=6)


def options(form):
    """Keywords of one call; the sampled Fisher gets the same seed every time."""
    return {**FORMS[form][2], **({"rng": 9} if form == "fisher-sampled" else {})}


# -- Fisher ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["softmax", "bounded", "tukey", "squared"])
def test_empirical_fisher_by_loops(name, case):
    """Mean of g g^T with g the gradient of one sample's loss, from calls on single samples; it
    needs no model.
    """
    net, _, x, _ = case
    loss = LOSSES[name]()
    y = targets(loss, np.random.default_rng(1), 6)
    gradients = [so.exact.gradient(net, loss, x[i:i + 1], y[i:i + 1]) for i in range(6)]
    expected = sum(np.outer(g, g) for g in gradients) / 6
    assert relative(so.exact.fisher(net, loss, x, y, kind="empirical"), expected) < 1e-13


def test_exact_fisher_of_softmax_by_enumerating_labels(case):
    """E over labels of g g^T with the model's own probabilities: every label of every sample is
    tried."""
    net, loss, x, y = case
    p = net(x)
    q = np.exp(p) / np.exp(p).sum(axis=1, keepdims=True)
    expected = np.zeros((net.size, net.size))
    for i in range(6):
        for label in range(3):
            g = so.exact.gradient(net, loss, x[i:i + 1], [label])
            expected += q[i, label] * np.outer(g, g) / 6
    assert relative(so.exact.fisher(net, loss, x, y), expected) < 1e-13


@pytest.mark.parametrize("name", ["squared", "softmax"])
def test_exact_fisher_is_gauss_newton_for_likelihoods(name):
    rng = np.random.default_rng(3)
    net, loss, x = all_activations("softplus", rng), LOSSES[name](), rng.normal(size=(5, 2))
    y = rng.integers(0, 3, size=5) if name == "softmax" else rng.normal(size=(5, 3))
    assert relative(so.exact.fisher(net, loss, x, y),
                    so.exact.gauss_newton(net, loss, x, y)) < 1e-13
    other = (y + 1) % 3 if name == "softmax" else -y
    assert relative(so.exact.fisher(net, loss, x, y), so.exact.fisher(net, loss, x, other)) < 1e-13
    assert relative(so.exact.fisher(net, loss, x, y),
                    so.exact.fisher(net, loss, x, y, kind="empirical")) > 0.05


def test_empirical_fisher_vanishes_where_the_gradients_do_and_the_exact_one_does_not():
    rng = np.random.default_rng(3)
    net, x = all_activations("tanh", rng), rng.normal(size=(4, 2))
    y = net(x)
    assert not so.exact.fisher(net, so.SquaredError(), x, y, kind="empirical").any()
    assert np.trace(so.exact.fisher(net, so.SquaredError(), x, y)) > 0.1


@pytest.mark.parametrize("name", ["softmax", "squared"])
def test_sampled_fisher_approaches_the_exact_one_at_the_monte_carlo_rate(name):
    """Root-mean-square error over repetitions halves with four times as many draws."""
    rng = np.random.default_rng(5)
    net, loss, x = so.mlp([2, 2, 2], rng=rng), LOSSES[name](), rng.normal(size=(4, 2))
    y = np.zeros(4, int) if name == "softmax" else np.zeros((4, 2))
    exact = so.exact.fisher(net, loss, x, y)
    draws, errors = [4, 16, 64, 256], []
    for n in draws:
        samples = [so.exact.fisher(net, loss, x, y, kind="sampled", rng=rng, draws=n)
                   for _ in range(12)]
        errors.append(np.sqrt(np.mean([np.sum((s - exact) ** 2) for s in samples])))
    slope = np.polyfit(np.log(draws), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.15)
    assert errors[-1] < 0.2 * np.linalg.norm(exact)


# -- operators ----------------------------------------------------------------


@pytest.mark.parametrize("form", sorted(FORMS))
def test_operator_and_dense_matrix_are_one(form, case):
    operator, dense, _ = FORMS[form]
    M, op = dense(*case, l2=0.1, **options(form)), operator(*case, l2=0.1, **options(form))
    P = case[0].size
    V = np.random.default_rng(0).normal(size=(P, 4))
    assert relative(op @ np.arange(P), M @ np.arange(P)) < 1e-12
    assert isinstance(op, LinearOperator) and op.shape == (P, P) and op.dtype == np.float64
    assert relative(op @ V, M @ V) < 1e-12
    assert relative(op @ V[:, 0], M @ V[:, 0]) < 1e-12 and (op @ V[:, 0]).shape == (P,)
    assert (op @ V[:, :1]).shape == (P, 1) and relative(op @ V[:, :1], M @ V[:, :1]) < 1e-12
    assert relative(op.matmat(np.eye(P)), M) < 1e-12
    assert relative(op.H @ V, M @ V) < 1e-12 and relative(op.T @ V, M @ V) < 1e-12
    assert relative(op.rmatvec(V[:, 0]),
                    M @ V[:, 0]) < 1e-12 and relative(op.rmatmat(V), M @ V) < 1e-12
    shifted = op + 3 * aslinearoperator(np.eye(P))
    assert relative(shifted @ V, M @ V + 3 * V) < 1e-12


def test_an_operator_of_ones_own(case):
    class Twice(so.exact.CurvatureOperator):
        @staticmethod
        def rows_of(evaluation, rows):
            return 2 * len(evaluation.x) * rows

    V = np.eye(case[0].size)[:, :3]
    for batch_size in (None, 2):
        assert relative(Twice(*case, batch_size=batch_size) @ V, 2 * V) < 1e-15
    with pytest.raises(TypeError, match="CurvatureOperator does not define rows_of"):
        so.exact.CurvatureOperator(*case) @ V[:, 0]


def test_a_product_in_one_call(case):
    v = np.random.default_rng(0).normal(size=case[0].size)
    for batch_size in (None, 4):
        found = so.exact.hessian_vector_product(*case, v, l2=0.1, batch_size=batch_size)
        assert relative(found, so.exact.hessian(*case, l2=0.1) @ v) < 1e-12


# -- what changes after an operator was made -------------------------------------------------------


def another_activation(net, loss, x, y):
    net.layers[1].function = so.nets.activation_function("sigmoid")


def a_constant_of_the_activation(net, loss, x, y):
    net.layers[1].function.negative_slope = 0.9


def a_constant_of_the_loss(net, loss, x, y):
    loss.c = 0.7


def other_data(net, loss, x, y):
    x += 1
    y -= 1


def problem_that_changes():
    rng = np.random.default_rng(0)
    net = so.mlp([3, 5, 2], activation=so.nets.LeakyReLU(0.1), rng=1)
    return net, so.TukeyBiweight(c=3.0), rng.normal(size=(7, 3)), rng.normal(size=(7, 2))


@pytest.mark.parametrize("used_before", [False, True])
@pytest.mark.parametrize("batch_size", [None, 3])
@pytest.mark.parametrize("form", ["hessian", "gauss_newton", "fisher-empirical"])
@pytest.mark.parametrize("change", [another_activation, a_constant_of_the_activation,
                                    a_constant_of_the_loss, other_data])
def test_it_keeps_what_it_was_made_of(change, form, batch_size, used_before):
    """With chunks and without: the matrix of the moment at which it was made."""
    operator, dense, keywords = FORMS[form]
    problem, V = problem_that_changes(), np.random.default_rng(1).normal(size=(32, 2))
    then = dense(*problem, **keywords)
    A = operator(*problem, batch_size=batch_size, **keywords)
    if used_before:
        A @ V
    change(*problem)
    assert relative(dense(*problem, **keywords), then) > 1e-3
    assert relative(A @ V, then @ V) < 1e-13 and relative(A @ V[:, 0], then @ V[:, 0]) < 1e-13


@pytest.mark.parametrize("form", ["hessian", "gauss_newton", "fisher-empirical"])
@pytest.mark.parametrize("make", [lambda o, p, k: o(*p, **k),
                                  lambda o, p, k: o(*p, batch_size=3, **k),
                                  lambda o, p, k: o.at(p[0].evaluate(*p[1:]), **k)])
def test_moved_parameters_are_refused_by_all(form, make):
    problem, operator = problem_that_changes(), FORMS[form][0]
    A, ones = make(operator, problem, options(form)), np.ones(32)
    before = A @ ones
    problem[0].theta += 1
    for product in (lambda: A @ ones, lambda: A @ np.ones((32, 2)), lambda: A.dense()):
        with pytest.raises(RuntimeError, match="parameters have changed"):
            product()
    problem[0].theta -= 1
    problem[0].theta = problem_that_changes()[0].theta
    assert np.array_equal(A @ ones, before)
