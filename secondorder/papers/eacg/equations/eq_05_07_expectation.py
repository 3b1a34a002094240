"""Equations (5)-(7): means of products as products of means."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal
from .. import eq_05_07_expectation as eq
from ..eq_08_pch import eq_8c_weight_block
from ..eq_12_13_kfac_kfra import fisher_of_expectations
from ..supplement_d_eq_15_17 import eq_15_expectation_error, recursive_bound
from . import cases, reference
from .cases import equation
from .conditions import ALIKE
from .reference import covariance, outer
from .supplement_d_eq_15_17 import LIPSCHITZ, MONOTONE, steps


@equation(
    "u-expect", where="Expectation Approximation", kind="approximation", verdict="conditional",
    condition=ALIKE, uses=(),
    statement="The covariance of an entry of h h^T and an entry of g g^T is left out. It is not "
              "negligible in general, and zero where one of the two does not vary.",
    implements=(fisher_of_expectations, eq.ehht, eq.cov_t))
def u_expect(rng):
    case = cases.case(rng, "sigmoid", "softmax", samples=40)
    h, g = case.layer(1).h, case.layer(1).g
    alike, gg = h[0] * rng.choice([-1.0, 1.0], size=(40, 1)), outer(g)
    whole, left_out = reference.mean_kron(h, gg), eq.cov_t(h, gg)
    yield Equal("mean of products minus product of means, against the covariance",
                whole - fisher_of_expectations(h, g), left_out, 1e-12)
    yield Equal("E[h h^T] by loops", eq.ehht(h), reference.second_moment(h), 1e-12)
    yield Equal("inputs that differ in sign only", fisher_of_expectations(alike, g),
                reference.mean_kron(alike, gg), 1e-12)
    yield Counterexample(AtMost("relative size of what is left out, normal inputs, against 1 %",
                                np.linalg.norm(left_out) / np.linalg.norm(whole), 0.01, 1e-3))
    yield Case(h=h, g=g)


@equation(
    "5", where="Expectation Approximation", kind="approximation", verdict="conditional",
    condition=ALIKE, uses=("4c", "u-expect"),
    statement="The mean Hessian in the weights is the product of the means plus the element-wise "
              "covariance cov-t (with 1/S), which is dropped. It is small only where inputs or "
              "Hessians hardly vary.",
    implements=(eq.eq_5_mean_weight_hessian, eq_8c_weight_block))
def equation_5(rng):
    for case in cases.variety(rng):
        for t, H in enumerate(case.exact(), start=1):
            h = case.layer(t).h
            mean, product = reference.mean_kron(h, H), eq_8c_weight_block(h, H.mean(axis=0))
            yield case.equal("identity", eq.eq_5_mean_weight_hessian(h, H), mean, 1e-12, t)
    same = np.broadcast_to(h[0], h.shape)
    yield Equal("equal inputs: both sides of the second step",
                eq_8c_weight_block(same, H.mean(axis=0)), reference.mean_kron(same, H), 1e-12)
    yield Counterexample(AtMost("relative size of cov-t, normal inputs, against 1 %",
                                np.linalg.norm(mean - product) / np.linalg.norm(mean), 0.01, 1e-3))
    yield Case(h=h, H=H)


@equation(
    "6", kind="approximation", verdict="conditional", condition=ALIKE, uses=("4b", "u-expect"),
    statement="One step down with the mean Hessian above in place of each instance's own. The "
              "diagonal term stays a mean over instances and is exact.",
    implements=(eq.eq_6_expectation_step, eq.expectation))
def equation_6(rng):
    for case in cases.various(rng):
        by_loops = reference.recursion(case, reference.mean_hessian(case, 3), 1)
        for t, (B, other) in enumerate(zip(eq.expectation(*case.passes), by_loops), start=1):
            yield case.equal("the whole network, by loops", B, other, 1e-7, t)
        W, B, below = case.layer(3).W, by_loops[2], reference.below(case, 3)
        yield case.equal("third line against the second", eq.eq_6_expectation_step(W, B, *below),
                         np.mean(reference.steps_down(W, [B] * len(case.x), *below), axis=0),
                         1e-12)
    varied = cases.case(rng, "tanh", "softmax", samples=12, scale=1.5)
    alike = varied._replace(x=np.tile(varied.x[0], (12, 1)))

    def sides(one):
        above, exact = (reference.mean_hessian(one, t) for t in (2, 1))
        return eq.eq_6_expectation_step(one.weights(2), above, *reference.below(one, 2)), exact

    yield Equal("instances of one input, and different labels", *sides(alike), 1e-7)
    yield Counterexample(Equal("inputs that vary: one step against the exact mean", *sides(varied),
                               1e-4))
    yield Case(W=W, B=B, slope=below[1])


@equation(
    "7", "d", where="Supplement D", kind="inequality", verdict="holds", uses=("15", "16", "17"),
    statement="The error of one step of (6) is at most L^4 times a sum of variances. It is at most "
              "a quarter of that where the slopes lie between 0 and L. Down the recursion the "
              "error above adds, grown by E[h'^2] |W|^2.",
    implements=(eq.eq_7_lipschitz_bound, recursive_bound))
def equation_7(rng):
    def left(W, H, slope):
        return np.sum(eq_15_expectation_error(W, H, slope) ** 2)

    for W, H, slope, case in steps(rng):
        X, L, options = W.T @ H @ W, LIPSCHITZ[case.name], {"case": case.name}
        right = L**4 * np.sum(covariance(X, X))
        yield case.equal("right side by loops", eq.eq_7_lipschitz_bound(W, H, L), right, 1e-10)
        yield AtMost("left against right side", left(W, H, slope), right, **options)
        if case.name in MONOTONE:
            yield AtMost("and against a quarter", left(W, H, slope), right / 4, **options)
        exact, approximate = case.exact(), eq.expectation(*case.passes)
        off = [np.linalg.norm(H.mean(axis=0) - B) for H, B in zip(exact, approximate)]
        bounds = [recursive_bound(off[t], case.weights(t + 1), exact[t], case.layer(t + 1).dh)
                  for t in (1, 2)]
        growth = (slope**2).mean(axis=0).max() * np.linalg.eigvalsh(W.T @ W)[-1]
        yield AtMost("error of layers 1, 2 against the recursive bound", off[:2], bounds, **options)
        yield Equal("layer 2, below the exact top: equality", off[1], bounds[1], 1e-9, **options)
        yield Equal("the bound of layer 1 by hand", bounds[0],
                    growth * off[1] + np.sqrt(left(W, H, slope)), 1e-10, **options)
    half = np.array([[1.0], [0.0]]) * np.ones(3)
    one = np.eye(3), outer(half)
    yield Equal("slopes of 0 and L with Hessians to match: equality with a quarter",
                left(*one, half), eq.eq_7_lipschitz_bound(*one, 1.0) / 4, 1e-12)
    yield Case(W=W, H=H, slope=slope)
