"""The analysis of space and time, and Table 1: operations and stored numbers are counted."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Property
from ....ledger.multiplication_counter import multiplications
from ....nets import mlp
from .. import eq_11_table_1 as complexity, eq_12_13_kfac_kfra as rivals
from ..eq_05_07_expectation import ehht
from ..eq_08_pch import eq_8b_pch_step, pch
from ..eq_09_11_ea_cg import eq_11b_product
from . import cases, reference
from .cases import equation
from .conditions import (LIKELIHOOD, MANY_ITERATIONS, SMALL_BATCH, SMALL_FOR_KFI, WITHOUT_MOMENT)

WIDTHS = (7, 5, 6, 3)
WIDE = (60, 50, 40, 30)
CIFAR_10 = complexity.CIFAR_10


def counted_propagation(widths, samples):
    """Multiplications of matrix products in (8b), from the top to layer 1."""
    def step(W, B, dh):
        return eq_8b_pch_step(W, B, np.ones(dh.shape), dh, np.ones(dh.shape), -1.0)

    return sum(multiplications(step, (n, m), (n, n), (samples, m))
               for m, n in complexity.pairs(widths)[1:])


def counted_products(widths):
    """Multiplications of one product (11b) in every layer."""
    return sum(multiplications(eq_11b_product, (n, n), (n, m), (m,), entry_by_entry=True)
               for m, n in complexity.pairs(widths))


def counted_moments(widths, samples):
    """Multiplications of E[v v^T] for vectors of these widths."""
    return sum(multiplications(ehht, (samples, n)) for n in widths)


def same_numbers(*rows):
    """Claims that counts are equal: of each row the text, the formula's count, the other one."""
    return [Equal(what, formula, other, 1e-15) for what, formula, other in rows]


@equation(
    "u-space", where="Analysis of Space Complexity", kind="claim", verdict="holds",
    uses=("u-newton",),
    statement="Newton's matrix has the square of the number of parameters as entries. (As an "
              "order: the sum has a bias for every input of a layer, a count would have one for "
              "every output.)",
    formula=r"O([\sum_{t=1}^k n_{t-1}(n_t + 1)]^2)",
    implements=(complexity.storage_of_newton, complexity.parameters, complexity.storage_of_blocks))
def u_space(rng):
    network = mlp(WIDTHS, rng=rng)
    blocks = sum(layer.weight.size**2 + layer.bias.size**2 for layer in network.layers[::2])
    drawn = [tuple(rng.integers(1, 40, 5)) for _ in range(50)] + [CIFAR_10]
    counts, printed = (np.array([count(widths) for widths in drawn], float)
                       for count in (complexity.parameters, complexity.parameters_as_printed))
    yield from same_numbers(
        ("parameters of a network", complexity.parameters(WIDTHS), network.size),
        ("of the paper's network for Cifar-10", complexity.parameters(CIFAR_10), 3846810),
        ("entries of the diagonal blocks", complexity.storage_of_blocks(WIDTHS), blocks),
        ("entries of the whole matrix as printed", complexity.storage_of_newton(WIDTHS),
         sum(m * n + m for m, n in complexity.pairs(WIDTHS)) ** 2))
    yield Property("ImageNet-10: as Cifar-10 above, of pixels of three colours",
                   complexity.IMAGENET_10, (224 * 224 * 3, *CIFAR_10[1:]))
    yield AtMost("parameters against twice the sum as printed, 51 networks", counts, 2 * printed)
    yield AtMost("the sum as printed against twice the parameters", printed, 2 * counts)
    yield Case(widths=WIDTHS)


@equation(
    "u-space-11a", where="Analysis of Space Complexity", kind="claim", verdict="conditional",
    condition=WITHOUT_MOMENT, uses=("10a", "11a"),
    statement="With (11a) the blocks of the biases are enough; the blocks of the weights need not "
              "be stored.",
    formula=r"O(\sum_{t=1}^k n_t^2)",
    implements=(complexity.storage_of_bias_curvature, complexity.storage_of_kfi,
                complexity.storage_of_ea_cg))
def u_space_11a(rng):
    case = cases.case(rng, sizes=WIDTHS)
    biases = sum(one.layer.bias.size ** 2 for one in case.layers)
    means = [layer.h.shape[1] for layer in case.all_layers]
    with_moments = complexity.storage_of_kfi(WIDTHS)
    yield from same_numbers(
        ("blocks of the biases", complexity.storage_of_bias_curvature(WIDTHS), biases),
        ("with the mean inputs", complexity.storage_of_ea_cg(WIDTHS), biases + sum(means)),
        ("with the second moments", with_moments, biases + sum(n**2 for n in means)))
    yield Counterexample(AtMost("what (11a) holds with E[h h^T] against the blocks of the biases",
                                with_moments, biases))
    yield Case(widths=WIDTHS)


@equation(
    "u-time", where="Analysis of Additional Time Complexity", kind="claim", verdict="conditional",
    condition=SMALL_BATCH, uses=("6", "11b"),
    statement="Operations of carrying curvature down and of solving. The outer products of the "
              "slopes, Batch times the squares of the widths, are left out. Up to a batch of 9216 "
              "the sum still bounds what the paper's network needs.",
    implements=(complexity.propagation, complexity.slopes, complexity.ea_cg))
def u_time(rng):
    batches, products = (10, 100, 1000), complexity.propagation(WIDTHS)
    counted = [float(counted_propagation(WIDTHS, S)) for S in batches]
    text = complexity.propagation(WIDTHS, first=1)
    yield from same_numbers(
        ("products with W and outer products of the slopes, counted in (8b), three batches",
         [float(products + complexity.slopes(WIDTHS, S)) for S in batches], counted),
        ("four products (11b), counted", complexity.ea_cg(WIDTHS, 4), 4 * counted_products(WIDTHS)),
        ("the text's sum has the inputs too: nothing is carried there, an order allows it",
         text - products, WIDTHS[0] * WIDTHS[1] * (WIDTHS[0] + WIDTHS[1])))
    n_0, n_1 = CIFAR_10[:2]  # the condition at the paper's network
    largest = n_0 * n_1 * (n_0 + n_1) // sum(n * n for n in CIFAR_10[1:-1])
    share, beyond = ((complexity.propagation(CIFAR_10) + complexity.slopes(CIFAR_10, S))
                     / float(complexity.propagation(CIFAR_10, first=1))
                     for S in (largest, largest + 1))
    yield AtMost("the largest batch of the condition against the text's sum", share, 1.0)
    yield Equal("which it all but reaches", share, 1.0, 1e-3)
    yield Property("one instance more is too many", beyond > 1)
    yield Counterexample(AtMost("1000 instances: what is counted against ten times the text's sum",
                                counted[-1], 10.0 * text))
    yield Case(widths=np.array(WIDTHS), counted=counted)


@equation(
    "table-1", where="Table 1", kind="claim", verdict="erratum", weight="substance",
    uses=("u-time", "u-space-11a", "u-kfi-cost"),
    statement="Operations and storage. Carrying PCH down leaves out the outer products of the "
              "slopes, Batch times; KFI leaves out its inputs' second moment alike. The entry of "
              "Gauss-Newton is a label of its own. All else is right.",
    implements=(complexity.propagation, complexity.slopes, complexity.fisher, complexity.kfi,
                complexity.propagation_in_table))
def table_1(rng):
    pairs, of_pch = complexity.pairs(WIDE), complexity.propagation_in_table(WIDE)
    both_sides = sum(multiplications(lambda left, P, right: left @ (P @ right), (n, n), (n, m),
                                     (m, m)) for m, n in pairs)
    yield from same_numbers(
        ("carrying a curvature down, 9 instances, counted in (8b)",
         complexity.propagation(WIDE) + complexity.slopes(WIDE, 9), counted_propagation(WIDE, 9)),
        ("Fisher of 9 instances, counted", complexity.fisher(WIDE, 9),
         counted_moments(WIDE[1:], 9)),
        ("KFI: the products of its direction, counted, and two inverses at n^3",
         complexity.kfi(WIDE), both_sides + sum(m**3 + n**3 for m, n in pairs)),
        ("the entry of PCH, by loops", of_pch, sum(m * m * n for m, n in pairs[1:])))
    yield AtMost("the products with W against twice the entry of PCH, layers that become narrower",
                 complexity.propagation(WIDE), 2.0 * of_pch)
    yield Printed(AtMost("a batch of 5000: PCH, counted, against ten times its entry",
                         float(counted_propagation(WIDE, 5000)), 10.0 * of_pch))
    yield Case(widths=np.array(WIDE))


@equation(
    "u-table-1-gauss-newton", where="Table 1, KFRA, Time Required", kind="claim", verdict="erratum",
    weight="extraction", uses=("table-1", "u-kfra"),
    statement="Gauss-Newton and PCH need the same two products with W in a layer. The entry of "
              "Gauss-Newton may have lost an exponent where the text was read: with n_{t-1}^2 it "
              "is that of PCH.",
    implements=(complexity.propagation, complexity.propagation_in_table_of_gauss_newton))
def u_table_1_gauss_newton(rng):
    pairs, printed = complexity.pairs(WIDE), complexity.propagation_in_table_of_gauss_newton(WIDE)
    counted = sum(multiplications(rivals.gauss_newton_step, (n, m), (n, n), (1, m))
                  for m, n in pairs[1:])
    yield from same_numbers(
        ("one instance, counted in KFRA's recursion",
         complexity.propagation(WIDE) + complexity.slopes(WIDE, 1), counted),
        ("the entry, by loops", printed, sum(m * n for m, n in pairs[1:])))
    yield Printed(AtMost("one instance: Gauss-Newton, counted, against ten times its entry",
                         float(counted), 10.0 * printed))
    yield Case(widths=np.array(WIDE))


@equation(
    "u-kfi-batch", where="Table 1, KFI, Time Required", kind="claim", verdict="conditional",
    condition=SMALL_FOR_KFI, ours=True, uses=("table-1", "12"),
    statement="KFI's entry has its inverses and products. The second moment of the inputs, Batch "
              "times the squares of the widths, is left out as in PCH's entry.",
    formula=r"O(\sum_{t=1}^k [n_t^3 + n_{t-1}^3 + n_{t-1}^2 n_t + n_{t-1} n_t^2])",
    implements=complexity.second_moments)
def u_kfi_batch(rng):
    yield from same_numbers(("second moments of the inputs, 9 instances, counted",
                             complexity.second_moments(WIDE, 9), counted_moments(WIDE[:-1], 9)))
    entry = float(complexity.kfi(CIFAR_10))
    yield AtMost("the paper's network, batches of 100 and 1000: second moments against KFI's entry",
                 [float(complexity.second_moments(CIFAR_10, S)) for S in (100, 1000)], entry)
    yield Counterexample(AtMost("a batch of 50000, all of Cifar-10: against twice the entry",
                                float(complexity.second_moments(CIFAR_10, 50000)), 2 * entry))
    yield Case(widths=np.array(WIDE))


def unlikely_classes(rng, activations):
    """Networks with the bounded criterion whose Gauss-Newton matrix is indefinite."""
    return cases.variety(rng, activations, ("bounded",), sizes=(3, 5, 8), scale=0.3, samples=2)


@equation(
    "table-1-criterion", where="Table 1, row Criterion Func.", kind="claim", verdict="holds",
    ours=True, uses=("8b", "u-fisher-labels", "u-gn"),
    statement="The empirical Fisher matrix and PCH are positive semidefinite for a non-convex "
              "criterion too; the Gauss-Newton matrix is not.",
    implements=(rivals.fisher, pch))
def table_1_criterion(rng):
    for case in unlikely_classes(rng, ("sigmoid", "tanh")):
        fisher, blocks = rivals.fisher(case.all_layers), pch(*case.passes, -1.0)
        top = rivals.gauss_newton(*case.passes, convex=True)[-1]  # uncorrected
        for t, (F, B) in enumerate(zip(fisher, blocks), start=1):
            given = reference.second_moment(reference.bias_gradients(case, t))
            yield case.equal("Fisher against the given labels' gradients", F, given, 1e-12, t)
            yield case.positive("the least eigenvalue of Fisher", F, t)
            yield case.positive("the least eigenvalue of PCH", B, t)
        yield AtMost("Gauss-Newton: least eigenvalue of the top block against -1 % of its "
                     "largest entry", reference.least(top), -0.01, case=case.name)
        yield case.equal("PCH's top block against absolute eigenvalues of the mean Hessian",
                         blocks[-1], reference.absolute(reference.mean_hessian(case, 2)), 1e-6)
    yield Case(fisher=fisher[-1], pch=blocks[-1])


@equation(
    "u-kfac-criterion", where="Related Works against Table 1", kind="claim", verdict="conditional",
    condition=LIKELIHOOD, ours=True, uses=("u-fisher-labels", "14"),
    statement="The text has KFAC for a convex criterion, Table 1 for a non-convex one. The mean of "
              "outer products is positive semidefinite for every criterion. It measures curvature, "
              "as the exact Fisher matrix does, for cross-entropy alone.",
    implements=rivals.fisher)
def u_kfac_criterion(rng):
    def sides(case):
        """Mean over the model's labels of the top block of Fisher, and of the Hessian."""
        q, labelled = reference.of_labels(case)
        return tuple((q * [of(one, 2) for one in labelled]).sum(axis=0).mean(axis=0)
                     for of in (reference.bias_outer, reference.bias_hessians))

    entropy, bounded = (cases.case(rng, "tanh", loss, sizes=(3, 4, 3)) for loss in cases.LOSSES)
    for case in (entropy, bounded):
        F = rivals.fisher(case.all_layers)[-1]
        yield case.equal("with the given labels", F,
                         reference.bias_outer(case, 2).mean(axis=0), 1e-12)
        yield case.positive("the least eigenvalue of the mean of outer products", F)
    yield Equal("cross-entropy: outer products against Hessians, over the model's labels",
                *sides(entropy), 1e-8)
    yield Counterexample(Equal("criterion (14): the same two", *sides(bounded), 1e-2))
    yield Case(outer=sides(bounded)[0], hessian=sides(bounded)[1])


@equation(
    "u-kfi-cost", where="Related Works, last lines", kind="claim", verdict="conditional",
    condition=MANY_ITERATIONS, ours=True, uses=("u-kfi", "u-time"),
    statement="KFI takes about as many operations as EA-CG.",
    implements=(complexity.kfi, complexity.ea_cg))
def u_kfi_cost(rng):
    n = int(rng.integers(20, 60))
    square = (n,) * 4
    kfi, ea_cg = float(complexity.kfi(CIFAR_10)), float(complexity.ea_cg(CIFAR_10, 50))
    yield from same_numbers(
        ("layers of one width n, n iterations: EA-CG, counted", complexity.ea_cg(square, n),
         n * counted_products(square)),
        ("KFI there: four cubes a layer", complexity.kfi(square), 12 * n**3))
    yield Counterexample(AtMost("the network for Cifar-10, 50 iterations: KFI against twice EA-CG",
                                kfi, 2 * ea_cg))
    yield Case(n=n, cifar=kfi / ea_cg)
