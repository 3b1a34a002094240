"""The cubic model, (8) and (9), and the three ways to a mini-batch."""

import numpy as np

from .... import exact
from ....ledger import AtMost, Case, Counterexample, Equal, Property, equation
from ....optimizers import SGD
from .. import PAPER
from .. import eq_08_09_cubic_model as eq
from ..method import CubicRegularization
from .cases import ROWS, batch, moved, rows, sample_by_sample
from .conditions import ENOUGH, FORWARD
from .reference import larger_root, model


def ray(rng):
    """Slope, curvature (of either sign), length and sigma of a random model; it goes downhill."""
    a, h = rng.uniform(0.2, 2), rng.uniform(0.3, 3) * rng.choice([-1, 1])
    return -a, h, rng.uniform(0.3, 2), 10.0 ** rng.uniform(0, 2)


def described(a, h, length, sigma):
    """The same for the reader."""
    return Case(directional_derivative=a, curvature=h, length=length, sigma=sigma)


@equation(PAPER, "8",
          statement="A cubic model of the objective; with sigma not below the largest third "
                    "derivative it lies above.",
          condition=ENOUGH,
          kind="approximation", verdict="conditional", implements=eq.eq_8_change, uses=())
def equation_8(rng):
    row = batch(rng, "tanh", (3, 4, 4, 3))
    (a, _), (h, _), length = row.derivative, row.curvature, np.linalg.norm(row.direction)
    grid = np.linspace(0, 1.5, 61)
    third = np.array([third_derivative(row, s) for s in grid])
    sigma = 1.02 * np.abs(third).max() / length**3
    f = np.array([along(row, s).evaluate(*row.model[1:]).loss for s in grid]) - row.at.loss
    change = np.array([eq.eq_8_change(a, h, length, sigma, s) for s in grid])
    rest = f - a * grid - h * grid**2 / 2
    far = np.argmax(np.abs(rest))  # there |rest| = sigma (length s)^3 / 6 asks for this sigma
    turned, asked = np.sign(rest[far]), 6 * abs(rest[far]) / (length * grid[far])**3
    low = [eq.eq_8_change(turned * a, turned * h, length, asked / 2, s) for s in grid]
    both_ways = np.append(grid, -grid)
    return [Equal("against its four terms, forwards and backwards",
                  [eq.eq_8_change(a, h, length, sigma, s) for s in both_ways],
                  model(a, h, length, sigma, both_ways), 1e-13),
            AtMost("change of f against the model, on 61 points of the ray", f, change, 1e-9),
            Counterexample(AtMost("half of what one point asks for, f or its mirror image",
                                  turned * f, np.array(low), 1e-6)),
            described(a, h, length, sigma)]


def along(row, s):
    """A copy of the network, moved by s along the direction."""
    return moved(row.at, s * row.direction)


def third_derivative(row, s, h=1e-4):
    """Difference of curvatures along the ray."""
    low, high = (exact.two_jet(along(row, t), *row.model[1:], row.direction)[2]
                 for t in (s - h, s + h))
    return (high - low) / (2 * h)


@equation(PAPER, "9",
          statement="Where the model along a ray is stationary: of the two roots one is positive "
                    "and the model's minimum, the other negative.",
          condition=FORWARD,
          uses=("8",), kind="optimality", verdict="conditional",
          implements=eq.eq_9_roots)
def equation_9(rng):
    claims, h = [], 1e-5
    for _ in range(3):
        a, curvature, length, sigma = ray(rng)
        roots = np.sort(np.roots([sigma * length**3 / 2, curvature, a]).real)
        claims.append(Equal("both against the roots of the quadratic",
                            eq.eq_9_roots(a, curvature, sigma * length**3), roots, 1e-8))
    # with h > 0 the model's derivative at the negative root is -c s^2 = -2 (|a| + h |s|)
    case = a, curvature, length, sigma = a, abs(curvature), length, sigma
    low, high = eq.eq_9_roots(a, curvature, sigma * length**3)
    at_low, at_high = ((model(*case, s + h) - model(*case, s - h)) / (2 * h) for s in (low, high))
    return [*claims, Property("one root of each sign", bool(low < 0 < high)),
            Equal("derivative of the model at the positive root, beside that at 0", at_high, 0.0,
                  1e-5, scale=a),
            Counterexample(Equal("at the negative root", at_low, 0.0, 1e-3, scale=a)),
            described(*case)]


SIGMA = 10.0
FEW = {name: ROWS[name] for name in (
    "middle layer frozen", "biases in some layers", "an activation at the output", "one sample",
    "eleven samples", "float32")}


def best_rate(g, H):
    """The rate along -g of the model with this gradient and Hessian."""
    return larger_root(-g @ g, g @ H @ g, np.linalg.norm(g), SIGMA)


def sample_steps(row):
    """Gradient of every sample, and the rate of its model along it, by dense Hessians."""
    alone = sample_by_sample(row)
    return np.array([one.g for one in alone]), np.array([best_rate(one.g, one.H) for one in alone])


def steps_with(rng, rates, expected):
    """Claims: a step with the option against ``expected(row, gradients, rates)``."""
    claims = []
    for row in rows(rng, FEW):
        net = row.at.network.copy()
        CubicRegularization(SGD(net, row.at.loss_function), SIGMA, rates).step(*row.model[2:])
        gradients, own = sample_steps(row)
        claims.append(row.equal("change of the weights against dense Hessians",
                                net.theta - row.at.network.theta, expected(row, gradients, own),
                                allowed=1000 * row.tolerance))
    return [*claims, Case(rates=own, x=row.at.x)]


@equation(PAPER, "option-1",
          where="section 3.1: the mean of every sample's own step",
          statement="E[alpha g]: every sample's step along its own gradient, averaged.",
          kind="algorithm", verdict="holds",
          implements=(eq.option_1, CubicRegularization.change), uses=("37",))
def option_1(rng):
    return steps_with(rng, "option 1", lambda row, g, s: -np.mean(s[:, None] * g, axis=0))


@equation(PAPER, "claim-unbiased",
          where="section 3.1: the first option should be an unbiased estimate",
          statement="The mean of the samples' own steps is the whole batch's step where all "
                    "samples agree. Elsewhere it is not, in the mean over draws either: the rate "
                    "is not linear in the samples.",
          condition="All samples have one gradient and one curvature along it.",
          kind="claim", verdict="conditional", ours=True,
          implements=eq.option_1, uses=("option-1", "37"))
def claim_unbiased(rng):
    row = batch(rng, samples=4)
    gradients, rates = sample_steps(row)
    mean = gradients.mean(axis=0)
    whole = -best_rate(mean, row.H) * mean
    net, loss, x, y = row.model
    copies = net.evaluate(loss, np.repeat(x[:1], 4, axis=0), np.repeat(y[:1], 4, axis=0))
    alike = eq.option_1(np.repeat(rates[:1], 4), copies, None)
    return [Equal("four copies of one sample: the step of one", alike, -rates[0] * gradients[0],
                  1e-12),
            Counterexample(Equal("four samples: the mean of their steps against the batch's step",
                                 eq.option_1(rates, row.at, None), whole, 1e-4)),
            Case(rates=rates, whole=whole)]


@equation(PAPER, "option-2",
          where="section 3.1: the mean rate times the mean direction",
          statement="E[alpha] E[g]: the samples' rates averaged, along the mean gradient.",
          kind="algorithm", verdict="holds",
          implements=(eq.option_2, CubicRegularization.change), uses=("37",))
def option_2(rng):
    return steps_with(rng, "option 2", lambda row, g, s: -s.mean() * g.mean(axis=0))


@equation(PAPER, "option-3",
          where="section 3.1: the direction is fixed, both numbers are averaged",
          statement="One rate from the mean derivative and curvature along a fixed direction: not "
                    "the mean of the samples' rates.",
          kind="algorithm", verdict="holds", ours=True, implements=CubicRegularization.change,
          uses=("37", "38", "39"))
def option_3(rng):
    def rate(row, gradients):
        return best_rate(gradients.mean(axis=0), row.H)

    claims = steps_with(rng, "single", lambda row, g, s: -rate(row, g) * g.mean(axis=0))
    apart = []
    for _ in range(3):  # of one batch alone the two may agree by chance
        row = batch(rng, samples=4)
        gradients, rates = sample_steps(row)
        apart.append(abs(rate(row, gradients) / rates.mean() - 1))
    return [*claims, Property("not the mean of the rates", max(apart) > 1e-3)]
