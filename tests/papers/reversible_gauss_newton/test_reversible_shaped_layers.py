"""Exact Gauss-Newton steps through convolutions, pooling, recurrences and normalisation."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from harness.shaped_networks import NETWORKS, problem
from secondorder.papers.reversible_gauss_newton import direction
from secondorder.papers.reversible_gauss_newton.layers import tangent_kernel


@pytest.mark.parametrize("name", NETWORKS)
def test_tangent_kernel(name):
    net, _, x, _ = problem(name)
    J = so.exact.jacobian(net, x)
    expected = np.einsum("scp,tdp->csdt", J, J)
    assert relative(tangent_kernel(net, net.forward(x)[1], 4, 3), expected) < 1e-13
    assert relative(so.reversible_gauss_newton.ntk(net, x),
                    np.einsum("scp,tdp->sctd", J, J)) < 1e-13


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("options", [{"pseudo_inverse": "exact"},
                                     {"pseudo_inverse": "tikhonov", "strength": 0.05}],
                         ids=["exact", "tikhonov"])
def test_moore_penrose(name, options):
    net, loss, x, y = problem(name)
    J = so.exact.jacobian(net, x).reshape(12, net.size)
    eps = loss.gradient(net(x), loss.prepare_target(y, (4, 3), net.dtype)).ravel()
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    kept = s > 1e-10 * s[0]
    inverse = s / (s**2 + 0.05 * s[0]**2) if "strength" in options else np.where(kept, 1 / s, 0)
    found = direction(net, loss, x, y, inverse="moore-penrose", **options)
    assert relative(found, -Vt.T @ (inverse * (U.T @ eps))) < 1e-6
