"""Equations (8a)-(8c): the positive-curvature Hessian."""

import numpy as np

from ....ledger import Case, Equal, Printed, Property
from .. import eq_08_pch as pch
from ..eq_04_hessian import eq_4a_output_hessian
from . import cases, reference
from .cases import equation, positive

GAMMAS = {"PCH-1": -1.0, "PCH-2": 0.0}


@equation(
    "u-convex", where="PCH Matrix", kind="claim", verdict="erratum", weight="substance", ours=True,
    uses=("4a",),
    statement="The top block is positive semidefinite where the loss is convex in the logits; a "
              "criterion that is convex in the probabilities is not enough.",
    implements=eq_4a_output_hessian)
def u_convex(rng):
    case = cases.case(rng, "sigmoid", "softmax")
    mean, p = case.top().mean(axis=0), case.evaluation.outputs
    linear = np.mean([reference.hessian(lambda z: 1 - reference.likelihood(z, np.argmin(row)), row)
                      for row in p], axis=0)
    yield Equal("mean top block of cross-entropy, by differences", mean,
                reference.mean_hessian(case, 3), 1e-8)
    yield positive("its least eigenvalue", mean)
    yield Printed(positive("the least eigenvalue for C = 1 - y^T softmax, linear in the "
                           "probabilities", linear))
    yield Case(mean=mean, linear=linear)


@equation(
    "8a", kind="definition", verdict="holds", uses=("pos-eig", "u-convex"),
    statement="The top block: Pos-Eig of the mean over the batch (not instance by instance), with "
              "absolute values in PCH-1 and PCH-2 alike.",
    implements=pch.eq_8a_pch_top)
def equation_8a(rng):
    for case in cases.variety(rng, ("sigmoid", "tanh"), ("bounded",), sizes=(3, 4, 6)):
        H, mine = reference.bias_hessians(case, 2), pch.eq_8a_pch_top(case.top())
        each = np.mean([reference.absolute(one) for one in H], axis=0)
        yield case.equal("top block", mine, reference.absolute(H.mean(axis=0)), 1e-7)
        for name, gamma in GAMMAS.items():
            yield Equal(name, pch.pch(*case.passes, gamma)[-1], mine, 1e-15, case=case.name)
        yield Property("instance by instance is something else",
                       bool(np.abs(each - mine).max() > 1e-3 * np.abs(mine).max()), case=case.name)
    yield Case(H=H, B=mine)


@equation(
    "8b", kind="definition", verdict="erratum", weight="misprint", uses=("6", "8a", "pos-eig"),
    statement="One step down with negative entries of the diagonal corrected. The mean is over the "
              "whole product h''_i (W^T g_i), and what is carried down is the corrected matrix of "
              "the layer above.",
    implements=(pch.eq_8b_pch_step, pch.pch))
def equation_8b(rng):
    usual = cases.variety(rng)
    for case in [*usual, *cases.unusual(rng)]:
        for name, gamma in GAMMAS.items():
            one, blocks = case._replace(name=f"{name}, {case.name}"), reference.pch(case, gamma)
            for t, (mine, by_loops) in enumerate(zip(pch.pch(*case.passes, gamma), blocks), 1):
                yield one.equal("through the layers, by loops", mine, by_loops, 1e-6, t)
                yield one.positive("its least eigenvalue", mine, t)
            W, B = case.layer(3).W, blocks[1]
            arguments = W, blocks[2], *reference.below(case, 3), gamma
            yield one.equal("as corrected, by loops", pch.eq_8b_pch_step(*arguments), B, 1e-12)
            # with gamma = 0 both may come out as zero, and for one instance they are the same
            if gamma and any(case is other for other in usual):
                yield Printed(Equal("means of h'' and of g apart",
                                    pch.eq_8b_as_printed(*arguments), B, 1e-12, case=one.name))
    yield Printed(positive("the least eigenvalue, the mean Hessian above left as it is",
                           without_hat(rng)[1]))
    yield Case(W=W, B=B)


def without_hat(rng):
    """A network, and one step down from its indefinite mean top block as (8b) prints it."""
    for _ in range(1000):
        case = cases.case(rng, "sigmoid", "bounded", sizes=(3, 4, 6), scale=0.5, samples=3)
        W, _, _, *below, _ = case.layer(2)
        step = pch.eq_8b_pch_step(W, case.top().mean(axis=0), *below, 0.0)
        if reference.least(step) < -1e-3:
            return case, step
    raise RuntimeError("no network with an indefinite step")


@equation(
    "8c", kind="definition", verdict="erratum", weight="extraction", uses=("5", "8b"),
    statement="The block of the weights: second moment of the inputs times the corrected block of "
              "the bias (no hat in the text that was read). It is positive semidefinite if the "
              "corrected block is.",
    implements=pch.eq_8c_weight_block)
def equation_8c(rng):
    for case in cases.variety(rng):
        for t, B in enumerate(pch.pch(*case.passes, 0.0), start=1):
            h = case.layer(t).h
            mine = pch.eq_8c_weight_block(h, B)
            yield case.equal("by loops", mine, reference.mean_kron(h, [B] * len(h)), 1e-12, t)
            yield case.positive("its least eigenvalue", mine, t)
    unlikely, uncorrected = without_hat(rng)
    printed = pch.eq_8c_weight_block(unlikely.layer(1).h, uncorrected)
    yield Printed(positive("the least eigenvalue, without the hat", printed))
    yield Case(h=h, B=B)
