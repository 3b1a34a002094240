"""Equations (12)-(18): the two ends of the network, where the loss is bounded and where nothing lies below."""

import numpy as np

from ...exact.finite_differences import complex_step
from ...nets import Network
from ...ledger import AtMost, Case, Equal, equation
from .. import PAPER, bounding, partitions
from ..total_gradient import total_gradients
from . import cases
from .bounding import coefficients_by_differences, quadratics, squared_change, with_ones

F_AT = r"\Delta \mathbf{y}_s^{(L)} \odot \mathbf{e}_i"


# -- the loss ---------------------------------------------------------------------------------------------------------

def moved_outputs(rng):
    """For every loss: its name, an evaluation, a step of the parameters and the change of the outputs it causes."""
    for name in cases.LOSSES:
        at = cases.evaluation(rng, loss=name, samples=3)
        delta = rng.normal(size=at.network.size)
        yield name, at, delta, cases.outputs_by_hand(at.network, at.x, delta) - at.outputs


@equation(PAPER, "12",
          statement="The objective after a step is the loss of the outputs plus their change.",
          formula=r"\mathcal{L} = \sum_{s=1}^S f(\hat{\mathbf{y}}_s^{(L)} | \mathbf{x}_s) = "
                  r"\sum_{s=1}^S f(\mathbf{y}_s^{(L)} + \Delta \mathbf{y}_s^{(L)} | \mathbf{x}_s)",
          kind="identity", verdict="holds", implements=(Network.evaluate,))
def equation_12(rng):
    claims = []
    for name, at, delta, dY in moved_outputs(rng):
        moved = at.network.copy()
        moved.theta = at.network.theta + delta
        after = moved.evaluate(at.loss_function, at.x, at.y).loss
        claims.append(Equal(f"{name}: objective of the changed network against f at the outputs plus their change",
                            after, np.mean(cases.losses_by_hand(name, at.outputs + dY, at.y)), 1e-12))
    return [*claims, Case(outputs=at.outputs, dY=dY)]


@equation(PAPER, "13",
          statement="The change of the outputs is the sum of its components, each along one unit vector.",
          formula=r"= \sum_{s=1}^S f\left(\mathbf{y}_s^{(L)} + \sum_{i=1}^{m_L} " + F_AT + r" \mid \mathbf{x}_s\right)",
          kind="identity", verdict="holds", implements=(Network.evaluate,))
def equation_13(rng):
    claims = []
    for name, at, _, dY in moved_outputs(rng):
        total = at.outputs + sum(dY * e for e in np.eye(dY.shape[1]))
        claims.append(Equal(f"{name}: f at the outputs plus their change against f at the sum of components",
                            at.loss_function.value(at.outputs + dY, at.y),
                            cases.losses_by_hand(name, total, at.y), 1e-12))
    return [*claims, Case(outputs=at.outputs, dY=dY)]


def output_fractions(at, rng):
    """Two valid output partitions, of Eq. (46) and a random one, both far enough from zero for difference quotients."""
    f_ii = at.loss_function.hessian_diagonal(at.outputs, at.y)
    u = total_gradients(at.network.layers, at.saved)[-1]
    yield "optimal fractions", partitions.optimal_output(f_ii, u)
    yield "other fractions", partitions.simplex_optimum(rng.uniform(0.2, 1.0, size=f_ii.shape))


@equation(PAPER, "14",
          statement="The changed outputs are an average, with weights phi, of points changed in a single output by "
                    "1 / phi as much.",
          formula=r"= \sum_{s=1}^S f\left(\sum_{i=1}^{m_L} \varphi_{si}^{(L)} \left(\mathbf{y}_s^{(L)} + "
                  r"\frac{1}{\varphi_{si}^{(L)}} " + F_AT + r"\right) \mid \mathbf{x}_s\right)",
          kind="identity", verdict="holds", implements=(partitions.optimal_output,))
def equation_14(rng):
    claims = []
    for name, at, _, dY in moved_outputs(rng):
        for which, phi in output_fractions(at, rng):
            average = sum(phi[:, i:i + 1] * (at.outputs + dY * e / phi[:, i:i + 1])
                          for i, e in enumerate(np.eye(dY.shape[1])))
            claims += [Equal(f"{name}, {which}: average of the points against the changed outputs", average,
                             at.outputs + dY, 1e-13),
                       Equal(f"{name}, {which}: f there", at.loss_function.value(average, at.y),
                             cases.losses_by_hand(name, at.outputs + dY, at.y), 1e-12)]
    return [*claims, Case(outputs=at.outputs, dY=dY, phi=phi)]


def split_losses(name, at, phi, dY):
    """Right side of (15) for every sample, (S,): sum_i phi_si f(y_s + dY_si e_i / phi_si)."""
    rows = [phi[:, i] * cases.losses_by_hand(name, at.outputs + (dY[:, i] / phi[:, i])[:, None] * e, at.y)
            for i, e in enumerate(np.eye(dY.shape[1]))]
    return sum(rows)


@equation(PAPER, "15",
          statement="Jensen's inequality for the convex loss: the right side is a sum of functions of single outputs, "
                    "and its derivatives are the coefficients at the output.",
          formula=r"\leq \sum_{s=1}^S \sum_{i=1}^{m_L} \varphi_{si}^{(L)} f\left(\mathbf{y}_s^{(L)} + "
                  r"\frac{1}{\varphi_{si}^{(L)}} " + F_AT + r" \mid \mathbf{x}_s\right)",
          kind="inequality", verdict="holds", implements=(bounding.output, partitions.optimal_output))
def equation_15(rng):
    claims, h = [], 1e-5
    for name, at, _, dY in moved_outputs(rng):
        p, y, loss = at.outputs, at.y, at.loss_function
        for which, phi in output_fractions(at, rng):
            Y_dot, Y_ddot = bounding.output(loss.gradient(p, y), loss.hessian_diagonal(p, y), phi)
            for size in (0.1, 1.0, 10.0):
                claims.append(AtMost(f"{name}, {which}: f against the right side, change of size {size:g}",
                                     loss.value(p + size * dY, y), split_losses(name, at, phi, size * dY)))
            claims.append(AtMost(f"{name}, {which}: dY' F dY against sum of Y_ddot dY^2",
                                 np.einsum("si,sij,sj->s", dY, loss.hessian(p, y), dY), np.sum(Y_ddot * dY**2, axis=1)))

            def slope(change):
                return complex_step(lambda c: split_losses(name, at, phi, c.reshape(p.shape)).sum(), change)

            bends = [(slope(h * e) - slope(-h * e)) / (2 * h) for e in np.eye(p.size)]
            claims += [Equal(f"{name}, {which}: Y_dot against the right side's gradient", Y_dot,
                             slope(np.zeros(p.size)).reshape(p.shape), 1e-12),
                       Equal(f"{name}, {which}: diagonal matrix of Y_ddot against the right side's Hessian",
                             np.diag(Y_ddot.ravel()), np.array(bends), 1e-6)]
    return [*claims, Case(outputs=p, dY=dY, phi=phi, Y_dot=Y_dot, Y_ddot=Y_ddot)]


# -- the first layer --------------------------------------------------------------------------------------------------

@equation(PAPER, "16",
          statement="At the first layer the squared change of an output is split among its weights alone.",
          formula=r"""\Delta y_{si}^{(\ell+1)2} = \left(\sum_{j=0}^{m_\ell} \varepsilon_{sij}^{(\ell)}
                  \frac{\Delta w_{ij}^{(\ell)} y_{sj}^{(\ell)}}{\varepsilon_{sij}^{(\ell)}}\right)^2 \leq
                  \sum_{j=0}^{m_\ell} \frac{(\Delta w_{ij}^{(\ell)} y_{sj}^{(\ell)})^2}{\varepsilon_{sij}^{(\ell)}}""",
          kind="inequality", verdict="holds", implements=(bounding.output_change, bounding.squared_change_bound))
def equation_16(rng):
    case = cases.affine(rng, first=True)
    y, eps = with_ones(case.y), case.partition.eps
    parts = eps * (case.dW[None] * y[:, None, :] / eps)
    return [Equal("squared change against the square of the sum over parts",
                  bounding.output_change(case.layer, case.y, case.dW, case.dY) ** 2, parts.sum(axis=2) ** 2, 1e-12),
            *squared_change(case, rng), Case(y=case.y, dW=case.dW, eps=eps)]


@equation(PAPER, "17",
          statement="At the first layer the quadratics of the outputs are at most those of the weights.",
          formula=r"\sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \mathcal{Y}_{si}^{(\ell+1)} \leq "
                  r"\sum_{i=1}^{m_{\ell+1}} \sum_{j=0}^{m_\ell} \mathcal{W}_{ij}^{(\ell)}",
          kind="inequality", verdict="conditional",
          condition="The second coefficients Y_ddot of the outputs are not negative.", implements=(bounding.affine,))
def equation_17(rng):
    case = cases.affine(rng, first=True)
    return [*quadratics(case, rng), Case(y=case.y, Y_dot=case.Y_dot, Y_ddot=case.Y_ddot, eps=case.partition.eps)]


@equation(PAPER, "18",
          statement="First and second coefficients of the quadratics of the first layer's weights.",
          formula=r"""\dot{\mathcal{W}}_{ij}^{(\ell)} \equiv \sum_{s=1}^S
                  \dot{\mathcal{Y}}_{si}^{(\ell+1)} y_{sj}^{(\ell)}
                  \quad \ddot{\mathcal{W}}_{ij}^{(\ell)} \equiv \sum_{s=1}^S
                  \frac{\ddot{\mathcal{Y}}_{si}^{(\ell+1)} y_{sj}^{(\ell)2}}{\varepsilon_{sij}^{(\ell)}}""",
          kind="definition", verdict="holds", implements=(bounding.affine,))
def equation_18(rng):
    case = cases.affine(rng, first=True)
    made = bounding.affine(case.layer, case.y, case.Y_dot, case.Y_ddot, case.partition)
    W_dot, W_ddot = coefficients_by_differences(case)[:2]
    return [Equal("W_dot against differences of the right side of (16)", made.W_dot, W_dot, 1e-12),
            Equal("W_ddot against differences of the right side of (16)", made.W_ddot, W_ddot, 1e-12),
            Equal("Y_ddot, void at the first layer", made.Y_ddot, np.zeros_like(case.y), 1e-15, scale=1.0),
            Case(y=case.y, Y_dot=case.Y_dot, Y_ddot=case.Y_ddot, eps=case.partition.eps)]
