"""Equations (10) and (11): the fractions that the paper chooses, and the total gradient they are made of."""

import numpy as np

from ... import exact
from ...ledger import AtMost, Case, Counterexample, Equal, equation
from .. import PAPER, bounding, partitions
from ..bound import bound_at
from ..total_gradient import activation, affine, total_gradients
from . import cases

PIECEWISE_LINEAR = ("relu", "leaky_relu", "identity")


# -- optimal fractions ------------------------------------------------------------------------------------------------

def curvature_of_logits(at):
    """The sum of all W_ddot as a function of the logarithms of all fractions, and the logarithms of those of (10).

    Each set of fractions is the softmax of its logarithms over the terms that are not zero.
    """
    best = bounding.partitions_of(at)
    sets = [np.concatenate(made, axis=2) for made in best if made is not None]
    occupied = [p > 0 for p in sets]
    sizes = np.cumsum([0] + [int(o.sum()) for o in occupied])

    def value(logits):
        drawn = iter([filled(logits[a:b], o) for a, b, o in zip(sizes[:-1], sizes[1:], occupied)])
        made = [None if old is None else partitions.Partition(*np.split(next(drawn), [old.eps.shape[2]], axis=2))
                for old in best]
        return bounding.explicit_bound(at, made, output_phi=None).curvature.sum()

    return value, np.concatenate([np.log(p[o]) for p, o in zip(sets, occupied)])


def filled(logits, occupied):
    """Fractions (S, out, 1 + 2 in) from the logarithms of the occupied ones, each row scaled to sum to one."""
    p = np.zeros(occupied.shape)
    p[occupied] = np.exp(logits)
    return p / p.sum(axis=2, keepdims=True)


@equation(PAPER, "10",
          statement="The fractions that minimise the bound for steps of equal size: for a weight the size of its "
                    "input, for an input its weight times its total gradient, both over the output's total gradient.",
          formula=r"\varepsilon_{sij}^{*(\ell)} = \frac{|y_{sj}^{(\ell)}|}{u_{si}^{(\ell+1)}} \quad "
                  r"\varphi_{sij}^{*(\ell)} = \frac{|w_{ij}^{(\ell)}| u_{sj}^{(\ell)}}{u_{si}^{(\ell+1)}} \quad "
                  r"\text{for } 1 < \ell < L, \quad \ell \in P",
          kind="optimality", verdict="conditional",
          condition="No coefficient below a curved activation is negative before its absolute value is taken; so for "
                    "all piecewise-linear ones. The formula serves the first layer too, where phi = 0; a layer that "
                    "is not trained has no eps.",
          implements=(partitions.optimal, bounding.partitions_of))
def equation_10(rng):
    case = cases.affine(rng)
    made, u = partitions.optimal(case.layer, case.y, case.u), affine(case.layer, case.y, case.u)
    S, out, _ = made.eps.shape
    eps = [[[1 / u[s, i], *(np.abs(case.y[s]) / u[s, i])] for i in range(out)] for s in range(S)]
    phi = [[[abs(w) * below / u[s, i] for w, below in zip(case.layer.weight[i], case.u[s])] for i in range(out)]
           for s in range(S)]
    fixed = cases.affine(rng, trainable=False)
    below = [[np.abs(w) * u / sum(np.abs(w) * u) for w in fixed.layer.weight] for u in fixed.u]
    claims = [Equal("eps against |y| / u", made.eps, eps, 1e-13), Equal("phi against |w| u / u", made.phi, phi, 1e-13),
              Equal("layer that is not trained: phi against |w| u over its sum",
                    partitions.optimal(fixed.layer, fixed.y, fixed.u).phi, below, 1e-13)]
    for name in PIECEWISE_LINEAR:
        # a sum of products of powers of fractions is convex in their logarithms: a stationary point is the minimum
        at = cases.evaluation(rng, name, sizes=(2, 2, 2, 1), samples=1)
        value, best = curvature_of_logits(at)
        others = [value(best + scale * rng.normal(size=best.size)) for scale in (0.01, 0.1, 1.0) for _ in range(5)]
        claims += [Equal(f"{name}: slope of sum W_ddot in the logarithms of all fractions", slopes(value, best),
                         np.zeros(best.size), 1e-7, scale=value(best)),
                   AtMost(f"{name}: sum W_ddot against its values at other fractions", value(best), others)]
    value, best = curvature_of_logits(cases.bent_unit())
    return [*claims, Counterexample(Equal("bent unit, negative coefficient: slope in the logarithms of all fractions",
                                          slopes(value, best), np.zeros(best.size), 1e-3, scale=value(best))),
            Case(y=case.y, u=case.u, eps=made.eps, phi=made.phi)]


def slopes(value, at, h=1e-5):
    """Central differences of a function of a vector."""
    return np.array([(value(at + h * e) - value(at - h * e)) / (2 * h) for e in np.eye(at.size)])


# -- the total gradient -----------------------------------------------------------------------------------------------

def absolute_jacobians(at):
    """For the inputs of all layers and the outputs, (S, m, P): sums over paths from a parameter of absolute products.

    The Jacobian of the network with all weights, inputs of layers and slopes replaced by their absolute values.
    """
    net, M = at.network, [np.zeros((*at.x.shape, at.network.size))]
    for layer, where, kept in zip(net.layers, net.slices, at.saved):
        if hasattr(kept, "slope"):
            M.append(np.abs(kept.slope)[:, :, None] * M[-1])
            continue
        below = np.einsum("ij,sjp->sip", np.abs(layer.weight), M[-1])
        for s, i in np.ndindex(below.shape[:2]):
            if layer.trainable:
                weights, rest = np.zeros_like(layer.weight), np.zeros(layer.size - layer.weight.size)
                weights[i] = np.abs(kept.input[s])
                rest[i:i + 1] = 1.0
                below[s, i, where] += np.concatenate([weights.ravel(), rest])
        M.append(below)
    return M


@equation(PAPER, "11",
          statement="The total gradient of a unit, by a forward pass: zero at the input, shrunk by the slope at an "
                    "activation, and at an affine layer the size of its inputs plus weighted total gradients. (In the "
                    "case of an activation i = j; an affine layer that is not trained lacks the first sum.)",
          formula=r"""u_{si}^{(1)} \equiv 0 \quad u_{si}^{(\ell+1)} \equiv \begin{cases}
                  |\dot{\sigma}_{\ell}(y_{sj}^{(\ell)})| u_{sj}^{(\ell)} & \text{for activation layers } \ell \\
                  \sum_{j=0}^{m_{\ell}} |y_{sj}^{(\ell)}| + \sum_{j=1}^{m_{\ell}} |w_{ij}^{(\ell)}| u_{sj}^{(\ell)} &
                  \text{for affine layers } \ell
                  \end{cases}""",
          kind="definition", verdict="holds", implements=(total_gradients, affine, activation, bound_at))
def equation_11(rng):
    claims = []
    for name, options in (("tanh", {}), ("sin", {"scale": 3.0}), ("relu", {"bias": False}),
                          ("softplus", {"fixed": (1,)}), ("sigmoid", {"fixed": (0,)})):
        at = cases.evaluation(rng, name, **options)
        expected = np.concatenate([M.sum(axis=2) for M in absolute_jacobians(at)], axis=1)
        what = ", ".join([name, *(f"{key} = {value}" for key, value in options.items())])
        claims.append(Equal(f"{what}: u at all layers against sums over all paths of absolute products",
                            np.concatenate(total_gradients(at.network.layers, at.saved), axis=1), expected, 1e-13))
        us = bound_at(at).total_gradients
        fast = [np.zeros_like(kept.input) if u is None else u for kept, u in zip(at.saved, us)] + us[-1:]
        claims.append(Equal(f"{what}: u of the fast path", np.concatenate(fast, axis=1), expected, 1e-13))
    at = cases.evaluation(rng, "relu", positive=True)
    claims.append(Equal("positive weights, inputs and slopes: u of the outputs against row sums of the Jacobian",
                        total_gradients(at.network.layers, at.saved)[-1],
                        exact.jacobian(at.network, at.x).sum(axis=2), 1e-13))
    return [*claims, Case(x=at.x, u=total_gradients(at.network.layers, at.saved)[-1])]
