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
ONE_SAMPLE = Condition("one sample",
                       "F stands for the objective f of one sample; over a batch the products are "
                       "averaged, as section 3.1 does with g^T H g and g . grad f.")

LOSSES = {"softmax": (nets.SoftmaxCrossEntropy, reference.cross_entropy),
          "squared": (nets.SquaredError, reference.squared_error)}


class NetworkCase(NamedTuple):
    """A network at one sample: the paper's quantities, and the same by jets in all weights."""

    evaluation: object
    sample: Quantities
    ws: list  # W^(1), ..., W^(n), U, with a column more where there are biases
    activation: str | list  # one name, or a list of names by layer
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


def network_case(rng, activation="tanh", loss="softmax", sizes=SIZES, samples=1, bias=False,
                 plain=()):
    """A random :class:`NetworkCase`; every ReLU layer has live and dead units.

    The layers in `plain` have no activation.
    """
    while True:
        net = network(rng, activation, sizes, bias, plain)
        x = rng.normal(size=(samples, sizes[0]))
        y = (rng.dirichlet(np.ones(sizes[-1]), samples) if loss == "softmax"
             else rng.normal(size=(samples, sizes[-1])))
        made, written = LOSSES[loss]
        evaluation = net.evaluate(made(), x, y)
        slopes = [kept.slope for kept in evaluation.saved if hasattr(kept, "slope")]
        if activation != "relu" or all(s.any(axis=1).all() and not s.all() for s in slopes):
            break
    if plain:
        activation = [None, *("identity" if k in plain else activation
                              for k in range(1, len(sizes) - 1))]
    ws = [None, *(np.column_stack([layer.weight, layer.bias]) if bias else layer.weight.copy()
                  for layer in net.layers if isinstance(layer, nets.Linear))]
    jets = reference.variables(*ws[1:])
    z, v = reference.layers(jets[:-1], [reference.Jet(
        value, np.zeros(net.size), np.zeros(2 * (net.size,))) for value in x[0]], activation)
    columns = len(v[-1])
    p = reference.affine(jets[-1][:, :columns], v[-1], jets[-1][:, -1] if bias else None)
    ends = np.cumsum([0, *(w.size for w in ws[1:])])
    slices = [None, *(slice(a, b) for a, b in pairwise(ends))]
    return NetworkCase(evaluation, quantities(evaluation), ws, activation, z, v, p,
                       written(p, y[0]), slices)


def network(rng, activation, sizes, bias=False, plain=(), frozen=()):
    """A random chain; layers in `plain` have no activation, those in `frozen` are not trained."""
    layers = []
    for k, (m, d) in enumerate(pairwise(sizes), start=1):
        layers.append(nets.Linear(m, d, bias=bias, trainable=k not in frozen, init=1.2, rng=rng))
        if k < len(sizes) - 1 and k not in plain:
            layers.append(nets.Activation(activation))
    return nets.Network(layers)


#: Options of `network_case`: with biases, and with layers that have no activation.
KINDS = ({}, {"bias": True}, {"plain": (2,)}, {"bias": True, "plain": (1, 3)})


def kinds(rng, activation="tanh", loss="softmax", **options):
    """(name, case): plain, with biases, and with layers that have no activation."""
    for kind in KINDS:
        name = ", ".join([activation, loss, *(f"{key} {value}" for key, value in kind.items())])
        yield name, network_case(rng, activation, loss, **(options | kind))


def jacobian_in_output(case, k, l):
    """d v^(k) / d v^(l) by jets that start at layer l."""
    start = reference.variables(reference.values(case.v[l]))[0]
    return reference.firsts(reference.layers(case.ws[l + 1 : k + 1], start, case.activation,
                                             l)[1][-1])


def jacobian_in_argument(case, k, l):
    """d v^(k) / d z^(l) by jets that start at the argument of layer l."""
    start = reference.variables(reference.values(case.z[l]))[0]
    v = np.array([jet.through(*reference.of_layer(case.activation, l)) for jet in start],
                 dtype=object)
    return reference.firsts(reference.layers(case.ws[l + 1 : k + 1], v, case.activation, l)[1][-1])


def pairs(n, first=1):
    """All pairs of layers (k, l) with numbers from `first` to n."""
    return [(k, l) for k in range(first, n + 1) for l in range(first, n + 1)]


def stacked(arrays):
    """Arrays of any shapes as one flat vector, to be compared in one claim."""
    return np.concatenate([np.ravel(a) for a in arrays])


def batch(rng, activation="relu", sizes=(4, 5, 6, 5, 3), samples=6, loss="softmax"):
    """An evaluation with dense gradient and Hessian, and a direction."""
    case = network_case(rng, activation, loss, sizes, samples)
    return with_dense(rng, case.evaluation)


def with_dense(rng, at):
    """An evaluation, a direction, and the dense gradient and Hessian."""
    args = at.network, at.loss_function, at.x, at.y
    return (at, rng.normal(size=at.network.size), exact.gradient(*args),
            exact.hessian(*args, method="products"))


#: What else a network or a batch may be, by name: options of `network`, and the number of samples.
UNUSUAL = {
    "first layer frozen": ({"frozen": (1,)}, 3),
    "middle layer frozen": ({"frozen": (2,)}, 3),
    "output frozen": ({"frozen": (4,)}, 3),
    "no biases": ({"bias": False}, 3),
    "no activation after layer 1": ({"plain": (1,)}, 3),
    "no activation after layer 2": ({"plain": (2,)}, 3),
    "one sample": ({}, 1),
    "eleven samples": ({}, 11),
}
#: A batch that `factors.hessian` works through in parts, the last of them shorter.
IN_PARTS = {"two parts of a batch": ({"sizes": (60, 3, 2)}, 400)}


def unusual(rng, names=tuple(UNUSUAL), activations=("relu", "tanh", "softplus"), loss=None):
    """(name, evaluation, direction, dense gradient, dense Hessian) of each."""
    for name in names:
        options, samples = (UNUSUAL | IN_PARTS)[name]
        options = {"sizes": (4, 5, 3, 4, 3), "bias": True} | options
        activation = str(rng.choice(activations))
        kind = loss or str(rng.choice(list(LOSSES)))
        while True:
            net = network(rng, activation, **options)
            x, outputs = rng.normal(size=(samples, options["sizes"][0])), options["sizes"][-1]
            y = (rng.dirichlet(np.ones(outputs), samples) if kind == "softmax"
                 else rng.normal(size=(samples, outputs)))
            at = net.evaluate(LOSSES[kind][0](), x, y)
            if samples > 20 or not dead(at):
                break
        yield (f"{name}, {activation}, {kind}", *with_dense(rng, at))


def dead(evaluation):
    """Whether some sample has no live unit in some layer."""
    kept = [saved.slope for saved in evaluation.saved if hasattr(saved, "slope")]
    return not all(slope.any(axis=1).all() for slope in kept)


def model(a, h, length, sigma, s):
    """The model along the ray, from its four terms."""
    return a * s + h * s**2 / 2 + sigma * abs(s * length) ** 3 / 6
