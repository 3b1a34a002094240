"""Solution of exercise 15_bug_hunt_activation, with what is left when one mistake is overlooked."""

import numpy as np

import secondorder as so


class SoftSign(so.ActivationFunction):
    """x / (1 + |x|)."""

    name = "softsign"

    def value(self, x):
        return x / (1 + abs(x))

    def slope(self, x):
        return 1 / (1 + abs(x)) ** 2

    def curvature(self, x):
        return -2 * np.sign(x) / (1 + abs(x)) ** 3


class PowerLeft(SoftSign):
    """The slope lacks its square still."""

    def slope(self, x):
        return 1 / (1 + abs(x))


class SignLeft(SoftSign):
    """The second derivative has the wrong sign still."""

    def curvature(self, x):
        return 2 * np.sign(x) / (1 + abs(x)) ** 3


WRONG = [(PowerLeft, "slope"), (SignLeft, "curvature")]


def by_hand(function):
    """The value at a few numbers on both sides of 0."""
    x = np.array([-3.0, -0.5, 0.0, 1.0, 9.0])
    expected = [number / (1 + (number if number > 0 else -number)) for number in x.tolist()]
    return ("value", function.value(x), np.array(expected),
            "s(x) is x over 1 + |x|: 1/2 at x = 1")
