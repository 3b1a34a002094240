"""The paper's three ways from samples to the step of a mini-batch (section 3.1)."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, Property, equation
from ....optimizers import SGD
from .. import PAPER, steps
from ..curvature import sample_curvatures_at
from ..optimizer import CubicRegularization
from .batch_cases import ROWS, batch, rows, sample_by_sample


SIGMA, L2 = 10.0, 0.2
FEW = {name: ROWS[name] for name in (
    "middle layer frozen", "biases in some layers", "an activation at the output", "one sample",
    "eleven samples", "float32")}


def larger_root(g, H):
    """The positive root of the model along -g."""
    return np.roots([SIGMA * np.linalg.norm(g) ** 3 / 2, g @ H @ g, -g @ g]).real.max()


def sample_steps(row):
    """Gradient of every sample, and the root of its model along it, by dense Hessians."""
    alone = sample_by_sample(row, L2)
    return (np.array([one.g for one in alone]),
            np.array([larger_root(one.g, one.H) for one in alone]))


def option(rng, averaging, expected):
    """Claims: a step with the option against ``expected(row, gradients, rates)``."""
    claims = []
    for row in rows(rng, FEW):
        net = row.at.network.copy()
        method = CubicRegularization(SGD(net, row.at.loss_function, l2=L2), sigma=SIGMA,
                                     averaging=averaging)
        method.step(*row.model[2:])
        gradients, rates = sample_steps(row)
        claims.append(Equal("change of the weights against dense Hessians",
                            net.theta - row.at.network.theta, expected(row, gradients, rates),
                            1000 * row.tolerance, case=row.name))
    return [*claims, Case(rates=rates, x=row.at.x)]


@equation(PAPER, "option-1",
          where="section 3.1: the mean of every sample's own step",
          statement="E[alpha g]: every sample's step along its own gradient, averaged.",
          formula=r"E[\alpha_j \mathbf{g}_j]",
          kind="algorithm", verdict="holds",
          implements=(steps.mean_step, CubicRegularization._averaged), uses=("37",))
def option_1(rng):
    return option(rng, "step", lambda row, g, s: steps.mean_step(s, -g))


@equation(PAPER, "claim-unbiased",
          where="section 3.1: the first option should be an unbiased estimate",
          statement="The mean of the samples' own steps is the whole batch's step where all "
                    "samples agree. Elsewhere it is not, in the mean over draws either: the rate "
                    "is not linear in the samples.",
          formula=r"E[\alpha_j \mathbf{g}_j] = \alpha \mathbf{g}",
          condition="All samples have one gradient and one curvature along it.",
          kind="claim", verdict="conditional", ours=True,
          implements=steps.mean_step, uses=("option-1", "37"))
def claim_unbiased(rng):
    row = batch(rng, samples=4)
    gradients, rates = sample_steps(row)
    mean = gradients.mean(axis=0)
    whole = -larger_root(mean, row.H + L2 * np.eye(len(row.H))) * mean
    alike = steps.mean_step(np.repeat(rates[:1], 4), -np.repeat(gradients[:1], 4, axis=0))
    return [Equal("four copies of one sample: the step of one", alike, -rates[0] * gradients[0],
                  1e-12),
            Counterexample(Equal("four samples: the mean of their steps against the batch's step",
                                 steps.mean_step(rates, -gradients), whole, 1e-4)),
            Case(rates=rates, whole=whole)]


@equation(PAPER, "option-2",
          where="section 3.1: the mean rate times the mean direction",
          statement="E[alpha] E[g]: the samples' rates averaged, along the mean gradient.",
          formula=r"E[\alpha_j] \times E[\mathbf{g}_j]",
          kind="algorithm", verdict="holds",
          implements=(steps.mean_rate_times_mean_direction, CubicRegularization._averaged),
          uses=("37",))
def option_2(rng):
    claims = option(rng, "rate", lambda row, g, s: steps.mean_rate_times_mean_direction(s, -g))
    for row in rows(rng, FEW):
        claims.append(Equal("g . grad f of the samples", sample_curvatures_at(row.at, L2)[0],
                            -np.sum(sample_steps(row)[0] ** 2, axis=1), row.tolerance,
                            case=row.name))
    return claims


@equation(PAPER, "option-3",
          where="section 3.1: the direction is fixed, both numbers are averaged",
          statement="One rate from the mean derivative and curvature along a fixed direction: not "
                    "the mean of the samples' rates.",
          formula=r"""\Delta = \alpha \mathbf{g}, \quad \alpha \text{ from } E[\mathbf{g}^T
                      \nabla f], E[\mathbf{g}^T \mathbf{H} \mathbf{g}]""",
          kind="algorithm", verdict="holds", ours=True, implements=CubicRegularization._single,
          uses=("37", "38", "39"))
def option_3(rng):
    def rate(row, gradients):
        return larger_root(gradients.mean(axis=0), row.H + L2 * np.eye(len(row.H)))

    claims = option(rng, "direction", lambda row, g, s: -rate(row, g) * g.mean(axis=0))
    apart = []
    for _ in range(3):  # of one batch alone the two may agree by chance
        row = batch(rng, samples=4)
        gradients, rates = sample_steps(row)
        apart.append(abs(rate(row, gradients) / rates.mean() - 1))
    return [*claims, Property("not the mean of the rates", max(apart) > 1e-3)]
