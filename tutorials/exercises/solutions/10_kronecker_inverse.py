"""Solution of exercise 10_kronecker_inverse, with usual mistakes."""

import numpy as np

from secondorder.papers.eacg.eq_12_13_kfac_kfra import eq_12_factors


def eq_12_inverse(A, B, alpha):
    """The approximate inverse (n m, n m), from A (m, m), B (n, n)."""
    damped_A, damped_B = eq_12_factors(A, B, alpha)
    return np.kron(np.linalg.inv(damped_A), np.linalg.inv(damped_B))


def mistake_1(A, B, alpha):
    damped_A, damped_B = eq_12_factors(A, B, alpha)
    return np.kron(np.linalg.inv(damped_B), np.linalg.inv(damped_A))


def mistake_2(A, B, alpha):
    damped_A = A + alpha * np.eye(len(A))
    return np.kron(np.linalg.inv(damped_A), np.linalg.inv(B + alpha * np.eye(len(B))))


def mistake_3(A, B, alpha):
    damped_A = A + np.sqrt(alpha) * np.eye(len(A))
    return np.kron(np.linalg.inv(damped_A), np.linalg.inv(B + np.sqrt(alpha) * np.eye(len(B))))


def mistake_4(A, B, alpha):
    return np.linalg.inv(np.kron(A, B) + alpha * np.eye(len(A) * len(B)))


WRONG = [
    (mistake_1,
     "the factors stand in the order of rows: Vec puts the columns of W one below the other"),
    (mistake_2,
     "the damping is split between the factors: each takes sqrt(alpha), and pi balances them"),
    (mistake_3,
     "pi is missing: it balances the damping of two factors of different size"),
    (mistake_4,
     "this is the damped inverse itself: (12) replaces it by a product of two small ones"),
]
