"""The sums of a training step, in arrays that are used again: a twin of each rule.

See :mod:`secondorder.nets.in_place`. A rule without a twin is asked itself; its curvature is then
copied to where it belongs.
"""

import numpy as np

from ...nets.in_place import Buffer, Buffered, InPlace, like_x, like_y
from ...nets.layers.convolution import Conv2dSaved
from ...nets.layers import LinearSaved
from . import compiled, walks
from .fast import sums
from .rules import OUTPUTS, ActivationRule, ChainRule, LinearRule, SkipRule, rules
from .shaped_layers import ConvolutionRule, PoolingRule


def curvature_sums(evaluation, options):
    """Curvature sums (P,), as `sums` has them: by the compiled walks, else in the workspace's
    arrays, if there is one.
    """
    if evaluation.work is not None and walks.program_for(evaluation.network, options) is not None:
        return walks.curvature_sums(evaluation, options)
    workspace = evaluation.workspace
    if workspace is None:
        return sums(evaluation, options)[2]
    passes = evaluation.passes
    twin = workspace.twin(("curvature sums", id(passes)), evaluation.samples,
                          lambda: Sums(passes))
    # what is not finite is refused later, with the layer's name
    with np.errstate(over="ignore", invalid="ignore"):
        return twin.sums(evaluation, options)


class RuleInPlace(Buffered):
    """Twin of the rule of one layer; what a twin does not define is the rule's own.

    Parameters
    ----------
    passes : InPlace
        The layer's twin.
    """

    def __init__(self, passes):
        super().__init__(passes.dtype)
        self.passes, self.layer, self.size = passes, passes.layer, passes.size
        self.input_shape, self.output_shape = passes.input_shape, passes.output_shape
        self.rule = rules(passes.layer)

    def forward(self, saved, u):
        """``u_out, context``."""
        return self.rule.forward(self.layer, saved, u)

    def backward(self, saved, context, u, g, Z, options, out):
        """``Z_in``; the curvature goes to `out` (size,)."""
        Z_in, out[...] = self.rule.backward(self.layer, saved, context, u, g, Z, options)
        return Z_in


class LinearRuleInPlace(RuleInPlace):
    u_out, Z_in, size_of_x = like_y(), like_x(), like_x()
    size_of_W = Buffer(lambda twin: twin.passes.W.shape)

    def forward(self, saved, u):
        u_out = self.u_out
        if u is None:
            u_out[...] = 0
        else:
            np.matmul(u, np.abs(self.passes.W, out=self.size_of_W).T, out=u_out)
        if self.size:
            x_0 = 0 if self.passes.b is None else 1
            u_out += np.abs(saved.input, out=self.size_of_x).sum(axis=1, keepdims=True) + x_0
        return u_out, None

    def backward(self, saved, context, u, g, Z, options, out):
        if self.size:
            self.passes.parameter_gradient(LinearSaved(self.size_of_x, saved.output), Z, out)
        if u is None:
            return None
        Z_in = np.matmul(Z, self.size_of_W, out=self.Z_in)
        if options.cross and self.size:
            size_of_g = np.abs(g)
            self.layer.split(out)[0][...] += size_of_g.T @ u
            Z_in += size_of_g.sum(axis=1, keepdims=True)
        return Z_in


class ActivationRuleInPlace(RuleInPlace):
    u_out, Z_in = like_x(), like_x()

    def forward(self, saved, u):
        u_out = np.abs(saved.slope, out=self.u_out)
        u_out *= u
        return u_out, None

    def backward(self, saved, context, u, g, Z, options, out):
        Z_in, slope, curvature = self.Z_in, saved.slope, saved.curvature
        if getattr(self.layer.function, "piecewise_linear", False):
            np.abs(slope, out=Z_in)
            Z_in *= Z
        else:
            compiled.partition_activation(g.ravel(), Z.ravel(), slope.ravel(), curvature.ravel(),
                                       u.ravel(), options.clip, Z_in.ravel())
        return Z_in


class ConvolutionRuleInPlace(RuleInPlace):
    u_out, Z_in, size_of_x = like_y(), like_x(), like_x()
    own = Buffer(lambda twin: (twin.rows, 1, *twin.output_shape[1:]))
    size_of_W = Buffer(lambda twin: twin.passes.W.shape)

    def __init__(self, passes):
        super().__init__(passes)
        self.every = np.ones((1, passes.entries), self.dtype)

    def forward(self, saved, u):
        u_out, passes = self.u_out, self.passes
        if u is None:
            u_out[...] = 0
        else:
            passes.convolve(u, np.abs(passes.W, out=self.size_of_W), u_out)
        if self.size:
            own = passes.convolve(np.abs(saved.input, out=self.size_of_x), self.every, self.own)
            own += 0 if passes.b is None else 1
            u_out += own
        return u_out, None

    def backward(self, saved, context, u, g, Z, options, out):
        if options.cross:
            return super().backward(saved, context, u, g, Z, options, out)
        if self.size:
            self.passes.parameter_gradient(Conv2dSaved(self.size_of_x, saved.output), Z, out)
        return None if u is None else self.passes.convolve_back(Z, self.size_of_W, self.Z_in)


class PoolingRuleInPlace(RuleInPlace):
    u_out, Z_in = like_y(), like_x()

    def forward(self, saved, u):
        return self.passes.pool(saved, u, self.u_out), None

    def backward(self, saved, context, u, g, Z, options, out):
        return self.passes.spread(saved, Z, self.Z_in)


class ChainRuleInPlace(RuleInPlace):
    """The rules of its layers; which of them have something to do is settled once."""

    def __init__(self, passes):
        super().__init__(passes)
        self.layers = [rule_in_place(inner) for inner in passes.layers]

    def resize(self, rows):
        super().resize(rows)
        for layer in self.layers:
            layer.resize(rows)

    def forward(self, saved, u):
        us, contexts = [u], []
        for layer, own_saved in zip(self.layers, saved):
            own = None
            if u is not None or layer.size:
                u, own = layer.forward(own_saved, u)
            us.append(u)
            contexts.append(own)
        return u, (us, contexts)

    def backward(self, saved, contexts, u, g, Z, options, out):
        return self.down(saved, contexts, self.passes.output_gradients(saved, g), Z, options, out)

    def down(self, saved, contexts, deltas, Z, options, out):
        """Carry Z down from the output; the curvature goes to `out`."""
        us, inner = contexts
        for i in reversed(range(len(self.layers))):
            if us[i + 1] is None:  # nothing is trained up to here
                return None
            Z = self.layers[i].backward(saved[i], inner[i], us[i], deltas[i], Z, options,
                                        out[self.passes.slices[i]])
        return Z


class SkipRuleInPlace(RuleInPlace):
    u_out, Z_in = like_y(), like_x()

    def __init__(self, passes):
        super().__init__(passes)
        self.inner = ChainRuleInPlace(passes.inner)

    def resize(self, rows):
        super().resize(rows)
        self.inner.resize(rows)

    def forward(self, saved, u):
        inside, context = self.inner.forward(saved.inner, u)
        return inside if u is None else np.add(u, inside, out=self.u_out), context

    def backward(self, saved, context, u, g, Z, options, out):
        Z_in = self.inner.backward(saved.inner, context, u, g, Z, options, out)
        return None if u is None else np.add(Z, Z_in, out=self.Z_in)


TWINS = {LinearRule: LinearRuleInPlace, ActivationRule: ActivationRuleInPlace,
         ConvolutionRule: ConvolutionRuleInPlace, PoolingRule: PoolingRuleInPlace,
         ChainRule: ChainRuleInPlace, SkipRule: SkipRuleInPlace}


def rule_in_place(passes):
    """The twin of the rule for a layer, given the twin of the layer."""
    literal = type(passes) is InPlace
    return (RuleInPlace if literal else TWINS.get(rules(passes.layer), RuleInPlace))(passes)


class Sums(ChainRuleInPlace):
    """The rules of a whole network, and the one at the output."""

    curvature, Z, ru = Buffer(lambda twin: (twin.size,)), like_y(), like_y()

    def sums(self, evaluation, options):
        """Curvature sums (P,): one pass up and one down."""
        saved = evaluation.saved
        u, contexts = self.forward(saved, None)
        Z = self.at_the_output(evaluation, options.output, u)
        self.down(saved, contexts, evaluation.deltas, Z, options, self.curvature)
        return self.curvature

    def at_the_output(self, evaluation, output, u):
        """As `OUTPUTS`."""
        loss, p, y = evaluation.criterion, evaluation.outputs, evaluation.y
        if output == "diagonal":
            Z = np.abs(loss.hessian_diagonal(p, y), out=self.Z)
            Z *= u
        elif output == "jensen":
            Z = np.sqrt(loss.hessian_diagonal(p, y), out=self.Z)
            Z *= np.multiply(Z, u, out=self.ru).sum(axis=1, keepdims=True)
        else:
            Z = OUTPUTS[output](loss, p, y, u)
        return Z
