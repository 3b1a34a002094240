"""Does the rule of a layer give a bound? It is held against the explicit quadratic form.

At random u, Z and g the quadratic form that the rule must lie above (see :class:`Rule`) is built
from the layer's own passes, which are checked first, and subtracted from the diagonal form that the
rule gives: no eigenvalue may be negative. Where the inequality fails, what the rule returned is
held against the literal fractions of Eq. (10), (11) and (37), and the ratio says what is wrong.
"""

import copy
import itertools

import numpy as np

from ...checks import whole_number
from ...checks.randomness import generator
from ...exact import hessian
from ...nets import Activation, Linear, Network, Reshape, SoftmaxCrossEntropy
from ...verify.classes.layer_under_test import Subject, sublayers
from ...verify.classes.layers import layer as check_passes, sample_shape
from ...verify.recorder import Recorder
from .fast import bound_at
from .hessian import bounded_hessian
from .options import Options
from .rule_quadratic import Quadratic, quotient
from .rules import rules

#: Largest quadratic form that is decomposed, and largest network around the layer.
MOST_VARIABLES, MOST_PARAMETERS = 1500, 700
_SINGLE = 6  # outputs that are looked at alone
_FIRST = ("affine part", "nothing trained below")
_NAMES, _LITERAL = ("u_out", "Z_in", "curvature"), ("|J| u + |B| 1", "|J|^T Z", "|B|^T Z")


def rule(layer, input_shape=None, samples=2, draws=3, rng=0, tolerance=1e-9):
    """Tell whether the rule that is registered for a layer gives a bound.

    Parameters
    ----------
    layer : Layer
        An instance whose class has a rule of residual partitioning. It is not changed.
    input_shape : tuple of int, optional
        Shape of one sample, as for `verify.layer`. Small ones do: the check forms matrices.
    samples : int
        Rows of the batch, at least 2; a layer's parameters are shared by them.
    draws : int
        How many times u, Z and g are drawn.
    rng : None, int or numpy.random.Generator
    tolerance : float
        Relative rounding that is allowed.

    Returns
    -------
    Report
        True when the rule gives a bound; its notes say how close the bound comes and where it is
        loose.

    Raises
    ------
    TypeError
        If no rule is registered for the layer, or a pass is missing.
    ValueError
        If the layer is too large to be checked in this way.
    """
    rules(layer)
    samples, draws = whole_number(samples, "samples", 2), whole_number(draws, "draws", 1)
    shape = sample_shape(layer, input_shape)
    recorder = Recorder(f"rule of residual partitioning for {layer!r}", tolerance)
    passes = check_passes(layer, shape, samples)
    if not recorder.fact("layer", "its passes", passes.ok, "the layer's own passes are wrong",
                         str(passes),
                         "mend the layer first: what its rule must bound is made of its passes"):
        return recorder.report
    rng = generator(rng)
    for _ in range(draws):
        case = _Case(layer, recorder, shape, samples, rng)
        if not (case.runs() and case.bounds()):
            return recorder.report
    _check_single_precision(layer, recorder, shape, samples)
    case.check_network()
    case.tell_tightness()
    return recorder.report


class _Case:
    """One random point of a layer, and what its rule makes of random u, Z and g."""

    def __init__(self, layer, recorder, shape, samples, rng):
        subject = Subject(copy.deepcopy(layer), recorder, shape, samples, rng)
        subject.move_parameters()
        self.layer, self.recorder, self.rng = subject.layer, recorder, rng
        self.rule = rules(self.layer)
        self.nested = len(sublayers(layer)) > 1 or self.rule.inner_products
        self.x, self.size = subject.x, subject.theta.size
        variables = self.x.size + self.size
        if variables > MOST_VARIABLES:
            raise ValueError(f"the quadratic form of {layer!r} with {samples} samples of shape "
                             f"{shape} has {variables} variables, more than {MOST_VARIABLES}: "
                             "check a smaller layer of the class")
        self.quadratic = Quadratic(self.layer, self.x)
        self.y, self.saved = self.quadratic.y, self.quadratic.saved
        self.u = np.exp(rng.normal(size=self.x.shape))
        self.Z = np.exp(rng.normal(size=self.y.shape)) * (rng.random(self.y.shape) < 0.8)
        self.g = rng.normal(size=self.y.shape)

    # -- the rule ----------------------------------------------------------------------------------

    def ask(self, u, Z, g, options):
        """What the rule gives: u_out, Z_in and curvature. None where it fails or is not pure."""
        given = [a for a in (u, Z, g) if a is not None]
        before = [a.copy() for a in given]
        try:
            u_out, context = self.rule.forward(self.layer, self.saved, u)
            below = self.rule.backward(self.layer, self.saved, context, u, g, Z, options)
        except Exception as problem:  # whatever a user's rule raises is the finding
            self.recorder.fact("rule", "runs", False,
                               f"raised {type(problem).__name__}{_of(u)}: {problem}")
            return None
        pure = all(np.array_equal(a, b) for a, b in zip(given, before))
        if not self.recorder.fact("rule", "leaves its arguments alone", pure,
                                  "changes u, Z or g in place"):
            return None
        return u_out, *below

    def runs(self):
        """Shapes and signs of what the rule returns, where something below is trained or not."""
        shapes = self.y.shape, self.x.shape, (self.size,)
        for u in (self.u, None) if self.size else (self.u,):
            results = self.ask(u, self.Z, self.g, Options(clip=False, cross=False))
            if results is None:
                return False
            for name, shape, value in zip(_NAMES, shapes, results):
                if u is None and name == "Z_in":
                    right, wanted = value is None, "None"
                else:
                    right, wanted = np.shape(value) == shape, f"an array of shape {shape}"
                    right = right and np.isfinite(value).all() and (np.asarray(value) >= 0).all()
                got = None if value is None else f"shape {np.shape(value)}, {_range(value)}"
                if not self.recorder.fact(name, f"form{_of(u)}", right,
                                          f"must be {wanted}, finite and not "
                                          f"negative{_of(u)}", f"it is {got}"):
                    return False
        return True

    def bounds(self):
        """The inequality: for what is affine, with the layer's second derivatives, with products of
        changes.
        """
        still = np.zeros_like(self.g)
        stages = []
        if not self.nested:  # in a chain, products of changes of two layers are second order, too
            stages += [("affine part", self.u, Z, still, False) for Z in self._single_outputs()]
            stages += [("second derivatives of the layer", self.u, self.Z, self.g, False)]
        stages += [("products of changes", self.u, self.Z, self.g, True)]
        if self.size:
            stages += [("nothing trained below", None, self.Z, still, False)]
        return all(self._stage(name, u, Z, g, Options(clip=clip, cross=cross))
                   for name, u, Z, g, cross in stages for clip in (False, True))

    def _single_outputs(self):
        """The drawn Z, and some in which one output counts alone."""
        yield self.Z
        for i in self.rng.permutation(self.y.size)[:_SINGLE]:
            Z = np.zeros(self.y.shape)
            Z.flat[i] = 1.0
            yield Z

    def _stage(self, name, u, Z, g, options):
        results = self.ask(u, Z, g, options)
        if results is None:
            return False
        M, held = self._forms(u, Z, g, options.cross, *results)
        least, worst = _least(np.diag(held) - M)
        scale = max(np.abs(M).max(), held.max(initial=0.0)) or 1.0
        given = f"negative_curvature={'max' if options.clip else 'abs'!r}, cross={options.cross}"
        times = _ratio(worst @ M @ worst, held @ worst**2)
        ok = self.recorder.fact(
            "inequality", f"{name}, {given}", least >= -self.recorder.tolerance * scale,
            f"the rule gives no bound ({name}; {given}): the diagonal form minus the quadratic "
            f"form has the eigenvalue {least:.3g}, with entries up to {scale:.3g}",
            f"at the worst step the quadratic is {times} times what the rule allows")
        if not ok:
            self._name_what_is_wrong(name, u, Z, g, options, results)
        return ok

    def _forms(self, u, Z, g, cross, u_out, Z_in, curvature):
        """At multiples of a step of u_j and 1: the quadratic form (n, n), and the diagonal (n,) of
        the rule's form.
        """
        still = np.zeros(self.x.size)
        step = np.concatenate([still if u is None else u.ravel(), np.ones(self.size)])
        held = np.concatenate([still if u is None else (Z_in * u).ravel(), curvature])
        weights = self.quadratic.weights(u, u_out, Z)
        return self.quadratic.form(weights, g, cross) * np.outer(step, step), held

    # -- what is wrong -----------------------------------------------------------------------------

    def _name_what_is_wrong(self, stage, u, Z, g, options, results):
        """Findings for the results that are below the literal ones; the others are not to blame."""
        for name, formula, got, wanted in zip(_NAMES, _LITERAL, results,
                                              self.quadratic.literal(u, g, Z, options)):
            if got is None or got.size == 0:
                continue
            size = np.abs(wanted).max() or 1.0
            if (got < wanted - self.recorder.tolerance * size).any():
                more = "" if stage in _FIRST else f" and what is to be added for the {stage}"
                self.recorder.compare(name, f"{name} against {formula}{more}", got, wanted,
                                      names=("rule", "literal"), hint=self._hint(name, got, Z))

    def _hint(self, name, got, Z):
        """Z_in by a matrix that is not transposed has the right shape where a layer keeps it."""
        turned = self.quadratic.turned(Z)
        if name == "Z_in" and turned is not None and np.allclose(got, turned):
            return "it is |J| Z: the matrix must be transposed on the way down"
        return ""

    # -- how good it is ----------------------------------------------------------------------------

    def tell_tightness(self):
        """Notes: how much of the diagonal form a step can reach, and what is loose."""
        still, options, best = np.zeros_like(self.g), Options(clip=False, cross=False), 0.0
        for Z in list(self._single_outputs())[1:]:
            M, held = self._forms(self.u, Z, still, False, *self.ask(self.u, Z, still, options))
            best = max(best, float(np.sum(quotient(np.diag(M), held))))
        tight = abs(best - 1) < 1e-6
        self.recorder.note(f"where one output counts, a step reaches {best:.4g} of what the rule "
                           "allows" + (": it is tight" if tight else ""))
        if self.nested:
            return
        results = self.ask(self.u, self.Z, still, options)
        for name, formula, got, wanted in zip(
            _NAMES, _LITERAL, results, self.quadratic.literal(self.u, still, self.Z, options)):
            if got.size and not np.allclose(got, wanted, rtol=1e-6,
                                            atol=1e-9 * (np.abs(wanted).max() or 1.0)):
                ratios = quotient(got, wanted)[wanted > 0]
                self.recorder.note(f"{name} is {_spread(ratios)} times {formula}: " + (
                    "other fractions, as tight" if tight else "looser than it need be"))

    def check_network(self):
        """The layer between linear layers: both bounds against the Hessians that they bound."""
        rng, samples = self.rng, len(self.x)
        front, back = Linear(1, self.x[0].size, rng=rng), Linear(self.y[0].size, 2, rng=rng)
        net = Network([front, Reshape(self.x[0].size, self.x.shape[1:]), copy.deepcopy(self.layer),
                       Reshape(self.y.shape[1:], self.y[0].size), Activation("tanh"), back])
        if net.size > MOST_PARAMETERS:
            self.recorder.note("the check inside a network was left out: it would have "
                               f"{net.size} parameters")
            return
        case = (net, SoftmaxCrossEntropy(), rng.standard_normal((samples, 1)),
                rng.integers(0, 2, samples))
        evaluation = net.evaluate(*case[1:])
        hessians = {False: bounded_hessian(*case), True: hessian(*case, method="products")}
        for cross, clip in itertools.product(hessians, ("abs", "max")):
            curvature = bound_at(evaluation, "jensen", clip, cross).curvature
            least = np.linalg.eigvalsh(np.diag(curvature) - hessians[cross])[0]
            scale = max(curvature.max(), np.abs(hessians[cross]).max())
            options = f"negative_curvature={clip!r}, cross={cross}"
            self.recorder.fact(
                "network", options, least >= -self.recorder.tolerance * scale,
                f"in a network with the layer inside, {options} gives no bound",
                f"least eigenvalue of the difference {least:.3g}, largest curvature {scale:.3g}")


def _check_single_precision(layer, recorder, shape, samples):
    """float32 stays float32: a network of single precision hands down what it was given."""
    layer = copy.deepcopy(layer)
    layer.convert(np.float32)
    x = np.random.default_rng(0).standard_normal((samples, *shape)).astype(np.float32)
    y, saved = layer.forward(x)
    u, Z = np.ones_like(x), np.ones_like(y)
    try:
        u_out, context = rules(layer).forward(layer, saved, u)
        results = u_out, *rules(layer).backward(layer, saved, context, u, Z, Z,
                                                Options(False, True))
    except Exception as problem:  # whatever a user's rule raises is the finding
        recorder.fact("float32", "runs", False,
                      f"raised {type(problem).__name__} in float32: {problem}")
        return
    for name, value in zip(_NAMES, results):
        recorder.fact("float32", name, value.size == 0 or value.dtype == np.float32,
                      f"{name} turns float32 into {value.dtype}")


def _least(M):
    """Least eigenvalue and its eigenvector; -inf where an entry is not finite."""
    if not np.isfinite(M).all():
        worst = np.zeros(len(M))
        worst[np.argmax(~np.isfinite(M).all(axis=0))] = 1.0
        return -np.inf, worst
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    return values[0], vectors[:, 0]


def _of(u):
    return " (u = None: nothing below is trained)" if u is None else ""


def _range(value):
    value = np.asarray(value, dtype=float)
    return f"from {value.min():.3g} to {value.max():.3g}" if value.size else "none"


def _ratio(a, b):
    return f"{a / b:.4g}" if b > 0 else "infinitely many"


def _spread(ratios):
    low, high = float(np.min(ratios)), float(np.max(ratios))
    return f"{low:.4g}" if high - low < 1e-6 * high else f"{low:.4g} to {high:.4g}"
