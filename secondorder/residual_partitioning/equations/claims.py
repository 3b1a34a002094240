"""What the paper claims in words: gradient, rates, guaranteed decrease, total gradient, cost, negative curvature."""

from itertools import product

import numpy as np

from ...exact import finite_differences
from ...nets import Linear, Network, SquaredError, Workspace
from ...ledger import AtMost, Case, Counterexample, Equal, Property, equation
from .. import PAPER, bounding
from ..bound import Bound, bound_at
from ..hessian import bounded_hessian
from ..optimizer import ResidualPartitioning
from ..partitions import Partition, ratio
from ..total_gradient import total_gradients
from . import cases

SMOOTH = ("tanh", "softplus", "sigmoid", "sin")


@equation(PAPER, "claim-gradient",
          statement="The first coefficient of a parameter is the gradient of the loss, whatever the fractions.",
          formula=r"\dot{\mathcal{W}}_{ij}^{(\ell)} = \frac{\partial \mathcal{L}}{\partial w_{ij}^{(\ell)}}",
          kind="claim", verdict="holds", implements=(bounding.explicit_bound, bound_at))
def claim_gradient(rng):
    claims = []
    for name, at in cases.variety(rng, SMOOTH, samples=4, scale=3.0).items():
        value = finite_differences.objective(at.network, at.loss_function, at.x, at.y)
        slope = finite_differences.complex_step(value, at.network.theta)
        drawn = bounding.explicit_bound(at, bounding.partitions_of(at, rng))
        claims += [Equal(f"{name}: W_dot of arbitrary fractions against a complex step", drawn.gradient, slope, 1e-13),
                   Equal(f"{name}: the fast path against a complex step", bound_at(at).gradient, slope, 1e-13)]
    slopes = np.concatenate([kept.slope.ravel() for kept in at.saved if hasattr(kept, "slope")])
    return [*claims, Property("sin: slopes of both signs are met", bool((slopes < 0).any() and (slopes > 0).any())),
            Case(theta=at.network.theta, W_dot=drawn.gradient, slopes=slopes)]


@equation(PAPER, "claim-learning-rate",
          statement="A weight is updated at the rate 1 / W_ddot, which grows with the fraction the weight was given.",
          formula=r"\Delta w_{ij}^{(\ell)} = -\frac{1}{\ddot{\mathcal{W}}_{ij}^{(\ell)}} "
                  r"\dot{\mathcal{W}}_{ij}^{(\ell)}, \qquad \frac{\partial}{\partial \varepsilon_{sij}^{(\ell)}} "
                  r"\frac{1}{\ddot{\mathcal{W}}_{ij}^{(\ell)}} \geq 0",
          kind="claim", verdict="holds", implements=(bounding.affine, ResidualPartitioning.direction))
def claim_learning_rate(rng):
    at = cases.evaluation(rng)
    built = bounding.explicit_bound(at, output_phi=None)
    step = ResidualPartitioning(at.network, at.loss_function, learning_rate=1.0).direction(at)
    case, (s, i, j) = cases.affine(rng), (rng.integers(4), rng.integers(2), rng.integers(4))
    eps, phi = case.partition
    more, others, below = eps.copy(), eps.copy(), phi.copy()
    more[s, i, j] *= 1.3
    others[s, i], below[s, i] = eps[s, i] / 2, phi[s, i] / 2  # halves all but one, which then goes half way to one
    others[s, i, j] += 0.5
    before, held, kept = (rates(case, Partition(*pair)) for pair in ((eps, phi), (more, phi), (others, below)))
    rest = np.ones(eps.shape[1:], dtype=bool)
    rest[i, j] = False
    row = np.arange(eps.shape[2]) != j
    one = case._replace(y=case.y[:1], Y_dot=case.Y_dot[:1], Y_ddot=case.Y_ddot[:1])
    return [
        Equal("step at learning rate 1 against -W_dot / W_ddot", step, -built.gradient / built.curvature, 1e-12),
        Equal("one sample: rate against eps / (Y_ddot y^2)", rates(one, Partition(eps[:1], phi[:1])),
              [[eps[0, k, m] / (one.Y_ddot[0, k] * ([1.0, *one.y[0]][m]) ** 2) for m in range(eps.shape[2])]
               for k in range(eps.shape[1])], 1e-12),
        AtMost("other fractions held: rate before against rate after", before[i, j] * (1 + 1e-9), held[i, j]),
        Equal("other fractions held: all other rates", before[rest], held[rest], 1e-14),
        AtMost("sum of fractions kept: rate before against rate after", before[i, j] * (1 + 1e-9), kept[i, j]),
        AtMost("sum of fractions kept: other rates of the output after against before", kept[i][row], before[i][row]),
        Case(eps=eps, rates=before)]


def rates(case, partition):
    """1 / W_ddot, (out, 1 + in)."""
    return 1 / bounding.affine(case.layer, case.y, case.Y_dot, case.Y_ddot, partition).W_ddot


@equation(PAPER, "claim-decrease",
          statement="The decrease that minimising the bound promises is achieved by the second-order model as well.",
          formula=r"""\begin{aligned}
                  \tilde{\mathcal{L}}(\Delta w) &\leq \tilde{\mathcal{L}}_1(\Delta w) = \mathcal{L}(0) -
                  \left(\lambda - \frac{\lambda^2}{2}\right) \sum_{\ell \in P, i, j}
                  \frac{\dot{\mathcal{W}}_{ij}^{(\ell)2}}{\ddot{\mathcal{W}}_{ij}^{(\ell)}} \\
                  \text{at} \quad \Delta w &= -\lambda \dot{\mathcal{W}} / \ddot{\mathcal{W}}
                  \end{aligned}""",
          kind="claim", verdict="conditional",
          condition="For the model without the products that (4) drops, and a learning rate between 0 and 2; the loss "
                    "itself may rise.",
          implements=(bound_at, Bound.value, ResidualPartitioning.direction))
def claim_decrease(rng):
    claims = []
    for name, at in cases.variety(rng, samples=3).items():
        bounds, models, promised = [], [], []
        for output, rate in product(("jensen", "pairwise"), (0.3, 1.0, 1.7)):
            options = {"output": output, "negative_curvature": str(rng.choice(["abs", "max"]))}
            made = bound_at(at, **options)
            step = rate * ResidualPartitioning(at.network, at.loss_function, rate, **options).direction(at)
            gain = np.sum(ratio(made.gradient**2, made.curvature))
            promised.append(at.loss - (rate - rate**2 / 2) * gain)
            bounds.append(made.value(step))
            models.append(cases.model(at, step))
        claims += [Equal(f"{name}: the bound at the step against what it promises", bounds, promised, 1e-12),
                   AtMost(f"{name}: the model at the step against what is promised", models, promised)]
    line = Network([Linear(1, 1, bias=False, init=0.0)]).evaluate(SquaredError(), np.ones((1, 1)), np.ones((1, 1)))
    step = ResidualPartitioning(line.network, line.loss_function, 3.0).direction(line)
    at = cases.product_of_weights(0.1, 0.1, bias=False)
    delta = ResidualPartitioning(at.network, at.loss_function, 1.0).direction(at)
    after = cases.losses_by_hand("squared", cases.outputs_by_hand(at.network, at.x, delta), at.y)[0]
    return [*claims,
            Counterexample(AtMost("learning rate 3, one weight: the model against its value before",
                                  cases.model(line, 3 * step), line.loss)),
            Counterexample(AtMost("rate 1, w2 w1 x with small weights: the loss itself against its value before",
                                  after, at.loss)),
            Case(gradient=made.gradient, curvature=made.curvature)]


@equation(PAPER, "claim-total-gradient",
          statement="The total gradient says how far a unit can move: no further than u times the largest change of a "
                    "parameter.",
          formula=r"|\Delta y_{si}^{(\ell)}| \leq u_{si}^{(\ell)} \max |\Delta w|",
          kind="claim", verdict="conditional", condition="To first order in the step.",
          implements=(total_gradients, bound_at))
def claim_total_gradient(rng):
    claims = []
    for name, at in cases.variety(rng, losses=("squared",)).items():
        u = np.concatenate(total_gradients(at.network.layers, at.saved), axis=1)
        moved = []
        for delta in cases.steps(rng, at.network.size, 12):
            first = np.concatenate([change.first for change in cases.changes(at, delta)], axis=1)
            moved.append(np.abs(first) / (np.abs(delta).max() or 1.0))
        claims.append(AtMost(f"{name}: first-order change of every unit over max |dw|, largest of 12 steps, against u",
                             np.max(moved, axis=0), u))
    at = cases.evaluation(rng, "relu", positive=True)
    first = cases.changes(at, np.full(at.network.size, 0.3))[-1].first
    u = total_gradients(at.network.layers, at.saved)[-1]
    claims.append(Equal("positive network, all parameters changed alike: change over the size of the step", first / 0.3,
                        u, 1e-12))
    at, delta = cases.product_of_weights(), np.array([2.0, 0.0, 2.0, 0.0])
    moved = cases.outputs_by_hand(at.network, at.x, delta) - at.outputs
    return [*claims, Counterexample(AtMost("w2 w1 x at zero, step 2: the real change against u max |dw|", np.abs(moved),
                                           2.0 * bound_at(at).total_gradients[-1])),
            Case(u=u)]


# -- the cost ---------------------------------------------------------------------------------------------------------

class Counted(np.ndarray):
    """An array whose matrix products, and those of all that is computed from it, are written into the list `log`.

    An entry is the number of multiply-adds. Products that would not be seen here (einsum, dot, ...) are refused.
    """

    log = None

    def __array_finalize__(self, source):
        self.log = getattr(source, "log", None)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        log = next(array.log for array in (*inputs, *(out or ())) if isinstance(array, Counted))
        plain = [a.view(np.ndarray) if isinstance(a, Counted) else a for a in inputs]
        if out is not None:
            options["out"] = tuple(a.view(np.ndarray) if isinstance(a, Counted) else a for a in out)
        result = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.matmul:
            log.append(result.size * plain[0].shape[-1])
        if not isinstance(result, np.ndarray) or out is not None:
            return result if out is None else out[0]
        result = result.view(Counted)
        result.log = log
        return result

    def __array_function__(self, function, types, args, kwargs):
        if function in (np.einsum, np.dot, np.tensordot, np.inner, np.vdot, np.outer, np.linalg.multi_dot):
            raise TypeError(f"{function.__name__} is not counted")
        return super().__array_function__(function, types, args, kwargs)


class CountedWorkspace(Workspace):
    """Hands out counted arrays, so that a product that is written into one of them is seen."""

    def __init__(self, log):
        super().__init__()
        self.log = log

    def of(self, owner):
        def new(name, shape, dtype):
            array = np.empty(shape, dtype).view(Counted)
            array.log = self.log
            return array
        return new


def multiply_adds(rng, sizes, samples, work):
    """Multiply-adds of every matrix product of work(evaluation), forward pass included."""
    net, log = cases.network(rng, "relu", sizes), []
    for layer in net.layers[::2]:
        counted = layer.weight.view(Counted)
        counted.log = log
        dict.__setitem__(layer.parameters, "weight", counted)
    x, y = cases.batch(rng, net, samples=samples)
    work(net.evaluate(SquaredError(), x, y, CountedWorkspace(log)))
    return log


@equation(PAPER, "claim-complexity",
          statement="One step costs about as much as one of gradient descent: 6n - 3 matrix products for n affine "
                    "layers instead of 3n - 1, always less than twice.",
          formula=r"\frac{6n - 3}{3n - 1} < 2", kind="claim", verdict="holds", implements=(bound_at, Network.evaluate))
def claim_complexity(rng):
    S, counts = 5, {"gradient": [], "bound": [], "cross": []}
    work = {"gradient": lambda at: at.gradient, "bound": bound_at, "cross": lambda at: bound_at(at, cross=True)}
    depths = np.arange(1, 5)
    for n in depths:
        for name, run in work.items():
            counts[name].append(len(multiply_adds(rng, [3] * (n + 1), S, run)))
    sizes = [4, 7, 2, 5, 3]
    products = S * np.array(sizes[1:]) * np.array(sizes[:-1])
    total = {name: sum(multiply_adds(rng, sizes, S, run)) for name, run in work.items()}
    return [
        Equal("products of a gradient against 3n - 1", counts["gradient"], 3 * depths - 1, 1e-15),
        Equal("products of the bound against 6n - 3", counts["bound"], 6 * depths - 3, 1e-15),
        Equal("products with the terms of cross=True against 7n - 4", counts["cross"], 7 * depths - 4, 1e-15),
        Equal("multiply-adds of a gradient against 2 for the first layer and 3 for the others", total["gradient"],
              2 * products[0] + 3 * products[1:].sum(), 1e-15),
        Equal("multiply-adds of the bound against 3 for the first layer and 6 for the others", total["bound"],
              3 * products[0] + 6 * products[1:].sum(), 1e-15),
        AtMost("ratio of products against 2", np.divide(counts["bound"], counts["gradient"]), 2.0),
        Property("the cost grows in proportion to the samples",
                 sum(multiply_adds(rng, sizes, 4 * S, bound_at)), 4 * total["bound"]),
        Case(layers=depths, gradient=counts["gradient"], bound=counts["bound"])]


# -- negative curvature -----------------------------------------------------------------------------------------------

@equation(PAPER, "claim-negative-curvature",
          statement="Negative curvature from activations is corrected number by number, with no eigenvalue computed.",
          formula=r"""\ddot{\mathcal{Y}}_{sj}^{(\ell)} \leftarrow \left|
                  \ddot{\mathcal{Y}}_{si}^{(\ell+1)} \dot{\sigma}_\ell(y_{sj}^{(\ell)})^2 +
                  \dot{\mathcal{Y}}_{si}^{(\ell+1)} \ddot{\sigma}_\ell(y_{sj}^{(\ell)})\right|
                  \quad \Rightarrow \quad \ddot{\mathcal{W}}_{ij}^{(\ell)} \geq 0""",
          kind="claim", verdict="conditional",
          condition="The coefficient below an activation is replaced by its absolute value, or if negative by zero.",
          implements=(bounding.activation, bound_at))
def claim_negative_curvature(rng):
    Y_dot, curvature = rng.normal(size=(2, 4, 3)) * 3
    Y_ddot, slope = rng.uniform(0.1, 1, size=(2, 4, 3))
    Y_dot[0], curvature[0], Y_dot[1], curvature[1] = 2.0, 3.0, 2.0, -3.0
    bare = [[Y_ddot[s, i] * slope[s, i] ** 2 + Y_dot[s, i] * curvature[s, i] for i in range(3)] for s in range(4)]
    made = {way: bounding.activation(Y_dot, Y_ddot, slope, curvature, way)[1] for way in ("abs", "max")}
    claims = [Equal("below a unit, absolute value", made["abs"], [[max(v, -v) for v in row] for row in bare], 1e-14),
              Equal("below a unit, negative ones to zero", made["max"],
                    [[max(v, 0.0) for v in row] for row in bare], 1e-14)]
    for name, at in {"bent unit": cases.bent_unit(), **cases.variety(rng, SMOOTH)}.items():
        H = bounded_hessian(at.network, at.loss_function, at.x, at.y)
        if name == "bent unit":
            claims.append(AtMost(f"{name}: least eigenvalue of bounded Hessian against -1", np.linalg.eigvalsh(H)[0],
                                 -1.0))
        for way in ("abs", "max"):
            W_ddot = bound_at(at, negative_curvature=way).curvature
            claims += [AtMost(f"{name}, {way}: 0 against W_ddot", 0.0, W_ddot),
                       AtMost(f"{name}, {way}: 0 against the least eigenvalue of diag(W_ddot) - bounded Hessian", 0.0,
                              cases.least_eigenvalue(W_ddot, H), scale=W_ddot.max())]
    at = cases.bent_unit()
    W_ddot = bounding.explicit_bound(at, negative_curvature="none").curvature
    return [*claims, Counterexample(AtMost("bent unit, no correction: 0 against W_ddot", 0.0, W_ddot)),
            Case(theta=at.network.theta, W_ddot=W_ddot)]
