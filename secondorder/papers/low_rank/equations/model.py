"""The cubic model and the step length, (8)-(9), (37), (40)-(43)."""

import numpy as np

from .... import exact
from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Property, equation
from ....optimizers import SGD
from .. import PAPER, steps
from ..optimizer import CubicRegularization
from .batch_cases import batch, moved, rows
from .conditions import DESCENT, ENOUGH, FORWARD


def ray(rng, descent=True):
    """Directional derivative, curvature (of either sign), length and sigma of a random model."""
    a, h = rng.uniform(0.2, 2), rng.uniform(0.3, 3) * rng.choice([-1, 1])
    return (-a if descent else a), h, rng.uniform(0.3, 2), 10.0 ** rng.uniform(0, 2)


def model(a, h, length, sigma, s):
    """The model along the ray, from its four terms."""
    return a * s + h * s**2 / 2 + sigma * abs(s * length) ** 3 / 6


@equation(PAPER, "8",
          statement="A cubic model of the objective; with sigma not below the largest third "
                    "derivative it lies above.",
          formula=r"""f(\mathbf{x}) \approx m_j(\mathbf{s}_j) = f(\mathbf{x}_j)
                      + \mathbf{s}_j^T \frac{\partial f}{\partial \mathbf{x}} + \frac{1}{2}
                      \mathbf{s}_j^T \mathbf{H}_j \mathbf{s}_j + \frac{1}{6} \sigma_j
                      \|\mathbf{s}_j\|^3""",
          condition=ENOUGH,
          kind="approximation", verdict="conditional", implements=steps.model_change, uses=())
def equation_8(rng):
    row = batch(rng, "tanh", (3, 4, 4, 3))
    (a, _), (h, _), length = row.derivative, row.curvature, np.linalg.norm(row.direction)
    grid = np.linspace(0, 1.5, 61)
    third = np.array([third_derivative(row, s) for s in grid])
    sigma = 1.02 * np.abs(third).max() / length**3
    f = np.array([along(row, s).evaluate(*row.model[1:]).loss for s in grid]) - row.at.loss
    change = np.array([steps.model_change(a, h, length, sigma, s) for s in grid])
    rest = f - a * grid - h * grid**2 / 2
    far = np.argmax(np.abs(rest))  # there |rest| = sigma (length s)^3 / 6 asks for this sigma
    turned, asked = np.sign(rest[far]), 6 * abs(rest[far]) / (length * grid[far])**3
    low = [steps.model_change(turned * a, turned * h, length, asked / 2, s) for s in grid]
    return [Equal("against its four terms", change, model(a, h, length, sigma, grid), 1e-13),
            Equal("of a step backwards", steps.model_change(a, h, length, sigma, -0.3),
                  model(a, h, length, sigma, -0.3), 1e-13,  # on the scale of what may cancel
                  scale=max(abs(0.3 * a), abs(h) * 0.3**2 / 2, sigma * (0.3 * length) ** 3 / 6)),
            AtMost("change of f against the model, on 61 points of the ray", f, change, 1e-9),
            Equal("tight where they touch: both at s = 0, beside the largest", change[0], 0.0,
                  1e-12, scale=np.abs(change).max()),
            Counterexample(AtMost("half of what one point asks for, f or its mirror image",
                                  turned * f, np.array(low), 1e-6)),
            Case(directional_derivative=a, curvature=h, length=length, sigma=sigma)]


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
          formula=r"""\alpha = \frac{-\mathbf{g}^T \mathbf{H} \mathbf{g} \pm
                      \sqrt{(\mathbf{g}^T \mathbf{H} \mathbf{g})^2 - 2 (\mathbf{g}^T \nabla
                      f)(\sigma \|\mathbf{g}\|^3)}}{\sigma \|\mathbf{g}\|^3}""",
          condition=FORWARD,
          uses=("8",), kind="optimality", verdict="conditional",
          implements=(steps.both_roots, steps.stationary_points, steps.cubic_weight))
def equation_9(rng):
    claims, h = [], 1e-5
    for _ in range(3):
        case = ray(rng)
        low, high = steps.stationary_points(*case)
        a, curvature, length, sigma = case
        roots = np.sort(np.roots([sigma * length**3 / 2, curvature, a]).real)
        claims += [Equal("both against the roots of the quadratic", [low, high], roots, 1e-10),
                   Equal("the formula against the roots", steps.both_roots(*case), roots, 1e-8)]
    # with h > 0 the model's derivative at the negative root is -c s^2 = -2 (|a| + h |s|)
    case = a, curvature, length, sigma = a, abs(curvature), length, sigma
    low, high = steps.stationary_points(*case)
    at_low, at_high = ((model(*case, s + h) - model(*case, s - h)) / (2 * h) for s in (low, high))
    return [*claims, Property("one root of each sign", bool(low < 0 < high)),
            Equal("derivative of the model at the positive root, beside that at 0", at_high, 0.0,
                  1e-5, scale=a),
            Counterexample(Equal("at the negative root", at_low, 0.0, 1e-3, scale=a)),
            Case(directional_derivative=a, curvature=curvature, length=length, sigma=sigma)]


@equation(PAPER, "37",
          statement="The step length: the positive root, the model's minimum over all lengths.",
          formula=r"""\alpha = \frac{-\mathbf{g}^T \mathbf{H} \mathbf{g} + \sqrt{(\mathbf{g}^T
                      \mathbf{H} \mathbf{g})^2 - 2 (\mathbf{g}^T \nabla f)(\sigma
                      \|\mathbf{g}\|^3)}}{\sigma \|\mathbf{g}\|^3}""",
          condition=DESCENT,
          uses=("9",), kind="optimality", verdict="conditional",
          implements=(steps.positive_root, steps.step_length))
def equation_37(rng):
    claims, values, least = [], [], []
    for _ in range(4):
        case = ray(rng)
        s = steps.step_length(*case)
        root = np.roots([case[3] * case[2] ** 3 / 2, case[1], case[0]]).real.max()
        claims += [Equal("as it stands, where nothing cancels much, against the larger root",
                         steps.positive_root(*case), root, 1e-9),
                   Equal("without cancellation, against the larger root", s, root, 1e-9)]
        values.append(model(*case, s))
        least.append(min(model(*case, s * t) for t in np.geomspace(1e-3, 1e3, 400)))
    a, h, *rest = ray(rng, descent=False)
    root = steps.positive_root(*map(complex, (a, abs(h), *rest)))
    return [*claims,
            AtMost("the model there against the model on a grid of lengths", values, least),
            Property("uphill the package does not step", steps.step_length(a, abs(h), *rest), 0.0),
            Counterexample(AtMost("uphill: 0 against the root, or its real part", 0.0, root.real,
                                  1e-6, scale=abs(root))),
            Case(directional_derivative=case[0], curvature=case[1], length=case[2],
                 sigma=case[3])]


@equation(PAPER, "40",
          statement="The third power of the direction's length.",
          formula=r"""\|\mathbf{g}\|^3 = \left( \omega_j^i \omega_j^i + \sum_k \phi_j^{(k),i}
                      \phi_j^{(k),i} \right)^{\frac{3}{2}}""",
          kind="identity", verdict="holds", implements=steps.direction_norm_cubed, uses=())
def equation_40(rng):
    pieces = [rng.normal(size=shape) for shape in ((3, 4), (4, 2), (2, 3))]
    whole = np.concatenate([piece.ravel() for piece in pieces])
    return [Equal("against the norm of the whole direction",
                  steps.direction_norm_cubed(pieces), np.linalg.norm(whole) ** 3, 1e-14),
            Case(direction=whole)]


@equation(PAPER, "41",
          statement="Three limits of the step length. h^2 must be large beside 2 |a| c; the print "
                    "compares quantities of different dimension. The second limit needs |a| under "
                    "its root, and no sign of h.",
          uses=("37",), kind="approximation", verdict="erratum", weight="substance",
          implements=(steps.limits, steps.flat_limit_as_printed))
def equation_41(rng):
    claims, length, sigma = [], rng.uniform(0.5, 1), rng.uniform(1, 2)
    c, h = sigma * length**3, rng.uniform(1, 2)
    for eps in (1e-3, 1e-5):  # 2 |a| c / h^2
        a = -eps * h**2 / (2 * c)
        newton, saddle = steps.limits(a, h, length, sigma)[0], steps.limits(a, -h, length, sigma)[2]
        claims += [Equal(f"h > 0, eps = {eps:g}: relative error eps / 4",
                         steps.step_length(a, h, length, sigma), newton * (1 - eps / 4), eps**2),
                   Equal(f"h < 0, eps = {eps:g}: relative error of order eps^2",
                         steps.step_length(a, -h, length, sigma), saddle, eps**2)]
        a = -(h**2) / (2 * c * eps)
        flat = steps.limits(a, h, length, sigma)[1]
        claims += [Equal(f"flat, eps = {1 / eps:g}, h of either sign: next terms -h / c and "
                         f"{eps:g} / 2 of it", steps.step_length(a, sign * h, length, sigma),
                         flat * (1 + eps / 2) - sign * h / c, eps**2) for sign in (1, -1)]
    a, h, sigma = -1e-14, 1e-8, 1e2  # h = 10^4 |a| c, and yet h^2 = 5e-5 (2 |a| c)
    newton = steps.limits(a, h, 1.0, sigma)[0]
    return [*claims, Equal("the printed second case is what it says, for a > 0",
                           steps.flat_limit_as_printed(0.7, 1.0, length, sigma),
                           (1.4 / (sigma * length**3)) ** 0.5, 1e-14),
            Property("a < 0: no real root as printed",
                     bool(np.isnan(steps.flat_limit_as_printed(-1.0, h, 1.0, 1.0)))),
            Printed(Equal("h ten thousand times |a| c: the first case as printed",
                          newton, steps.step_length(a, h, 1.0, sigma), 1e-3)),
            Case(directional_derivative=a, curvature=h, sigma=sigma)]


@equation(PAPER, "42", "43",
          statement="The step: all weights along the direction, by one length.",
          formula=r"""\begin{aligned} \mathbf{u}_{j+1} &= \mathbf{u}_j + \alpha_j
                      \boldsymbol{\omega}_j \tag{42} \\
                      \mathbf{w}_{j+1}^{(k)} &= \mathbf{w}_j^{(k)} + \alpha_j
                      \boldsymbol{\phi}_j^{(k)} \tag{43} \end{aligned}""",
          kind="algorithm", verdict="holds",
          implements=(steps.moved, CubicRegularization.change), uses=("37",))
def equations_42_and_43(rng):
    claims, sigma = [], 30.0
    for row in rows(rng):
        net, g = row.at.network.copy(), row.g
        info = CubicRegularization(SGD(net, row.at.loss_function), sigma=sigma).step(*row.model[2:])
        a, h, length = -g @ g, g @ row.H @ g, np.linalg.norm(g)
        root = np.roots([sigma * length**3 / 2, h, a]).real.max()
        before, after = (np.concatenate([layer.weight.ravel() for layer in of.layers if layer.size])
                         for of in (row.at.network, net))
        pieces = [-g[where][:layer.weight.size]
                  for layer, where in zip(net.layers, net.slices) if layer.size]
        # (42), (43)
        claims += [Equal("change of all weights against the larger root times -gradient",
                         after - before, root * np.concatenate(pieces), 100 * row.tolerance,
                         case=row.name),
                   Equal("all weights after the step against the formula", after,
                         steps.moved(before, root, np.concatenate(pieces)), 100 * row.tolerance,
                         case=row.name),
                   Equal("promised decrease against the model", info["predicted_decrease"],
                         -model(a, h, length, sigma, root), 100 * row.tolerance, case=row.name)]
    return [*claims, Case(gradient=g, rate=info["rate"])]
