"""Derivatives as claims: right ones pass, slips are named by entry, ratio and likely cause."""

import numpy as np
import pytest

from secondorder.ledger import Derivative, VerificationError

from test_own_paper import mine  # noqa: F401

RNG = np.random.default_rng(0)
A, W = RNG.normal(size=(3, 3)), RNG.normal(size=3)
A = A + A.T


def quadratic(w):
    return 0.5 * w @ A @ w + np.sin(w).sum()


def gradient(w):
    return A @ w + np.cos(w)


def hessian(w):
    return A - np.diag(np.sin(w))


def rectangular(w):
    """(2,) of (3,): its Jacobian is (2, 3)."""
    return np.array([w[0] * w[1], np.exp(w[2])])


def jacobian(w):
    return np.array([[w[1], w[0], 0.0], [0.0, 0.0, np.exp(w[2])]])


@pytest.mark.parametrize("of, is_, at", [
    (quadratic, gradient, W), (gradient, hessian, W), (rectangular, jacobian, W),
    (np.sin, np.cos, 0.5), (lambda x: x**2, 2.0, 1.0), (lambda x: x * 3.0, [[3.0]], [2.0]),
    (lambda m: np.trace(m @ m), lambda m: 2 * m.T, A),
    (lambda t: quadratic(W + t * np.ones(3)), lambda t: gradient(W) @ np.ones(3), 0.0),
    (lambda w: float(np.abs(quadratic(w))), lambda w: np.sign(quadratic(w)) * gradient(w), W)])
def test_right_derivatives_pass(of, is_, at):
    claim = Derivative(of=of, is_=is_, at=at)
    assert claim.holds and claim.tolerance < 1e-5


def test_the_complex_step_is_taken_where_the_function_follows_it():
    assert Derivative(of=quadratic, is_=gradient, at=W, tolerance=1e-13).holds
    real = Derivative(of=lambda w: quadratic(np.real(w)), is_=gradient, at=W, tolerance=1e-13)
    assert real.holds and 1e-13 < real.tolerance < 1e-6, "differences, with their predicted error"


def slips():
    H = hessian(W)
    lost = H + np.diag(np.sin(W))
    skew = H.copy()
    skew[0, 1] *= 3
    return [(gradient, 2 * H, "factor 2"), (gradient, -H, "sign is flipped"),
            (lambda w: np.array([w[0] * w[1], w[1] * w[2], w[0]]),
             lambda w: np.array([[w[1], w[0], 0], [0, w[2], w[1]], [1.0, 0, 0]]).T, "transposed"),
            (gradient, skew, "entry (0, 1)"), (gradient, lost, "only the diagonal differs"),
            (gradient, H + 0.25 * np.eye(3), "has 0.25 times the identity too much")]


@pytest.mark.parametrize("of, is_, named", slips())
def test_slips_are_named(mine, of, is_, named):
    @mine.equation("1", statement="s", formula="x", kind="identity", verdict="holds",
                   implements=gradient)
    def check(rng):
        return [Derivative(of=of, is_=is_, at=W)]

    (result,) = mine.run()
    assert not result.ok and named in result.message, result.message
    assert "given" in result.message and "differences" in result.message


def test_a_wrong_shape_is_told_with_both():
    with pytest.raises(VerificationError, match=r"has shape \(3, 2\), expected \(2, 3\).*transpos"):
        Derivative(of=rectangular, is_=lambda w: jacobian(w).T, at=W)


def test_what_differences_cannot_judge_is_refused():
    noise = np.random.default_rng(1)
    with pytest.raises(VerificationError, match="is the function smooth"):
        Derivative(of=lambda x: float(noise.normal()), is_=1.0, at=0.5)
    with pytest.raises(VerificationError, match="zero everywhere"):
        Derivative(of=lambda x: 3.0, is_=0.0, at=0.5)
