"""Equations (8a)-(8c): the positive-curvature Hessian."""

import numpy as np

from ....ledger import AtMost, Case, Equal, Printed, Property, equation
from .. import PAPER, curvatures, layers
from . import cases, reference

GAMMAS = {"PCH-1": -1.0, "PCH-2": 0.0}


def absolute(A, gamma=-1.0):
    """Pos-Eig by a general eigen-decomposition."""
    eigenvalues, V = np.linalg.eig(A)
    corrected = np.where(eigenvalues.real < 0, gamma * eigenvalues, eigenvalues)
    return (V @ np.diag(corrected) @ np.linalg.inv(V)).real


@equation(PAPER, "u-convex", where="PCH Matrix",
          statement="The top block is positive semidefinite where the loss is convex in the "
                    "logits; a criterion that is convex in the probabilities is not enough.",
          formula=r"C(\hat{\mathbf{y}}_i | \mathbf{y}_i) \text{ convex in } \hat{\mathbf{y}}_i "
                  r"\Rightarrow \mathbb{E}_i[\nabla_{\mathbf{h}_i^k}^2 \xi_i] \succeq 0",
          corrected=r"\xi(\mathbf{h}_i^k | \mathbf{y}_i) \text{ convex in } \mathbf{h}_i^k "
                    r"\Rightarrow \mathbb{E}_i[\nabla_{\mathbf{h}_i^k}^2 \xi_i] \succeq 0",
          kind="claim", verdict="erratum", weight="substance", implements=(curvatures.mean_top,))
def convex(rng):
    case = cases.case(rng, "sigmoid", "softmax")
    mean = curvatures.mean_top(case.evaluation)
    by_differences = np.mean(reference.bias_hessians(case, case.depth), axis=0)
    p = rng.normal(size=3)
    y = np.argmin(p)
    linear = reference.hessian(lambda p: reference.one_minus_likelihood(p, y), p, np.arange(3))
    return [
        Equal("mean top block of cross-entropy, by differences", mean, by_differences, 1e-8),
        AtMost("0 against its least eigenvalue", 0.0, reference.least(mean), scale=1.0),
        Printed(AtMost("0 against the least eigenvalue for C = 1 - y^T softmax, linear in the "
                       "probabilities",
                       0.0, reference.least(linear), scale=1.0)),
        Case(mean=mean, linear=linear),
    ]


@equation(PAPER, "8a",
          statement="The top block: Pos-Eig of the mean over the batch (not instance by instance), "
                    "with absolute values in PCH-1 and PCH-2 alike.",
          formula=r"\mathbb{E}_i[\widehat{\nabla_{\mathbf{b}^k}^2} \xi_i] = "
                  r"\text{Pos-Eig}(\mathbb{E}_i[\nabla_{\mathbf{h}_i^k}^2 \xi_i])",
          kind="definition", verdict="holds", implements=(curvatures.pch_top, curvatures.mean_top))
def equation_8a(rng):
    claims = []
    for case in cases.variety(rng, ("sigmoid", "tanh"), ("bounded",), sizes=(3, 4, 6)):
        H = reference.bias_hessians(case, case.depth)
        mine, mean = curvatures.pch_top(case.evaluation), H.mean(axis=0)
        tables = [curvatures.CURVATURES[name].make(case.evaluation, case.units, None)[-1]
                  for name in ("pch-1", "pch-2")]
        each = np.mean([absolute(one) for one in H], axis=0)
        claims += [
            Equal(f"{case.activation}: top block", mine, absolute(mean), 1e-7),
            Equal(f"{case.activation}: its mean, by differences",
                  curvatures.mean_top(case.evaluation), mean, 1e-8),
            AtMost(f"{case.activation}: 0 against its least eigenvalue", 0.0, reference.least(mine),
                   scale=1.0),
            Equal(f"{case.activation}: PCH-1 and PCH-2", tables[0], tables[1].copy(), 1e-15),
            Property(f"{case.activation}: instance by instance is something else",
                     bool(np.abs(each - mine).max() > 1e-3 * np.abs(mine).max())),
        ]
    return [*claims, Case(H=H, B=mine)]


@equation(
    PAPER,
    "8b",
    statement="One step down with negative entries of the diagonal corrected. The mean is over "
    "the whole "
    "product h''_i (W^T g_i), and what is carried down is the corrected matrix of the layer above.",
    formula=r"""\mathbb{E}_i[\widehat{\nabla_{\mathbf{b}^{t-1}}^2} \xi_i] = (\mathbf{W}^{tT}
                  \mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i] \mathbf{W}^t) \odot
                  \text{EhhT}^{(t-1)'} +
                  \text{Pos-Eig}(\text{diag}(\mathbb{E}_i[\mathbf{h}_i^{(t-1)''}] \odot
                  (\mathbf{W}^{tT}
                  \nabla_{\mathbf{b}^t} \xi_i)))""",
    corrected=r"""\mathbb{E}_i[\widehat{\nabla_{\mathbf{b}^{t-1}}^2} \xi_i] = (\mathbf{W}^{tT}
                    \mathbb{E}_i[\widehat{\nabla_{\mathbf{b}^t}^2} \xi_i] \mathbf{W}^t) \odot
                    \text{EhhT}^{(t-1)'} +
                    \text{Pos-Eig}(\text{diag}(\mathbb{E}_i[\mathbf{h}_i^{(t-1)''} \odot
                    (\mathbf{W}^{tT}
                    \nabla_{\mathbf{b}^t} \xi_i)]))""",
    kind="definition",
    verdict="erratum",
    weight="misprint",
    implements=(
        curvatures.pch_step,
        curvatures.pch,
        layers.LinearRule.carry,
        layers.ActivationRule.carry,
    ),
)
def equation_8b(rng):
    claims = []
    for (name, gamma), case in ((item, case) for item in GAMMAS.items()
                                for case in cases.variety(rng)):
        whole, B = (curvatures.pch(case.evaluation, case.units, gamma),
                    curvatures.pch_top(case.evaluation))
        name = f"{name}, {case.name}"
        for t in (3, 2):
            kept = case.hidden(t - 1)
            arguments = (case.weights(t), B, case.deltas(t), kept.slope, kept.curvature, gamma)
            B = step_by_loops(*arguments)
            claims += [
                Equal(f"{name}, layer {t - 1}: as corrected, by loops",
                      curvatures.pch_step(*arguments), B, 1e-12),
                Equal(f"{name}, layer {t - 1}: through the layers", whole[t - 2], B, 1e-12),
                AtMost(f"{name}, layer {t - 1}: 0 against its least eigenvalue", 0.0,
                       reference.least(B), scale=1.0),
            ]
            if gamma:  # with gamma = 0 both may come out as zero
                claims.append(Printed(Equal(f"{name}, layer {t - 1}: means of h'' and of g apart",
                                            curvatures.pch_step_as_printed(*arguments), B, 1e-12)))
    negative = curvatures.pch_step(arguments[0], -cases.psd(rng, 3), *arguments[2:5], 0.0)
    return [
        *claims,
        Printed(AtMost("0 against the least eigenvalue, what comes from above being left "
                       "uncorrected",
                       0.0, reference.least(negative), scale=1.0)),
        Case(W=arguments[0], B=B),
    ]


@equation(PAPER, "8c",
          statement="The block of the weights: second moment of the inputs times the block of the "
                    "bias; positive semidefinite if that is.",
          formula=r"\mathbb{E}_i[\widehat{\nabla_{\mathbf{W}^t}^2} \xi_i] = \text{EhhT}^{t-1} "
                  r"\otimes \mathbb{E}_i[\widehat{\nabla_{\mathbf{b}^t}^2} \xi_i]",
          kind="definition", verdict="holds", implements=(curvatures.weight_block,))
def equation_8c(rng):
    claims = []
    for case in cases.variety(rng):
        for t, B in enumerate(curvatures.pch(case.evaluation, case.units, 0.0), start=1):
            h = case.inputs(t)
            mine = curvatures.weight_block(h, B)
            by_loops = sum(reference.kron(np.outer(row, row), B) for row in h) / len(h)
            claims += [Equal(f"{case.name}, layer {t}: by loops", mine, by_loops, 1e-12),
                       AtMost(f"{case.name}, layer {t}: 0 against its least eigenvalue", 0.0,
                              reference.least(mine), scale=1.0)]
    return [*claims, Case(h=h, B=B)]
