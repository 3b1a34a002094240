"""Algorithm 1 in plain loops, in the readings that the printed text admits, against the bound that it should be."""

from typing import NamedTuple

import numpy as np

from ... import exact
from ...nets import Activation, Linear, Network, SquaredError
from ...ledger import AtMost, Case, Equal, Printed, PrintedShape, Property, equation
from .. import bounding
from ..algorithm1 import algorithm_1_as_printed
from ..bound import bound
from ..hessian import bounded_hessian
from ..partitions import ratio
from . import cases


class Reading(NamedTuple):
    """How a line of the algorithm is read; the defaults are the corrected algorithm, the others what may be printed.

    carried : "Z" or "Y_ddot"
        What the backward lines of affine and activation layers take the propagated quantity for.
    root : "separate" or "nested"
        Whether the first root of the first backward line ends before the sum over i' or spans it.
    absolute : "all" or "square"
        Whether |.| in the activation line spans both terms or only the first factor, which is then squared.
    """

    carried: str = "Z"
    root: str = "separate"
    absolute: str = "all"


def by_loops(evaluation, reading=Reading()):
    """W_dot and W_ddot (P,) of Algorithm 1, one index at a time; all affine layers are trained and have a bias."""
    net, S = evaluation.network, evaluation.samples
    u = forward_by_loops(evaluation)
    Y_dot = evaluation.loss_function.gradient(evaluation.outputs, evaluation.y)
    f = np.array([np.diag(F) for F in evaluation.loss_function.hessian(evaluation.outputs, evaluation.y)])
    Z = np.zeros_like(f)
    for s, i in np.ndindex(f.shape):
        inner = sum(u[-1][s, k] * np.sqrt(f[s, k]) for k in range(f.shape[1]))
        Z[s, i] = np.sqrt(f[s, i]) * inner if reading.root == "separate" else np.sqrt(f[s, i] * inner)
    carried = Z if reading.carried == "Z" else ratio(Z, u[-1])
    gradients, curvatures = [], []
    for k in reversed(range(len(net.layers))):
        layer, kept = net.layers[k], evaluation.saved[k]
        if isinstance(layer, Activation):
            Y_dot, carried = through_activation(layer, kept.input, u[k], Y_dot, carried, reading)
            continue
        scaled = carried if reading.carried == "Z" else carried * u[k + 1]
        W_dot, W_ddot = np.zeros((2, *layer.weight.shape))
        b_dot, b_ddot = np.zeros((2, layer.out_features))
        below_dot, below = np.zeros((2, *kept.input.shape))
        for s, i in np.ndindex(scaled.shape):
            b_dot[i] += Y_dot[s, i] / S
            b_ddot[i] += scaled[s, i] / S
            for j in range(layer.in_features):
                W_dot[i, j] += Y_dot[s, i] * kept.input[s, j] / S
                W_ddot[i, j] += scaled[s, i] * abs(kept.input[s, j]) / S
                below_dot[s, j] += Y_dot[s, i] * layer.weight[i, j]
                below[s, j] += scaled[s, i] * abs(layer.weight[i, j])
        gradients = [W_dot.ravel(), b_dot, *gradients]
        curvatures = [W_ddot.ravel(), b_ddot, *curvatures]
        Y_dot, carried = below_dot, below
    return np.concatenate(gradients), np.concatenate(curvatures)


def forward_by_loops(evaluation, first=1):
    """u at the inputs of the layers 1, 2, ... and at the outputs; that of layer `first` is set to 0 before."""
    u = {first: np.zeros_like(evaluation.x)}
    for k, (layer, kept) in enumerate(zip(evaluation.network.layers, evaluation.saved), 1):
        above = np.zeros_like(kept.output)
        for s, i in np.ndindex(above.shape):
            if isinstance(layer, Activation):
                above[s, i] = abs(layer.function.slope(kept.input[s, i])) * u[k][s, i]
            else:
                above[s, i] = 1 + sum(abs(kept.input[s, j]) + abs(layer.weight[i, j]) * u[k][s, j]
                                      for j in range(layer.in_features))
        u[k + 1] = above
    return [u[k] for k in sorted(u)]


def through_activation(layer, y, u, Y_dot, carried, reading):
    """The two backward lines of an activation layer."""
    below_dot, below = np.zeros_like(y), np.zeros_like(y)
    for s, j in np.ndindex(y.shape):
        slope, curvature = layer.function.slope(y[s, j]), layer.function.curvature(y[s, j])
        below_dot[s, j] = Y_dot[s, j] * slope
        if reading.carried == "Z":
            bend = Y_dot[s, j] * curvature * u[s, j]
            Y_ddot = carried[s, j] / (abs(slope) * u[s, j]) if u[s, j] else 0.0
            first = abs(slope) * carried[s, j] if reading.absolute == "all" else abs(Y_ddot * slope) ** 2 * u[s, j]
        else:
            bend, first = Y_dot[s, j] * curvature, carried[s, j] * slope**2
        below[s, j] = abs(first + bend) if reading.absolute == "all" else first + bend
    return below_dot, below


def too_small(rng):
    """One unit a layer, small total gradients: the printed algorithm stays below the curvature it should bound."""
    net = Network([Linear(1, 1), Activation("softplus"), Linear(1, 1)])
    net.theta = np.array([1.0, -3.0, 1.0, 1.0]) * (1 + 0.01 * rng.uniform(-1, 1, 4))
    return net.evaluate(SquaredError(), np.full((1, 1), 0.5), np.full((1, 1), -1.0))


TWO_READINGS = (
    "Two lines can be read in two ways. Above, the first root of the first backward line ends before the sum over i', "
    "and |.| in the activation line spans both terms. These readings agree with (46) and (41) and are kept by "
    "algorithm_1_as_printed; wrong remain the Y_ddot that is not divided by u again, and the indices (u^(0), j without "
    "the bias). Read the other way, the root spans f_ii and the sum, whose index i' is then free in the second root "
    "(the nearest form with a meaning has that root inside), and the activation line is |Y_ddot sigma'|^2 + Y_dot "
    "sigma''. Both of these are executed as well, and fail.")


def curvature_of(evaluation, **options):
    return bound(evaluation.network, evaluation.loss_function, evaluation.x, evaluation.y, **options).curvature


@equation("residual-partitioning", "algorithm-1",
          statement="One forward pass for u and one backward pass for gradient and curvature give the update of every "
                    "parameter.",
          formula=r"""\begin{aligned}
                  u_{si}^{(0)} &\leftarrow 0 \\
                  \ddot{Y}_{si}^{(L)} u_{si}^{(L)} &\leftarrow
                  \sqrt{f_{ii}} \sum_{i'=1}^{m_L} |u_{si'}^{(L)}| \sqrt{f_{i'i'}} \\
                  \ddot{W}_{ij}^{(\ell)} &\leftarrow \frac{1}{S} \sum_{s=1}^S
                  \ddot{Y}_{si}^{(\ell+1)} u_{si}^{(\ell+1)} |y_{sj}^{(\ell)}|, \quad j \in [m_\ell] \\
                  \ddot{Y}_{sj}^{(\ell)} &\leftarrow \sum_{i=1}^{m_{\ell+1}}
                  \ddot{Y}_{si}^{(\ell+1)} u_{si}^{(\ell+1)} |w_{ij}^{(\ell)}| & \text{affine} \\
                  \ddot{Y}_{sj}^{(\ell)} &\leftarrow \left| \ddot{Y}_{si}^{(\ell+1)}
                  \dot{\sigma}_\ell(y_{sj}^{(\ell)})^2 + \dot{Y}_{si}^{(\ell+1)} \ddot{\sigma}_\ell(y_{sj}^{(\ell)})
                  \right| & \text{activation}
                  \end{aligned}""",
          corrected=r"""\begin{aligned}
                  u_{si}^{(1)} &\leftarrow 0 \\
                  Z_{si}^{(L)} &\leftarrow \sqrt{f_{ii}} \sum_{i'=1}^{m_L} u_{si'}^{(L)} \sqrt{f_{i'i'}} \\
                  \ddot{W}_{ij}^{(\ell)} &\leftarrow \frac{1}{S} \sum_{s=1}^S
                  Z_{si}^{(\ell+1)} |y_{sj}^{(\ell)}|, \quad j \in \{0\} \cup [m_\ell] \\
                  Z_{sj}^{(\ell)} &\leftarrow \sum_{i=1}^{m_{\ell+1}} Z_{si}^{(\ell+1)} |w_{ij}^{(\ell)}|
                  & \text{affine} \\
                  Z_{sj}^{(\ell)} &\leftarrow \left| |\dot{\sigma}_\ell(y_{sj}^{(\ell)})| Z_{sj}^{(\ell+1)} +
                  \dot{Y}_{sj}^{(\ell+1)} \ddot{\sigma}_\ell(y_{sj}^{(\ell)}) u_{sj}^{(\ell)} \right|
                  & \text{activation}
                  \end{aligned}""",
          condition=TWO_READINGS, kind="algorithm", verdict="erratum", implements=(bound, algorithm_1_as_printed))
def algorithm_1(rng):
    activation, loss = rng.choice(["tanh", "softplus", "sigmoid"]), rng.choice(["squared", "softmax"])
    claims = []
    for name, scale in ((activation, 1.5), ("sin", 3.0)):
        made = cases.evaluation(rng, name, loss, samples=3, sizes=(2, 3, 2, 3), scale=scale)
        claims += corrected_lines(made, name) + printed_lines(made, name)
    return claims + printed_bound(too_small(rng)) + indices(made)


def corrected_lines(made, name):
    """The corrected algorithm is the bound of the explicit arrays; its gradient is the gradient."""
    fast = bound(made.network, made.loss_function, made.x, made.y, output="jensen")
    gradient, curvature = by_loops(made)
    explicit = bounding.explicit_bound(made)
    return [Equal(f"{name}: gradient, by loops", fast.gradient, gradient, tolerance=1e-12),
            Equal(f"{name}: gradient against back-propagation", gradient,
                  exact.gradient(made.network, made.loss_function, made.x, made.y), tolerance=1e-12),
            Equal(f"{name}: gradient of the explicit arrays, by loops", explicit.gradient, gradient, tolerance=1e-12),
            Equal(f"{name}: curvature, by loops", fast.curvature, curvature, tolerance=1e-12),
            Equal(f"{name}: curvature against Eqs. (9), (15), (18) with explicit fractions", fast.curvature,
                  explicit.curvature, tolerance=1e-12),
            Case(y_1=made.x, u_L=explicit.u[-1], W_dot=gradient, W_ddot=curvature)]


def printed_lines(made, name):
    """The printed algorithm as the package keeps it, and each of what may be printed wrong by itself."""
    right = curvature_of(made, output="jensen")
    whole, last = algorithm_1_as_printed(made), made.network.slices[-1]
    claims = [Equal(f"{name}: algorithm_1_as_printed, by loops", whole.W_ddot, by_loops(made, Reading("Y_ddot"))[1],
                    tolerance=1e-12),
              Equal(f"{name}: in it, the last layer is right", whole.W_ddot[last], right[last], tolerance=1e-12),
              Equal(f"{name}: its update, by loops", whole.delta * whole.W_ddot, -by_loops(made)[0], tolerance=1e-12)]
    for what, reading in (("as in the formula above: Y_ddot in place of Z", Reading("Y_ddot")),
                          ("other reading: one root over f_ii and the sum", Reading(root="nested")),
                          ("other reading: |.| squared around the first term", Reading(absolute="square"))):
        claims.append(Printed(Equal(f"{name}: curvature, {what}", by_loops(made, reading)[1], right,
                                    tolerance=1e-6)))
    return claims


def printed_bound(small):
    """Smallest eigenvalue of diag(curvature) minus the Hessian that should be bounded."""
    H = bounded_hessian(small.network, small.loss_function, small.x, small.y)
    printed, right = algorithm_1_as_printed(small).W_ddot, curvature_of(small, output="jensen")
    size = right.max()
    return [AtMost("corrected: no negative eigenvalue of bound minus model", 0.0, cases.least_eigenvalue(right, H),
                   tolerance=1e-12, scale=size),
            Printed(AtMost("algorithm_1_as_printed: no negative eigenvalue of its curvature minus model", 0.0,
                           cases.least_eigenvalue(printed, H), tolerance=1e-4, scale=size))]


def indices(made):
    """Loops that leave out what a later line reads."""
    try:
        forward_by_loops(made, first=0)
        missing = None
    except KeyError as problem:
        missing = problem.args[0]
    layer = made.network.layers[0]
    read = bounding.unflatten(layer, made.network.theta[made.network.slices[0]])
    return [Property("with u^(0) set to zero, the forward loop misses the u of layer", missing, 1),
            PrintedShape("W_ddot of layer 1 as the loop over j in [m] fills it, and as the return line reads it",
                         layer.weight.shape, read.shape)]
