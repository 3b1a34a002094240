"""The second derivatives of one layer's weights, in two notations; their Gauss-Newton part."""

import numpy as np

from ....ledger import Case, Equal, Property, equation
from ....nets import Linear, Network, SquaredError
from ... import low_rank, reversible_gauss_newton
from ...eacg.eq_12_13_kfac_kfra import fisher_step
from .. import PAPER, kernels, layers
from . import cases


@equation(
    PAPER, "layer-hessian", where="[ea-cg] (4b), (4c); [low-rank] (5), (7), (78)-(80)",
    kind="identity", verdict="holds", ours=True,
    uses=("ea-cg 4b", "ea-cg 4c", "low-rank 5", "low-rank 7", "low-rank 80"),
    statement="The Hessian of one layer's weights. EA-CG carries a matrix down layer by layer and "
              "multiplies by the layer's inputs. The low-rank paper writes a sum of outer products "
              "index by index. Both are the same.",
    implements=(layers.kronecker_mean, layers.by_bias_hessians, layers.by_outer_products))
def layer_hessian(rng):
    claims = []
    for case in cases.variety(rng):
        pairs = zip(layers.by_bias_hessians(*case.model), layers.by_outer_products(*case.model))
        claims += [Equal("EA-CG's block against outer products", mine, other, 1e-11,
                         scale=max(np.abs(mine).max(), 1e-3), case=f"layer {t}, {case.name}")
                   for t, (mine, other) in enumerate(pairs, 1)]
    whole = low_rank.hessian(*cases.variety(rng)[0].model)
    couples = np.abs(whole[:12, 16:28]).max() > 1e-3 * np.abs(whole).max()
    return [*claims,
            Property("between layers the one paper has a block too, the other drops it",
                     bool(couples)),
            Case(x=case.x, y=case.y, theta=case.network.theta)]


@equation(
    PAPER, "layer-gauss-newton", kind="identity", verdict="holds", ours=True,
    uses=("ea-cg u-kfra", "reversible-gauss-newton 5"),
    where="[ea-cg] KFRA's recursion; [reversible-gauss-newton] (2)-(5), (13)",
    statement="The Gauss-Newton matrix of one layer's weights. EA-CG's is a mean over the samples, "
              "the reversible paper's a sum. The mean has the eigenvalues of the sum's kernel "
              "divided by the number of samples.",
    implements=(layers.kronecker_mean, kernels.mean_spectrum, kernels.kernel))
def layer_gauss_newton(rng):
    claims = []
    for activation, samples, bias in (("tanh", 2, True), ("sigmoid", 9, True),
                                      ("softplus", 1, False)):
        for t in range(3):
            net = cases.network(rng, activation, [3, 4, 3, 2], bias=False, trained=t)
            x, y = rng.normal(size=(samples, 3)), rng.normal(size=(samples, 2))
            block = layers.by_bias_hessians(net, SquaredError(), x, y, fisher_step)[t]
            count = max(len(block), 2 * samples)
            claims.append(Equal("eigenvalues of EA-CG's block against the kernel's over S",
                                kernels.eigenvalues(block, count),
                                kernels.mean_spectrum(net, x, count), 1e-11,
                                case=f"layer {t + 1}, {activation}, batch {samples}"))
    return [*claims, *_half_coupled(rng), Case(x=x, theta=net.theta)]


def _half_coupled(rng):
    """A half-coupled layer of a RevMLP is a linear layer on its features sigma(V x), where the
    derivative of the outputs that move is the identity.
    """
    coupling = reversible_gauss_newton.Coupling(6, 4, moves="first", activation="tanh", rng=rng)
    x = rng.normal(size=(5, 6))
    features = np.tanh(x[:, 3:] @ coupling.inner.layers[0].weight.T)
    last_layer = Network([Linear(4, 3, bias=False, rng=rng)])
    (block,) = layers.by_bias_hessians(last_layer, SquaredError(), features,
                                       rng.normal(size=(5, 3)), fisher_step)
    return [Equal("half-coupled layer of a RevMLP: eigenvalues of EA-CG's block on its features",
                  kernels.eigenvalues(block, 30),
                  kernels.mean_spectrum(Network([coupling]), x, 30), 1e-11),
            Equal("half-coupled layer: the features' second moment's, three times",
                  np.repeat(np.linalg.eigvalsh(features.T @ features / len(x))[::-1], 3),
                  kernels.mean_spectrum(Network([coupling]), x, 12), 1e-11)]
