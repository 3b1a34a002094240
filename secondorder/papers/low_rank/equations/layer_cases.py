"""Single layers, convolutional and recurrent, at random, by jets."""

from typing import NamedTuple

import numpy as np

from ....ledger import Case, Equal
from ....nets.layers.activation_functions import activation_function
from .. import eq_44_57_convolution as convolution
from .. import eq_58_65_recurrence as recurrence
from . import reference
from .cases import tolerance

STRIDES, STEPS = (2, 3), 4


class LayerCase(NamedTuple):
    """A layer at one input x with weights w. Its derivatives are asked for by the names "x", "w".

    `of` has what the room's formulas take: the patches and slopes of a convolution, or a recurrence
    as a Sample.
    """

    x: np.ndarray
    w: np.ndarray
    variables: reference.Variables
    v: np.ndarray  # outputs as jets
    of: object

    @property
    def tolerance(self):
        """What rounding allows in the precision of w."""
        return tolerance(self.w.dtype)

    def d(self, *names):
        """First or second derivatives of the outputs, by jets."""
        return self.variables.of(self.v, *names)

    def live(self):
        """For the reader."""
        return Case(x=self.x, w=self.w, v=reference.values(self.v))


def against(cases, rule, *names, what=""):
    """Claims that ``rule(case.of)`` has the derivatives by jets, of all cases; and one of these."""
    claims = []
    for name, case in cases.items():
        jets = case.d(*names)
        scale = max(np.abs(case.d("x")).max(), np.abs(jets).max())
        claims.append(Equal(f"{what}against jets", rule(case.of), jets, case.tolerance, scale,
                            name))
    return [*claims, case.live()]


class Convolution(NamedTuple):
    """What (44)-(57) are written in."""

    x: np.ndarray
    w: np.ndarray
    strides: tuple
    z: np.ndarray
    slope: np.ndarray
    bend: np.ndarray
    dz_dx: np.ndarray
    on_x: np.ndarray


def convolution_case(rng, activation="tanh", strides=STRIDES, x_shape=(6, 5), w_shape=(3, 2),
                     dtype="float64"):
    """A random convolution; the kernel fits more than once in both directions, and a ReLU is
    neither dead nor live everywhere.
    """
    value, slope, bend = map(np.vectorize, reference.ACTIVATIONS[activation])
    while True:
        x, w = (rng.normal(size=shape).astype(dtype) for shape in (x_shape, w_shape))
        variables = reference.Variables({"x": x, "w": w})
        z = reference.by_loops(variables["x"], variables["w"], strides)
        at = reference.values(z)
        if activation != "relu" or (at > 0).any() and not (at > 0).all():
            break
    v = np.vectorize(lambda jet: jet.through(*reference.ACTIVATIONS[activation]))(z)
    of = Convolution(x, w, strides, convolution.eq_45_patches(x, w_shape, *strides),
                     slope(at).astype(dtype), bend(at).astype(dtype),
                     convolution.eq_48_dz_dx(x_shape, w_shape, *strides).astype(dtype),
                     convolution.kernel_on_image(w, x_shape, *strides))
    return LayerCase(x, w, variables, v, of)


def convolutions(rng):
    """A piecewise-linear activation, strides one, float32, strides above one."""
    return {"ReLU, strides 3 and 1": convolution_case(rng, "relu", (3, 1), (7, 3), (3, 2)),
            "softplus, strides 1": convolution_case(rng, "softplus", (1, 1), (4, 4), (2, 3)),
            "float32": convolution_case(rng, "tanh", (1, 2), (4, 5), (3, 2), "float32"),
            "tanh, strides 2 and 3": convolution_case(rng)}


def recurrence_case(rng, activation="relu", steps=STEPS, dtype="float64", d=3):
    """A random recurrence; with ReLU, some units are dead at some time and none is dead for ever.
    """
    while True:
        w, x = rng.normal(size=(d, d)).astype(dtype), (rng.normal(size=d) + 0.5).astype(dtype)
        sample = recurrence.eq_58_59_unrolled(w, x, steps, activation_function(activation))
        slopes = np.array(sample.slope[1:])
        if activation != "relu" or (slopes.any(axis=1).all() and not slopes.all()
                                    and slopes[-1].sum() > 1):
            break
    variables = reference.Variables({"x": x, "w": w} | reference.shifts([d] * (steps + 1)))
    v = reference.layers(variables, [variables["w"]] * steps, variables["x"],
                         [[activation]] * steps)[1]
    return LayerCase(x, w, variables, v[-1], sample)


def recurrences(rng, *activations):
    """Every activation, one step, float32."""
    first = activations[0]
    return {f"{first}, one step": recurrence_case(rng, first, 1),
            f"{first}, float32": recurrence_case(rng, first, dtype="float32"),
            **{activation: recurrence_case(rng, activation) for activation in activations}}
