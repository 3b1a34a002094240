"""Equations (1)-(3), Property 1, Pos-Eig: Newton's method, and negative curvature corrected."""

import numpy as np

from ....exact.curvature import hessian_vector_product_at
from ....exact.dense import hessian
from ....ledger import AtMost, Case, Counterexample, Equal, Property, Rate, equation
from ....nets import SquaredError, mlp
from .. import PAPER, eq_01_03_newton as newton
from . import cases, reference
from .conditions import CONVEX, ROWS


PLACES = range(4)


def strictly_convex(rng):
    """log-sum-exp plus half a squared norm, and its minimiser by Newton's method."""
    A, x = rng.normal(size=(6, 4)), np.zeros(4)

    def value(x):
        return np.log(np.sum(np.exp(A @ x))) + x @ x / 2

    for _ in range(12):
        x = x - np.linalg.solve(reference.hessian(value, x, PLACES),
                                reference.gradient(value, x, PLACES))
    return value, x


@equation(PAPER, "1",
          statement="A convex and twice differentiable function is to be minimised.",
          formula=r"\min_{\boldsymbol{\theta}} f(\boldsymbol{\theta})",
          kind="definition", verdict="definition", uses=())
def equation_1(rng):
    value, x = strictly_convex(rng)
    others = rng.normal(size=(50, 4))
    return [AtMost("f at the minimiser against f elsewhere", value(x),
                   [value(other) for other in others]),
            AtMost("0 against the least eigenvalue of the Hessian", 0.0,
                   [np.linalg.eigvalsh(reference.hessian(value, other, PLACES))[0]
                    for other in others]),
            Case(theta=x)]


@equation(PAPER, "2",
          statement="At the minimiser the gradient is zero.",
          formula=r"\nabla f(\boldsymbol{\theta}^*) = 0",
          kind="claim", verdict="conditional", condition=CONVEX, uses=("1",))
def equation_2(rng):
    value, x = strictly_convex(rng)
    others = x + rng.normal(size=(50, 4))

    def monkey(p):
        return p[0] ** 3 - 3 * p[0] * p[1] ** 2

    zero = reference.gradient(monkey, np.zeros(2), (0, 1))
    around = [monkey(np.array([np.cos(a), np.sin(a)])) for a in np.linspace(0, 6, 50)]
    return [Equal("gradient at the minimiser against 0", reference.gradient(value, x, PLACES),
                  np.zeros(4), 1e-12, scale=1.0),
            AtMost("f where the gradient is zero against f elsewhere", value(x),
                   [value(other) for other in others]),
            Equal("gradient of a monkey saddle in the origin against 0", zero, np.zeros(2), 1e-12,
                  scale=1.0),
            Counterexample(AtMost("its value there against its values around", 0.0, around)),
            Case(theta=x)]


@equation(PAPER, "3",
          statement="The gradient after a step d, to first order: setting it to zero is Newton's "
                    "system.",
          formula=r"\nabla f(\boldsymbol{\theta}^j) + \nabla^2 f(\boldsymbol{\theta}^j) "
                  r"\mathbf{d}^j = 0",
          kind="approximation", verdict="holds",
          implements=(newton.eq_3_linearised_gradient, hessian_vector_product_at), uses=("2",))
def equation_3(rng):
    case = cases.case(rng, "tanh", "softmax")
    H, d = hessian(*case.model), rng.normal(size=case.theta.size)

    def gradient(step):
        return reference.gradients(case, np.arange(len(d)), case.theta + step * d).mean(axis=0)

    first, steps = gradient(0.0), 0.02 * 2.0 ** -np.arange(5)
    left = [np.abs(gradient(e) - newton.eq_3_linearised_gradient(first, H, e * d)).max()
            for e in steps]
    difference = (gradient(1e-4) - gradient(-1e-4)) / 2e-4
    return [Equal("left side against the gradient plus a difference of gradients",
                  newton.eq_3_linearised_gradient(first, H, d), first + difference, 1e-5),
            Equal("Hessian times d against a difference of gradients",
                  hessian_vector_product_at(case.evaluation, d), difference, 1e-5),
            Rate("gradient after a step minus (3), against its length", steps, left, order=2,
                 tolerance=0.15),
            Case(theta=case.theta, d=d)]


@equation(PAPER, "u-newton",
          where="below (3)",
          statement="The minimiser of the quadratic model is the Newton direction; it is added "
                    "times the step size.",
          formula=r"\begin{gathered} \min_{\mathbf{d}} f(\boldsymbol{\theta}^j + \mathbf{d}) "
                  r"\approx f(\boldsymbol{\theta}^j) + \nabla f(\boldsymbol{\theta}^j)^T "
                  r"\mathbf{d} + \frac{1}{2} \mathbf{d}^T \nabla^2 f(\boldsymbol{\theta}^j) "
                  r"\mathbf{d} \\ \mathbf{d}^j = -\nabla^2 f(\boldsymbol{\theta}^j)^{-1} \nabla "
                  r"f(\boldsymbol{\theta}^j) \\ \boldsymbol{\theta}^{j+1} = \boldsymbol{\theta}^j "
                  r"+ \eta \mathbf{d}^j \end{gathered}",
          kind="algorithm", verdict="holds",
          implements=(newton.newton_direction, newton.quadratic_model, hessian), uses=("3",))
def u_newton(rng):
    net, x, target = mlp([3, 2], rng=rng), rng.normal(size=(9, 3)), rng.normal(size=(9, 2))
    H = hessian(net, SquaredError(), x, target)
    gradient = net.evaluate(SquaredError(), x, target).gradient
    d = newton.newton_direction(gradient, H)
    end, value = net.theta + d, net.evaluate(SquaredError(), x, target).loss
    others = rng.normal(size=(20, d.size))
    models = [newton.quadratic_model(value, gradient, H, other) for other in others]
    least_squares = np.linalg.lstsq(np.c_[x, np.ones(9)], target, rcond=None)[0].T
    wanted = np.concatenate([least_squares[:, :3].ravel(), least_squares[:, 3]])
    return [Equal("one step with eta = 1 against least squares", end, wanted, 1e-12),
            Equal("the model against the loss itself, which is quadratic", models,
                  [mean_loss(net.theta + other, x, target) for other in others], 1e-12),
            AtMost("the model after the Newton direction against others",
                   newton.quadratic_model(value, gradient, H, d), models),
            Case(theta=end, H=H)]


def mean_loss(theta, x, target):
    """Mean over the batch of half the squared error of one linear layer, by loops."""
    W, b = theta[:6].reshape(2, 3), theta[6:]
    return sum(np.sum((W @ h + b - y) ** 2) / 2 for h, y in zip(x, target)) / len(x)


@equation(PAPER, "property-1",
          statement="Restricted to the eigenvectors with negative eigenvalues, the quadratic "
                    "model is concave.",
          formula=r"\begin{gathered} g(\mathbf{k}) = f(\boldsymbol{\theta}^j) + \nabla "
                  r"f(\boldsymbol{\theta}^j)^T \mathbf{v} + \frac{1}{2} \mathbf{v}^T \nabla^2 "
                  r"f(\boldsymbol{\theta}^j) \mathbf{v} \\ \mathbf{v} = k_1 \mathbf{v}_1 + \dots "
                  r"+ k_s \mathbf{v}_s \end{gathered}",
          kind="claim", verdict="holds", implements=(newton.property_1_model, hessian),
          uses=("u-newton",))
def property_1(rng):
    case = cases.case(rng, "sin", "bounded")
    H = hessian(*case.model)
    eigenvalues, V = np.linalg.eigh(H)
    below, negative = eigenvalues[eigenvalues < -1e-6], V[:, eigenvalues < -1e-6]
    value, gradient = case.evaluation.loss, case.evaluation.gradient

    def model(k):
        return newton.property_1_model(value, gradient, H, negative, k)

    ends = rng.normal(size=(100, 2, negative.shape[1]))
    chords = [(model(a) + model(b)) / 2 for a, b in ends]
    along = [np.mean([reference.hessian(lambda e: reference.loss(case, s, case.theta + e[0] * v),
                                        np.zeros(1), (0,)) for s in range(len(case.x))])
             for v in negative.T]
    k = ends[0, 0]
    by_sums = value + sum(k_j * (gradient @ v) + k_j**2 * eigenvalue / 2
                          for k_j, v, eigenvalue in zip(k, negative.T, below))
    return [AtMost("middle of a chord against the function there", chords,
                   [model((a + b) / 2) for a, b in ends]),
            Equal("second derivative along the eigenvectors, by differences, against the "
                  "eigenvalues", along, below, 1e-7),
            Equal("the model by sums over the eigenvectors", model(k), by_sums, 1e-12),
            Property("there are negative eigenvalues", negative.shape[1] > 0),
            Case(H=H, V=negative)]


@equation(PAPER, "pos-eig",
          where="below Property 1",
          statement="Negative eigenvalues are multiplied by gamma <= 0, the others are kept.",
          formula=r"\text{Pos-Eig}(A) = Q^T \begin{bmatrix} \gamma\lambda_1 & & & & & \\ & \ddots "
                  r"& & & & \\ & & \gamma\lambda_s & & & \\ & & & \lambda_{s+1} & & \\ & & & & "
                  r"\ddots & \\ & & & & & \lambda_n \end{bmatrix} Q",
          kind="definition", verdict="conditional", condition=ROWS,
          implements=(newton.pos_eig, newton.positive, newton.pos_eig_as_printed),
          uses=("property-1",))
def definition_pos_eig(rng):
    V, eigenvalues = np.linalg.qr(rng.normal(size=(5, 5)))[0], np.array([-2.0, -0.5, 0.0, 1.0, 3.0])
    A, claims = V @ np.diag(eigenvalues) @ V.T, []
    for gamma, first, second in ((-1.0, 2.0, 0.5), (0.0, 0.0, 0.0), (-0.3, 0.6, 0.15)):
        corrected, options = np.array([first, second, 0, 1, 3]), {"case": f"gamma = {gamma:g}"}
        by_sums = sum(value * np.outer(v, v) for value, v in zip(corrected, V.T))
        rows, columns = (newton.pos_eig_as_printed(Q, eigenvalues, gamma) for Q in (V.T, V))
        claims += [Equal("Pos-Eig against a sum over eigenvectors", newton.pos_eig(A, gamma),
                         by_sums, 1e-13, **options),
                   Equal("of a diagonal", newton.positive(eigenvalues, gamma), corrected,
                         1e-15, **options),
                   Equal("Q^T diag Q, eigenvectors in the rows of Q", rows, by_sums, 1e-13,
                         **options),
                   Counterexample(Equal("Q^T diag Q, eigenvectors in the columns of Q", columns,
                                        by_sums, 1e-13, **options))]
    return [*claims,
            Equal("gamma = 1 leaves the matrix", newton.pos_eig(A, 1.0), A, 1e-13),
            Case(A=A, V=V)]
