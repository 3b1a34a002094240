"""The cubic model and the step length, (8)-(9), (37)-(43), Table 2, and the three ways to a
mini-batch.
"""

import numpy as np

from ... import exact
from ...ledger import (
    AtMost,
    Case,
    Condition,
    Counterexample,
    Equal,
    Printed,
    Property,
    equation,
)
from ...optimizers import SGD
from .. import PAPER, curvature, diagonal, steps
from ..curvature import directional_curvature_at, sample_curvatures_at
from ..optimizer import CubicRegularization
from .cases import CLEAR, DESCENT, TOLERANCE, network_case

ENOUGH = Condition(
    "enough", "sigma is at least the largest third derivative along the ray over |g|^3."
)


def ray(rng, descent=True):
    """Slope, curvature (of either sign), length and sigma of a random model."""
    a, h = rng.uniform(0.2, 2), rng.uniform(0.3, 3) * rng.choice([-1, 1])
    return (-a if descent else a), h, rng.uniform(0.3, 2), 10.0 ** rng.uniform(0, 2)


def model(a, h, length, sigma, s):
    """The model along the ray, from its four terms."""
    return a * s + h * s**2 / 2 + sigma * abs(s * length) ** 3 / 6


def batch(rng, activation="relu", sizes=(4, 5, 6, 5, 3), samples=6, loss="softmax"):
    """An evaluation with dense gradient and Hessian, and a direction."""
    case = network_case(rng, activation, loss, sizes, samples)
    at = case.evaluation
    args = at.network, at.loss_function, at.x, at.y
    return (
        at,
        rng.normal(size=at.network.size),
        exact.gradient(*args),
        exact.hessian(*args, method="products"),
    )


@equation(
    PAPER,
    "8",
    statement="A cubic model of the objective; with sigma not below the largest third derivative "
              "it lies above.",
    formula=r"f(\mathbf{x}) \approx m_j(\mathbf{s}_j) = f(\mathbf{x}_j) + \mathbf{s}_j^T "
    r"\frac{\partial f}{\partial \mathbf{x}} + \frac{1}{2} \mathbf{s}_j^T \mathbf{H}_j "
    r"\mathbf{s}_j + "
    r"\frac{1}{6} \sigma_j \|\mathbf{s}_j\|^3",
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
    return [
        Equal("against its four terms", made, model(a, h, length, sigma, grid), TOLERANCE),
        Equal(
            "of a step backwards",
            steps.model_change(a, h, length, sigma, -0.3),
            model(a, h, length, sigma, -0.3),
            TOLERANCE,
        ),
        AtMost("change of f against the model, on 61 points of the ray", f, made, 1e-9),
        Equal(
            "tight where they touch: both at s = 0, beside the largest",
            made[0],
            0.0,
            1e-12,
            scale=np.abs(made).max(),
        ),
        Counterexample(
            AtMost(
                "a thousandth of that sigma, f or its mirror image", turned * f, np.array(low), 1e-6
            )
        ),
        Case(slope=a, curvature=h, length=length, sigma=sigma),
    ]


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
    PAPER,
    "9",
    statement="Where the model along a ray is stationary: of the two roots one is positive, the "
              "model's minimum; "
    "the negative one is not stationary, as |s|^3 turns there.",
    formula=r"\alpha = \frac{-\mathbf{g}^T \mathbf{H} \mathbf{g} \pm \sqrt{(\mathbf{g}^T "
            r"\mathbf{H} \mathbf{g})^2 "
    r"- 2 (\mathbf{g}^T \nabla f)(\sigma \|\mathbf{g}\|^3)}}{\sigma \|\mathbf{g}\|^3}",
    kind="optimality",
    verdict="conditional",
    condition=DESCENT,
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
    return [
        *claims,
        Property("one root of each sign", bool(low < 0 < high)),
        Equal(
            "slope of the model at the positive root, beside that at 0",
            slopes[1],
            0.0,
            1e-5,
            scale=a,
        ),
        Counterexample(Equal("at the negative root", slopes[0], 0.0, 1e-3, scale=a)),
        Case(slope=a, curvature=bend, length=length, sigma=sigma),
    ]


@equation(
    PAPER,
    "37",
    statement="The step length: the positive root, the model's minimum over all lengths.",
    formula=r"\alpha = \frac{-\mathbf{g}^T \mathbf{H} \mathbf{g} + \sqrt{(\mathbf{g}^T \mathbf{H} "
            r"\mathbf{g})^2 - "
    r"2 (\mathbf{g}^T \nabla f)(\sigma \|\mathbf{g}\|^3)}}{\sigma \|\mathbf{g}\|^3}",
    kind="optimality",
    verdict="conditional",
    condition=DESCENT,
    implements=(steps.step_length, steps.step_length_as_printed),
)
def step_length(rng):
    claims, values, least = [], [], []
    for _ in range(4):
        case = ray(rng)
        s = steps.step_length(*case)
        roots = np.roots([case[3] * case[2] ** 3 / 2, case[1], case[0]]).real
        claims += [
            Equal("against the larger root", s, roots.max(), 1e-9),
            Equal(
                "the printed formula, where nothing cancels much",
                steps.step_length_as_printed(*case),
                roots.max(),
                1e-9,
            ),
        ]
        values.append(model(*case, s))
        least.append(min(model(*case, s * t) for t in np.geomspace(1e-3, 1e3, 400)))
    a, h, *rest = ray(rng, descent=False)
    uphill = steps.step_length(a, abs(h), *rest)
    root = steps.step_length_as_printed(*map(complex, (a, abs(h), *rest)))
    return [
        *claims,
        AtMost("the model there against the model on a grid of lengths", values, least),
        Property("uphill the package does not step", uphill, 0.0),
        Counterexample(
            AtMost(
                "uphill: 0 against the printed root, or its real part",
                0.0,
                root.real,
                1e-6,
                scale=abs(root),
            )
        ),
        Case(slope=case[0], curvature=case[1], length=case[2], sigma=case[3]),
    ]


@equation(
    PAPER,
    "extension-stable-step",
    where="section 3.1 and (37), in floating point",
    statement="(37) cancels where curvature dominates; the reciprocal form does not, and the step "
              "is the same for "
    "every length of the direction.",
    formula=r"s = \frac{2 |a|}{h + \sqrt{h^2 + 2 |a| c}} \; (h \ge 0), \quad s = \frac{-h + "
            r"\sqrt{h^2 + 2 |a| c}}"
    r"{c} \; (h < 0), \quad c = \sigma \|\mathbf{g}\|^3",
    kind="algorithm",
    verdict="holds",
    implements=(steps.step_length, steps.descent_root),
)
def stable_step(rng):
    a, h, length, sigma = (
        -rng.uniform(0.5, 1),
        10.0 ** rng.uniform(4, 5),
        rng.uniform(0.01, 0.02),
        rng.uniform(1, 2),
    )
    c = sigma * length**3
    series = -a / h * (1 + a * c / (2 * h**2))  # the next term is below rounding
    lost = abs(steps.step_length_as_printed(a, h, length, sigma) / series - 1)
    scaled = [
        k * steps.step_length(k * a, k**2 * h, k * length, sigma)
        for k in 10.0 ** np.arange(-120.0, 121, 40)
    ]
    other = ray(rng)
    exact_root = np.roots([other[3] * other[2] ** 3 / 2, other[1], other[0]]).real.max()
    raw = steps.descent_root(*map(np.float64, other[:3]), other[3])
    return [
        Equal("against the series in c", steps.step_length(a, h, length, sigma), series, 1e-14),
        AtMost("the printed formula has lost four digits or more", 1e-12, lost),
        Equal(
            "one step for directions of length 1e-120 to 1e120", scaled, np.full(7, series), 1e-13
        ),
        Equal("where nothing cancels, against the roots", raw, exact_root, 1e-9),
        Property(
            "defined at the edges: no direction, no curvature and no sigma",
            (
                steps.step_length(-1.0, 1.0, 0.0, 1.0),
                steps.step_length(-2.0, 4.0, 1.0, 0.0),
                steps.step_length(-2.0, -4.0, 1.0, 0.0),
            ),
            (0.0, 0.5, steps.LARGEST),
        ),
        Case(slope=a, curvature=h, length=length, sigma=sigma),
    ]


@equation(
    PAPER,
    "38",
    statement="The slope along the direction: the expectation has to enclose each whole product, "
              "as dF/dp has no "
    "meaning beside the outputs of one sample.",
    formula=r"\mathbf{g}^T \nabla f = \frac{\partial F}{\partial p^i} v^{(n),j} \omega_j^i + "
            r"\sum_k "
    r"\frac{\partial F}{\partial p^l} u_m^l \eta_i^{(n,k),m} v^{(k-1),j} \phi_j^{(k),i}",
    corrected=r"\mathbf{g}^T \nabla F = E\left[ \frac{\partial f}{\partial p^i} v^{(n),j} "
              r"\omega_j^i + \sum_k "
    r"\frac{\partial f}{\partial p^l} u_m^l \eta_i^{(n,k),m} v^{(k-1),j} \phi_j^{(k),i} \right]",
    kind="identity",
    verdict="erratum",
    implements=(curvature.directional_curvature_at,),
)
def slope(rng):
    at, direction, g, _ = batch(rng)
    outside = at.loss_function.gradient(at.outputs, at.y).mean(axis=0) @ _output_tangent(
        at, direction
    ).mean(axis=0)
    return [
        Equal(
            "corrected, against gradient times direction",
            directional_curvature_at(at, direction)[0],
            g @ direction,
            TOLERANCE,
            scale=np.abs(g) @ np.abs(direction),
        ),
        Printed(Equal("as printed: dF/dp times mean tangent of p", outside, g @ direction, CLEAR)),
        Case(direction=direction, x=at.x),
    ]


def _output_tangent(at, direction, h=1e-6):
    """d p along the direction, (S, C), by differences of the forward pass."""
    net = at.network.copy()
    found = []
    for s in (-h, h):
        net.theta = at.network.theta + s * direction
        found.append(net(at.x))
    return (found[1] - found[0]) / (2 * h)


@equation(
    PAPER,
    "39",
    statement="The curvature along the direction: the print leaves out f_pp between different "
              "hidden layers (and "
    "has the expectation inside, as (38)).",
    formula=r"\begin{aligned} \mathbf{g}^T \mathbf{H} \mathbf{g} &= \omega_j^i \frac{\partial^2 "
            r"F}{\partial p^i "
    r"\partial p^s} v^{(n),j} v^{(n),t} \omega_t^s \\ &+ 2 \sum_k \omega_j^i \left( "
    r"\frac{\partial F}{\partial p^i} \eta_s^{(n,k),j} v^{(k-1),t} + \frac{\partial^2 F}{\partial "
    r"p^i "
    r"\partial p^l} v^{(n),j} u_m^l \eta_s^{(n,k),m} v^{(k-1),t} \right) \phi_t^{(k),s} \\ &+ "
    r"\sum_k "
    r"\phi_j^{(k),i} \frac{\partial^2 F}{\partial p^l \partial p^q} u_m^l \eta_i^{(n,k),m} "
    r"v^{(k-1),j} "
    r"u_a^q \eta_s^{(n,k),a} v^{(k-1),t} \phi_t^{(k),s} \\ &+ 2 \sum_{k=2}^n \sum_{r=1}^{k-1} "
    r"\phi_j^{(k),i} \frac{\partial F}{\partial p^l} u_m^l \eta_i^{(n,k),m} \eta_s^{(k-1,r),j} "
    r"v^{(r-1),t} "
    r"\phi_t^{(r),s} \end{aligned}",
    corrected=r"\ldots + \sum_k \sum_r \phi_j^{(k),i} \frac{\partial^2 f}{\partial p^l \partial "
              r"p^q} u_m^l "
    r"\eta_i^{(n,k),m} v^{(k-1),j} u_a^q \eta_s^{(n,r),a} v^{(r-1),t} \phi_t^{(r),s} + \ldots, "
    r"\quad "
    r"\text{all inside } E[\cdot]",
    kind="identity",
    verdict="erratum",
    implements=(
        curvature.through_linear,
        curvature.through_activation,
        curvature.directional_curvature_at,
        curvature.by_explicit_eta,
    ),
)
def curvature_along(rng):
    at, direction, _, H = batch(rng)
    right, size = direction @ H @ direction, np.abs(direction) @ np.abs(H) @ np.abs(direction)
    printed = directional_curvature_at(at, direction, "printed")[1]
    missing = _hidden_pairs(at, direction)
    return [
        Equal(
            "corrected, by one tangent, against the dense Hessian",
            directional_curvature_at(at, direction)[1],
            right,
            TOLERANCE,
            scale=size,
        ),
        Equal(
            "corrected, with every eta",
            curvature.by_explicit_eta(at, direction),
            right,
            TOLERANCE,
            scale=size,
        ),
        Printed(Equal("as printed, averaged over samples", printed, right, CLEAR)),
        Equal(
            "as printed plus what it lacks, by differences",
            printed + missing,
            right,
            1e-7,
            scale=size,
        ),
        Case(direction=direction, x=at.x),
    ]


def _hidden_pairs(at, direction):
    """E sum over k != r of q_k^T f_pp q_r over hidden layers, q_k by differences of the forward
    pass.
    """
    tangents = []
    for where in [w for w in at.network.slices if w.stop > w.start][:-1]:
        piece = np.zeros_like(direction)
        piece[where] = direction[where]
        tangents.append(_output_tangent(at, piece))
    H = at.loss_function.hessian(at.outputs, at.y)
    return (
        sum(np.einsum("si,sij,sj->", q, H, r) for q in tangents for r in tangents if q is not r)
        / at.samples
    )


@equation(
    PAPER,
    "40",
    statement="The third power of the direction's length.",
    formula=r"\|\mathbf{g}\|^3 = \left( \omega_j^i \omega_j^i + \sum_k \phi_j^{(k),i} "
            r"\phi_j^{(k),i} "
    r"\right)^{\frac{3}{2}}",
    kind="identity",
    verdict="holds",
    implements=(steps.direction_norm_cubed,),
)
def length_cubed(rng):
    pieces = [rng.normal(size=shape) for shape in ((3, 4), (4, 2), (2, 3))]
    whole = np.concatenate([piece.ravel() for piece in pieces])
    return [
        Equal(
            "against the norm of the whole direction",
            steps.direction_norm_cubed(pieces),
            np.linalg.norm(whole) ** 3,
            1e-14,
        ),
        Case(direction=whole),
    ]


@equation(
    PAPER,
    "41",
    statement="Three limits of the step length. What is large must be h^2 beside 2 |a| c (the "
              "print compares "
    "quantities of different dimension), the second needs |a| under its root, and no sign of h.",
    formula=r"\alpha \approx \begin{cases} \frac{|\mathbf{g}^T \nabla f|}{\mathbf{g}^T \mathbf{H} "
            r"\mathbf{g}} & "
    r"|\mathbf{g}^T \mathbf{H} \mathbf{g}| \gg |\mathbf{g}^T \nabla f| (\sigma \|\mathbf{g}\|^3), "
    r"\mathbf{g}^T \mathbf{H} \mathbf{g} > 0 \\ \sqrt{\frac{2 \mathbf{g}^T \nabla f}{\sigma "
    r"\|\mathbf{g}\|^3}} & |\mathbf{g}^T \mathbf{H} \mathbf{g}| \ll |\mathbf{g}^T \nabla f| "
    r"(\sigma "
    r"\|\mathbf{g}\|^3), \mathbf{g}^T \mathbf{H} \mathbf{g} > 0 \\ 2 \left| \frac{\mathbf{g}^T "
    r"\mathbf{H} "
    r"\mathbf{g}}{\sigma \|\mathbf{g}\|^3} \right| + \left| \frac{\mathbf{g}^T \nabla "
    r"f}{\mathbf{g}^T "
    r"\mathbf{H} \mathbf{g}} \right| & |\mathbf{g}^T \mathbf{H} \mathbf{g}| \gg |\mathbf{g}^T "
    r"\nabla f| "
    r"(\sigma \|\mathbf{g}\|^3), \mathbf{g}^T \mathbf{H} \mathbf{g} < 0 \end{cases}",
    corrected=r"\frac{|a|}{h} \; (h^2 \gg 2 |a| c, h > 0), \quad \sqrt{2 |a| / c} \; (h^2 \ll 2 "
              r"|a| c), \quad "
    r"\frac{2 |h|}{c} + \frac{|a|}{|h|} \; (h^2 \gg 2 |a| c, h < 0)",
    kind="approximation",
    verdict="erratum",
    implements=(steps.limits, steps.flat_limit_as_printed),
)
def limits(rng):
    claims, length, sigma = [], rng.uniform(0.5, 1), rng.uniform(1, 2)
    c, h = sigma * length**3, rng.uniform(1, 2)
    for eps in (1e-3, 1e-5):  # 2 |a| c / h^2
        a = -eps * h**2 / (2 * c)
        newton, _, saddle = steps.limits(a, h, length, sigma)
        claims += [
            Equal(
                f"h > 0, eps = {eps:g}: relative error eps / 4",
                steps.step_length(a, h, length, sigma),
                newton * (1 - eps / 4),
                eps**2,
            ),
            Equal(
                f"h < 0, eps = {eps:g}: relative error of order eps^2",
                steps.step_length(a, -h, length, sigma),
                saddle,
                eps**2,
            ),
        ]
        a = -(h**2) / (2 * c * eps)
        flat = steps.limits(a, h, length, sigma)[1]
        claims += [
            Equal(
                f"flat, eps = {1 / eps:g}, h of either sign: next term -h / c",
                steps.step_length(a, sign * h, length, sigma),
                flat - sign * h / c,
                eps,
            )
            for sign in (1, -1)
        ]
    a, h, sigma = -1e-7, 1e-2, 1e4  # h = 10 |a| c, and yet h^2 = 0.05 (2 |a| c)
    newton = steps.limits(a, h, 1.0, sigma)[0]
    return [
        *claims,
        Equal(
            "the printed second case is what it says, for a > 0",
            steps.flat_limit_as_printed(0.7, 1.0, length, sigma),
            (1.4 / (sigma * length**3)) ** 0.5,
            1e-14,
        ),
        Property(
            "a < 0: no real root as printed",
            bool(np.isnan(steps.flat_limit_as_printed(-1.0, h, 1.0, 1.0))),
        ),
        Printed(
            Equal(
                "h ten times |a| c: the first case as printed",
                newton,
                steps.step_length(a, h, 1.0, sigma),
                1e-2,
            )
        ),
        Case(slope=a, curvature=h, sigma=sigma),
    ]


@equation(
    PAPER,
    "42",
    "43",
    statement="The step: all weights along the direction, by one length.",
    formula=r"\begin{aligned} \mathbf{u}_{j+1} &= \mathbf{u}_j + \alpha_j \boldsymbol{\omega}_j \\ "
    r"\mathbf{w}_{j+1}^{(k)} &= \mathbf{w}_j^{(k)} + \alpha_j \boldsymbol{\phi}_j^{(k)} "
    r"\end{aligned}",
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
    pieces = [
        -g[w].reshape(b.shape) for w, b in zip([w for w in net.slices if w.stop > w.start], before)
    ]
    expected = np.concatenate([(root * piece).ravel() for piece in pieces])
    moved = np.concatenate(
        [(layer.weight - b).ravel() for layer, b in zip(net.layers[::2], before)]
    )
    return [
        Equal(
            "change of all weights against the larger root times -gradient", moved, expected, 1e-9
        ),
        Equal(
            "promised decrease against the model",
            info["predicted_decrease"],
            -model(-g @ g, g @ H @ g, np.linalg.norm(g), sigma, root),
            1e-9,
        ),
        Case(gradient=g, rate=info["rate"]),
    ]


@equation(
    PAPER,
    "table-2",
    statement="A step length for every weight: its curvature is the diagonal entry, s = i and t = "
              "j without a sum, "
    "inside the expectation; the unit step has to point downhill.",
    formula=r"\begin{array}{lll} \alpha_j^{(u),i}: & \frac{\partial F}{\partial p^i} v^{(n),j} & "
    r"\frac{\partial^2 F}{\partial p^i \partial p^s} v^{(n),j} v^{(n),t} \\ \alpha_j^{(w,k),i}: & "
    r"\frac{\partial F}{\partial p^l} u_m^l \eta_i^{(n,k),m} v^{(k-1),j} & \frac{\partial^2 "
    r"F}{\partial "
    r"p^l \partial p^q} u_m^l \eta_i^{(n,k),m} v^{(k-1),j} u_a^q \eta_s^{(n,k),a} v^{(k-1),t} "
    r"\end{array}",
    corrected=r"E\left[ \frac{\partial^2 f}{\partial p^i \partial p^i} (v^{(n),j})^2 \right], "
              r"\quad E\left[ "
    r"\frac{\partial^2 f}{\partial p^l \partial p^q} u_m^l \eta_i^{(n,k),m} u_a^q \eta_i^{(n,k),a} "
    r"(v^{(k-1),j})^2 \right]",
    kind="algorithm",
    verdict="erratum",
    implements=(diagonal.hessian_diagonal_at, diagonal.weight_curvatures, diagonal.variable_rates),
)
def every_weight(rng):
    at, _, g, H = batch(rng)
    made, sigma = diagonal.hessian_diagonal_at(at), 20.0
    rates = diagonal.variable_rates(-np.sign(g), g, made, sigma)
    roots = [
        np.roots([sigma / 2, h, -abs(a)]).real.max() if a else 0.0 for a, h in zip(g, np.diag(H))
    ]
    last, count = at.network.slices[-1], at.network.layers[-1].weight.size
    v, f_pp = at.saved[-1].input, at.loss_function.hessian(at.outputs, at.y)
    summed = np.einsum("bis,bj,bt->ij", f_pp, v, v) / at.samples
    return [
        Equal("corrected, against the diagonal of the dense Hessian", made, np.diag(H), TOLERANCE),
        Equal("downhill steps against the larger roots", rates, roots, 1e-9),
        Printed(
            Equal(
                "output weights, s and t summed as printed",
                summed.ravel(),
                np.diag(H)[last][:count].copy(),
                CLEAR,
            )
        ),
        Case(diagonal=made, gradient=g),
    ]


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
    CubicRegularization(SGD(net, at.loss_function), sigma=sigma, averaging=averaging).step(
        at.x, at.y
    )
    gradients, rates = sample_steps(at, sigma)
    return (
        at,
        gradients,
        rates,
        Equal(
            "change of the weights against dense Hessians",
            net.theta - before,
            expected(gradients, rates),
            1e-8,
        ),
    )


@equation(
    PAPER,
    "option-1",
    where="section 3.1: the mean of every sample's own step",
    statement="E[alpha g]: every sample's step along its own gradient, averaged.",
    formula=r"\Delta = E[\alpha_j \mathbf{g}_j]",
    kind="algorithm",
    verdict="holds",
    implements=(CubicRegularization._averaged,),
)
def mean_of_steps(rng):
    at, _, rates, claim = option(rng, "step", lambda g, s: -(s[:, None] * g).mean(axis=0))
    return [claim, Case(rates=rates, x=at.x)]


@equation(
    PAPER,
    "option-2",
    where="section 3.1: the mean rate times the mean direction",
    statement="E[alpha] E[g]: the samples' rates averaged, along the mean gradient.",
    formula=r"\Delta = E[\alpha_j] E[\mathbf{g}_j]",
    kind="algorithm",
    verdict="holds",
    implements=(CubicRegularization._averaged,),
)
def mean_of_rates(rng):
    at, gradients, rates, claim = option(rng, "rate", lambda g, s: -s.mean() * g.mean(axis=0))
    a = sample_curvatures_at(at)[0]
    return [
        claim,
        Equal("slopes of the samples", a, -np.sum(gradients**2, axis=1), TOLERANCE),
        Case(rates=rates, x=at.x),
    ]


@equation(
    PAPER,
    "option-3",
    where="section 3.1: the direction is fixed, slope and curvature are averaged",
    statement="One rate from the mean slope and curvature along a fixed direction: not the mean of "
              "the samples' "
    "rates.",
    formula=r"\Delta = \alpha \mathbf{g}, \quad \alpha \text{ from } E[\mathbf{g}^T \nabla f], "
    r"E[\mathbf{g}^T \mathbf{H} \mathbf{g}]",
    kind="algorithm",
    verdict="holds",
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
    return [
        claim,
        Property("not the mean of the rates", bool(abs(mine / rates.mean() - 1) > 1e-3)),
        Case(rates=rates, rate=mine),
    ]
