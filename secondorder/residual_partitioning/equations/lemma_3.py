"""Lemma 3 and its proof, equations (19)-(24): which point of the simplex is best."""

import numpy as np
from scipy import optimize

from ...exact.finite_differences import complex_step
from ...ledger import AtMost, Case, Equal, Printed, Property, equation
from .. import PAPER, partitions


def simplex_case(rng, n=5):
    """Numbers x of both signs, none near zero, and a point of the simplex that is far from their optimum."""
    x = rng.uniform(0.3, 2.0, n) * rng.choice([-1.0, 1.0], n)
    return x, partitions.softmax_parameters(np.log(np.abs(x)) + rng.permutation(np.linspace(-1, 1, n)))


def objective(x, p):
    """sum_i x_i^2 / p_i."""
    return sum(x[i] ** 2 / p[i] for i in range(len(x)))


def softmax_by_hand(eta):
    """Eq. (20) as it stands; complex numbers are allowed."""
    return np.exp(eta) / sum(np.exp(e) for e in eta)


@equation(PAPER, "19",
          statement="On the simplex a sum of x^2 / p is least where p is proportional to |x|.",
          formula=r"\min_{\{p_i\}} \sum_{i=1}^n \frac{x_i^2}{p_i} \quad "
                  r"p_i^* \equiv \frac{|x_i|}{\sum_{i'=1}^n |x_{i'}|}",
          kind="optimality", verdict="holds", implements=(partitions.simplex_optimum,))
def equation_19(rng):
    x, _ = simplex_case(rng)
    best = partitions.simplex_optimum(x)
    near = [best * np.exp(scale * rng.normal(size=x.size)) for scale in np.geomspace(1e-3, 1, 200)]
    others = [objective(x, p / p.sum()) for p in [*near, *rng.dirichlet(np.ones(x.size), 200)]]
    return [Equal("optimum against |x| over the sum of |x|", best, [abs(v) / sum(map(abs, x)) for v in x], 1e-14),
            AtMost("value at the optimum against values at random points of the simplex", objective(x, best), others),
            Equal("value at the optimum against (sum |x|)^2", objective(x, best), sum(map(abs, x)) ** 2, 1e-13),
            Case(x=x, p=best)]


@equation(PAPER, "lemma-3",
          statement="For any real x the minimum over non-negative numbers that sum to one is at p proportional to "
                    "|x|; where x is zero so is p, with 0/0 = 0.",
          formula=r"\min_{\{p_i\}} \sum_{i=1}^n \frac{x_i^2}{p_i} \quad "
                  r"p_i^* \equiv \frac{|x_i|}{\sum_{i'=1}^n |x_{i'}|}",
          kind="optimality", verdict="holds", implements=(partitions.simplex_optimum,))
def lemma_3(rng):
    claims = []
    for n in (2, 3, 6):
        x, _ = simplex_case(rng, n)
        start = np.full(n, 1 / n)
        found = optimize.minimize(lambda p: objective(x, p), start, jac=lambda p: -(x / p) ** 2, method="SLSQP",
                                  bounds=[(1e-6, 1)] * n, options={"ftol": 1e-15, "maxiter": 500},
                                  constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like})
        claims.append(Equal(f"n = {n}: optimum against a numerical minimiser", partitions.simplex_optimum(x), found.x,
                            1e-5))
    x[::2] = 0
    best, p = partitions.simplex_optimum(x), rng.dirichlet(np.ones(n))
    return [*claims, Equal("with zeros: where x = 0, p = 0", best[::2], np.zeros(3), 1e-15, scale=1.0),
            AtMost("with zeros: value against that at a point inside", objective(x[1::2], best[1::2]), objective(x, p)),
            Property("all x zero: no fraction is given away", not partitions.simplex_optimum(np.zeros(3)).any()),
            Case(x=x, p=best)]


@equation(PAPER, "20",
          statement="Unconstrained numbers eta make a point of the simplex, the softmax.",
          formula=r"p_i \equiv \frac{\exp\{\eta_i\}}{\sum_{i'=1}^n \exp\{\eta_{i'}\}}",
          kind="definition", verdict="definition", implements=(partitions.softmax_parameters,))
def equation_20(rng):
    eta, p = rng.normal(size=5) * 2, rng.dirichlet(np.ones(5))
    made = partitions.softmax_parameters(eta)
    return [Equal("softmax against its formula", made, softmax_by_hand(eta), 1e-14),
            Equal("sum over i", made.sum(), 1.0, 1e-14), AtMost("0 against p", 0.0, made),
            Equal("every inner point is reached: softmax of log p", partitions.softmax_parameters(np.log(p)), p, 1e-13),
            Property("large eta do not overflow", bool(np.isfinite(partitions.softmax_parameters(eta + 1e4)).all())),
            Case(eta=eta, p=made)]


@equation(PAPER, "21",
          statement="Derivatives of the softmax.",
          formula=r"\frac{\partial p_i}{\partial \eta_i} = p_i(1 - p_i) \quad "
                  r"\frac{\partial p_{i'}}{\partial \eta_i} = -p_i p_{i'} \quad \text{if } i' \neq i",
          kind="identity", verdict="holds", implements=(partitions.softmax_derivative,))
def equation_21(rng):
    eta = rng.normal(size=5)
    made = partitions.softmax_derivative(partitions.softmax_parameters(eta))
    return [Equal("derivatives against a complex step", made, complex_step(softmax_by_hand, eta), 1e-14),
            Case(eta=eta, derivative=made)]


@equation(PAPER, "22",
          statement="Gradient of the lemma's objective in eta; the last form has its sign turned round.",
          formula=r"""\begin{aligned}
                  \frac{\partial}{\partial \eta_i} \sum_{i'=1}^n \frac{x_{i'}^2}{p_{i'}} &=
                  \sum_{i'=1}^n -\frac{x_{i'}^2}{p_{i'}^2} \frac{\partial p_{i'}}{\partial \eta_i} \\
                  &= p_i \left(\frac{x_i^2}{p_i^2} - \sum_{i'=1}^n p_{i'} \frac{x_{i'}^2}{p_{i'}^2} \right)
                  \end{aligned}""",
          corrected=r"\ldots = p_i \left(\sum_{i'=1}^n p_{i'} \frac{x_{i'}^2}{p_{i'}^2} - \frac{x_i^2}{p_i^2}\right)",
          kind="identity", verdict="erratum",
          implements=(partitions.simplex_gradient, partitions.simplex_gradient_as_printed))
def equation_22(rng):
    x, p = simplex_case(rng)
    expected = complex_step(lambda eta: objective(x, softmax_by_hand(eta)), np.log(p))
    middle = [sum(-x[k] ** 2 / p[k] ** 2 * partitions.softmax_derivative(p)[k, i] for k in range(x.size))
              for i in range(x.size)]
    return [Equal("corrected form against a complex step", partitions.simplex_gradient(x, p), expected, 1e-12),
            Equal("middle form against a complex step", middle, expected, 1e-12),
            Printed(Equal("last form against a complex step", partitions.simplex_gradient_as_printed(x, p), expected,
                          1e-3)),
            Equal("last form, as printed, against minus the complex step", partitions.simplex_gradient_as_printed(x, p),
                  -expected, 1e-12),
            Case(x=x, p=p, gradient=expected)]


@equation(PAPER, "23",
          statement="The gradient is zero where all x^2 / p^2 are equal.",
          formula=r"p_i \left(\frac{x_i^2}{p_i^2} - \sum_{i'=1}^n p_{i'} \frac{x_{i'}^2}{p_{i'}^2} \right) = "
                  r"p_i \left(c - \sum_{i'=1}^n p_{i'} c \right) = p_i(c - c) = 0",
          kind="proof-step", verdict="holds", implements=(partitions.simplex_gradient, partitions.simplex_optimum))
def equation_23(rng):
    x, elsewhere = simplex_case(rng)
    best = partitions.simplex_optimum(x)
    size = np.abs(best * x**2 / best**2).max()
    slope = complex_step(lambda eta: objective(x, softmax_by_hand(eta)), np.log(best))
    away = np.abs(partitions.simplex_gradient(x, elsewhere)).max()
    return [Equal("gradient at p proportional to |x|, on the scale of its parts", partitions.simplex_gradient(x, best),
                  np.zeros(x.size), 1e-13, scale=size),
            Equal("the same by a complex step", slope, np.zeros(x.size), 1e-13, scale=size),
            AtMost("control: elsewhere the gradient is not zero", 1e-3 * size, away), Case(x=x, p=best)]


@equation(PAPER, "24",
          statement="At p proportional to |x| every x^2 / p^2 is the squared sum of |x|.",
          formula=r"\frac{x_i^2}{p_i^2} = \frac{x_i^2}{(|x_i| / \sum_{i'=1}^n |x_{i'}|)^2} = "
                  r"\left(\sum_{i'=1}^n |x_{i'}| \right)^2 = c",
          kind="identity", verdict="holds", implements=(partitions.simplex_optimum,))
def equation_24(rng):
    x, _ = simplex_case(rng)
    best = partitions.simplex_optimum(x)
    by_logits = softmax_by_hand(np.log(np.abs(x)))
    return [Equal("x^2 / p^2 against (sum |x|)^2", x**2 / best**2, np.full(x.size, sum(map(abs, x)) ** 2), 1e-13),
            Equal("the same point by eta = log |x|", best, by_logits, 1e-13), Case(x=x, p=best)]
