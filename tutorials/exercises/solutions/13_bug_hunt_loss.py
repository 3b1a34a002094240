"""Solution of exercise 13_bug_hunt_loss, with what is left when one mistake is overlooked."""

import math

import numpy as np

import secondorder as so


class PseudoHuber(so.Loss):
    """sum_i sqrt(1 + (p_i - target_i)^2) - 1."""

    diagonal_hessian = True
    convex = True

    def value(self, p, target):
        return np.sum(np.sqrt(1 + (p - target) ** 2) - 1, axis=1)

    def gradient(self, p, target):
        r = p - target
        return r / np.sqrt(1 + r**2)

    def hessian(self, p, target):
        diagonal = (1 + (p - target) ** 2) ** -1.5
        return diagonal[:, :, None] * np.eye(p.shape[1], dtype=p.dtype)


class MeanLeft(PseudoHuber):
    """The value averages over outputs still."""

    def value(self, p, target):
        return np.mean(np.sqrt(1 + (p - target) ** 2) - 1, axis=1)


class PowerLeft(PseudoHuber):
    """The Hessian has the power of the gradient still."""

    def hessian(self, p, target):
        diagonal = (1 + (p - target) ** 2) ** -0.5
        return diagonal[:, :, None] * np.eye(p.shape[1], dtype=p.dtype)


WRONG = [(MeanLeft, "gradient"), (PowerLeft, "hessian")]


def by_hand(loss):
    """The value of two samples, output by output."""
    p, target = np.array([[0.5, -2.0, 4.0], [1.0, 3.0, -1.0]]), np.array([[0.0, 1.0, 1.0]] * 2)
    expected = [sum(math.sqrt(1 + (p_i - t_i) ** 2) - 1 for p_i, t_i in zip(*rows))
                for rows in zip(p.tolist(), target.tolist())]
    return ("value", loss.value(p, target), np.array(expected),
            "f is a sum over the outputs of a sample, and nothing else")
