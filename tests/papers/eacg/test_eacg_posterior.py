"""The Kronecker-factored posterior: against the dense matrix of its curvature, and exact where one
linear layer makes it so."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative

TAU = 0.4


def case(sizes=(3, 4, 2), bias=True, seed=0, samples=12):
    rng = np.random.default_rng(seed)
    net = so.mlp(sizes, bias=bias, rng=seed)
    return net, so.SoftmaxCrossEntropy(), rng.normal(size=(samples, sizes[0])), rng.integers(
        0, sizes[-1], samples)


@pytest.mark.parametrize("bias, joint", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("curvature", ["gauss-newton", "fisher-exact", "fisher-empirical", "pch-1",
                                       "pch-2", "fisher-sampled"])
def test_against_the_dense_matrix(curvature, bias, joint):
    net, loss, x, y = problem = case(bias=bias)
    C = so.eacg.matrix(*problem, curvature, joint=joint, rng=5)
    precision = 12 * C + TAU * np.eye(net.size)
    p = so.eacg.posterior(*problem, TAU, curvature, joint=joint, rng=5)
    covariance = np.linalg.inv(precision)
    J = so.exact.jacobian(net, x[:3])
    assert relative(p.covariance(x[:3]), J @ covariance @ J.swapaxes(1, 2)) < 1e-11
    sign, log_det = np.linalg.slogdet(precision)
    assert sign == 1 and p.log_determinant == pytest.approx(log_det, rel=1e-12)
    draws = p.sample(rng=0, count=20000)
    scale = np.sqrt(np.diag(covariance))
    off = (np.cov(draws.T) - covariance) / np.outer(scale, scale)
    assert np.abs(off).max() < 5 * np.sqrt(2 / 20000)
    assert np.abs((draws.mean(axis=0) - net.theta) / scale).max() < 5 / np.sqrt(20000)


def test_a_layer_that_is_fixed_stays():
    rng = np.random.default_rng(0)
    net = so.Network([so.Linear(3, 4, rng=0, trainable=False), so.Activation("tanh"),
                      so.Linear(4, 2, rng=1)])
    problem = net, so.SoftmaxCrossEntropy(), rng.normal(size=(9, 3)), rng.integers(0, 2, 9)
    precision = 9 * so.eacg.matrix(*problem, "gauss-newton") + TAU * np.eye(10)
    J = so.exact.jacobian(net, problem[2])
    found = so.eacg.posterior(*problem, TAU).variance(problem[2])
    assert relative(found, np.einsum("sip,pq,siq->si", J, np.linalg.inv(precision), J)) < 1e-11


def test_a_curvature_that_may_be_indefinite_is_refused():
    with pytest.raises(ValueError, match="curvature 'hessian' may be indefinite"):
        so.eacg.posterior(*case(), TAU, "hessian")


@pytest.mark.parametrize("joint", [True, False])
def test_a_layer_wider_than_the_batch(joint):
    """Eigenvectors of the inputs' span, and tau across it."""
    rng = np.random.default_rng(0)
    net, x = so.mlp([30, 3, 2], rng=0), rng.normal(size=(6, 30))
    problem = net, so.SquaredError(), x, rng.normal(size=(6, 2))
    made = so.eacg.posterior(*problem, 0.3, joint=joint)
    assert made._blocks[0].U.shape[1] <= 6
    draws, inverse = made._root(np.eye(net.size)), made._inverse(np.eye(net.size))
    precision = 6 * so.eacg.matrix(*problem, "gauss-newton", joint=joint) + 0.3 * np.eye(net.size)
    assert relative(draws @ draws.T, inverse) < 1e-12
    assert relative(inverse, np.linalg.inv(precision)) < 1e-10
    assert abs(made.log_determinant + np.linalg.slogdet(inverse)[1]) < 1e-9
