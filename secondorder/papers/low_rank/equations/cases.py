"""Random small networks for the checks, at one sample; batches stand in ``batch_cases``, what both
are compared with in ``reference``.

A network differs from the next one in what a fault may hide behind: see `KINDS`.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .... import nets
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

def network(rng, activation="tanh", sizes=SIZES, bias=False, plain=(), twice=(), frozen=(),
            output="identity", dtype="float64"):
    """A random chain of affine layers and activations.

    Activation and bias are for all layers, or a tuple by layer; `output` is the activation behind
    the last, ``"identity"`` adds none. Of the layers, counted from 1, those in `plain` have no
    activation, those in `twice` have it twice, those in `frozen` are not trained.
    """
    layers, last = [], len(sizes) - 1
    biases = bias if isinstance(bias, tuple) else (bias,) * last
    for k, (m, d) in enumerate(pairwise(sizes), start=1):
        layers.append(nets.Linear(m, d, bias=biases[k - 1], trainable=k not in frozen, init=1.2,
                                  rng=rng))
        behind = output if k == last else (
            activation[k - 1] if isinstance(activation, tuple) else activation)
        if behind != "identity" and k not in plain:
            layers += [nets.Activation(behind) for _ in range(1 + (k in twice))]
    return nets.Network(layers, dtype=dtype)


def half_live(evaluation, which=slice(None)):
    """Whether in every ReLU layer each of the samples has a live unit, and some unit is dead."""
    slopes = [saved.slope[which] for layer, saved in zip(evaluation.network.layers,
                                                         evaluation.saved)
              if isinstance(layer, nets.Activation) and layer.function.name == "relu"]
    return all(slope.any(axis=-1).all() and not slope.all() for slope in slopes)


def dead(evaluation):
    """Whether some sample has no live unit in some layer."""
    slopes = [saved.slope for saved in evaluation.saved if hasattr(saved, "slope")]
    return not all(slope.any(axis=1).all() for slope in slopes)


def targets(rng, loss, samples, outputs):
    """Random targets: probabilities for the softmax, numbers for the squared error."""
    if loss == "softmax":
        return rng.dirichlet(np.ones(outputs), samples)
    return rng.normal(size=(samples, outputs))


# -- one sample, with jets -------------------------------------------------------------------------

class NetworkCase(NamedTuple):
    """A network at one sample: the paper's quantities, and the same by jets in all weights."""

    evaluation: object
    sample: Sample
    ws: list  # W^(1), ..., W^(n), U, with biases by a unit that is always 1; ws[0] is None
    activation: list  # names by layer for `reference`; that of layer 0 is None
    z: list  # jets
    v: list
    p: np.ndarray
    f: reference.Jet
    objective: object  # f of jets p
    slices: list  # of W^(1), ..., W^(n), U among the variables; slices[0] is None

    @property
    def tolerance(self):
        """What rounding allows in this network's precision."""
        return tolerance(self.evaluation.network.dtype)

    def first(self, jets, k):
        """First derivatives of jets in layer k's weights (n + 1: U), two more axes."""
        return reference.part(reference.firsts(jets), -1, self.slices[k], self.ws[k].shape)

    def second(self, jets, k, r):
        """Second derivatives in the weights of layers k and r, four more axes."""
        inner = reference.part(reference.seconds(jets), -1, self.slices[r], self.ws[r].shape)
        return reference.part(inner, -3, self.slices[k], self.ws[k].shape)

    def by_complex_steps(self, function, q, *layers):
        """Derivative in W^(q) of ``function(ws, x, activation, *layers)``, from `reference`."""
        x = self.sample.v[0].astype(np.float64)
        ws = [None, *(w.astype(np.float64) for w in self.ws[1:])]
        return reference.derivative(lambda ws: function(ws, x, self.activation, *layers), ws, q)

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
        net = network(rng, activation, sizes, **options)
        x, y = rng.normal(size=(samples, sizes[0])), targets(rng, loss, samples, sizes[-1])
        evaluation = net.evaluate(LOSSES[loss][0](), x, y)
        if half_live(evaluation, slice(which, which + 1)):
            break
    return with_jets(evaluation, activation, loss, which, options)


def with_jets(evaluation, activation, loss, which, options):
    """The :class:`NetworkCase` of an evaluation of :func:`network`."""
    affine = [layer for layer in evaluation.network.layers if isinstance(layer, nets.Linear)]
    biased = any(layer.bias is not None for layer in affine)
    ws = [None, *((with_unit if biased else unchanged)(layer, layer is affine[-1])
                  for layer in affine)]
    names = [None, *("unit " * biased + by_layer(activation, k, options)
                     for k in range(1, len(ws) - 1))]
    jets = reference.variables(*ws[1:])
    ends = np.cumsum([0, *(w.size for w in ws[1:])])
    x = [reference.Jet(float(value), np.zeros(ends[-1]), np.zeros(2 * (ends[-1],)))
         for value in [*evaluation.x[which], *[1.0] * biased]]
    z, v = reference.layers(jets[:-1], x, names)
    p = reference.affine(jets[-1], v[-1])
    slices = [None, *(slice(a, b) for a, b in pairwise(ends))]

    def objective(p):
        output = reference.ACTIVATIONS[options.get("output", "identity")]
        return LOSSES[loss][1]([jet.through(*output) for jet in p], evaluation.y[which])

    return NetworkCase(evaluation, sample(evaluation, which), ws, names, z, v, p, objective(p),
                       objective, slices)


def unchanged(layer, last):
    """A layer's weights."""
    return layer.weight.copy()


def with_unit(layer, last):
    """The same with the biases as weights of one input more, which is 1; and, but for the last
    layer, one row more, which gives that 1 on.
    """
    d, m = layer.weight.shape
    w = np.zeros((d + (not last), m + 1), layer.weight.dtype)
    w[:d, :m] = layer.weight
    if layer.bias is not None:
        w[:d, m] = layer.bias
    w[d:, m] = 1
    return w


def by_layer(activation, k, options):
    """Name in `reference` of what stands behind layer k."""
    if k in options.get("plain", ()):
        return "identity"
    return f"{activation} {activation}" if k in options.get("twice", ()) else activation


#: What a network at one sample may be, by name: options of `network_case`.
KINDS = {
    "plain": {},
    "biases": {"bias": True},
    "biases in some layers": {"bias": (True, False, True, False)},
    "no biases in some layers": {"bias": (False, True, False, True)},
    "no activation after layer 2": {"plain": (2,)},
    "biases, an activation after layer 2 only": {"bias": True, "plain": (1, 3)},
    "two activations after layer 1": {"twice": (1,)},
    "an activation at the output": {"output": "tanh", "bias": True},
    "the last of three samples, layer 2 frozen": {"samples": 3, "which": 2, "frozen": (2,),
                                                  "bias": True},
    "float32": {"dtype": "float32", "bias": True},
}


def kinds(rng, *activations, loss=None, **options):
    """(name, case) of each of `KINDS`, with one of the curved activations by chance, if there are
    any, and of each activation once without anything else.
    """
    curved = [a for a in activations if a in CURVED] or activations
    chosen = [(name, str(rng.choice(curved)), kind) for name, kind in KINDS.items() if kind]
    for name, activation, kind in [*(("plain", a, {}) for a in activations), *chosen]:
        criterion = loss or str(rng.choice(list(LOSSES)))
        case = network_case(rng, activation, criterion, **(options | kind))
        yield f"{activation}, {criterion}, {name}", case


def compared(what, rule, right, layers, cases, scale=None):
    """Claims, case by case: ``rule(sample, *at)`` against ``right(case, *at)`` for all `at` in
    ``layers(n)``, together. `scale` takes a case to the size of what cancels; the scale of the
    claim is at least this.
    """
    claims = []
    for name, case in cases:
        left, expected = (at_each(f, of, layers(case.sample.n))
                          for f, of in ((rule, case.sample), (right, case)))
        claims.append(Equal(what, left, expected, case.tolerance, case=name, scale=scale and max(
            np.max(scale(case)), np.abs(stacked(expected.values())).max())))
    return claims


def outside(what, rule, right, at, case):
    """Claim: outside a condition the rule, at all `at` together, is not ``right(case, *at)``."""
    left, expected = (at_each(f, of, at) for f, of in ((rule, case.sample), (right, case)))
    return Counterexample(Equal(what, left, expected, CLEAR))


def at_each(rule, of, places):
    """What ``rule(of, *at)`` is at all `places`, each array with its own: `(k, l)`."""
    return {f"({', '.join(map(str, at))})" if at else "": rule(of, *at) for at in places}


def jacobian_in_output(case, k, l):
    """d v^(k) / d v^(l) by jets that start at layer l; 0 for k < l."""
    return from_layer(case, k, l, reference.variables(reference.values(case.v[l]))[0])


def jacobian_in_argument(case, k, l):
    """d v^(k) / d z^(l) by jets that start at the argument of layer l; 0 for k < l."""
    start = reference.variables(reference.values(case.z[l]))[0]
    return from_layer(case, k, l, reference.through(start, case.activation, l))


def from_layer(case, k, l, v):
    """Derivatives of v^(k) in the variables of `v`, the outputs of layer l as jets; 0 for k < l."""
    if k < l:
        return np.zeros((len(case.v[k]), len(v)))
    return reference.firsts(reference.layers(case.ws[l + 1 : k + 1], v, case.activation, l)[1][-1])


def second_of_objective(case, *layers):
    """d2 f in the weights of two layers, by jets; which is not given is the output."""
    return case.second(case.f, *[case.sample.n + 1] * (2 - len(layers)), *layers)


def scale_of_outputs(case):
    """The size of what may cancel in blocks of the output's weights."""
    return np.abs(case.sample.v[-1]).max() ** 2 * np.abs(reference.values(case.p)).max()


def all_layers(n):
    """The numbers of all hidden layers, as tuples of one."""
    return [(k,) for k in range(1, n + 1)]


def pairs(n, first=1):
    """All pairs of layers (k, l) with numbers from `first` to n."""
    return [(k, l) for k in range(first, n + 1) for l in range(first, n + 1)]


def stacked(arrays):
    """Arrays of any shapes as one flat vector, to be compared in one claim."""
    return np.concatenate([np.ravel(a) for a in arrays])
