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
