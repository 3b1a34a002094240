"""Equations (10), (11) and Theorem 2: the chosen fractions, and the total gradient."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Stated, equation
from .. import PAPER
from ..section_3_residual_partitioning import NEGATIVE_CURVATURE
from ..section_4_partitioning_variables import (eq_10_fractions, eq_11_activation, eq_11_affine,
                                                theorem_2)
from ..section_7_3_proof_of_theorem_2 import eq_46_fractions_at_outputs
from ..section_7_algorithm_1 import algorithm_1, forward_pass
from . import cases, reference
from .claims import NONE_NEGATIVE
from .reference import minimise_over_fractions, sum_of_curvatures


def bent_the_wrong_way(rng):
    """An output far below its target: other fractions save a third of the sum or more."""
    theta = np.array([0.5, 0.25, 1.0, 0.0]) * (1 + 0.05 * rng.uniform(-1, 1, 4))
    return cases.one_unit(theta, 40.0, "softplus")


def sum_and_least(at, rng, way="abs"):
    """Sum of all W_ddot at the fractions of (10) and (46), and the least that is found."""
    least, _ = minimise_over_fractions(*sum_of_curvatures(at, way), rng)
    return float(cases.built(at, correct=NEGATIVE_CURVATURE[way]).curvature.sum()), least


def signs_kept(rng):
    """One bent tanh unit, coefficients with their signs: the sum at these fractions, and at others
    of the first layer, one of them nearly 0.
    """
    at = cases.bent_unit()
    best, _ = theorem_2(at)
    firsts = [best[0]] + [(np.array([[[p, 1 - p]]]), best[0][1])
                          for p in (rng.uniform(0.55, 0.9), 0.999)]
    return [float(cases.built(at, [first, *best[1:]], correct=cases.kept).curvature.sum())
            for first in firsts]


@equation(PAPER, "10", "theorem-2",
          statement="For changes of equal size these fractions make the bound least. The fraction "
                    "of a weight is the size of its input, of an input its weight times its total "
                    "gradient. Both are over the output's total gradient. At the loss they are the "
                    "fractions of (46). (The formula serves the first layer too, where phi = 0; a "
                    "layer that is not trained has no eps.)",
          uses=("25", "32", "38", "44", "46"),
          kind="optimality", verdict="conditional", condition=NONE_NEGATIVE,
          implements=(Stated(eq_10_fractions, "0", "1"), Stated(theorem_2, "0", "1"),
                      eq_46_fractions_at_outputs))
def equation_10(rng):
    claims = [Equal("eps and phi against |y| / u and |w| u / u, by loops", a.at_best().p,
                    reference.shares(a.terms), 1e-13, case=name)
              for name, a in cases.affine_rows(rng, first=None).items()]
    sizes = (2, 2, 2, 3)
    for activation, loss in (("relu", "squared"), ("relu", "softmax"), ("identity", "softmax")):
        at = cases.evaluation(rng, activation, loss, samples=2, sizes=sizes)
        claims.append(Equal("sum of all W_ddot against its numerical minimum",
                            *sum_and_least(at, rng), 1e-7, case=f"{activation}, {loss}"))
    for way in NEGATIVE_CURVATURE:
        positive = cases.all_positive(rng, sizes)
        claims += [Equal("sum of all W_ddot against its numerical minimum",
                         *sum_and_least(positive, rng, way), 1e-7,
                         case=f"softplus, none negative, {way}"),
                   Counterexample(AtMost(
                       "softplus, negative ones corrected: the sum against other fractions' least",
                       *sum_and_least(bent_the_wrong_way(rng), rng, way), 1e-3, case=way))]
    at_these, *at_others = signs_kept(rng)
    built = cases.built(at)
    eps, phi = built.partitions[2]
    return [*claims,
            Counterexample(AtMost("one tanh unit, a negative coefficient with its sign: the sum "
                                  "at these fractions against others", at_these, at_others)),
            AtMost("the same: the sum at others against these, which give the largest",
                   at_others, at_these),
            Equal("all u against loops", np.hstack(built.u),
                  np.hstack(reference.total_gradients(at)), 1e-13),
            Case(y=at.saved[2].input, u=built.u[2], u_above=built.u[3], eps=eps, phi=phi,
                 W_ddot=built.curvature)]


@equation(PAPER, "u-theorem-2-in-algorithm-1",
          statement="The fractions are chosen so that the bound is least for changes of equal "
                    "size. The bound that Algorithm 1 minimises has absolute values below the "
                    "activations, and where one of them turns a sign, other fractions make it "
                    "less, here by a quarter and more.",
          where="Section 4, the sentence before Theorem 2; Algorithm 1, the last backward line",
          kind="claim", verdict="erratum", weight="substance", ours=True, unnumbered=True,
          uses=("theorem-2", "algorithm-1"), implements=(Stated(algorithm_1, "W_ddot"),))
def theorem_2_in_algorithm_1(rng):
    positive, bent = cases.all_positive(rng, (2, 2, 2, 3)), bent_the_wrong_way(rng)
    sums = [(float(algorithm_1(at, output).W_ddot.sum()), sum_and_least(at, rng)[1])
            for at, output in ((positive, "jensen"), (bent, "jensen"))]
    by_loops = reference.algorithm(bent)[1]
    return [Equal("no coefficient negative: Algorithm 1's sum against the numerical minimum",
                  *sums[0], 1e-7),
            Equal("a negative one: Algorithm 1's sum against loops", sums[1][0], by_loops.sum(),
                  1e-12),
            Printed(AtMost("a negative one: Algorithm 1's sum against other fractions' least",
                           *sums[1], 1e-3)),
            AtMost("the same: the least against three quarters of Algorithm 1's sum", sums[1][1],
                   0.75 * sums[1][0]),
            Case(theta=bent.network.theta, W_ddot=by_loops, least=sums[1][1])]


# -- the total gradient ----------------------------------------------------------------------------

def sums_over_paths(at):
    """u at all layers: row sums of the Jacobian of the network of absolute values.

    Weights, inputs of layers and slopes are replaced by their absolute values; every parameter
    starts a path.
    """
    M = [np.zeros((*at.x.shape, at.network.size))]
    for step in reference.walk(at)[0]:
        if step.A is None:
            M.append(np.abs(step.layer.function.slope(step.x))[:, :, None] * M[-1])
        else:
            M.append(np.einsum("ij,sjp->sip", np.abs(step.A[:, 1:]), M[-1]))
            own = np.abs(reference.with_first(1, step.x))
            M[-1][:, :, step.where] += np.einsum("ijp,sj->sip", step.E, own)
    return np.concatenate([J.sum(axis=2) for J in M], axis=1)


@equation(PAPER, "11",
          statement="The total gradient of a unit, by a forward pass. It is zero at the input, "
                    "and an activation shrinks it by the slope. An affine layer sums the size of "
                    "its inputs and weighted total gradients. (In the case of an activation i = "
                    "j; an affine layer that is not trained lacks the first sum.)",
          kind="definition", verdict="holds",
          implements=(eq_11_affine, eq_11_activation), uses=())
def equation_11(rng):
    claims = []
    for name, at in cases.rows(rng).items():
        us = forward_pass(at.network.layers, at.saved)  # None stands for 0
        passes = [np.zeros_like(saved.input) if u is None else u
                  for saved, u in zip(at.saved, us)] + us[-1:]
        for form, sums in (("all layers", theorem_2(at)[1]), ("the forward pass", passes)):
            claims.append(Equal("u at all layers against sums over all paths of absolute "
                                f"products, {form}", np.concatenate(sums, axis=1),
                                sums_over_paths(at), 1e-13, case=name))
    return [*claims, Case(x=at.x, u_2=sums[1], u_L=sums[-1])]
