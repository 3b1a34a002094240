"""Equations (1)-(3), Property 1, Pos-Eig: Newton's method, and negative curvature corrected."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Property, Rate
from .. import eq_01_03_newton as newton
from . import reference
from .cases import equation
from .conditions import ALONG_NEGATIVE, CONVEX, ROWS


def strictly_convex(rng):
    """log-sum-exp plus half a squared norm, and its minimiser by descent from gradients alone."""
    A, x = rng.normal(size=(6, 4)), np.zeros(4)

    def value(x):
        return np.log(np.sum(np.exp(A @ x))) + x @ x / 2

    rate = 1 / (1 + np.linalg.norm(A, 2) ** 2)  # the Hessian is below I + A^T A
    for _ in range(2000):
        step = rate * reference.gradient(value, x)
        x = x - step
        if np.abs(step).max() < 1e-15:
            break
    return value, x


@equation(
    "1", kind="definition", verdict="definition", uses=(),
    statement="A convex and twice differentiable function is to be minimised.",
    formula=r"\min_{\boldsymbol{\theta}} f(\boldsymbol{\theta})",
    implements=newton.eq_1_minimiser)
def equation_1(rng):
    value, x = strictly_convex(rng)
    others = rng.normal(size=(50, 4))
    yield AtMost("f at the minimiser against f elsewhere", value(x), [value(one) for one in others])
    yield Equal("the best of candidates, of which one is the minimiser",
                newton.eq_1_minimiser(value, [*others, x.copy()]), x, 1e-12)
    yield Case(theta=x)


@equation(
    "2", kind="claim", verdict="conditional", condition=CONVEX, uses=("1",),
    statement="At the minimiser the gradient is zero.",
    formula=r"\nabla f(\boldsymbol{\theta}^*) = 0",
    implements=newton.eq_2_solution)
def equation_2(rng):
    value, x = strictly_convex(rng)

    def monkey(p):
        return p[0] ** 3 - 3 * p[0] * p[1] ** 2

    solution = newton.eq_2_solution(lambda p: reference.gradient(value, p),
                                    lambda p: reference.hessian(value, p), np.zeros(4))
    around = [monkey(np.array([np.cos(a), np.sin(a)])) for a in np.linspace(0, 6, 50)]
    for what, f, at in (("gradient at the minimiser against 0", value, solution),
                        ("gradient of a monkey saddle in the origin", monkey, np.zeros(2))):
        yield Equal(what, reference.gradient(f, at), 0 * at, 1e-12, scale=1.0)
    yield Equal("the solution of (2) against the minimiser", solution, x, 1e-9)
    yield Counterexample(AtMost("the saddle's value there against its values around", 0.0, around))
    yield Case(theta=x)


@equation(
    "3", kind="approximation", verdict="holds", uses=("2",),
    statement="The gradient after a step d, to first order: setting it to zero is Newton's system.",
    formula=r"\nabla f(\boldsymbol{\theta}^j) + \nabla^2 f(\boldsymbol{\theta}^j) \mathbf{d}^j = 0",
    implements=newton.eq_3_linearised_gradient)
def equation_3(rng):
    value, _ = strictly_convex(rng)
    x, d = rng.normal(size=(2, 4))
    first, H = reference.gradient(value, x), reference.hessian(value, x)
    steps = 0.02 * 2.0 ** -np.arange(5)
    left = [np.abs(reference.gradient(value, x + e * d)
                   - newton.eq_3_linearised_gradient(first, H, e * d)).max() for e in steps]
    difference = reference.difference(lambda e: reference.gradient(value, x + e * d))
    yield Equal("left side against the gradient plus a difference of gradients",
                newton.eq_3_linearised_gradient(first, H, d), first + difference, 1e-5)
    yield Rate("gradient after a step minus (3), against its length", steps, left, order=2,
               tolerance=0.15)
    yield Case(theta=x, d=d)


@equation(
    "u-newton", where="below (3)", kind="algorithm", verdict="holds", uses=("3",),
    statement="The minimiser of the quadratic model is the Newton direction; it is added times the "
              "step size.",
    implements=(newton.newton_direction, newton.quadratic_model))
def u_newton(rng):
    A, y, theta = rng.normal(size=(9, 4)), rng.normal(size=9), rng.normal(size=4)

    def f(theta):
        return np.sum((A @ theta - y) ** 2) / 2

    gradient, H = A.T @ (A @ theta - y), A.T @ A
    d, others = newton.newton_direction(gradient, H), rng.normal(size=(20, 4))
    models = [newton.quadratic_model(f(theta), gradient, H, other) for other in others]
    yield Equal("one step with eta = 1 against least squares", theta + d,
                np.linalg.lstsq(A, y, rcond=None)[0], 1e-12)
    yield Equal("the model against f itself, which is quadratic", models,
                [f(theta + other) for other in others], 1e-12)
    yield AtMost("the model after the Newton direction against others",
                 newton.quadratic_model(f(theta), gradient, H, d), models)
    yield Case(theta=theta + d, H=H)


@equation(
    "property-1", kind="claim", verdict="holds", uses=("u-newton",),
    statement="Restricted to the eigenvectors with negative eigenvalues, the quadratic model is "
              "concave.",
    implements=newton.property_1_model)
def property_1(rng):
    root, gradient, value = rng.normal(size=(6, 6)), rng.normal(size=6), rng.normal()
    H = root + root.T - 2 * np.eye(6)
    eigenvalues, V = np.linalg.eigh(H)
    below, negative = eigenvalues[eigenvalues < 0], V[:, eigenvalues < 0]

    def model(k):
        return newton.property_1_model(value, gradient, H, negative, k)

    ends = rng.normal(size=(100, 2, len(below)))
    k = ends[0, 0]
    by_sums = value + sum(k_j * (gradient @ v) + k_j**2 * eigenvalue / 2
                          for k_j, v, eigenvalue in zip(k, negative.T, below))
    yield AtMost("middle of a chord against the function there",
                 [(model(a) + model(b)) / 2 for a, b in ends],
                 [model((a + b) / 2) for a, b in ends])
    yield Equal("the model by sums over the eigenvectors", model(k), by_sums, 1e-12)
    yield Property("there are negative eigenvalues", len(below) > 0)
    yield Case(H=H, V=negative)


@equation(
    "pos-eig", where="below Property 1", kind="definition", verdict="conditional", condition=ROWS,
    uses=("property-1",),
    statement="Negative eigenvalues are multiplied by gamma <= 0, the others are kept.",
    implements=(newton.pos_eig, newton.positive, newton.pos_eig_as_printed))
def definition_pos_eig(rng):
    V, eigenvalues = np.linalg.qr(rng.normal(size=(5, 5)))[0], np.array([-2.0, -0.5, 0.0, 1.0, 3.0])
    A = V @ np.diag(eigenvalues) @ V.T
    for gamma, first, second in ((-1.0, 2.0, 0.5), (0.0, 0.0, 0.0), (-0.3, 0.6, 0.15)):
        corrected, options = np.array([first, second, 0, 1, 3]), {"case": f"gamma = {gamma:g}"}
        by_sums = sum(value * np.outer(v, v) for value, v in zip(corrected, V.T))
        rows, columns = (newton.pos_eig_as_printed(Q, eigenvalues, gamma) for Q in (V.T, V))
        yield Equal("Pos-Eig against a sum over eigenvectors", newton.pos_eig(A, gamma), by_sums,
                    1e-13, **options)
        yield Equal("of a diagonal", newton.positive(eigenvalues, gamma), corrected, 1e-15,
                    **options)
        yield Equal("Q^T diag Q, eigenvectors in the rows of Q", rows, by_sums, 1e-13, **options)
        yield Counterexample(Equal("Q^T diag Q, eigenvectors in the columns of Q", columns,
                                   by_sums, 1e-13, **options))
    yield Equal("gamma = 1 leaves the matrix", newton.pos_eig(A, 1.0), A, 1e-13)
    yield Case(A=A, V=V)


@equation(
    "u-escape", where="below Pos-Eig", kind="claim", verdict="conditional",
    condition=ALONG_NEGATIVE, ours=True, uses=("pos-eig", "u-newton"),
    statement="With gamma < 0 the iteration escapes from saddle points and maxima, and with gamma "
              "= 0 it converges to none. Both need a gradient along the negative curvature. With "
              "gamma = 0 it then ends where the gradient is not zero.",
    formula=r"\gamma \leq 0: \; \boldsymbol{\theta}^j \not\to \boldsymbol{\theta}_{\text{saddle}}",
    implements=newton.pos_eig)
def u_escape(rng):
    turn, curvatures = np.linalg.qr(rng.normal(size=(2, 2)))[0], np.array([1.0, -1.0])
    A = turn @ np.diag(curvatures) @ turn.T  # f = x^2 / 2 - y^2 / 2 in turned coordinates

    def end(gamma, start, steps=3):
        """Coordinates (x, y) after Newton steps with Pos-Eig; what is ignored does not move."""
        theta = turn @ start
        for _ in range(steps):
            theta = theta - np.linalg.pinv(newton.pos_eig(A, gamma), rcond=1e-8) @ (A @ theta)
        return turn.T @ theta

    saddle, beside = np.array([1.0, 0.0]), np.array([1.0, 0.5])
    yield Equal("gamma = -1 from (1, 0.5): y doubles at every step", end(-1.0, beside), [0, 4.0],
                1e-12)
    yield Equal("gamma = -0.5: it trebles", end(-0.5, beside), [0, 13.5], 1e-12)
    yield Equal("gamma = 0 from (1, 0.5): y stays", end(0.0, beside), [0, 0.5], 1e-12)
    yield Equal("and the gradient is not zero there", curvatures * end(0.0, beside), [0, -0.5],
                1e-12)
    for gamma in (-1.0, 0.0):
        yield Counterexample(AtMost("from (1, 0): 0.1 against the distance from the saddle", 0.1,
                                    np.linalg.norm(end(gamma, saddle)), 1e-3, scale=1.0,
                                    case=f"gamma = {gamma:g}"))
    yield Case(A=A)
