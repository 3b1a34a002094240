"""Equations (12)-(18): the two ends of the network, the loss and the first layer."""

from itertools import product

import numpy as np

from ....exact.finite_differences import complex_step
from ....ledger import AtMost, Case, Equal, Stated, equation
from ....nets import SoftmaxCrossEntropy, SquaredError
from .. import PAPER
from ..section_2_setup import by_parameter
from ..section_3_residual_partitioning import eq_4_output_change, quadratic
from ..section_7_1_loss import (coefficients_of_loss, eq_12_objective, eq_13_by_components,
                                eq_14_by_fractions, eq_15_jensen)
from ..section_7_2_first_layer import eq_16_jensen, eq_17_bound_of_outputs, eq_18_coefficients
from . import cases, reference
from .claims import NOT_NEGATIVE, by_differences, in_case, quadratics_bounded


# -- the loss --------------------------------------------------------------------------------------

def derivatives_of_split(name, at, phi):
    """Gradient (S, C), Hessian (SC, SC) of the right side of (15), summed, in dY at 0."""
    shape, h = at.outputs.shape, 1e-5

    def slope(change):
        return complex_step(lambda c: eq_15_jensen(lambda p: reference.losses(name, p, at.y),
                                                   at.outputs, c.reshape(shape), phi), change)

    second_derivatives = [(slope(h * e) - slope(-h * e)) / (2 * h) for e in np.eye(at.outputs.size)]
    return slope(np.zeros(at.outputs.size)).reshape(shape), np.array(second_derivatives)


@equation(PAPER, "12", "13", "14", "15",
          statement="The loss after a step is the loss of the outputs plus their change, a sum "
                    "of components. The changed outputs are an average, with weights phi, of "
                    "points changed in a single output by 1 / phi as much. For a convex loss "
                    "Jensen's inequality makes it a sum of functions of single outputs. Their "
                    "derivatives are the coefficients at the output.",
          kind="inequality", verdict="holds",
          implements=(eq_12_objective, eq_13_by_components, eq_14_by_fractions, eq_15_jensen,
                      Stated(coefficients_of_loss, "0", "1"), SquaredError.value,
                      SoftmaxCrossEntropy.value), uses=("1", "5"))
def equations_12_to_15(rng):
    claims = []
    for name, samples in product(cases.LOSSES, (3, 1, 11)):
        at = cases.evaluation(rng, loss=name, samples=samples)
        loss, p, row = at.loss_function, at.outputs, f"{name}, {samples} samples"
        after = reference.outputs(at, rng.normal(size=at.network.size))
        dy, changed = after - p, sum(reference.losses(name, after, at.y))
        phi = rng.uniform(0.2, 1.0, size=p.shape)
        phi /= phi.sum(axis=1, keepdims=True)

        def f(outputs):
            return loss.value(outputs, at.y)

        first_unit = np.eye(3)[0]
        all_of_it = np.tile(first_unit, (samples, 1))
        Y_dot, Y_ddot = coefficients_of_loss(loss.gradient(p, at.y), loss.hessian_diagonal(p, at.y),
                                             phi)
        gradient, hessian = derivatives_of_split(name, at, phi)
        claims += in_case(
            row, Equal("(12): f at the outputs plus their change", eq_12_objective(f, p, dy),
                       changed, 1e-12),
            Equal("(13): f at the outputs plus the sum of components",
                  eq_13_by_components(f, p, dy), changed, 1e-12),
            Equal("(14): f at the average of the points", eq_14_by_fractions(f, p, dy, phi),
                  changed, 1e-12),
            Equal("(15): equality where one output changes and has all of the fraction",
                  eq_15_jensen(f, p, dy * first_unit, all_of_it),
                  sum(reference.losses(name, p + dy * first_unit, at.y)), 1e-12),
            Equal("Y_dot against the gradient of (15)", Y_dot, gradient, 1e-12),
            Equal("diagonal matrix of Y_ddot against the Hessian of (15)", np.diag(Y_ddot.ravel()),
                  hessian, 1e-6))
        claims += [AtMost("(15): f at the changed outputs against the right side",
                          f(p + size * dy).sum(), eq_15_jensen(f, p, size * dy, phi),
                          case=f"{row}, change times {size:g}") for size in (0.1, 1.0, 10.0)]
    return [*claims, Case(outputs=p, dy=dy, phi=phi, Y_dot=Y_dot, Y_ddot=Y_ddot)]


# -- the first layer -------------------------------------------------------------------------------

@equation(PAPER, "16",
          statement="At the first layer the squared change of an output is split among its weights "
                    "alone. (The inputs do not move, so that the first-order change is the change "
                    "itself.)",
          kind="inequality", verdict="holds", implements=(eq_16_jensen, eq_4_output_change),
          uses=("4", "5"))
def equation_16(rng):
    claims = []
    for (name, a), size in product(cases.affine_rows(rng, first=True).items(), (1.0, 0.01, 100.0)):
        a, moved = a._replace(dw=size * a.dw), a.layer.copy()
        change, right = eq_4_output_change(*a.changes), eq_16_jensen(a.y, a.dw, a.eps)
        for parameter, piece in zip(moved.parameters, by_parameter(a.layer, a.dw)):
            moved.assign(parameter, moved.parameters[parameter] + piece)
        after = moved.forward(a.x)[0]
        claims += in_case(
            f"{name}, size {size:g}",
            Equal("first-order change against the change itself", change,
                  after - a.layer.forward(a.x)[0], 1e-12, scale=after),
            Equal("right side against a sum over parts", right,
                  reference.squares(reference.parts(*a.changes), a.p), 1e-12),
            AtMost("squared change against the right side", change**2, right))
    one = cases.in_proportion(cases.affine(rng, first=True))
    return [*claims, Equal("equality where every part is in proportion to its fraction",
                           eq_16_jensen(one.y, one.dw, one.eps)[0, 0],
                           eq_4_output_change(*one.changes)[0, 0] ** 2, 1e-12),
            Case(y=one.y, dw=one.dw, eps=one.eps)]


@equation(PAPER, "17",
          statement="At the first layer the quadratics of the outputs are at most the quadratics "
                    "of the weights.",
          uses=("16", "18"), kind="inequality", verdict="conditional", condition=NOT_NEGATIVE,
          implements=(eq_17_bound_of_outputs, quadratic, Stated(eq_18_coefficients, "0", "1")))
def equation_17(rng):
    def right_side(a, dw, dy):
        return eq_17_bound_of_outputs(
            quadratic(*eq_18_coefficients(a.y, a.Y_dot, a.Y_ddot, a.eps), dw))

    return quadratics_bounded(cases.affine_rows(rng, first=True), rng, right_side)


@equation(PAPER, "18",
          statement="First and second coefficients of the quadratics of the first layer's weights.",
          uses=("4", "16"), kind="definition", verdict="holds",
          implements=(Stated(eq_18_coefficients, "0", "1"),))
def equation_18(rng):
    claims = []
    for name, a in cases.affine_rows(rng, first=True).items():
        made = eq_18_coefficients(a.y, a.Y_dot, a.Y_ddot, a.eps)
        below = dict(zip(("W_dot", "W_ddot"), made))
        claims += by_differences(a, name, 16, below)
    return [*claims, Case(y=a.y, Y_dot=a.Y_dot, Y_ddot=a.Y_ddot, eps=a.eps, **below)]
