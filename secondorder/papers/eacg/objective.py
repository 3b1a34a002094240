"""What is minimised, and Newton's method on it, as formulas: Eq. (1)-(3), Property 1, Eq. (14)."""

import numpy as np


def total_loss(loss, outputs, y):
    """sum_i xi(h_i^k | y_i) over the instances, which training minimises; (9) has their mean."""
    return np.sum(loss.value(outputs, y))


def bounded_criterion(y_hat, y, delta=5.0, epsilon=0.2):
    """Eq. (14): C = 1 / (1 + exp(delta (y^T y_hat - epsilon))), instance by instance, (S,), for
    probabilities y_hat (S, C) and labels y as unit vectors.
    """
    return 1 / (1 + np.exp(delta * (np.sum(y * y_hat, axis=1) - epsilon)))


def linearised_gradient(gradient, H, d):
    """Eq. (3), left side of grad f + (Hess f) d = 0: the gradient after d, to first order."""
    return gradient + H @ d


def quadratic_model(value, gradient, H, d):
    """f + grad^T d + d^T H d / 2, which is f after a step d to second order."""
    return value + gradient @ d + d @ H @ d / 2


def newton_direction(gradient, H):
    """d = -H^-1 grad, the minimiser of :func:`quadratic_model` for a positive definite H."""
    return -np.linalg.solve(H, gradient)


def restricted_model(value, gradient, H, V, k):
    """Property 1: g(k) = f + grad^T v + v^T H v / 2 with v = k_1 v_1 + ... + k_s v_s.

    V (P, s) has eigenvectors with negative eigenvalues in its columns.
    """
    return quadratic_model(value, gradient, H, V @ k)
