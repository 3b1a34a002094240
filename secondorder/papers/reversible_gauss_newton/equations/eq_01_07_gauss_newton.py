"""Section 3: losses, gradient and Gauss-Newton steps, Eqs. (1)-(7), and the two assumptions."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, Property, Rate, Stated, equation
from ....nets import SoftmaxCrossEntropy, SquaredError
from .. import PAPER
from ..eq_01_07_gauss_newton import (eq_1_loss, eq_2_gradient_step, eq_3_gradient_flow, eq_4_defect,
                                     eq_5_by_kernel, eq_5_gauss_newton, eq_6_hessian_view,
                                     eq_7_generalised)
from ..eq_08_11_any_right_inverse import eq_10_errors, euler, surjective
from ..eq_12_13_jacobian import above, eq_12_jacobian
from ..eq_58_80_appendix_n import eq_36_39_58_own_jacobian
from . import cases, reference
from .conditions import INDEPENDENT, SURJECTIVE


@equation(PAPER, "1",
          statement="The loss is the sum over the samples, a function of all outputs; eps is its "
                    "gradient.",
          kind="definition", verdict="holds", implements=(eq_1_loss, eq_10_errors), uses=())
def equation_1(rng):
    at, loss = cases.classes(rng), SoftmaxCrossEntropy()
    f, y = at.net(at.x), at.y
    eps, gradient = eq_10_errors(loss, f, y), np.zeros_like(f)
    for place in np.ndindex(f.shape):
        moved = f.astype(complex)
        moved[place] += 1j * reference.STEP
        gradient[place] = reference.softmax_losses(moved, y).sum().imag / reference.STEP
    total = reference.softmax_losses(f, y).sum()
    return [Equal("the sum of the losses against a sum written out", eq_1_loss(loss.value(f, y)),
                  total, 1e-13),
            Equal("eps against a complex step of the sum", eps, gradient, 1e-13),
            Equal("the package's mean, times n, is the sum",
                  3 * at.net.evaluate(loss, at.x, y).loss, total, 1e-13),
            Case(f=f, y=y, eps=eps)]


@equation(PAPER, "2",
          statement="A gradient step moves the parameters along minus the gradient of the sum of "
                    "the losses, J^T eps.",
          formula=r"\theta_{t+1}=\theta_t-\alpha\,\nabla_\theta\mathcal L",
          kind="algorithm", verdict="holds", implements=eq_2_gradient_step, uses=("1",))
def equation_2(rng):
    at = cases.small(rng)
    J = eq_12_jacobian(at.states)
    mean = at.net.evaluate(SquaredError(), at.x, at.y).gradient
    return [Equal("n times back-propagation of the mean",
                  cases.to_theta(eq_2_gradient_step(J, at.error), at.net), -3 * mean, 1e-12),
            Case(eps=at.error, J=J)]


@equation(PAPER, "3",
          statement="Gradient flow on the outputs themselves: exponential for the squared error, "
                    "like 1/t for a softmax.",
          kind="definition", verdict="holds", implements=(eq_3_gradient_flow, euler), uses=("1",))
def equation_3(rng):
    (start, y), one_hot = rng.normal(size=(2, 6)), np.eye(10)[:1]
    rates, times = np.array([0.1, 0.05, 0.025, 0.0125]), np.array([1000, 2000, 4000])
    paths = [euler(lambda f: eq_3_gradient_flow(f - y), start, r, round(1 / r)) for r in rates]
    gaps = [np.linalg.norm(path[-1] - y - np.exp(-1.0) * (start - y)) for path in paths]
    path = euler(lambda f: eq_3_gradient_flow(reference.softmax_errors(f, one_hot)),
                 np.zeros((1, 10)), 1.0, 4000)
    losses = np.concatenate([reference.softmax_losses(path[t], one_hot) for t in times])
    return [Equal("one step", paths[0][1], 0.9 * start + 0.1 * y, 1e-14),
            Rate("squared error: distance from y + e^{-t} (f - y) at t = 1", rates, gaps, order=1),
            Equal("softmax of ten classes: loss times t against 0.9",
                  losses * times, np.full(3, 0.9), 0.01),
            Case(rates=rates, gaps=gaps, times=times, losses=losses)]


@equation(PAPER, "4",
          statement="The parameters follow the outputs' gradient flow if J times their rate is "
                    "minus eps.",
          kind="definition", verdict="conditional", condition=SURJECTIVE,
          implements=(eq_4_defect, Stated(eq_5_gauss_newton, "0")), uses=("3",))
def equation_4(rng):
    claims, J_d = [], rng.normal(size=5)
    for at, wrap in ((cases.small(rng), lambda claim: claim),
                     (cases.dependent(rng, blocks=1), Counterexample)):
        J = at.jacobian
        step = eq_5_gauss_newton(J, at.error)[0]
        claims.append(wrap(Equal("J times the step of (5)", J @ step, -at.error, 1e-8)))
    return [*claims,
            Equal("defect of a step half as far", eq_4_defect(J_d, -2 * J_d), 0.5, 1e-14),
            Equal("defect of a step half too far", eq_4_defect(3 * J_d, -2 * J_d), 0.5, 1e-14),
            Case(eps=at.eps, direction=step)]


@equation(PAPER, "5",
          statement="The Gauss-Newton step in function space: the Moore-Penrose inverse of J "
                    "times eps.",
          formula=r"\theta_{t+1}=\theta_t-\alpha\,J^+\,\nabla_{\mathbf f}\tilde{\mathcal L}",
          kind="algorithm", verdict="holds",
          implements=(eq_5_gauss_newton, Stated(eq_5_by_kernel, "0")), uses=("4",))
def equation_5(rng):
    at = cases.small(rng)
    J, eps = at.jacobian, at.error
    step, rank = eq_5_gauss_newton(J, eps)
    gram, null = -J.T @ np.linalg.solve(J @ J.T, eps), np.linalg.svd(J)[2][len(J):]
    tall, b = rng.normal(size=(9, 4)), rng.normal(size=9)  # more equations than parameters
    least_squares, rank_of_tall = eq_5_gauss_newton(tall, b)
    return [Equal("-J^T (J J^T)^{-1} eps", step, gram, 1e-8),
            Equal("it has no part in the null space of J",
                  null @ step, 0 * null[:, 0], 1e-12, scale=step),
            Equal("J that is not surjective: least squares", least_squares,
                  -np.linalg.lstsq(tall, b)[0], 1e-12),
            Equal("the ranks of both", [float(rank), float(rank_of_tall)], [12.0, 4.0], 1e-12),
            Equal("from J J^T", eq_5_by_kernel(J @ J.T, eps, lambda a: J.T @ a)[0], gram, 1e-8),
            Case(eps=eps, step=step)]


@equation(PAPER, "6",
          statement="The same step from the Gauss-Newton matrix and the gradient; no rank is "
                    "needed.",
          formula=r"\theta_{t+1}=\theta_t-\alpha\,(J^TJ)^+\,\nabla_\theta\mathcal L",
          kind="identity", verdict="holds", implements=eq_6_hessian_view, uses=("2", "5"))
def equation_6(rng):
    claims = []
    for name, J in (("surjective", rng.normal(size=(6, 14))),
                    ("not surjective, 24 x 7", rng.normal(size=(24, 7))),
                    ("of rank 3", rng.normal(size=(8, 3)) @ rng.normal(size=(3, 10)))):
        eps = rng.normal(size=len(J))
        claims.append(Equal("the step against -J+ eps", eq_6_hessian_view(J, J.T @ eps),
                            -reference.pinv(J) @ eps, 1e-8, case=name))
    return [*claims, Case(J=J, eps=eps)]


@equation(PAPER, "7",
          statement="The generalised step weighs the outputs by the Hessian of the loss; it also "
                    "exists where that is singular.",
          formula=r"\theta_{t+1}=\theta_t-\alpha\,(J^THJ)^+\,\nabla_\theta\mathcal L",
          kind="definition", verdict="holds", implements=eq_7_generalised, uses=("6",))
def equation_7(rng):
    f, y, J = rng.normal(size=(3, 4)), np.eye(4)[rng.integers(0, 4, 3)], rng.normal(size=(12, 20))
    H, eps = reference.softmax_hessian(f), reference.softmax_errors(f, y).ravel()
    blocks = np.array([H[4 * s:4 * s + 4, 4 * s:4 * s + 4] for s in range(3)])
    M, g, positive = J.T @ H @ J, J.T @ eps, cases.positive_matrix(rng, 12)
    step = eq_7_generalised(J, H, g)
    return [Equal("Hessian of the softmax", SoftmaxCrossEntropy().hessian(f, y), blocks, 1e-14),
            Equal("singular H: J^T H J step against minus the gradient", M @ step, -g, 1e-8),
            Equal("singular H: the step has the least norm", step,
                  -np.linalg.lstsq(M, g, rcond=1e-10)[0], 1e-7),
            Equal("positive H, by its Cholesky factor", eq_7_generalised(J, positive, g),
                  reference.weighted_step(positive, J, eps), 1e-8),
            Case(H=blocks, eps=eps, step=step)]


@equation(PAPER, "assumption-4.1",
          where="Section 4, Assumption 4.1",
          statement="J is surjective where the features of one block are independent: that "
                    "block's J_l alone reaches every output.",
          formula=r"\mathrm{rank}\,J(\theta) = n d_y",
          kind="claim", verdict="conditional", ours=True, condition=INDEPENDENT,
          implements=(surjective, eq_36_39_58_own_jacobian, above), uses=())
def assumption_4_1(rng):
    claims = []
    for name, at, wrap in cases.inside_and_outside(rng):
        first = above(at.states)[0] @ eq_36_39_58_own_jacobian(at.states[0])
        J_1 = reference.parameter_jacobian(at.net, at.x, [0])
        rank, n_d = reference.rank(J_1), at.x.size
        full = rank == n_d
        claims += [Equal("J_1 against complex steps", first, J_1, 1e-12, case=name),
                   Property("J_1 is surjective" if full else "J_1 is not surjective",
                            bool(surjective(first)), full, case=name),
                   wrap(Equal("rank of J_1 against n d", float(rank), float(n_d), 1e-3,
                              case=name))]
    return [*claims, Case(singular_values=np.linalg.svd(J_1, compute_uv=False))]


@equation(PAPER, "assumption-4.2",
          where="Section 4, Assumption 4.2",
          statement="At random initial weights J is surjective for a smooth activation, d' >= n "
                    "and samples with different halves.",
          formula=r"\mathrm{rank}\,J(\theta_0) = n d_y",
          kind="claim", verdict="conditional", ours=True,
          condition="The activation is smooth and not linear, d' >= n, and no two samples agree "
                    "in a half. (A ReLU may fail: units that are all on or off make features that "
                    "are not independent; a linear block always fails for n > d/2.)",
          implements=surjective, uses=())
def assumption_4_2(rng):
    drawn = [cases.small(rng, blocks=2, bottleneck=10, samples=4).jacobian for _ in range(5)]
    ranks = [float(reference.rank(J)) for J in drawn]
    linear = cases.small(rng, blocks=1, bottleneck=10, samples=4, activation="identity").jacobian
    return [Equal("ranks of five draws against n d", ranks, np.full(5, 16.0), 1e-3),
            Counterexample(Equal("a linear block", float(reference.rank(linear)), 16.0, 1e-3)),
            *(Property("J is surjective", bool(surjective(J)), case=f"draw {k + 1}")
              for k, J in enumerate(drawn)), Case(ranks=ranks)]
