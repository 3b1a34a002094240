"""Random small networks for the checks of this paper, their derivatives by jets, and the shared
conditions.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .... import exact, nets
from ....ledger import Case, Condition
from ..quantities import Quantities, quantities
from . import reference

SIZES = (3, 4, 3, 4, 3)
TOLERANCE = 1e-11
CLEAR = 1e-7  # what is wrong in print misses by ten times this; what is right stays below TOLERANCE

STRAIGHT = Condition("straight", "A'' = 0 where it is evaluated, as for ReLU away from its kink.")
IN_ORDER = Condition("in order", "m <= l <= k: the three layers follow each other.")
INSIDE = Condition("inside", "l < r <= k: the layer that is taken out lies between the two.")
DESCENT = Condition("descent", "g is a descent direction, g . grad f < 0, and sigma > 0.")
ONE_SAMPLE = Condition("one sample", "F is the objective f of one sample.")

LOSSES = {"softmax": (nets.SoftmaxCrossEntropy, reference.cross_entropy),
          "squared": (nets.SquaredError, reference.squared_error)}


class NetworkCase(NamedTuple):
    """A network at one sample: the paper's quantities, and the same by jets in all weights."""

    evaluation: object
    sample: Quantities
    ws: list  # W^(1), ..., W^(n), U
    activation: str
    z: list  # jets
    v: list
    p: np.ndarray
    f: reference.Jet
    slices: list  # of W^(1), ..., W^(n), U among the variables; slices[0] is None

    def first(self, jets, k):
        """First derivatives of jets in layer k's weights (n + 1: U), two more axes."""
        return self._split(reference.firsts(jets), -1, k)

    def second(self, jets, k, r):
        """Second derivatives in the weights of layers k and r, four more axes."""
        inner = self._split(reference.seconds(jets), -1, r)
        return self._split(inner, -3, k)

    def live(self):
        """For the reader: the input, the output, f_p and the first weights."""
        s = self.sample
        return Case(x=s.v[0], f_p=s.f_p, p=s.p, w_1=s.w[1])

    def _split(self, array, axis, k):
        axis += array.ndim
        taken = np.take(array, range(*self.slices[k].indices(array.shape[axis])), axis)
        return taken.reshape(*array.shape[:axis], *self.ws[k].shape, *array.shape[axis + 1 :])


def network_case(rng, activation="tanh", loss="softmax", sizes=SIZES, samples=1):
    """A random :class:`NetworkCase` without biases; every ReLU layer has live and dead units."""
    while True:
        net = nets.mlp(list(sizes), activation=activation, bias=False, init=1.2, rng=rng)
        x = rng.normal(size=(samples, sizes[0]))
        y = (rng.dirichlet(np.ones(sizes[-1]), samples) if loss == "softmax"
             else rng.normal(size=(samples, sizes[-1])))
        made, written = LOSSES[loss]
        evaluation = net.evaluate(made(), x, y)
        slopes = [kept.slope for kept in evaluation.saved[1::2]]
        if activation != "relu" or all(s.any(axis=1).all() and not s.all() for s in slopes):
            break
    ws = [None, *(layer.weight.copy() for layer in net.layers[::2])]
    jets = reference.variables(*ws[1:])
    z, v = reference.layers(jets[:-1], [reference.Jet(
        value, np.zeros(net.size), np.zeros(2 * (net.size,))) for value in x[0]], activation)
    p = reference.affine(jets[-1], v[-1])
    ends = np.cumsum([0, *(w.size for w in ws[1:])])
    slices = [None, *(slice(a, b) for a, b in pairwise(ends))]
    return NetworkCase(evaluation, quantities(evaluation), ws, activation, z, v, p,
                       written(p, y[0]), slices)


def jacobian_in_output(case, k, l):
    """d v^(k) / d v^(l) by jets that start at layer l."""
    start = reference.variables(reference.values(case.v[l]))[0]
    return reference.firsts(reference.layers(case.ws[l + 1 : k + 1], start, case.activation)[1][-1])


def jacobian_in_argument(case, k, l):
    """d v^(k) / d z^(l) by jets that start at the argument of layer l."""
    start = reference.variables(reference.values(case.z[l]))[0]
    v = np.array([jet.through(*reference.ACTIVATIONS[case.activation]) for jet in start],
                 dtype=object)
    return reference.firsts(reference.layers(case.ws[l + 1 : k + 1], v, case.activation)[1][-1])


def pairs(n, first=1):
    """All pairs of layers (k, l) with numbers from `first` to n."""
    return [(k, l) for k in range(first, n + 1) for l in range(first, n + 1)]


def stacked(arrays):
    """Arrays of any shapes as one flat vector, to be compared in one claim."""
    return np.concatenate([np.ravel(a) for a in arrays])


def batch(rng, activation="relu", sizes=(4, 5, 6, 5, 3), samples=6, loss="softmax"):
    """An evaluation with dense gradient and Hessian, and a direction."""
    case = network_case(rng, activation, loss, sizes, samples)
    at = case.evaluation
    args = at.network, at.loss_function, at.x, at.y
    return (at, rng.normal(size=at.network.size), exact.gradient(*args),
            exact.hessian(*args, method="products"))


def model(a, h, length, sigma, s):
    """The model along the ray, from its four terms."""
    return a * s + h * s**2 / 2 + sigma * abs(s * length) ** 3 / 6
