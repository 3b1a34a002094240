"""Does the rule of a layer, `up` and `down`, give a bound? A network with the layer inside tells.

A linear layer in front moves the layer's inputs, and a fixed one behind it picks one output, or
mixes all. With half a squared error nothing is split at the outputs, so that only the layer's own
fractions are loose. diag(curvature) minus `bounded_hessian` must then have no negative eigenvalue.
Where it has, what the rule gives is held against |J| u + |B| 1, |J|^T Z and |B|^T Z, and the ratio
says what is wrong.
"""

import copy

import numpy as np

from ...checks import whole_number
from ...checks.randomness import generator
from ...exact import hessian, jacobian
from ...nets import Linear, Network, Reshape, SquaredError
from ...verify.classes.layer_under_test import parameter_arrays
from ...verify.classes.layers import layer as check_passes, sample_shape
from ...verify.recorder import Recorder
from .method import bound_at
from .section_2_setup import flat, ratio
from .section_3_residual_partitioning import NEGATIVE_CURVATURE
from .section_3_what_is_bounded import bounded_hessian
from .section_7_algorithm_1 import down, up

MOST_PARAMETERS = 700  # of the largest matrix that is decomposed
SINGLE = 6  # outputs that are looked at alone
# name, whether something below is trained, size of the residuals, whether products are bounded
STAGES = (("affine part", True, 0, False), ("second derivatives of the layer", True, 3, False),
          ("products of changes", True, 3, True), ("nothing trained below", False, 3, False))


def rule(layer, input_shape=None, samples=3, draws=3, rng=0, tolerance=1e-9):
    """Tell whether the rule that is registered for a layer gives a bound.

    Parameters
    ----------
    layer : Layer
        An instance whose class has functions for `up` and `down`. It is not changed.
    input_shape : tuple of int, optional
        Shape of one sample, as for `verify.layer`. Small ones do: the check forms matrices.
    samples : int
        Rows of the batch, at least 2; a layer's parameters are shared by them.
    draws : int
        How many times parameters and inputs are drawn.
    rng : None, int or numpy.random.Generator
    tolerance : float
        Relative rounding that is allowed.

    Returns
    -------
    Report
        True when the rule gives a bound; a note says how close a step comes to it.

    Raises
    ------
    TypeError
        If no rule is registered for the layer, or a pass is missing.
    ValueError
        If the layer is too large to be checked in this way.
    """
    up(layer), down(layer)
    samples, draws = whole_number(samples, "samples", 2), whole_number(draws, "draws", 1)
    shape = sample_shape(layer, input_shape)
    if np.prod(shape) + layer.size > MOST_PARAMETERS:
        raise ValueError(f"{layer!r} has {np.prod(shape)} inputs of shape {shape} and {layer.size} "
                         f"parameters, more than {MOST_PARAMETERS} together: check a smaller layer "
                         "of the class")
    recorder = Recorder(f"rule of residual partitioning for {layer!r}", tolerance)
    passes = check_passes(layer, shape, samples)
    if not recorder.fact("layer", "its passes", passes.ok, "the layer's own passes are wrong",
                         str(passes), "mend the layer first: what its rule must bound is made of "
                         "its passes"):
        return recorder.report
    rng, reached = generator(rng), 0.0
    for _ in range(draws):
        case = Case(layer, shape, samples, recorder, rng)
        if not (case.runs(np.float64) and case.bounds()):
            return recorder.report
        reached = max(reached, case.reached)
    case.runs(np.float32)
    tight = ": it is tight" if abs(reached - 1) < 1e-6 else ""
    recorder.note(f"where one output counts, a step reaches {reached:.4g} of what the rule allows"
                  + tight)
    return recorder.report


class Case:
    """One random point of a layer, and the networks around it."""

    def __init__(self, layer, shape, samples, recorder, rng):
        self.layer, self.recorder, self.rng = copy.deepcopy(layer), recorder, rng
        for _, value in parameter_arrays(self.layer):
            value += rng.uniform(-0.5, 0.5, value.shape) * np.sqrt(np.mean(value**2) or 1.0)
        self.shape, self.reached = shape, 0.0
        self.size = rng.uniform(0.5, 1.5, (samples, 1)) * rng.choice([-1, 1], (samples, 1))
        self.front = Linear(1, int(np.prod(shape)), bias=False, init=1.0, rng=rng)
        self.x = rng.normal(size=(samples, *shape))
        self.y_shape = self.layer.forward(self.x)[0].shape
        self.outputs = int(np.prod(self.y_shape[1:]))

    def network(self, below, weights=None):
        """The layer, behind one that moves its inputs if `below`; one output by `weights` (out,).
        """
        inputs, end = int(np.prod(self.shape)), []
        start = [self.front.copy(), Reshape(inputs, self.shape)] if below else []
        if weights is not None:
            end = [Linear(self.outputs, 1, bias=False, trainable=False)]
            end[0].weight = weights[None]
        return Network([*start, self.layer.copy(), Reshape(self.y_shape[1:], self.outputs), *end],
                       input_shape=(1,) if below else self.shape)

    def ask(self, u, Z, dtype=np.float64):
        """u_out, Z_in and W_ddot (P,) of the layer without gradients of its outputs; None, and a
        finding, where a function fails or writes to its arguments.
        """
        layer, fact = copy.deepcopy(self.layer), self.recorder.fact
        layer.convert(dtype)
        _, saved = layer.forward(self.x.astype(dtype))
        u, Z = (None if a is None else a.astype(dtype) for a in (u, Z))
        before = copy.deepcopy([u, Z])
        try:
            u_out = up(layer)(layer, saved, u)
            Z_in, W_ddot = down(layer)(layer, saved, u, np.zeros_like(Z), Z, np.abs, False)
            W_ddot = flat(map(np.asarray, W_ddot)) if len(W_ddot) else np.zeros(0, dtype)
        except Exception as problem:  # whatever a user's rule raises is the finding
            fact("rule", "runs", False, f"raised {type(problem).__name__} in {np.dtype(dtype)}"
                 f"{told(u)}: {problem}")
            return None
        if not all(np.array_equal(a, b) for a, b in zip(before, (u, Z)) if a is not None):
            fact("rule", "leaves its arguments alone", False, "changes u or Z in place")
            return None
        return {"u_out": u_out, "Z_in": Z_in, "W_ddot": W_ddot}

    def runs(self, dtype):
        """Shapes, signs and dtype of what the rule gives, with something trained below or not."""
        shapes = {"u_out": self.y_shape, "Z_in": self.x.shape, "W_ddot": (self.layer.size,)}
        for u in [np.ones_like(self.x), None][:2 if self.layer.size else 1]:
            results = self.ask(u, np.ones(self.y_shape), dtype)
            if results is None:
                return False
            if u is None:
                del results["Z_in"]  # nothing below asks for it
            for name, value in results.items():
                value = np.asarray(value)
                right = (value.shape == shapes[name] and np.isfinite(value).all()
                         and (value >= 0).all() and (not value.size or value.dtype == dtype))
                if not self.recorder.fact(
                        name, f"form{told(u)}, {np.dtype(dtype)}", right,
                        f"must be an array of shape {shapes[name]} and dtype {np.dtype(dtype)}, "
                        f"finite and not negative{told(u)}", f"it is {value!r:.200}"):
                    return False
        return True

    def bounds(self):
        """Bound against the Hessian that it bounds: for what is affine, with second derivatives of
        the layer, with products of changes, and with nothing trained below.
        """
        single = np.eye(self.outputs)[self.rng.permutation(self.outputs)[:SINGLE]]
        self.reached = max(map(self.tightness, single))
        mixed = self.rng.normal(size=self.outputs)
        return all(self.stage(weights, *stage) for stage in STAGES[:None if self.layer.size else 3]
                   for weights in (*single, mixed))

    def stage(self, weights, name, below, residual, cross):
        """One network at one batch whose residuals are of that size."""
        net, x, loss = self.network(below, weights), self.size if below else self.x, SquaredError()
        y = net(x) + residual * self.rng.normal(size=(len(x), 1))
        at = net.evaluate(loss, x, y)
        H = (hessian(net, loss, x, y, method="products") if cross
             else bounded_hessian(net, loss, x, y))
        for way in NEGATIVE_CURVATURE:
            curvature = bound_at(at, "diagonal", way, cross).curvature
            least = np.linalg.eigvalsh(np.diag(curvature) - H)[0]
            scale = max(np.abs(H).max(), curvature.max())
            if not self.recorder.fact(
                    "inequality", f"{name}, {way}", least >= -self.recorder.tolerance * scale,
                    f"the rule gives no bound ({name}; negative_curvature={way!r}, cross={cross}): "
                    f"diag(curvature) minus the Hessian has the eigenvalue {least:.3g}, with "
                    f"entries up to {scale:.3g}"):
                self.blame(below)
                return False
        return True

    def tightness(self, weights):
        """How much of the bound a step reaches where one output of one sample counts."""
        net, x, loss = self.network(True, weights), self.size[:1], SquaredError()
        root = np.sqrt(ratio(1.0, bound_at(net.evaluate(loss, x, net(x)), "diagonal").curvature))
        return np.linalg.eigvalsh(root[:, None] * bounded_hessian(net, loss, x, net(x)) * root)[-1]

    def blame(self, below):
        """Findings for what is below its literal value, at random u and Z."""
        net, samples = self.network(below), len(self.x)
        J = np.abs(jacobian(net, self.size if below else self.x))
        inputs = net.size - self.layer.size
        if below:
            self.x = net.layers[1].forward(net.layers[0].forward(self.size)[0])[0]
        u = np.exp(self.rng.normal(size=(samples, inputs)))
        Z = np.exp(self.rng.normal(size=(samples, self.outputs)))
        results = self.ask(u.reshape(self.x.shape) if below else None, Z.reshape(self.y_shape))
        J, B = J[:, :, :inputs] / np.abs(self.size)[:, :, None], J[:, :, inputs:]
        literal = {"u_out": ("|J| u + |B| 1", B.sum(axis=2) + np.einsum("sij,sj->si", J, u)),
                   "Z_in": ("|J|^T Z", np.einsum("sij,si->sj", J, Z)),
                   "W_ddot": ("|B|^T Z, mean over samples",
                              np.einsum("sik,si->k", B, Z) / samples)}
        for name, value in (results or {}).items():
            formula, wanted = literal[name]
            if value is None:
                continue
            value, allowed = value.reshape(wanted.shape), self.recorder.tolerance * np.abs(wanted)
            if (value < wanted - allowed.max(initial=0)).any():
                self.recorder.compare(name, f"{name} against {formula}", value, wanted,
                                      names=("rule", "literal"))


def told(u):
    return " (u = None: nothing below is trained)" if u is None else ""
