"""Random small cases for the checks: networks at one sample with jets in all variables, and batches
with the dense derivatives of their objective. What both are compared with stands in ``reference``.

A network differs from the next one in what a fault may hide behind: see `KINDS` and `ROWS`.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .... import exact, nets
from ....ledger import Case, Counterexample, Equal
from ..eq_10_26_network import Sample
from ..layers import sample
from . import reference

SIZES = (3, 4, 3, 4, 3)
TOLERANCE, SINGLE = 1e-11, 3e-5  # what rounding allows in float64, in float32
CLEAR = 1e-7  # what is wrong in print misses by ten times this; what is right stays below TOLERANCE

LOSSES = {"softmax": (nets.SoftmaxCrossEntropy, reference.cross_entropy),
          "squared": (nets.SquaredError, reference.squared_error)}
ACTIVATIONS = ("relu", "tanh", "softplus")
CURVED = ("tanh", "softplus")


def tolerance(dtype):
    """What rounding allows in this precision."""
    return SINGLE if dtype == np.float32 else TOLERANCE


# -- networks --------------------------------------------------------------------------------------

def network(rng, activation="tanh", sizes=SIZES, bias=False, plain=(), frozen=(),
            output="identity", dtype="float64"):
    """A random chain of affine layers and activations.

    `bias` is for all layers, or a tuple by layer; `output` is the activation behind the last,
    ``"identity"`` adds none. Of the layers, counted from 1, those in `plain` have no activation,
    those in `frozen` are not trained.
    """
    layers, last = [], len(sizes) - 1
    biases = bias if isinstance(bias, tuple) else (bias,) * last
    for k, (m, d) in enumerate(pairwise(sizes), start=1):
        layers.append(nets.Linear(m, d, bias=biases[k - 1], trainable=k not in frozen, init=1.2,
                                  rng=rng))
        behind = output if k == last else activation
        if behind != "identity" and k not in plain:
            layers.append(nets.Activation(behind))
    return nets.Network(layers, dtype=dtype)


def evaluation(rng, net, loss, samples):
    """An evaluation on random inputs and targets: probabilities for the softmax, numbers else."""
    x = rng.normal(size=(samples, *net.input_shape))
    C = net(x).shape[1]
    y = rng.dirichlet(np.ones(C), samples) if loss == "softmax" else rng.normal(size=(samples, C))
    return net.evaluate(LOSSES[loss][0](), x, y)


def live_units(at, kind=None, which=slice(None)):
    """For every activation (of one name) which units are live, (samples, d)."""
    return [saved.slope[which] != 0 for layer, saved in zip(at.network.layers, at.saved)
            if isinstance(layer, nets.Activation) and kind in (None, layer.function.name)]


# -- one sample, with jets -------------------------------------------------------------------------

class NetworkCase(NamedTuple):
    """A network at one sample: the paper's quantities, and the same by jets.

    Variables are the weights ("w", k), with u as ("w", n + 1), and shifts ("v", k), ("z", k) of a
    layer's outputs and arguments.
    """

    evaluation: object
    sample: Sample
    variables: reference.Variables
    z: list  # jets
    v: list
    p: np.ndarray
    f: reference.Jet
    objective: object  # f of jets p

    @property
    def tolerance(self):
        """What rounding allows in this network's precision."""
        return tolerance(self.evaluation.network.dtype)

    def d(self, jets, *names):
        """Derivatives of jets in the variables of one name, or of two."""
        return self.variables.of(jets, *names)

    def alpha(self, k, l):
        """d v^(k) / d v^(l); 0 for k < l."""
        return self.d(self.v[k], ("v", l))

    def eta(self, k, l):
        """d v^(k) / d z^(l); 0 for k < l."""
        return self.d(self.v[k], ("z", l))

    def block(self, *layers):
        """d2 f in the weights of two layers; which is not given is the output."""
        names = [("w", k) for k in (*[self.sample.n + 1] * (2 - len(layers)), *layers)]
        return self.d(self.f, *names)

    def in_p(self):
        """Gradient and Hessian of f as a function of p alone."""
        p = reference.Variables({"p": reference.values(self.p)})
        f = self.objective(p["p"])
        return p.of(f, "p"), p.of(f, "p", "p")

    def live(self):
        """For the reader: the input, the output, f_p and the first weights."""
        s = self.sample
        return Case(x=s.v[0], f_p=s.f_p, p=reference.values(self.p), w_1=s.w[1])


def network_case(rng, activation="tanh", loss="softmax", sizes=SIZES, samples=1, which=0,
                 **options):
    """A random :class:`NetworkCase` at the sample `which`; every ReLU layer has live and dead
    units.

    Further options are those of :func:`network`.
    """
    while True:
        at = evaluation(rng, network(rng, activation, sizes, **options), loss, samples)
        here = live_units(at, "relu", slice(which, which + 1))
        if all(units.any() and not units.all() for units in here):
            return with_jets(at, LOSSES[loss][1], which)


def with_jets(at, criterion, which):
    """The :class:`NetworkCase` of an evaluation."""
    affine, names = [], []
    for layer in at.network.layers:
        if isinstance(layer, nets.Linear):
            affine.append(layer)
            names.append([])
        else:
            names[-1].append(layer.function.name)
    unit = any(layer.bias is not None for layer in affine)
    ws = [with_unit(layer, layer is affine[-1]) if unit else layer.weight for layer in affine]
    widths = [ws[0].shape[1], *map(len, ws[:-1])]
    variables = reference.Variables({("w", k): w for k, w in enumerate(ws, start=1)}
                                    | reference.shifts(widths))
    *hidden, u = (variables["w", k] for k in range(1, len(ws) + 1))
    z, v = reference.layers(variables, hidden, np.append(at.x[which], [1.0] * unit), names, unit)
    p = reference.affine(u, v[-1])

    def objective(p):
        for name in names[-1]:
            p = [jet.through(*reference.ACTIVATIONS[name]) for jet in p]
        return criterion(p, at.y[which])

    return NetworkCase(at, sample(at, which), variables, z, v, p, objective(p), objective)


def with_unit(layer, last):
    """A layer's weights with the biases as weights of one input more, which is 1; and, but for the
    last layer, one row more, which gives that 1 on.
    """
    d, m = layer.weight.shape
    w = np.zeros((d + (not last), m + 1), layer.weight.dtype)
    w[:d, :m], w[d:, m] = layer.weight, 1
    if layer.bias is not None:
        w[:d, m] = layer.bias
    return w


#: What a network at one sample may be, by name: options of `network_case`.
KINDS = {
    "biases": {"bias": True},
    "biases in some layers": {"bias": (True, False, True, False)},
    "no biases in some layers": {"bias": (False, True, False, True)},
    "no activation after layer 2": {"plain": (2,)},
    "biases, an activation after layer 2 only": {"bias": True, "plain": (1, 3)},
    "an activation at the output": {"output": "tanh", "bias": True},
    "the last of three samples, layer 2 frozen": {"samples": 3, "which": 2, "frozen": (2,),
                                                  "bias": True},
    "float32": {"dtype": "float32", "bias": True},
}


def kinds(rng, activations=ACTIVATIONS):
    """(name, case): each activation once without anything else, and each of `KINDS` with one of the
    curved activations by chance, if there are any.
    """
    curved = [a for a in activations if a in CURVED] or activations
    for name, activation, options in [
            *(("plain", a, {}) for a in activations),
            *((name, str(rng.choice(curved)), options) for name, options in KINDS.items())]:
        loss = str(rng.choice(list(LOSSES)))
        yield f"{activation}, {loss}, {name}", network_case(rng, activation, loss, **options)


def compared(rng, *rows, activations=ACTIVATIONS, scale=None):
    """Claims on all `kinds`: of each row (what, rule, right, places) that ``rule(sample, *at)`` is
    ``right(case, *at)`` for all `at` in ``places(n)`` together; and one of the cases.

    `scale` takes a case to the size of what cancels; the scale of the claim is at least this.
    """
    claims = []
    for name, case in kinds(rng, activations):
        for what, rule, right, places in rows:
            left, expected = (at_each(f, of, places(case.sample.n))
                              for f, of in ((rule, case.sample), (right, case)))
            claims.append(Equal(what, left, expected, case.tolerance, case=name,
                                scale=scale and max(np.max(scale(case)),
                                                    np.abs(stacked(expected.values())).max())))
    return [*claims, case.live()]


def against_jets(rng, rule, right, places, activations=ACTIVATIONS, scale=None):
    """Claims of :func:`compared` for one rule."""
    return compared(rng, ("against jets", rule, right, places), activations=activations,
                    scale=scale)


def outside(what, rule, right, at, case):
    """Claim: outside a condition the rule, at all `at` together, is not ``right(case, *at)``."""
    left, expected = (at_each(f, of, at) for f, of in ((rule, case.sample), (right, case)))
    return Counterexample(Equal(what, left, expected, CLEAR))


def at_each(rule, of, places):
    """What ``rule(of, *at)`` is at all `places`, each array with its own: `(k, l)`."""
    return {f"({', '.join(map(str, at))})" if at else "": rule(of, *at) for at in places}


def scale_of_outputs(case):
    """The size of what may cancel in blocks of the output's weights."""
    return np.abs(case.sample.v[-1]).max() ** 2 * np.abs(reference.values(case.p)).max()


def once(n):
    """One place, for what has no numbers of layers."""
    return [()]


def all_layers(n):
    """The numbers of all hidden layers, as tuples of one."""
    return [(k,) for k in range(1, n + 1)]


def pairs(n, first=1):
    """All pairs of layers (k, l) with numbers from `first` to n."""
    return [(k, l) for k in range(first, n + 1) for l in range(first, n + 1)]


def stacked(arrays):
    """Arrays of any shapes as one flat vector, to be compared in one claim."""
    return np.concatenate([np.ravel(a) for a in arrays])


# -- batches ---------------------------------------------------------------------------------------

class Batch(NamedTuple):
    """An evaluation, a direction, and the gradient and Hessian of its objective, dense."""

    name: str
    at: object
    direction: np.ndarray
    g: np.ndarray
    H: np.ndarray

    @property
    def tolerance(self):
        """What rounding allows in this network's precision."""
        return tolerance(self.at.network.dtype)

    @property
    def derivative(self):
        """g . grad F, and the size of its terms."""
        return self.direction @ self.g, np.abs(self.direction) @ np.abs(self.g)

    @property
    def curvature(self):
        """g^T H g, and the size of its terms."""
        d = self.direction.astype(np.float64)
        return d @ self.H @ d, np.abs(d) @ np.abs(self.H) @ np.abs(d)

    @property
    def model(self):
        """Network, loss, inputs and targets."""
        return self.at.network, self.at.loss_function, self.at.x, self.at.y

    def equal(self, what, left, right, scale=None, allowed=None):
        """The claim that both are equal on this batch, by default to rounding."""
        return Equal(what, left, right, allowed or self.tolerance, scale=scale, case=self.name)


def batch(rng, activation="relu", sizes=(4, 5, 6, 5, 3), samples=6, loss="softmax", **options):
    """A random :class:`Batch`; drawn again where a layer is dead for some sample."""
    while True:
        at = evaluation(rng, network(rng, activation, sizes, **options), loss, samples)
        if samples > 20 or all(units.any(axis=1).all() for units in live_units(at)):
            return with_dense(f"{activation}, {loss}", at, rng.normal(size=at.network.size))


def with_dense(name, at, direction):
    """The :class:`Batch` of an evaluation; dense derivatives are computed in float64."""
    wide = at.network.astype("float64"), at.loss_function, at.x, at.y
    return Batch(name, at, direction.astype(at.network.dtype), exact.gradient(*wide),
                 exact.hessian(*wide, method="products"))


def sample_by_sample(row):
    """The samples of a batch, each as a :class:`Batch` with the same direction."""
    net, loss, x, y = row.model
    return [with_dense("", net.evaluate(loss, x[b : b + 1], y[b : b + 1]), row.direction)
            for b in range(len(x))]


def moved(at, change):
    """A copy of an evaluation's network with parameters theta + change, in float64."""
    net = at.network.astype("float64")
    net.theta = net.theta + change
    return net


#: What else a batch or its network may be, by name: options of `batch`.
ROWS = {
    "first layer frozen": {"frozen": (1,)},
    "middle layer frozen": {"frozen": (2,)},
    "two layers frozen, ReLU": {"frozen": (1, 3), "activation": "relu"},
    "output frozen": {"frozen": (4,)},
    "no biases": {"bias": False},
    "biases in some layers": {"bias": (True, False, True, False)},
    "no biases in some layers": {"bias": (False, True, False, True)},
    "no activation after layer 1": {"plain": (1,)},
    "no activation after layer 2": {"plain": (2,)},
    "an activation at the output": {"output": "tanh"},
    "one sample": {"samples": 1},
    "two samples": {"samples": 2},
    "eleven samples": {"samples": 11},
    "float32": {"dtype": "float32"},
}
RELU = {"ReLU": {"activation": "relu"}}
#: A batch that the whole Hessian is made of in parts, the last of them shorter.
IN_PARTS = {"two parts of a batch": {"sizes": (60, 3, 2), "samples": 400, "loss": "softmax"}}


def rows(rng, chosen=ROWS, activation=None):
    """A :class:`Batch` for each of `ROWS`, with a loss and a curved activation by chance; or with
    the given activation, where a row has none of its own.
    """
    for name, options in chosen.items():
        if activation is None or "activation" not in options:
            row = batch(rng, **{"sizes": (4, 5, 3, 4, 3), "bias": True, "samples": 3,
                                "activation": activation or str(rng.choice(CURVED)),
                                "loss": str(rng.choice(list(LOSSES)))} | options)
            yield row._replace(name=f"{name}, {row.name}")


def nested(row):
    """The same network as a chain in a chain in a chain, on the same batch."""
    first, *rest = [layer.copy() for layer in row.at.network.layers]
    net = nets.Network([first, nets.Chain([rest[0], nets.Chain(rest[1:])])])
    at = net.evaluate(row.at.loss_function, row.at.x, row.at.y)
    return row._replace(name=f"chains in chains, {row.name}", at=at)
