"""The experiments: the criterion (14), the error metric, the arithmetic of Tables 2-5."""

import numpy as np
from scipy.linalg import polar

from ....ledger import AtMost, Case, Counterexample, Equal, Property
from ....nets import BoundedCriterion
from .. import eq_14_experiments as eq
from ..eq_05_07_expectation import eq_6_expectation_step
from ..eq_12_13_kfac_kfra import fisher
from ..supplement_d_eq_15_17 import recursive_bound
from . import cases, reference
from .cases import equation
from .conditions import CONTRACTING


@equation(
    "14", kind="definition", verdict="holds", uses=(),
    statement="A criterion between 0 and 1: concave in the probability s of the true class below "
              "epsilon, convex above.",
    implements=(eq.eq_14_bounded_criterion, BoundedCriterion.value, BoundedCriterion.gradient,
                BoundedCriterion.hessian, BoundedCriterion.hessian_product,
                BoundedCriterion.hessian_diagonal))
def equation_14(rng):
    loss, y = BoundedCriterion(), rng.integers(0, 4, 6)
    p, w = rng.normal(size=(6, 4)), rng.normal(size=(6, 4))
    probabilities = np.exp(p) / np.exp(p).sum(axis=1, keepdims=True)
    values, gradients, second = (
        np.array([made(lambda q: reference.bounded(q, label), row) for row, label in zip(p, y)])
        for made in (lambda f, row: f(row), reference.gradient, reference.hessian))
    s = np.linspace(0.01, 0.99, 99)
    along = loss.value(np.log(np.c_[s, 1 - s]), np.zeros(99, dtype=int))
    second_order = along[2:] - 2 * along[1:-1] + along[:-2]
    for what, mine, other, tolerance in (
            ("C of probabilities and unit vectors",
             eq.eq_14_bounded_criterion(probabilities, np.eye(4)[y]), values, 1e-13),
            ("value", loss.value(p, y), values, 1e-13),
            ("gradient", loss.gradient(p, y), gradients, 1e-12),
            ("Hessian, by differences", loss.hessian(p, y), second, 1e-8),
            ("Hessian times a vector", loss.hessian_product(p, y, w),
             np.einsum("sij,sj->si", second, w), 1e-8),
            ("its diagonal", loss.hessian_diagonal(p, y), np.einsum("sii->si", second), 1e-8)):
        yield Equal(what, mine, other, tolerance)
    yield AtMost("second differences in s below 0.19 against 0", second_order[:17], 0.0)
    yield AtMost("0 against second differences in s above 0.21", 0.0, second_order[20:])
    yield Case(p=p, y=y)


PRINTED = 5e-5  # half a unit of the last printed digit

# Layers 1-8 as printed; Tables 4 and 5 have no GN.
TABLES = {
    2: {"Fisher": [0.0071, 0.0470, 0.1140, 0.0726, 0.0397, 0.0219, 0.0185, 0.0251],
        "GN": [0.0057, 0.0212, 0.0220, 0.0207, 0.0130, 0.0107, 0.0176, 0.0],
        "PCH-1": [0.0036, 0.0237, 0.0238, 0.0119, 0.0086, 0.0093, 0.0132, 0.0],
        "PCH-2": [0.0043, 0.0228, 0.0165, 0.0085, 0.0066, 0.0071, 0.0106, 0.0]},
    3: {"Fisher": [0.0012, 0.0240, 0.0409, 0.0390, 0.0327, 0.0279, 0.0290, 0.0427],
        "GN": [0.0011, 0.0151, 0.0186, 0.0149, 0.0132, 0.0159, 0.0260, 0.0],
        "PCH-1": [0.0003, 0.0146, 0.0198, 0.0137, 0.0115, 0.0142, 0.0259, 0.0],
        "PCH-2": [0.0009, 0.0132, 0.0174, 0.0160, 0.0112, 0.0128, 0.0183, 0.0]},
    4: {"Fisher": [0.0044, 0.0192, 0.0528, 0.0449, 0.0330, 0.0294, 0.0331, 0.0781],
        "PCH-1": [0.0035, 0.0179, 0.0185, 0.0129, 0.0092, 0.0097, 0.0140, 0.0],
        "PCH-2": [0.0049, 0.0456, 0.0502, 0.0344, 0.0261, 0.0198, 0.0198, 0.0]},
    5: {"Fisher": [0.0003, 0.0116, 0.0258, 0.0248, 0.0157, 0.0147, 0.0219, 0.0734],
        "PCH-1": [0.0002, 0.0226, 0.0264, 0.0285, 0.0284, 0.0214, 0.0172, 0.0],
        "PCH-2": [0.0003, 0.0253, 0.0300, 0.0326, 0.0308, 0.0227, 0.0171, 0.0]},
}
TOTALS = {
    2: {"PCH-2": 0.0330, "PCH-1": 0.0402, "GN": 0.0446, "Fisher": 0.1535},
    3: {"PCH-2": 0.0369, "PCH-1": 0.0424, "GN": 0.0436, "Fisher": 0.0910},
    4: {"PCH-1": 0.0349, "PCH-2": 0.0853, "Fisher": 0.1198},
    5: {"PCH-1": 0.0598, "PCH-2": 0.0660, "Fisher": 0.0880},
}  # the smallest first


@equation(
    "u-metric", where="Comparison with the True Hessian", kind="definition", verdict="holds",
    uses=("pos-eig", "4b"),
    statement="The error of a layer: Frobenius distance of an approximation from the exact mean "
              "Hessian with absolute eigenvalues. The tables' totals are roots of sums of squares.",
    implements=(eq.layer_error, eq.layer_errors, eq.total_error))
def u_metric(rng):
    for case in cases.variety(rng):
        exact, approximate = case.exact_means(), fisher(case.all_layers)
        by_roots = [np.sqrt(np.sum((B - polar(H)[1]) ** 2)) for B, H in zip(approximate, exact)]
        mine = eq.layer_errors(approximate, exact)
        yield case.equal("|H| as a polar factor", mine, by_roots, 1e-11)
        yield case.equal("total", eq.total_error(mine), np.linalg.norm(by_roots), 1e-11)
    yield Case(exact=exact[0], approximate=approximate[0])


def arithmetic(number, worse):
    """Claims of a table: totals from rows, their order, the layers in which one is behind another.

    `worse` maps pairs of approximations to layers, counted from 1.
    """
    table, totals = TABLES[number], TOTALS[number]
    again = {name: eq.total_error(table[name]) for name in totals}
    for name, total in again.items():
        yield Equal(f"Table {number}, {name}: total of the rows", total, totals[name], PRINTED,
                    scale=1.0)
    for (name, other), layers in worse.items():
        pairs = enumerate(zip(table[name], table[other]), start=1)
        yield Property(f"layers in which {name} is worse than {other}",
                       tuple(t for t, (a, b) in pairs if a > b), layers)
    in_order = list(again.values())
    yield AtMost("totals, each against the next: " + ", ".join(totals), in_order[:-1], in_order[1:])
    yield Case(**{name.replace("-", "_"): rows for name, rows in table.items()})


def table(number, where, statement, uses=("u-metric",)):
    """The registration of a table: totals, which table-2 to table-5 have in common."""
    return equation(f"table-{number}", where=f"Table {number}, {where}", statement=statement,
                    formula=r"\text{Total} = \sqrt{\textstyle\sum_t \text{err}_t^2}",
                    kind="claim", verdict="holds", ours=True, implements=eq.total_error, uses=uses)


@table(2, "cross-entropy, Cifar-10",
       "Totals follow from the rows, and PCH is closer than Gauss-Newton and Fisher in total. "
       "Layer by layer PCH-1 is behind Gauss-Newton in layers 2 and 3, PCH-2 in layer 2.")
def table_2(rng):
    return arithmetic(2, {("PCH-1", "GN"): (2, 3), ("PCH-2", "GN"): (2,)})


@table(3, "cross-entropy, ImageNet-10",
       "Totals follow from the rows, and PCH is closer in total; not in layers 3 (PCH-1) and 4 "
       "(PCH-2).")
def table_3(rng):
    return arithmetic(3, {("PCH-1", "GN"): (3,), ("PCH-2", "GN"): (4,)})


@table(4, "Eq. (14), Cifar-10",
       "Totals follow from the rows, and PCH is closer than Fisher in total; PCH-2 not in layers 1 "
       "and 2.", uses=("14", "u-metric"))
def table_4(rng):
    return arithmetic(4, {("PCH-1", "Fisher"): (), ("PCH-2", "Fisher"): (1, 2)})


@table(5, "Eq. (14), ImageNet-10",
       "Totals follow from the rows, and PCH is closer than Fisher in total, thanks to the last "
       "layer. PCH is exact there by construction; without it, Fisher is closer.",
       uses=("14", "u-metric"))
def table_5(rng):
    yield from arithmetic(5, {("PCH-1", "Fisher"): (2, 3, 4, 5, 6)})
    fisher_, *both = (eq.total_error(TABLES[5][name][:-1]) for name in ("Fisher", "PCH-1", "PCH-2"))
    yield AtMost("Fisher against PCH-1 and PCH-2, the last layer left out", fisher_, both)


@equation(
    "u-accumulate", where="Comparison with the True Hessian; Supplement A", kind="claim",
    verdict="conditional", condition=CONTRACTING, ours=True, uses=("6", "15"),
    statement="Errors are not accumulated with layers: what (6) is fed with may be off, and one "
              "step down it is off by less.",
    implements=(recursive_bound, eq_6_expectation_step))
def u_accumulate(rng):
    for scale, name in ((0.1, "small weights"), (3.0, "large weights")):
        case = cases.case(rng, "sigmoid", "softmax", sizes=(3, 5, 4, 3), scale=scale, samples=11,
                          name=name)
        W, _, _, h_bar, slope, bend, _ = case.layer(2)
        H = reference.bias_hessians(case, 2)
        if scale == 3.0:  # the slopes of a case far from saturation, so that W decides
            slope, W = np.full_like(slope, 0.25), 8 * W / np.linalg.norm(W, 2)
        left, sizes, _ = np.linalg.svd(W)
        off, B = 1e-3 * np.outer(left[:, 0], left[:, 0]), H.mean(axis=0)
        one, two = (eq_6_expectation_step(W, matrix, h_bar, slope, bend) for matrix in (B, B + off))
        bound = recursive_bound(1e-3, W, H, slope) - recursive_bound(0.0, W, H, slope)
        second, below = max(sum(slope[:, r] ** 2) / 11 for r in range(5)), np.linalg.norm(two - one)
        falls = AtMost("error below against error above", below, 1e-3, 1e-9)
        yield case.equal("the bound's share, by loops", bound, 1e-3 * second * sizes[0] ** 2, 1e-9)
        yield case.equal("what an error above changes below, by loops", two - one,
                         reference.step_down(W, off, h_bar, slope, bend, None), 1e-9)
        yield AtMost("error below against the bound", below, bound, 1e-9, case=name)
        yield Counterexample(falls) if scale == 3.0 else falls
    yield Case(W=W, off=off)
