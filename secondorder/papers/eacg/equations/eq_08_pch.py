"""Equations (8a)-(8c): the positive-curvature Hessian."""

import numpy as np

from ....ledger import AtMost, Case, Equal, Printed, Property, equation
from ....nets import SoftmaxCrossEntropy
from .. import PAPER, eq_08_pch as pch
from ..eq_04_hessian import eq_4a_output_hessian
from . import cases, reference

GAMMAS = {"PCH-1": -1.0, "PCH-2": 0.0}


def hessian_of_one_minus_likelihood(p, y):
    """Hessians (S, C, C) of 1 - softmax(p)_y: q H - q g g^T, with g and H those of -log q."""
    entropy = SoftmaxCrossEntropy()
    q, g = np.exp(-entropy.value(p, y)), entropy.gradient(p, y)
    return q[:, None, None] * (entropy.hessian(p, y) - g[:, :, None] * g[:, None, :])


@equation(PAPER, "u-convex",
          where="PCH Matrix",
          statement="The top block is positive semidefinite where the loss is convex in the "
                    "logits; a criterion that is convex in the probabilities is not enough.",
          formula=r"C(\hat{\mathbf{y}}_i | \mathbf{y}_i) \text{ convex in } \hat{\mathbf{y}}_i "
                  r"\Rightarrow \mathbb{E}_i[\nabla_{\mathbf{h}_i^k}^2 \xi_i] \succeq 0",
          corrected=r"\xi(\mathbf{h}_i^k | \mathbf{y}_i) \text{ convex in } \mathbf{h}_i^k "
                    r"\Rightarrow \mathbb{E}_i[\nabla_{\mathbf{h}_i^k}^2 \xi_i] \succeq 0",
          kind="claim", verdict="erratum", weight="substance", ours=True,
          implements=eq_4a_output_hessian, uses=("4a",))
def u_convex(rng):
    case = cases.case(rng, "sigmoid", "softmax")
    mean = case.top().mean(axis=0)
    by_differences = reference.bias_hessians(case, case.depth).mean(axis=0)
    p, labels = case.evaluation.outputs, np.argmin(case.evaluation.outputs, axis=1)
    linear = hessian_of_one_minus_likelihood(p, labels).mean(axis=0)
    its_own = np.mean([reference.hessian(lambda q: 1 - reference.likelihood(q, y), row, range(3))
                       for row, y in zip(p, labels)], axis=0)
    return [Equal("mean top block of cross-entropy, by differences", mean, by_differences, 1e-8),
            AtMost("0 against its least eigenvalue", 0.0, reference.least(mean), scale=1.0),
            Equal("mean top block of C = 1 - y^T softmax, by differences", linear, its_own, 1e-8),
            Printed(AtMost("0 against the least eigenvalue for C = 1 - y^T softmax, linear in the "
                           "probabilities", 0.0, reference.least(linear), scale=1.0)),
            Case(mean=mean, linear=linear)]


@equation(PAPER, "8a",
          statement="The top block: Pos-Eig of the mean over the batch (not instance by "
                    "instance), with absolute values in PCH-1 and PCH-2 alike.",
          formula=r"\mathbb{E}_i[\widehat{\nabla_{\mathbf{b}^k}^2} \xi_i] = "
                  r"\text{Pos-Eig}(\mathbb{E}_i[\nabla_{\mathbf{h}_i^k}^2 \xi_i])",
          kind="definition", verdict="holds", implements=pch.eq_8a_pch_top,
          uses=("pos-eig", "u-convex"))
def equation_8a(rng):
    claims = []
    options = {"sizes": (3, 4, 6)}
    for case in [*cases.variety(rng, ("sigmoid", "tanh"), ("bounded",), **options),
                 *cases.unusual(rng, ("eleven instances", "float32"), loss="bounded", **options)]:
        H = reference.bias_hessians(case, case.depth)
        mine, mean = pch.eq_8a_pch_top(case.top()), H.mean(axis=0)
        first, second = (pch.pch(*case.passes, gamma)[-1] for gamma in (-1.0, 0.0))
        each = np.mean([reference.absolute(one) for one in H], axis=0)
        claims += [case.equal("top block", mine, reference.absolute(mean), 1e-7),
                   case.positive("its least eigenvalue", mine),
                   Equal("PCH-1 and PCH-2", first, second.copy(), 1e-15, case=case.name),
                   Property("instance by instance is something else",
                            bool(np.abs(each - mine).max() > 1e-3 * np.abs(mine).max()),
                            case=case.name)]
    return [*claims, Case(H=H, B=mine)]


@equation(PAPER, "8b",
          statement="One step down with negative entries of the diagonal corrected. The mean is "
                    "over the whole product h''_i (W^T g_i), and what is carried down is the "
                    "corrected matrix of the layer above.",
          kind="definition", verdict="erratum", weight="misprint",
          implements=(pch.eq_8b_pch_step, pch.pch), uses=("6", "8a", "pos-eig"))
def equation_8b(rng):
    claims = []
    for case in [*(usual := cases.variety(rng)), *cases.unusual(rng)]:
        for name, gamma in GAMMAS.items():
            one = case._replace(name=f"{name}, {case.name}")
            whole, blocks = pch.pch(*case.passes, gamma), reference.pch(case, gamma)
            for t in (3, 2):
                W, B, options = case.weights(t), blocks[t - 2], {"case": one.named(t - 1)}
                arguments = (W, blocks[t - 1], *cases.below(case, t), gamma)
                claims.append(Equal("as corrected, by loops", pch.eq_8b_pch_step(*arguments), B,
                                    1e-12, **options))
                # with gamma = 0 both may come out as zero, and for one instance they are the same
                if gamma and any(case is other for other in usual):
                    claims.append(Printed(Equal("means of h'' and of g apart",
                                                pch.eq_8b_as_printed(*arguments), B,
                                                1e-12, **options)))
            for t, (mine, by_loops) in enumerate(zip(whole, blocks), start=1):
                claims += [one.equal("through the layers, by loops", mine, by_loops, 1e-6, t),
                           one.precise(mine, t), one.positive("its least eigenvalue", mine, t)]
    return [*claims,
            Printed(AtMost("0 against the least eigenvalue, the mean Hessian above left as it is",
                           0.0, reference.least(without_hat(rng)[1]), scale=1.0)),
            Case(W=W, B=B)]


def without_hat(rng):
    """A network, and one step down from its indefinite mean top block as (8b) prints it."""
    for _ in range(1000):
        case = cases.case(rng, "sigmoid", "bounded", sizes=(3, 4, 6), scale=0.5, samples=3)
        layer = case.layer(2)
        step = pch.eq_8b_pch_step(layer.W, case.top().mean(axis=0), layer.h_bar, layer.dh,
                                  layer.ddh, 0.0)
        if reference.least(step) < -1e-3:
            return case, step
    raise RuntimeError("no network with an indefinite step")


@equation(PAPER, "8c",
          statement="The block of the weights: second moment of the inputs times the corrected "
                    "block of the bias (no hat in the text that was read). It is positive "
                    "semidefinite if the corrected block is.",
          formula=r"\mathbb{E}_i[\widehat{\nabla_{\mathbf{W}^t}^2} \xi_i] = \text{EhhT}^{t-1} "
                  r"\otimes \mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i]",
          corrected=r"\mathbb{E}_i[\widehat{\nabla_{\mathbf{W}^t}^2} \xi_i] = \text{EhhT}^{t-1} "
                    r"\otimes \mathbb{E}_i[\widehat{\nabla_{\mathbf{b}^t}^2} \xi_i]",
          kind="definition", verdict="erratum", weight="extraction",
          implements=pch.eq_8c_weight_block, uses=("5", "8b"))
def equation_8c(rng):
    claims = []
    batches = "one instance", "eleven instances", "inputs of size 40"
    for case in [*cases.variety(rng), *cases.unusual(rng, batches)]:
        for t, B in enumerate(pch.pch(*case.passes, 0.0), start=1):
            h, same = case.inputs(t), [B] * len(case.x)
            mine = pch.eq_8c_weight_block(h, B)
            claims += [case.equal("by loops", mine, reference.mean_kron(h, same), 1e-12, t),
                       case.positive("its least eigenvalue", mine, t)]
    unlikely, uncorrected = without_hat(rng)
    printed = reference.least(pch.eq_8c_weight_block(unlikely.inputs(1), uncorrected))
    return [*claims,
            Printed(AtMost("without the hat: 0 against the least eigenvalue", 0.0, printed,
                           scale=1.0)),
            Case(h=h, B=B)]
