"""Equations (5)-(7): means of products as products of means."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, equation
from .. import PAPER, eq_05_07_expectation as eq
from ..eq_04_hessian import layers_of
from ..eq_08_pch import eq_8c_weight_block
from ..eq_12_13_kfac_kfra import fisher_of_expectations
from ..supplement_d_eq_15_17 import eq_15_expectation_error, recursive_bound
from . import cases, reference
from .conditions import ALIKE
from .supplement_d_eq_15_17 import (LIPSCHITZ, MONOTONE, carried_by_loops, covariance_by_loops,
                                    outer_products, step)


@equation(PAPER, "u-expect",
          where="Expectation Approximation",
          statement="The covariance of an entry of h h^T and an entry of g g^T is left out. It is "
                    "not negligible in general, and zero where one of the two does not vary.",
          formula=r"\begin{aligned} & \mathbb{E}_i[[\mathbf{h}_i^{t-1} \otimes "
                  r"\mathbf{h}_i^{(t-1)T}]_{uv} \cdot [\nabla_{\mathbf{b}^t} \xi_i \otimes "
                  r"\nabla_{\mathbf{b}^t} \xi_i^T]_{\mu\nu}] \\ & \approx "
                  r"\mathbb{E}_i[[\mathbf{h}_i^{t-1} \otimes \mathbf{h}_i^{(t-1)T}]_{uv}] \cdot "
                  r"\mathbb{E}_i[[\nabla_{\mathbf{b}^t} \xi_i \otimes \nabla_{\mathbf{b}^t} "
                  r"\xi_i^T]_{\mu\nu}]. \end{aligned}",
          kind="approximation", verdict="conditional", condition=ALIKE,
          implements=(fisher_of_expectations, eq.ehht, eq.cov_t),
          uses=())
def u_expect(rng):
    case = cases.case(rng, "sigmoid", "softmax", samples=40)
    h, g = case.inputs(1), case.deltas(1)
    outer = g[:, :, None] * g[:, None, :]

    def sides(h):
        return (reference.mean_kron(h, outer),
                fisher_of_expectations(h, g),
                eq.cov_t(h, outer))

    whole, product, covariance = sides(h)
    same, its_product, nothing = sides(h[0] * rng.choice([-1.0, 1.0], size=(40, 1)))
    return [Equal("mean of products minus product of means, against the covariance",
                  whole - product, covariance, 1e-12),
            Equal("E[h h^T] by loops", eq.ehht(h), reference.second_moment(h), 1e-12),
            Equal("inputs that differ in sign only", same, its_product, 1e-12),
            Equal("and their covariance", nothing, np.zeros_like(nothing), 1e-12, scale=same),
            Counterexample(AtMost("relative size of what is left out, normal inputs, against 1 %",
                                  np.linalg.norm(covariance) / np.linalg.norm(whole), 0.01, 1e-3)),
            Case(h=h, g=g)]


@equation(PAPER, "5",
          where="Expectation Approximation",
          statement="The mean Hessian in the weights is the product of the means plus the "
                    "element-wise covariance cov-t (with 1/S), which is dropped. It is small "
                    "only where inputs or Hessians hardly vary.",
          formula=r"\mathbb{E}_i[\nabla_{\mathbf{W}^t}^2 \xi_i] = \text{EhhT}^{t-1} \otimes "
                  r"\mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i] + \text{cov-t} \approx "
                  r"\text{EhhT}^{t-1} \otimes \mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i]",
          kind="approximation", verdict="conditional", condition=ALIKE,
          implements=(eq.eq_5_mean_weight_hessian, eq.cov_t, eq_8c_weight_block),
          uses=("4c", "u-expect"))
def equation_5(rng):
    claims = []
    for case in [*cases.unusual(rng, ("eleven instances", "no activation after layer 1")),
                 *cases.variety(rng, ("sigmoid", "sin"))]:
        exact = case.exact()
        for t in (1, 3):
            h, H = case.inputs(t), exact[t - 1]
            mean, left_out = reference.mean_kron(h, H), eq.cov_t(h, H)
            claims += [case.equal("identity", eq.eq_5_mean_weight_hessian(h, H), mean, 1e-12, t),
                       case.equal("product of means", eq_8c_weight_block(h, H.mean(axis=0)),
                                  mean - left_out, 1e-12, t)]
    same = np.broadcast_to(h[0], h.shape)
    share = (np.linalg.norm(eq.cov_t(case.inputs(1), exact[0]))
             / np.linalg.norm(reference.mean_kron(case.inputs(1), exact[0])))
    return [*claims,
            Equal("equal inputs: both sides of the second step",
                  eq_8c_weight_block(same, H.mean(axis=0)), reference.mean_kron(same, H),
                  1e-12),
            Counterexample(AtMost("relative size of cov-t, normal inputs, against 1 %", share,
                                  0.01, 1e-3)),
            Case(h=h, H=H)]


def mean_step(W, H, *arguments):
    """Mean over instances of (4b); with one matrix for all H_i it is the second line of (6)."""
    return np.mean(reference.steps_down(W, H, *arguments), axis=0)


@equation(PAPER, "6",
          statement="One step down with the mean Hessian above in place of each instance's own. "
                    "The diagonal term stays a mean over instances and is exact.",
          kind="approximation", verdict="conditional", condition=ALIKE,
          implements=(eq.eq_6_expectation_step, eq.expectation,
                      eq_15_expectation_error), uses=("4b", "u-expect"))
def equation_6(rng):
    claims = []
    for case in [*cases.variety(rng), *cases.unusual(rng)]:
        whole = eq.expectation(*case.passes)
        H = [reference.bias_hessians(case, t) for t in (1, 2, 3)]
        by_loops = reference.recursion(case, H[-1].mean(axis=0), 1)
        for t, (B, other) in enumerate(zip(whole, by_loops), start=1):
            claims += [case.equal("the whole network, by loops", B, other, 1e-7, t),
                       case.precise(B, t)]
        for t in (3, 2):
            W, B, options = case.weights(t), H[t - 1].mean(axis=0), {"case": case.named(t - 1)}
            arguments = reference.step_arguments(case, t)
            below = eq.eq_6_expectation_step(W, B, *cases.below(case, t))
            claims += [Equal("third line against the second", below,
                             mean_step(W, [B] * len(case.x), *arguments), 1e-12, **options),
                       Equal("exact mean minus one step from it, against the predicted error",
                             H[t - 2].mean(axis=0) - below,
                             eq_15_expectation_error(W, H[t - 1], arguments[1]), 1e-7,
                             scale=H[t - 2], **options)]
    return [*claims, *one_step(rng), Case(W=W, B=B, slope=arguments[1])]


def one_step(rng):
    """One step of (6) for instances of one input, and for inputs that vary."""
    case = cases.case(rng, "tanh", "softmax", samples=12, scale=1.5)
    same = case.network.evaluate(case.evaluation.loss_function,
                                 np.broadcast_to(case.x[0], case.x.shape), case.y)
    alike = case._replace(x=same.x, evaluation=same, all_layers=layers_of(same))

    def sides(one):
        above, below = (reference.bias_hessians(one, t).mean(axis=0) for t in (2, 1))
        return eq.eq_6_expectation_step(one.weights(2), above, *cases.below(one, 2)), below

    return [Equal("instances of one input, and different labels", *sides(alike), 1e-7),
            Counterexample(Equal("inputs that vary: one step against the exact mean", *sides(case),
                                 1e-4))]


@equation(PAPER, "7", "d",
          where="Supplement D",
          statement="The error of one step of (6) is at most L^4 times a sum of variances. It is "
                    "at most a quarter of that where the slopes lie between 0 and L. Down the "
                    "recursion the error above adds, grown by E[h'^2] |W|^2.",
          formula=r"""\left\| \text{Ele-Cov}(\mathbf{W}^{tT} \nabla_{\mathbf{b}^t}^2 \xi_i
                  \mathbf{W}^t, \mathbf{h}_i^{(t-1)'} \otimes \mathbf{h}_i^{(t-1)'T}) \right\|_F^2
                  \leq L^4 \sum_{\mu, \nu} \text{Var}([\mathbf{W}^{tT} \nabla_{\mathbf{b}^t}^2
                  \xi_i \mathbf{W}^t]_{\mu\nu})""",
          kind="inequality", verdict="holds",
          implements=(eq.eq_7_lipschitz_bound, recursive_bound),
          uses=("15", "16", "17"))
def equation_7(rng):
    claims = []
    for activation, L in LIPSCHITZ.items():
        W, H, slope, case = step(rng, activation)
        X = carried_by_loops(W, H)
        right = L**4 * np.sum(covariance_by_loops(X, X))
        left = np.sum(eq_15_expectation_error(W, H, slope) ** 2)
        claims += [case.equal("right side by loops", eq.eq_7_lipschitz_bound(W, H, L), right,
                              1e-10),
                   AtMost("left against right side", left, right, case=activation)]
        if activation in MONOTONE:
            claims.append(AtMost("and against a quarter", left, right / 4, case=activation))
        claims += recursion_claims(rng, activation)
    slope = np.array([[1.0], [0.0]]) * np.ones(3)
    H = outer_products(slope)
    return [*claims,
            Equal("slopes of 0 and L with Hessians to match: equality with a quarter",
                  np.sum(eq_15_expectation_error(np.eye(3), H, slope) ** 2),
                  eq.eq_7_lipschitz_bound(np.eye(3), H, 1.0) / 4, 1e-12),
            *sigmoid_example(rng),
            Case(W=W, H=H, slope=slope)]


def sigmoid_example(rng):
    """The number that the paper gives for sigmoids, in front of the sum of variances."""
    W, H, slope, _ = step(rng, "sigmoid", 11)
    right = 0.00390625 * np.sum(np.var(carried_by_loops(W, H), axis=0))
    return [Equal("sigmoid: 0.00390625 in front of the sum", eq.eq_7_lipschitz_bound(W, H, 0.25),
                  right, 1e-10),
            AtMost("sigmoid, eleven instances: left against right side",
                   np.sum(eq_15_expectation_error(W, H, slope) ** 2), right)]


def recursion_claims(rng, activation):
    """The error of (6) all the way down against the recursive bound from the actual error above."""
    case = cases.case(rng, activation, "softmax")
    exact, approximate = case.exact(), eq.expectation(*case.passes)
    off = [np.linalg.norm(H - B) for H, B in zip(case.exact_means(), approximate)]
    bounds = [recursive_bound(off[t], case.weights(t + 1), exact[t], case.layer(t + 1).dh)
              for t in (1, 2)]
    W, slope, options = case.weights(2), case.layer(2).dh, {"case": activation}
    growth = (slope**2).mean(axis=0).max() * np.linalg.eigvalsh(W.T @ W)[-1]
    by_hand = growth * off[1] + np.linalg.norm(eq_15_expectation_error(W, exact[1], slope))
    return [AtMost("error of layers 1, 2 against the recursive bound", off[:2], bounds, **options),
            Equal("layer 2, below the exact top: equality", off[1], bounds[1], 1e-9, **options),
            Equal("the bound of layer 1 by hand", bounds[0], by_hand, 1e-10, **options)]
