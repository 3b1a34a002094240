"""Section 3: losses, gradient and Gauss-Newton steps, Eqs. (1)-(7), and the two assumptions."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, Property, Rate, Stated, equation
from ....nets import SoftmaxCrossEntropy
from .. import PAPER
from ..eq_01_07_gauss_newton import (defect, eq_1_loss, eq_2_gradient_step, eq_3_gradient_flow,
                                     eq_4_output_rate, eq_5_by_kernel, eq_5_gauss_newton,
                                     eq_6_hessian_view, eq_7_generalised)
from ..eq_08_11_any_right_inverse import eq_10_errors, euler, surjective
from ..eq_12_13_jacobian import above, eq_12_jacobian, to_theta
from ..eq_14_15_revmlp import block_states
from ..eq_16_17_right_inverse import eq_55_step
from ..eq_58_80_appendix_n import eq_58_own_jacobian
from . import cases, reference
from .conditions import INDEPENDENT, SURJECTIVE


@equation(PAPER, "1",
          statement="The loss is the sum over the samples, a function of all outputs; eps is its "
                    "gradient.",
          formula=r"\mathcal L(\theta)=\sum_{i=1}^n \ell\big(y_i,f(x_i,\theta)\big)"
                  r"=\tilde{\mathcal L}(\mathbf f(\theta))",
          kind="definition", verdict="holds",
          implements=(eq_1_loss, eq_10_errors), uses=())
def equation_1(rng):
    net, x, y, loss = cases.classes(rng)
    f = net(x)
    eps = eq_10_errors(loss, f, y)
    gradient = np.zeros_like(f)
    for place in np.ndindex(f.shape):  # of the sum, written out
        moved = f.astype(complex)
        moved[place] += 1j * reference.STEP
        total = sum(np.log(np.exp(row).sum()) - (row * t).sum() for row, t in zip(moved, y))
        gradient[place] = total.imag / reference.STEP
    at = net.evaluate(loss, x, y)
    return [Equal("the sum of the losses against a sum written out",
                  eq_1_loss(loss.value(f, y)),
                  sum(np.log(np.exp(row).sum()) - (row * t).sum() for row, t in zip(f, y)), 1e-13),
            Equal("eps against a complex step of the sum", eps, gradient, 1e-13),
            Equal("the package's mean, times n, is the sum", len(x) * at.loss,
                  sum(np.log(np.exp(row).sum()) - (row * t).sum() for row, t in zip(f, y)), 1e-13),
            Case(f=f, y=y, eps=eps)]


@equation(PAPER, "2",
          statement="A gradient step moves the parameters along minus the gradient of the sum of "
                    "the losses, J^T eps.",
          formula=r"\theta_{t+1}=\theta_t-\alpha\,\nabla_\theta\mathcal L",
          kind="algorithm", verdict="holds",
          implements=eq_2_gradient_step, uses=("1",))
def equation_2(rng):
    at = cases.small(rng)
    J = eq_12_jacobian(at.states)
    mean = at.net.evaluate(cases.LOSSES["squared"](), at.x, at.y).gradient
    return [Equal("n times back-propagation of the mean",
                  to_theta(eq_2_gradient_step(J, at.eps), at.net), -len(at.x) * mean, 1e-12),
            Case(eps=at.eps, J=J)]


@equation(PAPER, "3",
          statement="Gradient flow on the outputs themselves: exponential for the squared error, "
                    "like 1/t for a softmax.",
          formula=r"\frac{d\mathbf f}{dt}=-\nabla_{\mathbf f}\tilde{\mathcal L}"
                  r"\big|_{\mathbf f(t)}",
          kind="definition", verdict="holds",
          implements=(eq_3_gradient_flow, euler), uses=("1",))
def equation_3(rng):
    start, y = rng.normal(size=(2, 6))
    rates = np.array([0.1, 0.05, 0.025, 0.0125])
    exact = y + np.exp(-1.0) * (start - y)

    def squared(f):
        return eq_3_gradient_flow(f - y)

    ends = [euler(squared, start, r, round(1 / r))[-1] for r in rates]
    gaps = [np.linalg.norm(end - exact) for end in ends]
    one_hot = np.eye(10)[:1]
    path = euler(lambda f: eq_3_gradient_flow(reference.softmax_errors(f, one_hot)),
                       np.zeros((1, 10)), 1.0, 4000)
    times = np.array([1000, 2000, 4000])
    losses = np.array([np.log(np.exp(path[t][0]).sum()) - path[t][0, 0] for t in times])
    first = euler(squared, start, 0.1, 1)[1]
    return [Equal("one step", first, 0.9 * start + 0.1 * y, 1e-14),
            Rate("squared error: distance from y + e^{-t} (f - y) at t = 1", rates, gaps, order=1),
            Equal("softmax of ten classes: loss times t against 0.9",
                  losses * times, np.full(3, 0.9), 0.01),
            Case(rates=rates, gaps=gaps, times=times, losses=losses)]


@equation(PAPER, "4",
          statement="The parameters follow the outputs' gradient flow if J times their rate is "
                    "minus eps.",
          formula=r"\frac{\partial\mathbf f}{\partial\theta}\frac{d\theta}{dt}"
                  r"=-\nabla_{\mathbf f}\tilde{\mathcal L}\big|_{\mathbf f(\theta(t))}",
          kind="definition", verdict="conditional", condition=SURJECTIVE,
          implements=(eq_4_output_rate, eq_5_gauss_newton,
                      eq_55_step, defect), uses=("3",))
def equation_4(rng):
    at, outside = cases.small(rng), cases.dependent(rng, blocks=1)
    claims = []
    for case, wrap in ((at, lambda claim: claim), (outside, Counterexample)):
        J = reference.parameter_jacobian(case.net, case.x)
        rate = eq_4_output_rate(J, eq_5_gauss_newton(J, case.eps))
        claims.append(wrap(Equal("J times the step of (5)", rate, -case.eps, 1e-8)))
    step, J_d = cases.fast_direction(at), rng.normal(size=5)
    moved = to_theta(reference.parameter_jacobian(at.net, at.x).T, at.net).T @ step
    return [*claims, Equal("J times the step that trains", moved, -at.eps, 1e-8),
            Equal("defect of a step half as far", defect(J_d, -2 * J_d), 0.5, 1e-14),
            Equal("defect of a step half too far", defect(3 * J_d, -2 * J_d), 0.5, 1e-14),
            Case(eps=at.eps, direction=step)]


@equation(PAPER, "5",
          statement="The Gauss-Newton step in function space: the Moore-Penrose inverse of J "
                    "times eps.",
          formula=r"\theta_{t+1}=\theta_t-\alpha\,J^+\,\nabla_{\mathbf f}\tilde{\mathcal L}",
          kind="algorithm", verdict="holds",
          implements=(eq_5_gauss_newton, Stated(eq_5_by_kernel, "0")), uses=("4",))
def equation_5(rng):
    at = cases.small(rng)
    J = reference.parameter_jacobian(at.net, at.x)
    step = eq_5_gauss_newton(J, at.eps)
    gram = -J.T @ np.linalg.solve(J @ J.T, at.eps)
    null = np.linalg.svd(J)[2][len(J):]
    wide = rng.normal(size=(9, 4))  # more equations than parameters: least squares
    b = rng.normal(size=9)
    return [Equal("-J^T (J J^T)^{-1} eps", step, gram, 1e-8),
            Equal("it has no part in the null space of J",
                  null @ step, 0 * null[:, 0], 1e-12, scale=step),
            Equal("J that is not surjective: least squares",
                  eq_5_gauss_newton(wide, b), -np.linalg.lstsq(wide, b)[0], 1e-12),
            Equal("from J J^T", eq_5_by_kernel(J @ J.T, at.eps, lambda a: J.T @ a)[0], gram, 1e-8),
            Case(eps=at.eps, step=step)]


@equation(PAPER, "6",
          statement="The same step from the Gauss-Newton matrix and the gradient; no rank is "
                    "needed.",
          formula=r"\theta_{t+1}=\theta_t-\alpha\,(J^TJ)^+\,\nabla_\theta\mathcal L",
          kind="identity", verdict="holds",
          implements=eq_6_hessian_view, uses=("2", "5"))
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
          kind="definition", verdict="holds",
          implements=eq_7_generalised, uses=("6",))
def equation_7(rng):
    f, y = rng.normal(size=(3, 4)), np.eye(4)[rng.integers(0, 4, 3)]
    J = rng.normal(size=(12, 20))
    H, eps = reference.softmax_hessian(f), reference.softmax_errors(f, y).ravel()
    own = SoftmaxCrossEntropy().hessian(f, y)
    blocks = np.array([H[4 * s:4 * s + 4, 4 * s:4 * s + 4] for s in range(3)])
    step = eq_7_generalised(J, H, J.T @ eps)
    L = np.linalg.cholesky(cases.positive_matrix(rng, 12))
    whitened = L.T @ J  # J^T H J = (L^T J)^T (L^T J)
    g = J.T @ eps
    return [Equal("Hessian of the softmax", own, blocks, 1e-14),
            Equal("singular H: J^T H J step against minus the gradient",
                  J.T @ H @ J @ step, -g, 1e-8),
            Equal("singular H: the step has the least norm", step,
                  -np.linalg.lstsq(J.T @ H @ J, g, rcond=1e-10)[0], 1e-7),
            Equal("positive H, by its Cholesky factor", eq_7_generalised(J, L @ L.T, g),
                  -reference.pinv(whitened) @ np.linalg.lstsq(whitened.T, g, rcond=None)[0], 1e-8),
            Case(H=blocks, eps=eps, step=step)]


@equation(PAPER, "assumption-4.1",
          where="Section 4, Assumption 4.1",
          statement="J is surjective where the features of one block are independent: that "
                    "block's J_l alone reaches every output.",
          formula=r"\mathrm{rank}\,J(\theta) = n d_y",
          kind="claim", verdict="conditional", ours=True, condition=INDEPENDENT,
          implements=(surjective, eq_58_own_jacobian, above), uses=())
def assumption_4_1(rng):
    claims = []
    for name, at, wrap in cases.inside_and_outside(rng):
        last = above(at.states)[0] @ eq_58_own_jacobian(at.states[0])
        smallest = np.linalg.svd(reference.parameter_jacobian(at.net, at.x, [0]), compute_uv=False)
        claims += [Equal("J_1 against complex steps", last,
                         reference.parameter_jacobian(at.net, at.x, [0]), 1e-12, case=name)]
        rank = cases.rank_of(last)
        full = rank == len(at.eps)
        claims.append(Property("J_1 is surjective" if full else "J_1 is not surjective",
                               bool(surjective(last)), full, case=name))
        claims.append(
            wrap(Equal("rank of J_1 against n d", float(rank), float(len(at.eps)), 1e-3,
                       case=name)))
    return [*claims, Case(singular_values=smallest)]


@equation(PAPER, "assumption-4.2",
          where="Section 4, Assumption 4.2",
          statement="At random initial weights J is surjective for a smooth activation, d' >= n "
                    "and samples with different halves.",
          formula=r"\mathrm{rank}\,J(\theta_0) = n d_y",
          kind="claim", verdict="conditional", ours=True,
          condition="The activation is smooth and not linear, d' >= n, and no two samples agree "
                    "in a half. (A ReLU may fail: units that are all on or off make features that "
                    "are not independent; a linear block always fails for n > d/2.)",
          implements=(surjective, block_states), uses=())
def assumption_4_2(rng):
    drawn = [cases.small(rng, blocks=2, bottleneck=10, samples=4) for _ in range(5)]
    ranks = [cases.rank_of(eq_12_jacobian(at.states)) for at in drawn]
    linear = cases.small(rng, blocks=1, bottleneck=10, samples=4, activation="identity")
    smooth = cases.small(rng, blocks=2, samples=4)
    columns = reference.forward(smooth.net, smooth.x)
    return [
        Equal("ranks of five draws against n d", np.array(ranks, float), np.full(5, 16.0), 1e-3),
        Equal("states hold the outputs",
              np.vstack([smooth.states[-1].X1, smooth.states[-1].X2]), columns, 1e-12),
        Counterexample(Equal("a linear block",
                             float(cases.rank_of(eq_12_jacobian(linear.states))), 16.0, 1e-3)),
        *(Property("J is surjective", bool(surjective(eq_12_jacobian(at.states))),
                   case=f"draw {k + 1}")
          for k, at in enumerate(drawn)),
        Property("a linear block's features have rank d/2", cases.rank_of(linear.states[0].S1), 2),
        Case(ranks=ranks)]
