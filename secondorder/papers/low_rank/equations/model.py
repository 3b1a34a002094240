"""The cubic model and the step length, (8)-(9), (37), (40)-(43)."""

import numpy as np

from .... import exact
from ....ledger import (AtMost, Case, Condition, Counterexample, Equal, Printed, Property, equation)
from ....optimizers import SGD
from .. import PAPER, steps
from ..optimizer import CubicRegularization
from .cases import DESCENT, TOLERANCE, batch, model

FORWARD = Condition("forward",
                    "g is a descent direction, g . grad f < 0, sigma > 0, and the length is "
                    "positive: for negative lengths the model has the opposite cubic term.")
ENOUGH = Condition("enough",
                   "sigma is at least the largest third derivative along the ray over |g|^3.")


def ray(rng, descent=True):
    """Slope, curvature (of either sign), length and sigma of a random model."""
    a, h = rng.uniform(0.2, 2), rng.uniform(0.3, 3) * rng.choice([-1, 1])
    return (-a if descent else a), h, rng.uniform(0.3, 2), 10.0 ** rng.uniform(0, 2)


@equation(
    PAPER, "8",
    statement="A cubic model of the objective; with sigma not below the largest third derivative "
              "it lies above.",
    formula=r"f(\mathbf{x}) \approx m_j(\mathbf{s}_j) = f(\mathbf{x}_j) + \mathbf{s}_j^T "
            r"\frac{\partial f}{\partial \mathbf{x}} + \frac{1}{2} \mathbf{s}_j^T \mathbf{H}_j "
            r"\mathbf{s}_j + \frac{1}{6} \sigma_j \|\mathbf{s}_j\|^3",
    kind="approximation",
    verdict="conditional",
    condition=ENOUGH,
    implements=(steps.model_change,),
)
def cubic_model(rng):
    at, direction, g, H = batch(rng, "tanh", (3, 4, 4, 3))
    a, h, length = g @ direction, direction @ H @ direction, np.linalg.norm(direction)
    grid = np.linspace(0, 1.5, 61)
    third = np.array([_third_derivative(at, direction, s) for s in grid])
    sigma = 1.02 * np.abs(third).max() / length**3
    f = np.array([_objective(at, direction, s) for s in grid]) - _objective(at, direction, 0.0)
    made = np.array([steps.model_change(a, h, length, sigma, s) for s in grid])
    rest = f - a * grid - h * grid**2 / 2
    turned = np.sign(rest[np.argmax(np.abs(rest))])
    low = [steps.model_change(turned * a, turned * h, length, sigma / 1000, s) for s in grid]
    return [Equal("against its four terms", made, model(a, h, length, sigma, grid), TOLERANCE),
            Equal("of a step backwards", steps.model_change(a, h, length, sigma, -0.3),
                  model(a, h, length, sigma, -0.3), TOLERANCE),
            AtMost("change of f against the model, on 61 points of the ray", f, made, 1e-9),
            Equal("tight where they touch: both at s = 0, beside the largest", made[0],
                  0.0, 1e-12, scale=np.abs(made).max()),
            Counterexample(AtMost("a thousandth of that sigma, f or its mirror image",
                                  turned * f, np.array(low), 1e-6)),
            Case(slope=a, curvature=h, length=length, sigma=sigma)]


def _objective(at, direction, s):
    net = at.network.copy()
    net.theta = net.theta + s * direction
    return net.evaluate(at.loss_function, at.x, at.y).loss


def _third_derivative(at, direction, s, h=1e-4):
    """Difference of curvatures along the ray."""
    net, found = at.network.copy(), []
    for t in (s - h, s + h):
        net.theta = at.network.theta + t * direction
        found.append(exact.two_jet(net, at.loss_function, at.x, at.y, direction)[2])
    return (found[1] - found[0]) / (2 * h)


@equation(
    PAPER, "9",
    statement="Where the model along a ray is stationary: of the two roots one is positive and "
              "the model's minimum, the other negative.",
    formula=r"\alpha = \frac{-\mathbf{g}^T \mathbf{H} \mathbf{g} \pm "
            r"\sqrt{(\mathbf{g}^T \mathbf{H} \mathbf{g})^2 - 2 (\mathbf{g}^T \nabla f)(\sigma "
            r"\|\mathbf{g}\|^3)}}{\sigma \|\mathbf{g}\|^3}",
    kind="optimality",
    verdict="conditional",
    condition=FORWARD,
    implements=(steps.stationary_points, steps.cubic_weight),
)
def stationary(rng):
    claims, h = [], 1e-5
    for _ in range(3):
        case = ray(rng)
        low, high = steps.stationary_points(*case)
        a, bend, length, sigma = case
        roots = np.sort(np.roots([sigma * length**3 / 2, bend, a]).real)
        claims.append(Equal("both against the roots of the quadratic", [low, high], roots, 1e-10))
    slopes = [(model(*case, s + h) - model(*case, s - h)) / (2 * h) for s in (low, high)]
    return [*claims, Property("one root of each sign", bool(low < 0 < high)), Equal(
        "slope of the model at the positive root, beside that at 0", slopes[1], 0.0, 1e-5, scale=a),
            Counterexample(Equal("at the negative root", slopes[0], 0.0, 1e-3, scale=a)),
            Case(slope=a, curvature=bend, length=length, sigma=sigma)]


@equation(
    PAPER, "37",
    statement="The step length: the positive root, the model's minimum over all lengths.",
    formula=r"\alpha = \frac{-\mathbf{g}^T \mathbf{H} \mathbf{g} + "
            r"\sqrt{(\mathbf{g}^T \mathbf{H} \mathbf{g})^2 - 2 (\mathbf{g}^T \nabla f)(\sigma "
            r"\|\mathbf{g}\|^3)}}{\sigma \|\mathbf{g}\|^3}",
    kind="optimality",
    verdict="conditional",
    condition=DESCENT,
    implements=(steps.step_length_as_printed, steps.step_length),
)
def step_length(rng):
    claims, values, least = [], [], []
    for _ in range(4):
        case = ray(rng)
        s = steps.step_length(*case)
        roots = np.roots([case[3] * case[2] ** 3 / 2, case[1], case[0]]).real
        claims += [Equal("against the larger root", s, roots.max(), 1e-9),
                   Equal("the printed formula, where nothing cancels much",
                         steps.step_length_as_printed(*case), roots.max(), 1e-9)]
        values.append(model(*case, s))
        least.append(min(model(*case, s * t) for t in np.geomspace(1e-3, 1e3, 400)))
    a, h, *rest = ray(rng, descent=False)
    uphill = steps.step_length(a, abs(h), *rest)
    root = steps.step_length_as_printed(*map(complex, (a, abs(h), *rest)))
    return [*claims, AtMost("the model there against the model on a grid of lengths", values,
                            least), Property("uphill the package does not step", uphill, 0.0),
            Counterexample(AtMost("uphill: 0 against the printed root, or its real part",
                                  0.0, root.real, 1e-6, scale=abs(root))),
            Case(slope=case[0], curvature=case[1], length=case[2], sigma=case[3])]


@equation(
    PAPER, "extension-stable-step",
    where="section 3.1 and (37), in floating point",
    statement="(37) cancels where curvature dominates; the reciprocal form does not, and the step "
              "is the same for every length of the direction.",
    formula=r"s = \frac{2 |a|}{h + \sqrt{h^2 + 2 |a| c}} \; (h \ge 0), \quad s = "
            r"\frac{-h + \sqrt{h^2 + 2 |a| c}}{c} \; (h < 0), \quad c = \sigma \|\mathbf{g}\|^3",
    kind="algorithm",
    verdict="holds",
    ours=True,
    implements=(steps.descent_root, steps.step_length),
)
def stable_step(rng):
    a, h, length, sigma = (-rng.uniform(0.5, 1),
                           10.0 ** rng.uniform(4, 5),
                           rng.uniform(0.01, 0.02),
                           rng.uniform(1, 2))
    c = sigma * length**3
    series = -a / h * (1 + a * c / (2 * h**2))  # the next term is below rounding
    lost = abs(steps.step_length_as_printed(a, h, length, sigma) / series - 1)
    scaled = [k * steps.step_length(k * a, k**2 * h, k * length,
                                    sigma) for k in 10.0 ** np.arange(-120.0, 121, 40)]
    other = ray(rng)
    exact_root = np.roots([other[3] * other[2] ** 3 / 2, other[1], other[0]]).real.max()
    raw = steps.descent_root(*map(np.float64, other[:3]), other[3])
    return [Equal("against the series in c", steps.step_length(a, h, length, sigma), series, 1e-14),
            AtMost("the printed formula has lost four digits or more", 1e-12, lost),
            Equal("one step for directions of length 1e-120 to 1e120",
                  scaled, np.full(7, series), 1e-13),
            Equal("where nothing cancels, against the roots", raw, exact_root, 1e-9),
            Property("defined at the edges: no direction, no curvature and no sigma",
                     (steps.step_length(-1.0, 1.0, 0.0, 1.0),
                      steps.step_length(-2.0, 4.0, 1.0, 0.0),
                      steps.step_length(-2.0, -4.0, 1.0, 0.0)), (0.0, 0.5, steps.LARGEST)),
            Case(slope=a, curvature=h, length=length, sigma=sigma)]


@equation(
    PAPER, "40",
    statement="The third power of the direction's length.",
    formula=r"\|\mathbf{g}\|^3 = \left( \omega_j^i \omega_j^i + \sum_k \phi_j^{(k),i} "
            r"\phi_j^{(k),i} \right)^{\frac{3}{2}}",
    kind="identity",
    verdict="holds",
    implements=(steps.direction_norm_cubed,),
)
def length_cubed(rng):
    pieces = [rng.normal(size=shape) for shape in ((3, 4), (4, 2), (2, 3))]
    whole = np.concatenate([piece.ravel() for piece in pieces])
    return [Equal("against the norm of the whole direction",
                  steps.direction_norm_cubed(pieces), np.linalg.norm(whole) ** 3, 1e-14),
            Case(direction=whole)]


@equation(
    PAPER, "41",
    statement="Three limits of the step length. What is large must be h^2 beside 2 |a| c (the "
              "print compares quantities of different dimension), the second needs |a| under its "
              "root, and no sign of h.",
    formula=r"\alpha \approx \begin{cases} \frac{|\mathbf{g}^T \nabla f|}{\mathbf{g}^T \mathbf{H} "
            r"\mathbf{g}} & |\mathbf{g}^T \mathbf{H} \mathbf{g}| \gg |\mathbf{g}^T \nabla f| "
            r"\left( \sigma \|\mathbf{g}\|^3 \right) \text{ and } \mathbf{g}^T \mathbf{H} "
            r"\mathbf{g} > 0 \\ \sqrt{\frac{2\mathbf{g}^T \nabla f}{\sigma \|\mathbf{g}\|^3}} & "
            r"|\mathbf{g}^T \mathbf{H} \mathbf{g}| \ll |\mathbf{g}^T \nabla f| \left( \sigma "
            r"\|\mathbf{g}\|^3 \right) \text{ and } \mathbf{g}^T \mathbf{H} \mathbf{g} > 0 \\ 2 "
            r"\left| \frac{\mathbf{g}^T \mathbf{H} \mathbf{g}}{\sigma \|\mathbf{g}\|^3} \right| + "
            r"\left| \frac{\mathbf{g}^T \nabla f}{\mathbf{g}^T \mathbf{H} \mathbf{g}} \right| & "
            r"|\mathbf{g}^T \mathbf{H} \mathbf{g}| \gg |\mathbf{g}^T \nabla f| \left( \sigma "
            r"\|\mathbf{g}\|^3 \right) \text{ and } \mathbf{g}^T \mathbf{H} \mathbf{g} < 0 "
            r"\end{cases}",
    corrected=r"\frac{|a|}{h} \; (h^2 \gg 2 |a| c, h > 0), \quad \sqrt{2 |a| / c} \; (h^2 \ll 2 "
              r"|a| c), \quad \frac{2 |h|}{c} + \frac{|a|}{|h|} \; (h^2 \gg 2 |a| c, h < 0)",
    kind="approximation",
    verdict="erratum",
    weight="substance",
    implements=(steps.limits, steps.flat_limit_as_printed),
)
def limits(rng):
    claims, length, sigma = [], rng.uniform(0.5, 1), rng.uniform(1, 2)
    c, h = sigma * length**3, rng.uniform(1, 2)
    for eps in (1e-3, 1e-5):  # 2 |a| c / h^2
        a = -eps * h**2 / (2 * c)
        newton, _, saddle = steps.limits(a, h, length, sigma)
        claims += [Equal(f"h > 0, eps = {eps:g}: relative error eps / 4",
                         steps.step_length(a, h, length, sigma), newton * (1 - eps / 4), eps**2),
                   Equal(f"h < 0, eps = {eps:g}: relative error of order eps^2",
                         steps.step_length(a, -h, length, sigma), saddle, eps**2)]
        a = -(h**2) / (2 * c * eps)
        flat = steps.limits(a, h, length, sigma)[1]
        claims += [Equal(f"flat, eps = {1 / eps:g}, h of either sign: next term -h / c",
                         steps.step_length(a, sign * h, length, sigma), flat - sign * h / c,
                         eps) for sign in (1, -1)]
    a, h, sigma = -1e-7, 1e-2, 1e4  # h = 10 |a| c, and yet h^2 = 0.05 (2 |a| c)
    newton = steps.limits(a, h, 1.0, sigma)[0]
    return [*claims, Equal("the printed second case is what it says, for a > 0",
                           steps.flat_limit_as_printed(0.7, 1.0, length, sigma),
                           (1.4 / (sigma * length**3)) ** 0.5, 1e-14),
            Property("a < 0: no real root as printed",
                     bool(np.isnan(steps.flat_limit_as_printed(-1.0, h, 1.0, 1.0)))),
            Printed(Equal("h ten times |a| c: the first case as printed",
                          newton, steps.step_length(a, h, 1.0, sigma), 1e-2)),
            Case(slope=a, curvature=h, sigma=sigma)]


@equation(
    PAPER, "42", "43",
    statement="The step: all weights along the direction, by one length.",
    formula=r"\begin{aligned} \mathbf{u}_{j+1} &= \mathbf{u}_j + \alpha_j \boldsymbol{\omega}_j "
            r"\\ \mathbf{w}_{j+1}^{(k)} &= \mathbf{w}_j^{(k)} + \alpha_j "
            r"\boldsymbol{\phi}_j^{(k)} \end{aligned}",
    kind="algorithm",
    verdict="holds",
    implements=(CubicRegularization.change,),
)
def update(rng):
    at, _, g, H = batch(rng, "tanh")
    net, sigma = at.network.copy(), 30.0
    method = CubicRegularization(SGD(net, at.loss_function), sigma=sigma)
    before = [layer.weight.copy() for layer in net.layers[::2]]
    info = method.step(at.x, at.y)
    root = np.roots([sigma * np.linalg.norm(g) ** 3 / 2, g @ H @ g, -g @ g]).real.max()
    pieces = [-g[w].reshape(b.shape) for w, b in zip([w for w in net.slices if w.stop > w.start],
                                                     before)]
    expected = np.concatenate([(root * piece).ravel() for piece in pieces])
    moved = np.concatenate(
        [(layer.weight - b).ravel() for layer, b in zip(net.layers[::2], before)])
    return [Equal("change of all weights against the larger root times -gradient",
                  moved, expected, 1e-9),
            Equal("promised decrease against the model", info["predicted_decrease"],
                  -model(-g @ g, g @ H @ g, np.linalg.norm(g), sigma, root), 1e-9),
            Case(gradient=g, rate=info["rate"])]


