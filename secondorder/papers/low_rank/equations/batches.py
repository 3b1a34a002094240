"""What is averaged over a mini-batch: (38)-(39), Table 2, and the paper's three ways to a step."""

import contextlib

import numpy as np

from .... import exact
from ....ledger import Case, Counterexample, Equal, Printed, Property, Rate, equation
from ....nets import Activation, SquaredError
from ....optimizers import SGD
from .. import PAPER, curvature, diagonal
from ..curvature import directional_curvature_at, sample_curvatures_at
from ..optimizer import CubicRegularization
from . import reference
from .cases import (CLEAR, ONE_SAMPLE, STRAIGHT, TOLERANCE, batch, jacobian_in_argument,
                    network, network_case, unusual)


@equation(
    PAPER, "38",
    statement="The slope along the direction, from the pieces omega and phi of the direction.",
    formula=r"\mathbf{g}^T \nabla f = \frac{\partial F}{\partial p^i} v^{(n),j} \omega_j^i + "
            r"\sum_k \frac{\partial F}{\partial p^l} u_m^l \eta_i^{(n,k),m} v^{(k-1),j} "
            r"\phi_j^{(k),i}",
    kind="identity",
    verdict="conditional",
    condition=ONE_SAMPLE,
    implements=(curvature.directional_curvature_at,),
)
def slope(rng):
    at, direction, g, _ = batch(rng)
    outside = at.loss_function.gradient(at.outputs, at.y).mean(axis=0) @ _output_tangent(
        at, direction).mean(axis=0)
    claims = [Equal("one sample: its products, by loops, against gradient times direction",
                    *_one_sample(rng), TOLERANCE),
              Equal("averaged over the batch, against gradient times direction",
                    directional_curvature_at(at, direction)[0], g @ direction, TOLERANCE,
                    scale=np.abs(g) @ np.abs(direction))]
    for name, other, along, slopes, _ in unusual(rng):
        claims.append(Equal("unusual networks and batches, against gradient times direction",
                            directional_curvature_at(other, along)[0], slopes @ along, TOLERANCE,
                            scale=np.abs(slopes) @ np.abs(along), case=name))
    return [
        *claims,
        Counterexample(Equal("a batch, with dF/dp in front of the mean tangent of p", outside,
                             g @ direction, CLEAR)),
        Case(direction=direction, x=at.x)]


def _one_sample(rng):
    """(38) at one sample by loops over its indices, and the slope by a complex step."""
    case = network_case(rng, "tanh")
    s, n = case.sample, case.sample.n
    pieces = [None, *(rng.normal(size=w.shape) for w in case.ws[1:])]
    total = 0.0
    for i, j in np.ndindex(pieces[n + 1].shape):
        total += s.f_p[i] * s.v[n][j] * pieces[n + 1][i, j]
    for k in range(1, n + 1):
        through = s.f_p @ s.u @ jacobian_in_argument(case, n, k)
        for i, j in np.ndindex(pieces[k].shape):
            total += through[i] * s.v[k - 1][j] * pieces[k][i, j]
    slope = sum(np.sum(case.first(np.array(case.f, dtype=object), k) * pieces[k])
                for k in range(1, n + 2))
    return total, slope


def _output_tangent(at, direction, h=1e-6):
    """d p along the direction, (S, C), by differences of the forward pass."""
    net = at.network.copy()
    found = []
    for s in (-h, h):
        net.theta = at.network.theta + s * direction
        found.append(net(at.x))
    return (found[1] - found[0]) / (2 * h)


@equation(
    PAPER, "39",
    statement="The curvature along the direction: the print leaves out f_pp between different "
              "hidden layers.",
    formula=r"\begin{aligned} \mathbf{g}^T \mathbf{H} \mathbf{g} &= \omega_j^i "
            r"\frac{\partial^2 F}{\partial p^i \partial p^s} v^{(n),j} v^{(n),t} \omega_t^s \\ "
            r"&+ 2 \sum_k \omega_j^i \left( \frac{\partial F}{\partial p^i} \eta_s^{(n,k),j} "
            r"v^{(k-1),t} + \frac{\partial^2 F}{\partial p^i \partial p^l} v^{(n),j} u_m^l "
            r"\eta_s^{(n,k),m} v^{(k-1),t} \right) \phi_t^{(k),s} \\ "
            r"&+ \sum_k \phi_j^{(k),i} \frac{\partial^2 F}{\partial p^l \partial p^q} u_m^l "
            r"\eta_i^{(n,k),m} v^{(k-1),j} u_a^q \eta_s^{(n,k),a} v^{(k-1),t} \phi_t^{(k),s} \\ "
            r"&+ 2 \sum_{k=2}^n \sum_{r=1}^{k-1} \phi_j^{(k),i} \frac{\partial F}{\partial p^l} "
            r"u_m^l \eta_i^{(n,k),m} \eta_s^{(k-1,r),j} v^{(r-1),t} \phi_t^{(r),s} \end{aligned}",
    corrected=r"\begin{aligned} \mathbf{g}^T \mathbf{H} \mathbf{g} &= \omega_j^i \frac{\partial^2 "
              r"F}{\partial p^i \partial p^s} v^{(n),j} v^{(n),t} \omega_t^s \\ + 2 \sum_k "
              r"\omega_j^i &\left( \frac{\partial F}{\partial p^i} \eta_s^{(n,k),j} v^{(k-1),t} + "
              r"\frac{\partial^2 F}{\partial p^i \partial p^l} v^{(n),j} u_m^l \eta_s^{(n,k),m} "
              r"v^{(k-1),t} \right) \phi_t^{(k),s} \\ + \sum_k \sum_r \phi_j^{(k),i} "
              r"&\frac{\partial^2 F}{\partial p^l \partial p^q} u_m^l \eta_i^{(n,k),m} "
              r"v^{(k-1),j} u_a^q \eta_s^{(n,r),a} v^{(r-1),t} \phi_t^{(r),s} \\ + 2 \sum_{k=2}^n "
              r"\sum_{r=1}^{k-1} \phi_j^{(k),i} &\frac{\partial F}{\partial p^l} u_m^l "
              r"\eta_i^{(n,k),m} \eta_s^{(k-1,r),j} v^{(r-1),t} \phi_t^{(r),s} \end{aligned}",
    condition=(ONE_SAMPLE, STRAIGHT),
    kind="identity",
    verdict="erratum",
    weight="substance",
    implements=(curvature.by_explicit_eta, curvature.through_linear,
                curvature.through_activation, curvature.directional_curvature_at),
)
def curvature_along(rng):
    at, direction, _, H = batch(rng)
    right, size = direction @ H @ direction, np.abs(direction) @ np.abs(H) @ np.abs(direction)
    printed = directional_curvature_at(at, direction, "printed")[1]
    missing = _hidden_pairs(at, direction)
    claims = []
    for name, other, along, _, whole in unusual(rng):
        scale = np.abs(along) @ np.abs(whole) @ np.abs(along)
        claims.append(Equal("unusual networks and batches, against the dense Hessian",
                            directional_curvature_at(other, along)[1], along @ whole @ along,
                            TOLERANCE, scale=scale, case=name))
        claims.append(Equal("unusual: as printed, what it lacks and what bends, by differences",
                            directional_curvature_at(other, along, "printed")[1]
                            + _hidden_pairs(other, along) + _bends(other, along),
                            along @ whole @ along, 1e-7, scale=scale, case=name))
    for name, other, along, _, whole in unusual(rng, activations=("relu",)):
        claims.append(Equal("unusual: with every eta", curvature.by_explicit_eta(other, along),
                            along @ whole @ along, TOLERANCE,
                            scale=np.abs(along) @ np.abs(whole) @ np.abs(along), case=name))
    return [*claims, Equal("corrected, by one tangent, against the dense Hessian",
                  directional_curvature_at(at, direction)[1], right, TOLERANCE, scale=size),
            Equal("corrected, with every eta", curvature.by_explicit_eta(at, direction),
                  right, TOLERANCE, scale=size),
            Printed(Equal("as printed, averaged over samples", printed, right, CLEAR)),
            Equal("as printed plus what it lacks, by differences",
                  printed + missing, right, 1e-7, scale=size),
            Case(direction=direction, x=at.x)]


def _bends(at, direction):
    """E sum over layers of df/dv A''(z) z'^2: z' by differences of the layers' inputs."""
    ends = []
    for s in (-1e-6, 1e-6):
        net = at.network.copy()
        net.theta = at.network.theta + s * direction
        ends.append(net.evaluate(at.loss_function, at.x, at.y).saved)
    total = 0.0
    for layer, low, kept, high, bar in zip(at.network.layers, ends[0], at.saved, ends[1],
                                           at.deltas):
        if isinstance(layer, Activation):
            moved = (high.input - low.input) / 2e-6
            bend = reference.ACTIVATIONS[layer.function.name][2](kept.input)
            total += np.sum(bar * bend * moved**2)
    return total / at.samples


def _hidden_pairs(at, direction):
    """E sum over k != r of q_k^T f_pp q_r over hidden layers, q_k by differences of the forward
    pass.
    """
    tangents, last = [], at.network.layers[-1]
    for layer, where in zip(at.network.layers, at.network.slices):
        if layer is last or not layer.size:
            continue
        piece = np.zeros_like(direction)
        piece[where] = direction[where]
        tangents.append(_output_tangent(at, piece))
    H = at.loss_function.hessian(at.outputs, at.y)
    return (sum(np.einsum("si,sij,sj->", q, H, r) for q in tangents for r in tangents
                if q is not r) / at.samples)


@equation(
    PAPER, "table-2",
    statement="A step length for every weight: its curvature is the diagonal entry, s = i and t = "
              "j without a sum; the unit step has to point downhill.",
    formula=r"\begin{array}{lll} \alpha_j^{(u),i}: & \frac{\partial F}{\partial p^i} v^{(n),j} & "
            r"\frac{\partial^2 F}{\partial p^i \partial p^s} v^{(n),j} v^{(n),t} \\ "
            r"\alpha_j^{(w,k),i}: & \frac{\partial F}{\partial p^l} u_m^l \eta_i^{(n,k),m} "
            r"v^{(k-1),j} & \frac{\partial^2 F}{\partial p^l \partial p^q} u_m^l \eta_i^{(n,k),m} "
            r"v^{(k-1),j} u_a^q \eta_s^{(n,k),a} v^{(k-1),t} \end{array}",
    corrected=r"\frac{\partial^2 F}{\partial p^i \partial p^i} (v^{(n),j})^2, \quad "
              r"\frac{\partial^2 F}{\partial p^l \partial p^q} u_m^l \eta_i^{(n,k),m} u_a^q "
              r"\eta_i^{(n,k),a} (v^{(k-1),j})^2 \quad (\text{no sum over } i, j)",
    condition=(ONE_SAMPLE, STRAIGHT),
    kind="algorithm",
    verdict="erratum",
    weight="misprint",
    implements=(diagonal.weight_curvatures, diagonal.hessian_diagonal_at, diagonal.variable_rates),
)
def every_weight(rng):
    at, _, g, H = batch(rng)
    made, sigma = diagonal.hessian_diagonal_at(at), 20.0
    rates = diagonal.variable_rates(-np.sign(g), g, made, sigma)
    roots = [np.roots([sigma / 2, h, -abs(a)]).real.max() if a
             else 0.0 for a, h in zip(g, np.diag(H))]
    last, count = at.network.slices[-1], at.network.layers[-1].weight.size
    v, f_pp = at.saved[-1].input, at.loss_function.hessian(at.outputs, at.y)
    summed = np.einsum("bis,bj,bt->ij", f_pp, v, v) / at.samples
    d = rng.normal(size=len(g))
    lengths = diagonal.variable_rates(-np.sign(g) * np.abs(d), g, made, sigma)
    longer = [np.roots([sigma * abs(e) ** 3 / 2, e**2 * h, -abs(a * e)]).real.max() if a else 0.0
              for a, h, e in zip(g, np.diag(H), d)]
    claims = [Equal("unusual networks and batches, against the diagonal of the dense Hessian",
                    diagonal.hessian_diagonal_at(other), np.diag(whole), TOLERANCE, case=name)
              for name, other, _, _, whole in unusual(rng)]
    return [*claims, Equal("corrected, against the diagonal of the dense Hessian",
                           made, np.diag(H), TOLERANCE),
            Equal("steps of any length, against the larger roots", lengths, longer, 1e-9),
            Equal("downhill steps against the larger roots", rates, roots, 1e-9),
            Printed(Equal("output weights, s and t summed as printed",
                          summed.ravel(), np.diag(H)[last][:count].copy(), CLEAR)),
            Case(diagonal=made, gradient=g)]


@equation(
    PAPER, "u-depth",
    where="section 4, the second aspect of the cost", ours=True,
    statement="The number of matrix products for the quantities of (9) grows with the square of "
              "the number of layers.",
    formula=r"\frac{n(n+1)}{2} \text{ products with weights and } \eta",
    kind="claim",
    verdict="conditional",
    condition="Every eta is formed. (One tangent needs products in proportion to the number of "
              "layers.)",
    implements=(curvature.by_explicit_eta, curvature.directional_curvature_at),
)
def products_with_depth(rng):
    depths, every, one, claims = np.array([16, 32, 64]), [], [], []
    for n in depths:
        at = network_case_without_jets(rng, n)
        direction = rng.normal(size=at.network.size)
        counted = []
        with products_of_weights(at.network, counted):
            bends = [curvature.by_explicit_eta(at, direction)]
            every.append(sum(len(shape) == 3 for shape in counted))
            counted.clear()
            bends.append(curvature.directional_curvature_at(at, direction)[1])
            one.append(len(counted))
        claims.append(Equal("both are the same curvature", *bends, 1e-9, case=f"{n} layers"))
    return [*claims,
            Equal("products of weights and eta, counted", np.array(every, float),
                  depths * (depths + 1.0) / 2, 1e-12),
            Rate("every eta: products against depth", depths, every, order=2, tolerance=0.05),
            Counterexample(Rate("one tangent: products against depth", depths, one, order=2,
                                tolerance=0.05)),
            Case(depths=depths, every=every, one=one)]


def network_case_without_jets(rng, n):
    """An evaluation of a narrow ReLU network of n hidden layers in which all units are live."""
    net = network(rng, "relu", (2,) * (n + 2))
    for layer in net.layers[::2]:
        layer.weight = np.abs(layer.weight) / np.abs(layer.weight).sum(axis=1, keepdims=True)
    return net.evaluate(SquaredError(), rng.uniform(0.5, 1, (3, 2)), rng.normal(size=(3, 2)))


class Counted(np.ndarray):
    """A weight that writes down the shapes of what it is multiplied with."""

    log = None

    def __array_finalize__(self, source):
        self.log = getattr(source, "log", None)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [np.asarray(value) for value in inputs]
        if ufunc is np.matmul:
            self.log.append((plain[1] if inputs[0] is self else plain[0]).shape)
        return getattr(ufunc, method)(*plain, **options)


@contextlib.contextmanager
def products_of_weights(network, log):
    """Within it the weights of a network count their matrix products into the list `log`."""
    kept = [(layer, layer.weight) for layer in network.layers if layer.size]
    try:
        for layer, weight in kept:
            view = weight.view(Counted)
            view.log = log
            dict.__setitem__(layer.parameters, "weight", view)
        yield
    finally:
        for layer, weight in kept:
            dict.__setitem__(layer.parameters, "weight", weight)


# -- the three ways to a mini-batch


def sample_steps(at, sigma):
    """Gradient and root of the model of every sample along its own gradient, by dense Hessians."""
    gradients, rates = [], []
    for b in range(at.samples):
        one = at.network, at.loss_function, at.x[b : b + 1], at.y[b : b + 1]
        g, H = exact.gradient(*one), exact.hessian(*one, method="products")
        gradients.append(g)
        rates.append(np.roots([sigma * np.linalg.norm(g) ** 3 / 2, g @ H @ g, -g @ g]).real.max())
    return np.array(gradients), np.array(rates)


def option(rng, averaging, expected):
    at, *_ = batch(rng, samples=4)
    net, sigma = at.network.copy(), 10.0
    before = net.theta.copy()
    CubicRegularization(SGD(net, at.loss_function), sigma=sigma, averaging=averaging).step(at.x,
                                                                                           at.y)
    gradients, rates = sample_steps(at, sigma)
    return (at, gradients, rates, Equal("change of the weights against dense Hessians",
                                        net.theta - before, expected(gradients, rates), 1e-8))


@equation(
    PAPER, "option-1",
    where="section 3.1: the mean of every sample's own step",
    statement="E[alpha g]: every sample's step along its own gradient, averaged.",
    formula=r"E[\alpha_j \mathbf{g}_j]",
    kind="algorithm",
    verdict="holds",
    implements=(CubicRegularization._averaged,),
)
def mean_of_steps(rng):
    at, _, rates, claim = option(rng, "step", lambda g, s: -(s[:, None] * g).mean(axis=0))
    return [claim, Case(rates=rates, x=at.x)]


@equation(
    PAPER, "option-2",
    where="section 3.1: the mean rate times the mean direction",
    statement="E[alpha] E[g]: the samples' rates averaged, along the mean gradient.",
    formula=r"E[\alpha_j] \times E[\mathbf{g}_j]",
    kind="algorithm",
    verdict="holds",
    implements=(CubicRegularization._averaged,),
)
def mean_of_rates(rng):
    at, gradients, rates, claim = option(rng, "rate", lambda g, s: -s.mean() * g.mean(axis=0))
    a = sample_curvatures_at(at)[0]
    return [claim, Equal("slopes of the samples", a, -np.sum(gradients**2, axis=1), TOLERANCE),
            Case(rates=rates, x=at.x)]


@equation(
    PAPER, "option-3",
    where="section 3.1: the direction is fixed, slope and curvature are averaged",
    statement="One rate from the mean slope and curvature along a fixed direction: not the mean "
              "of the samples' rates.",
    formula=r"\Delta = \alpha \mathbf{g}, \quad \alpha \text{ from } E[\mathbf{g}^T \nabla f], "
            r"E[\mathbf{g}^T \mathbf{H} \mathbf{g}]",
    kind="algorithm",
    verdict="holds",
    ours=True,
    implements=(CubicRegularization._single,),
)
def fixed_direction(rng):
    def expected(gradients, rates):
        g = gradients.mean(axis=0)
        H = exact.hessian(*args, method="products")
        return -np.roots([10.0 * np.linalg.norm(g) ** 3 / 2, g @ H @ g, -g @ g]).real.max() * g

    state = rng.bit_generator.state
    at, *_ = batch(rng, samples=4)
    args = at.network, at.loss_function, at.x, at.y
    rng.bit_generator.state = state
    at, gradients, rates, claim = option(rng, "direction", expected)
    mine = np.linalg.norm(expected(gradients, rates)) / np.linalg.norm(gradients.mean(axis=0))
    return [claim, Property("not the mean of the rates", bool(abs(mine / rates.mean() - 1) > 1e-3)),
            Case(rates=rates, rate=mine)]
