"""The step length, (37), (40)-(43), and what it takes along g, (38), (39)."""

import numpy as np

from .... import exact
from ....ledger import (AtMost, Case, Counterexample, Equal, Printed, Property, Rate, Stated,
                        equation)
from ....ledger.multiplication_counter import counted
from ....nets import Activation, SquaredError
from ....optimizers import SGD
from .. import PAPER
from .. import eq_37_43_step_length as eq
from ..eq_01_07_low_rank import number_of_products
from ..eq_10_26_network import eq_23_eta, every_eta
from ..layers import fcnn, sample
from ..method import CubicRegularization
from .cases import CLEAR, RELU, batch, kinds, nested, network, network_case, rows
from .conditions import DESCENT, EVERY_ETA, ONE_SAMPLE, STRAIGHT
from .eq_08_09_cubic_model import described, ray
from .reference import larger_root, model


@equation(PAPER, "37",
          statement="The step length: the positive root, the model's minimum over all lengths.",
          condition=DESCENT,
          uses=("9",), kind="optimality", verdict="conditional",
          implements=(eq.eq_37_as_it_stands, eq.eq_37_step_length, eq.step_length))
def equation_37(rng):
    claims, values, least = [], [], []
    for _ in range(4):
        a, h, length, sigma = case = ray(rng)
        s, root = eq.step_length(*case), larger_root(*case)
        claims += [Equal("as it stands, where nothing cancels much, against the larger root",
                         eq.eq_37_as_it_stands(a, h, sigma * length**3), root, 1e-9),
                   Equal("without cancellation, against the larger root", s, root, 1e-9)]
        values.append(model(*case, s))
        least.append(min(model(*case, s * t) for t in np.geomspace(1e-3, 1e3, 400)))
    uphill = eq.eq_37_as_it_stands(*map(complex, (-a, abs(h), sigma * length**3)))
    return [*claims,
            AtMost("the model there against the model on a grid of lengths", values, least),
            Property("uphill the package does not step", eq.step_length(-a, abs(h), length, sigma),
                     0.0),
            Counterexample(AtMost("uphill: 0 against the root, or its real part", 0.0, uphill.real,
                                  1e-6, scale=abs(uphill))),
            described(*case)]


@equation(PAPER, "extension-stable-step",
          where="section 3.1 and (37), in floating point",
          statement="(37) cancels where curvature dominates; the reciprocal form does not, and "
                    "the step is the same for every length of the direction.",
          kind="algorithm", verdict="holds", ours=True,
          implements=(eq.eq_37_step_length, eq.step_length), uses=("37",))
def extension_stable_step(rng):
    a, h = -rng.uniform(0.5, 1), 10.0 ** rng.uniform(4, 5)
    length, sigma = rng.uniform(0.01, 0.02), rng.uniform(1, 2)
    c = sigma * length**3
    series = -a / h * (1 + a * c / (2 * h**2))  # the next term is below rounding
    lost = abs(eq.eq_37_as_it_stands(a, h, c) / series - 1)
    scaled = [k * eq.step_length(k * a, k**2 * h, k * length, sigma)
              for k in 10.0 ** np.arange(-120.0, 121, 40)]
    other = ray(rng)
    return [Equal("against the series in c", eq.step_length(a, h, length, sigma), series, 1e-14),
            AtMost("the printed formula has lost four digits or more", 1e-12, lost),
            Equal("one step for directions of length 1e-120 to 1e120", scaled, np.full(7, series),
                  1e-13),
            Equal("where nothing cancels, against the roots", eq.eq_37_step_length(*other),
                  larger_root(*other), 1e-9),
            described(a, h, length, sigma)]


@equation(PAPER, "38",
          statement="The derivative along the direction, from the pieces omega and phi of the "
                    "direction.",
          condition=ONE_SAMPLE,
          kind="identity", verdict="conditional",
          implements=(eq.eq_38_slope,
                      Stated(eq.eq_38_39, "0")), uses=("1", "16", "28"))
def equation_38(rng):
    claims = []
    for name, case in kinds(rng):
        omega, phi, d = direction(rng, case)
        by_jets = case.f.first[:len(d)] * d
        claims.append(Equal("one sample: the sum over eta, against jets",
                            eq.eq_38_slope(case.sample, omega, phi), by_jets.sum(),
                            case.tolerance, scale=np.abs(by_jets).sum(), case=name))
    claims += [row.equal("averaged over a batch, against gradient times direction",
                         eq.eq_38_39(row.at, row.direction)[0], *row.derivative)
               for row in [*rows(rng), nested(batch(rng, "tanh"))]]
    row = batch(rng)
    f_p = row.at.loss_function.gradient(row.at.outputs, row.at.y)
    p_dot = exact.jacobian(row.at.network, row.at.x) @ row.direction
    outside = f_p.mean(axis=0) @ p_dot.mean(axis=0)
    return [*claims,
            Counterexample(Equal("a batch, with dF/dp in front of the mean tangent of p", outside,
                                 row.derivative[0], CLEAR)),
            Case(direction=row.direction, x=row.at.x)]


def direction(rng, case):
    """A random omega and phi, and both as one vector in the order of the jets' variables."""
    phi = [rng.normal(size=w.shape) for w in (*case.sample.w[1:], case.sample.u)]
    return phi[-1], [None, *phi[:-1]], np.concatenate([piece.ravel() for piece in phi])


@equation(PAPER, "39",
          statement="Curvature along g: the print leaves out f_pp between different hidden layers.",
          condition=(ONE_SAMPLE, STRAIGHT),
          uses=("3", "4", "5", "16"), kind="identity", verdict="erratum", weight="substance",
          implements=(eq.eq_39_curvature, eq.eq_39_as_printed, Stated(eq.eq_38_39, "1"),
                      Stated(eq.eq_38_39_as_printed, "1"), eq.eq_39_by_layers_as_printed))
def equation_39(rng):
    claims = [row.equal("corrected, by one tangent and A'' of curved activations, against the "
                        "dense Hessian", eq.eq_38_39(row.at, row.direction)[1], *row.curvature)
              for row in [*rows(rng, activation="relu"), *rows(rng), nested(batch(rng, "tanh"))]]
    for name, case in kinds(rng, ("relu",)):
        omega, phi, d = direction(rng, case)
        H = case.f.second[:len(d), :len(d)]
        scale = np.abs(d) @ np.abs(H) @ np.abs(d)
        claims += [Equal(f"{what}, line by line, against jets", value, d @ H @ d, case.tolerance,
                         scale, name)
                   for what, value in (
                       ("corrected", eq.eq_39_curvature(case.sample, omega, phi)),
                       ("as printed and what it lacks", eq.eq_39_as_printed(case.sample, omega, phi)
                        + hidden_pairs(case, phi)))]
    for row in [*rows(rng), batch(rng, "relu")]:
        printed = eq.eq_38_39_as_printed(*fcnn(row.at), row.direction)[1]
        claims.append(row.equal("as printed, of a batch: the mean of the samples' line by line",
                                printed, line_by_line(row, eq.eq_39_as_printed),
                                row.curvature[1]))
    return [*claims,
            row.equal("corrected, line by line, averaged over samples, against the dense Hessian",
                      line_by_line(row, eq.eq_39_curvature), *row.curvature),
            Printed(Equal("as printed, averaged over samples", printed, row.curvature[0], CLEAR)),
            Case(direction=row.direction, x=row.at.x)]


def hidden_pairs(case, phi):
    """The sum over k != r of q_k^T f_pp q_r, with q_k how p moves with the hidden layer k alone."""
    q = [np.einsum("lij,ij->l", case.d(case.p, ("w", k)), phi[k]) for k in range(1, len(phi))]
    return sum(one @ case.in_p()[1] @ other for one in q for other in q if one is not other)


def line_by_line(row, rule):
    """The mean over samples of a rule with all indices. Biases are a column behind the weights,
    and the unit that is always 1 does not move, nor do layers that are not trained.
    """
    net, samples, pieces = row.at.network, [sample(row.at, i) for i in range(len(row.at.x))], [None]
    linear = [(layer, where) for layer, where in zip(net.layers, net.slices)
              if not isinstance(layer, Activation)]
    for (layer, where), w in zip(linear, (*samples[0].w[1:], samples[0].u)):
        pieces.append(np.zeros(w.shape))
        if layer.size:
            weight, *bias = layer.split(row.direction[where])
            own = np.column_stack([weight, *bias])
            pieces[-1][:len(own), :own.shape[1]] = own
    return np.mean([rule(s, pieces[-1], pieces[:-1]) for s in samples])


@equation(PAPER, "extension-tangent",
          where="(39), whose cost need not grow with the square of the depth",
          statement="Each sum over eta in (39) is a tangent of a layer's output or a "
                    "back-propagated gradient: one tangent gives the curvature.",
          uses=("39",), kind="identity", verdict="holds", ours=True,
          implements=Stated(eq.eq_38_39, "1"))
def extension_tangent(rng):
    claims, case = [], network_case(rng, "tanh")
    for activation in ("relu", "tanh"):
        row = batch(rng, activation, (4, 5, 3, 4, 3), bias=True)
        claims.append(row.equal("against the dense Hessian", eq.eq_38_39(row.at, row.direction)[1],
                                *row.curvature, allowed=1e-13))
    s, (_, phi, _) = case.sample, direction(rng, case)
    by_eta = sum(eq_23_eta(s, 2, k) @ phi[k] @ s.v[k - 1] for k in (1, 2))
    tangent = sum(np.einsum("jst,st->j", case.d(case.v[2], ("w", k)), phi[k]) for k in (1, 2))
    return [*claims,
            Equal("sums of eta are the tangent of a layer, by jets", by_eta, tangent, 1e-13),
            Case(x=row.at.x, direction=row.direction)]


@equation(PAPER, "extension-jet",
          where="(38)-(39) without a backward pass",
          statement="Value, derivative and curvature along a direction from forward passes alone.",
          kind="identity", verdict="holds", ours=True, implements=exact.two_jet, uses=("38", "39"))
def extension_jet(rng):
    claims = []
    for row in [*rows(rng), *rows(rng, RELU)]:
        value, slope, second = exact.two_jet(*row.model, row.direction)
        claims += [row.equal("curvature against one tangent and the gradients that come back",
                             second, eq.eq_38_39(row.at, row.direction)[1], row.curvature[1]),
                   row.equal("curvature against the dense Hessian", second, *row.curvature),
                   row.equal("directional derivative", slope, *row.derivative),
                   row.equal("value", value, row.at.loss)]
    return [*claims, Case(x=row.at.x, direction=row.direction)]


@equation(PAPER, "u-depth",
          where="section 4, the second aspect of the cost",
          statement="The number of matrix products for the quantities of (9) grows with the "
                    "square of the number of layers.",
          condition=EVERY_ETA,
          kind="claim", verdict="conditional", ours=True,
          implements=(number_of_products, every_eta),
          uses=("38", "39"))
def u_depth(rng):
    depths, every, one, claims = np.array([16, 32, 64]), [], [], []
    for n in depths:
        at, log = all_live(rng, n), []
        s = sample(at)
        s = s._replace(w=[None, *(counted(w, log, follow=False) for w in s.w[1:])],
                       u=counted(s.u, log, follow=False))
        eta = every_eta(s)
        for k in range(1, n + 1):
            s.u @ eta[n, k]
        every.append(len(log))
        product = np.linalg.multi_dot([layer.weight for layer in at.network.layers[-3:0:-2]])
        claims.append(Equal("eta^(n,1) against the product of the weights, as all slopes are 1",
                            eta[n, 1], product, 1e-9, case=f"{n} layers"))
        for layer in at.network.layers[::2]:
            dict.__setitem__(layer.parameters, "weight", counted(layer.weight, log, follow=False))
        log.clear()
        eq.eq_38_39(at, rng.normal(size=at.network.size))
        one.append(len(log))
    return [*claims,
            Equal("products of weights and eta, counted", np.array(every, float),
                  [number_of_products(n) for n in depths], 1e-12),
            # n (n + 1) = (n + 1/2)^2 - 1/4: from 16 to 64 layers the order is 2 within 7e-4
            Rate("every eta: products against depth", depths + 0.5, every, order=2,
                 tolerance=0.003),
            Counterexample(Rate("one tangent: products against depth", depths + 0.5, one, order=2,
                                tolerance=0.003)),
            Case(depths=depths, every=every, one=one)]


def all_live(rng, n):
    """An evaluation of a narrow ReLU network of n hidden layers in which all units are live."""
    net = network(rng, "relu", (2,) * (n + 2))
    for layer in net.layers[::2]:
        layer.weight = np.abs(layer.weight) / np.abs(layer.weight).sum(axis=1, keepdims=True)
    return net.evaluate(SquaredError(), rng.uniform(0.5, 1, (3, 2)), rng.normal(size=(3, 2)))


@equation(PAPER, "40",
          statement="The third power of the direction's length.",
          kind="identity", verdict="holds", implements=eq.eq_40_norm_cubed, uses=())
def equation_40(rng):
    pieces = [rng.normal(size=shape) for shape in ((3, 4), (4, 2), (2, 3))]
    whole = np.concatenate([piece.ravel() for piece in pieces])
    return [Equal("against the norm of the whole direction",
                  eq.eq_40_norm_cubed(pieces[0], pieces[1:]), np.linalg.norm(whole) ** 3, 1e-14),
            Case(direction=whole)]


@equation(PAPER, "41",
          statement="Three limits of the step length. h^2 must be large beside 2 |a| c; the print "
                    "compares quantities of different dimension. The second limit needs |a| under "
                    "its root, and no sign of h.",
          uses=("37",), kind="approximation", verdict="erratum", weight="substance",
          implements=(eq.eq_41_limits, eq.eq_41_flat_as_printed))
def equation_41(rng):
    claims, length, sigma = [], rng.uniform(0.5, 1), rng.uniform(1, 2)
    c, h = sigma * length**3, rng.uniform(1, 2)
    for eps in (1e-3, 1e-5):  # 2 |a| c / h^2
        a = -eps * h**2 / (2 * c)
        newton, saddle = eq.eq_41_limits(a, h, c)[0], eq.eq_41_limits(a, -h, c)[2]
        claims += [Equal(f"h > 0, eps = {eps:g}: relative error eps / 4",
                         eq.step_length(a, h, length, sigma), newton * (1 - eps / 4), eps**2),
                   Equal(f"h < 0, eps = {eps:g}: relative error of order eps^2",
                         eq.step_length(a, -h, length, sigma), saddle, eps**2)]
        a = -(h**2) / (2 * c * eps)
        flat = eq.eq_41_limits(a, h, c)[1]
        claims += [Equal(f"flat, eps = {1 / eps:g}, h of either sign: next terms -h / c and "
                         f"{eps:g} / 2 of it", eq.step_length(a, sign * h, length, sigma),
                         flat * (1 + eps / 2) - sign * h / c, eps**2) for sign in (1, -1)]
    a, h, sigma = -1e-14, 1e-8, 1e2  # h = 10^4 |a| c, and yet h^2 = 5e-5 (2 |a| c)
    newton = eq.eq_41_limits(a, h, sigma)[0]
    return [*claims, Equal("the printed second case is what it says, for a > 0",
                           eq.eq_41_flat_as_printed(0.7, 1.0, c),
                           (1.4 / c) ** 0.5, 1e-14),
            Property("a < 0: no real root as printed",
                     bool(np.isnan(eq.eq_41_flat_as_printed(-1.0, h, 1.0)))),
            Printed(Equal("h ten thousand times |a| c: the first case as printed",
                          newton, eq.step_length(a, h, 1.0, sigma), 1e-3)),
            described(a, h, 1.0, sigma)]


@equation(PAPER, "42", "43",
          statement="The step: all weights along the direction, by one length.",
          kind="algorithm", verdict="holds",
          implements=(eq.eq_42_43_step, CubicRegularization.change), uses=("37",))
def equations_42_and_43(rng):
    claims, sigma = [], 30.0
    for row in rows(rng):
        net, g = row.at.network.copy(), row.g
        info = CubicRegularization(SGD(net, row.at.loss_function), sigma=sigma).step(*row.model[2:])
        case = -g @ g, g @ row.H @ g, np.linalg.norm(g), sigma
        # (42), (43)
        claims += [row.equal("change of all weights against the larger root times -gradient",
                             net.theta - row.at.network.theta, -larger_root(*case) * g,
                             allowed=100 * row.tolerance),
                   row.equal("promised decrease against the model", info["predicted_decrease"],
                             -model(*case, larger_root(*case)), allowed=100 * row.tolerance)]
    return [*claims, Case(gradient=g, rate=info["rate"])]
