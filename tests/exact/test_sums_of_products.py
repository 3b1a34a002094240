"""Estimates of traces are sums of many products: none is left out, and none rounded away."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import secondorder as so
from secondorder.exact.spectra import traces


def counting(matrix, dtype=float):
    """An operator that notes how many products were asked of it."""
    matrix, asked = np.asarray(matrix, dtype), []

    def matmat(V):
        asked.append(V.shape[1])
        return matrix @ V

    operator = LinearOperator(matrix.shape, matmat=matmat,
                              matvec=lambda v: matmat(v.reshape(-1, 1)),
                              dtype=dtype)
    return operator, asked


@pytest.mark.parametrize("products", [31, 32, 33, 34, 64, 65, 97])
def test_every_probe_has_a_say_whatever_their_number(products):
    """Worked through some at a time; the literal mean of z^T A z over all of them."""
    A = np.random.default_rng(0).normal(size=(7, 7))
    A = A + A.T
    Z = np.random.default_rng(5).choice([-1.0, 1.0], size=(7, products))
    operator, asked = counting(A)
    found = traces.hutchinson(operator, products, np.random.default_rng(5))
    assert float(found) == pytest.approx(np.mean([z @ A @ z for z in Z.T]), rel=1e-12)
    assert sum(asked) == products


@pytest.mark.parametrize("products", [4, 5, 6, 98, 99, 100, 101])
def test_hutch_plus_plus_takes_what_it_was_allowed(products):
    A = np.diag(np.arange(1.0, 121.0))
    operator, asked = counting(A)
    traces.hutch_plus_plus(operator, products, np.random.default_rng(0))
    assert sum(asked) == products


def test_single_precision_sums_in_double():
    """x is zero: the curvature of 200,000 parameters is l2 I, in float32, and its trace P l2."""
    net = so.Network([so.Linear(1000, 200, bias=False, rng=0)]).astype("float32")
    problem = net, so.SquaredError(), np.zeros((1, 1000)), np.zeros((1, 200))
    expected = net.size * float(np.float32(0.1))
    found = so.exact.trace(*problem, method="hutchinson", products=2, rng=0, l2=0.1)
    assert float(found) == pytest.approx(expected, rel=1e-7)
    assert float(so.exact.trace(*problem, l2=0.1)) == pytest.approx(expected, rel=1e-7)
