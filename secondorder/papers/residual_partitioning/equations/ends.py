"""Equations (12)-(18): the two ends of the network, the loss and the first layer."""

from itertools import product

import numpy as np

from ....exact.finite_differences import complex_step
from ....ledger import AtMost, Case, Equal, Property, Stated, equation
from ....nets import SoftmaxCrossEntropy, SquaredError
from .. import PAPER, coefficients, partitions, theorems
from . import cases, reference
from .claims import by_differences, in_case, is_refused, last_times, quadratics_bounded
from .conditions import NOT_NEGATIVE


# -- the loss --------------------------------------------------------------------------------------

def split_losses(name, at, phi, dY):
    """Right side of (15), (S,)."""
    return theorems.split_loss(lambda p: reference.losses(name, p, at.y), at.outputs, dY, phi)


def derivatives_of_split(name, at, phi):
    """Gradient (S, C), Hessian (SC, SC) of the right side of (15), summed, in dY at 0."""
    shape, h = at.outputs.shape, 1e-5

    def slope(change):
        return complex_step(lambda c: split_losses(name, at, phi, c.reshape(shape)).sum(), change)

    second_derivatives = [(slope(h * e) - slope(-h * e)) / (2 * h) for e in np.eye(at.outputs.size)]
    return slope(np.zeros(at.outputs.size)).reshape(shape), np.array(second_derivatives)


@equation(PAPER, "12", "13", "14", "15",
          statement="The loss after a step is the loss of the outputs plus their change, a sum "
                    "of components. The changed outputs are an average, with weights phi, of "
                    "points changed in a single output by 1 / phi as much. For a convex loss "
                    "Jensen's inequality makes it a sum of functions of single outputs. Their "
                    "derivatives are the coefficients at the output.",
          kind="inequality", verdict="holds",
          implements=(theorems.split_loss, Stated(coefficients.output, "0", "1"),
                      Stated(SquaredError.value, bears=("12", "13")),
                      SoftmaxCrossEntropy.value, partitions.check_output), uses=("1", "5"))
def equations_12_to_15(rng):
    claims = []
    for name, samples in product(cases.LOSSES, (3, 1, 11)):
        at = cases.evaluation(rng, loss=name, samples=samples)
        loss, p, units = at.loss_function, at.outputs, np.eye(3)
        delta, moved = rng.normal(size=at.network.size), at.network.copy()
        dY = reference.outputs(at.network, at.x, delta) - p
        phi = partitions.simplex_optimum(rng.uniform(0.2, 1.0, size=p.shape))
        moved.theta = at.network.theta + delta
        by_hand = reference.losses(name, p + dY, at.y)
        average = sum(phi[:, i:i + 1] * (p + dY * e / phi[:, i:i + 1]) for i, e in enumerate(units))
        first, all_of_it = dY * units[0], np.tile(units[0], (samples, 1))
        f_ii, ones = loss.hessian_diagonal(p, at.y), np.ones_like(phi)
        Y_dot, Y_ddot = coefficients.output(loss.gradient(p, at.y), f_ii, phi)
        gradient, hessian = derivatives_of_split(name, at, phi)
        claims += in_case(
            f"{name}, {samples} samples",
            Equal("(12): f at the outputs of the changed network against f at the outputs plus "
                  "their change", loss.value(moved(at.x), at.y), by_hand, 1e-12),
            Equal("(13): f at the sum of components against f at the changed outputs",
                  loss.value(p + sum(dY * e for e in units), at.y), by_hand, 1e-12),
            Equal("(14): average of the points against the changed outputs", average,
                  reference.outputs(at.network, at.x, delta), 1e-13),
            Property("(14): these fractions are accepted",
                     not is_refused(partitions.check_output, phi, f_ii, ones)),
            Property("(14): fractions that add up to 1.1 are refused, for the last sample only",
                     is_refused(partitions.check_output, last_times(1.1, phi), f_ii, ones)),
            Equal("(15): equality where one output changes and has all of the fraction",
                  loss.value(p + first, at.y), split_losses(name, at, all_of_it, first), 1e-12),
            Equal("Y_dot against the right side's gradient", Y_dot, gradient, 1e-12),
            Equal("diagonal matrix of Y_ddot against the right side's Hessian",
                  np.diag(Y_ddot.ravel()), hessian, 1e-6))
        claims += [AtMost("(15): f at the changed outputs against the right side",
                          loss.value(p + size * dY, at.y), split_losses(name, at, phi, size * dY),
                          case=f"{name}, {samples} samples, change times {size:g}")
                   for size in (0.1, 1.0, 10.0)]
    return [*claims, Case(outputs=p, dY=dY, phi=phi, Y_dot=Y_dot, Y_ddot=Y_ddot)]


# -- the first layer -------------------------------------------------------------------------------

@equation(PAPER, "16",
          statement="At the first layer the squared change of an output is split among its weights "
                    "alone. (The inputs do not move, so that the first-order change is the change "
                    "itself.)",
          formula=r"""\Delta y_{si}^{(\ell+1)2} = \left(\sum_{j=0}^{m_\ell}
                      \varepsilon_{sij}^{(\ell)}
                  \frac{\Delta w_{ij}^{(\ell)} y_{sj}^{(\ell)}}{\varepsilon_{sij}^{(\ell)}}\right)^2
                  \leq \sum_{j=0}^{m_\ell} \frac{(\Delta w_{ij}^{(\ell)}
                  y_{sj}^{(\ell)})^2}{\varepsilon_{sij}^{(\ell)}}""",
          kind="inequality", verdict="holds",
          implements=(coefficients.squared_change_bound, coefficients.output_change),
          uses=("4", "5"))
def equation_16(rng):
    claims = []
    for (name, a), size in product(cases.affine_rows(rng, first=True).items(), (1.0, 0.01, 100.0)):
        dW = size * a.dW
        x = reference.parts(a.layer, a.y, dW, a.dY)
        change = coefficients.output_change(a.layer, a.y, dW, a.dY)
        bias = 0 if a.layer.bias is None else a.layer.bias + dW[:, 0]
        moved = a.y @ (a.layer.weight + dW[:, 1:]).T + bias
        right = coefficients.squared_change_bound(a.layer, a.y, dW, a.dY, a.partition)
        claims += in_case(
            f"{name}, size {size:g}",
            Equal("first-order change against the change itself", change,
                  moved - a.layer.forward(a.y)[0], 1e-12, scale=moved),
            Equal("right side against a sum over parts", right,
                  reference.squares(x, np.concatenate(a.partition, axis=2)), 1e-12),
            AtMost("squared change against the right side", change**2, right))
    a = cases.affine(rng, first=True)
    first, right = cases.proportional_change(a)
    return [*claims, Equal("equality where every part is in proportion to its fraction", right,
                           first**2, 1e-12),
            Case(y=a.y, dW=a.dW, eps=a.partition.eps)]


@equation(PAPER, "17",
          statement="At the first layer the quadratics of the outputs are at most the quadratics "
                    "of the weights.",
          formula=r"\sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \mathcal{Y}_{si}^{(\ell+1)} \leq "
                  r"\sum_{i=1}^{m_{\ell+1}} \sum_{j=0}^{m_\ell} \mathcal{W}_{ij}^{(\ell)}",
          uses=("16", "18"), kind="inequality", verdict="conditional", condition=NOT_NEGATIVE,
          implements=(theorems.bound_of_outputs, theorems.quadratic,
                      Stated(coefficients.affine, "W_dot", "W_ddot")))
def equation_17(rng):
    return quadratics_bounded(rng, first=True)


@equation(PAPER, "18",
          statement="First and second coefficients of the quadratics of the first layer's weights.",
          formula=r"""\dot{\mathcal{W}}_{ij}^{(\ell)} \equiv \sum_{s=1}^S
                  \dot{\mathcal{Y}}_{si}^{(\ell+1)} y_{sj}^{(\ell)}
                  \quad \ddot{\mathcal{W}}_{ij}^{(\ell)} \equiv \sum_{s=1}^S
                  \frac{\ddot{\mathcal{Y}}_{si}^{(\ell+1)}
                  y_{sj}^{(\ell)2}}{\varepsilon_{sij}^{(\ell)}}""",
          uses=("4", "16"), kind="definition", verdict="holds",
          implements=(Stated(coefficients.affine, "W_dot", "W_ddot"),))
def equation_18(rng):
    claims = []
    for name, a in cases.affine_rows(rng, first=True).items():
        below = a.below()
        claims += [*by_differences(a, name, 16, "W_dot", "W_ddot"),
                   Property("Y_ddot, void at the first layer, is zero", not below.Y_ddot.any(),
                            case=name)]
    return [*claims,
            Case(y=a.y, Y_dot=a.Y_dot, Y_ddot=a.Y_ddot, eps=a.partition.eps, W_dot=below.W_dot,
                 W_ddot=below.W_ddot)]
