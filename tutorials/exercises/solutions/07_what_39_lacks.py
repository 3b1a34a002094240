"""Solution of exercise 07_what_39_lacks, with usual mistakes."""

from secondorder.papers.low_rank.eq_10_26_network import eq_23_eta as eta


def parts(s, omega, phi):
    """What a direction does to the outputs of a sample through each layer alone, list of (C,); and
    the sum of the products of two layers' changes. omega and phi[1], ... are its pieces."""
    n, moves, bend = s.n, [], 0.0
    for r in range(1, n + 1):
        move = phi[r] @ s.v[r - 1]
        for k in range(r + 1, n + 1):
            bend += 2 * (s.f_p @ s.u @ eta(s, n, k)) @ phi[k] @ eta(s, k - 1, r) @ move
        bend += 2 * s.f_p @ omega @ eta(s, n, r) @ move
        moves.append(s.u @ eta(s, n, r) @ move)
    return [*moves, omega @ s.v[n]], bend


def eq_39_curvature(s, omega, phi):
    """g^T H g at one sample of a chain of linear and ReLU layers; the loss's Hessian in the
    outputs is `s.f_pp` (C, C)."""
    moves, bend = parts(s, omega, phi)
    return sum(moves) @ s.f_pp @ sum(moves) + bend


def mistake_1(s, omega, phi):
    moves, bend = parts(s, omega, phi)
    return sum(t @ s.f_pp @ t for t in moves) + bend


def mistake_2(s, omega, phi):
    moves, bend = parts(s, omega, phi)
    return sum(moves) @ s.f_pp @ sum(moves) + bend / 2


def mistake_3(s, omega, phi):
    moves, bend = parts(s, omega, phi)
    return sum(t @ s.f_pp @ r for k, t in enumerate(moves) for r in moves[:k + 1]) + bend


def mistake_4(s, omega, phi):
    moves, _ = parts(s, omega, phi)
    return sum(moves) @ s.f_pp @ sum(moves)


WRONG = [
    (mistake_1,
     "these are the printed terms only: products of different layers are missing"),
    (mistake_2,
     "a second derivative along a direction has the product of two changes twice"),
    (mistake_3,
     "a pair of different layers stands in the double sum twice, once in each order"),
    (mistake_4,
     "this is Gauss-Newton: the products of two layers' changes are missing"),
]
