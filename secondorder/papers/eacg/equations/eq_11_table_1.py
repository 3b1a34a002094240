"""The analysis of space and time, and Table 1: operations and stored numbers are counted."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Property, equation
from ....ledger.multiplication_counter import multiplications
from ....nets import mlp
from .. import PAPER, eq_11_table_1 as complexity, eq_12_13_kfac_kfra as rivals
from ..eq_05_07_expectation import ehht
from ..eq_08_pch import eq_8b_pch_step, pch
from ..eq_09_11_ea_cg import eq_11b_product
from . import cases, reference
from .conditions import MANY_ITERATIONS, SMALL_BATCH, WITHOUT_MOMENT

WIDTHS = (7, 5, 6, 3)


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


def same_numbers(*rows):
    """Claims that counts are equal: of each row the text, the formula's count, the other one."""
    return [Equal(what, formula, other, 1e-15) for what, formula, other in rows]


@equation(PAPER, "u-space",
          where="Analysis of Space Complexity",
          statement="Newton's matrix has the square of the number of parameters as entries. (As "
                    "an order: the sum has a bias for every input of a layer, a count would have "
                    "one for every output.)",
          formula=r"O([\sum_{t=1}^k n_{t-1}(n_t + 1)]^2)",
          kind="claim", verdict="holds",
          implements=(complexity.storage_of_newton, complexity.parameters,
                      complexity.storage_of_blocks), uses=("u-newton",))
def u_space(rng):
    network = mlp(WIDTHS, rng=rng)
    blocks = sum(layer.weight.size**2 + layer.bias.size**2 for layer in network.layers[::2])
    drawn = [tuple(rng.integers(1, 40, 5)) for _ in range(50)] + [complexity.CIFAR_10]
    counts, printed = (np.array([count(widths) for widths in drawn], float)
                       for count in (complexity.parameters, complexity.parameters_as_printed))
    return [*same_numbers(
                ("parameters of a network", complexity.parameters(WIDTHS), network.size),
                ("of the paper's network for Cifar-10", complexity.parameters(complexity.CIFAR_10),
                 3846810),
                ("entries of the diagonal blocks", complexity.storage_of_blocks(WIDTHS), blocks),
                ("the sum as printed, by loops", complexity.parameters_as_printed(WIDTHS),
                 sum(m * n + m for m, n in complexity.pairs(WIDTHS))),
                ("entries of the whole matrix as printed", complexity.storage_of_newton(WIDTHS),
                 complexity.parameters_as_printed(WIDTHS) ** 2)),
            Property("ImageNet-10: as Cifar-10 above", complexity.IMAGENET_10[1:],
                     complexity.CIFAR_10[1:]),
            Property("pixels of three colours", complexity.IMAGENET_10[0], 224 * 224 * 3),
            AtMost("parameters against twice the sum as printed, 51 networks", counts, 2 * printed),
            AtMost("the sum as printed against twice the parameters", printed, 2 * counts),
            Case(widths=WIDTHS)]


@equation(PAPER, "u-space-11a",
          where="Analysis of Space Complexity",
          statement="With (11a) the blocks of the biases are enough; the blocks of the weights "
                    "need not be stored.",
          formula=r"O(\sum_{t=1}^k n_t^2)",
          kind="claim", verdict="conditional", condition=WITHOUT_MOMENT,
          implements=(complexity.storage_of_bias_curvature, complexity.storage_of_kfi,
                      complexity.storage_of_ea_cg), uses=("10a", "11a"))
def u_space_11a(rng):
    case = cases.case(rng, sizes=WIDTHS)
    biases = sum(case.layer(t).own.bias.size ** 2 for t in (1, 2, 3))
    means = [case.inputs(t).shape[1] for t in (1, 2, 3)]
    with_moments = complexity.storage_of_kfi(WIDTHS)
    return [*same_numbers(
                ("blocks of the biases", complexity.storage_of_bias_curvature(WIDTHS), biases),
                ("with the mean inputs", complexity.storage_of_ea_cg(WIDTHS), biases + sum(means)),
                ("with the second moments", with_moments, biases + sum(n**2 for n in means))),
            Counterexample(AtMost("what (11a) holds with E[h h^T] against the blocks of the biases",
                                  with_moments, biases)),
            Case(widths=WIDTHS)]


@equation(PAPER, "u-time",
          where="Analysis of Additional Time Complexity",
          statement="Operations of carrying curvature down and of solving. The outer products of "
                    "the slopes, Batch times the squares of the widths, are left out. Up to a "
                    "batch of 9216 the sum still bounds what the paper's network needs.",
          formula=r"\begin{gathered} O(\sum_{t=1}^k [n_{t-1} n_t (n_{t-1} + n_t)]) \\ "
                  r"O(|\text{CG}| \times \sum_{t=1}^k [n_t (2n_{t-1} + n_t)]) \end{gathered}",
          kind="claim", verdict="conditional", condition=SMALL_BATCH,
          implements=(complexity.propagation, complexity.slopes, complexity.ea_cg,
                      complexity.propagation_in_text), uses=("6", "11b"))
def u_time(rng):
    batches, products = (10, 100, 1000), complexity.propagation(WIDTHS)
    counted = [float(counted_propagation(WIDTHS, S)) for S in batches]
    text = complexity.propagation_in_text(WIDTHS)
    return [*same_numbers(
                ("products with W and outer products of the slopes, counted in (8b), three batches",
                 [float(products + complexity.slopes(WIDTHS, S)) for S in batches], counted),
                ("four products (11b), counted", complexity.ea_cg(WIDTHS, 4),
                 4 * counted_products(WIDTHS)),
                ("the text's sum has the inputs too: nothing is carried there, an order allows it",
                 text - products, WIDTHS[0] * WIDTHS[1] * (WIDTHS[0] + WIDTHS[1]))),
            AtMost("products with W against the text's sum", products, text),
            *bounded_by_the_text(complexity.CIFAR_10),
            Counterexample(AtMost("1000 instances: what is counted against ten times the text's "
                                  "sum", counted[-1], 10.0 * text)),
            Case(widths=np.array(WIDTHS), counted=counted)]


def bounded_by_the_text(widths):
    """The condition at the paper's network: batches of 100, of 1000, and the largest it allows."""
    of_inputs = widths[0] * widths[1] * (widths[0] + widths[1])
    largest = of_inputs // sum(n * n for n in widths[1:-1])
    text = float(complexity.propagation_in_text(widths))
    shares = [(complexity.propagation(widths) + complexity.slopes(widths, S)) / text
              for S in (100, 1000, largest, largest + 1)]
    return [AtMost("batches of 100 and 1000: share of the text's sum", shares[:2], [0.08, 0.17]),
            AtMost("the largest batch of the condition against the text's sum", shares[2], 1.0),
            Equal("which it all but reaches", shares[2], 1.0, 1e-3),
            Property("one instance more is too many", shares[3] > 1)]


WIDE = (60, 50, 40, 30)


@equation(PAPER, "table-1",
          where="Table 1",
          statement="Operations and storage. Gauss-Newton and PCH need the same two products a "
                    "layer; Gauss-Newton's entry may have lost an exponent. Both leave out the "
                    "outer products of the slopes, Batch times. All else is right.",
          kind="claim", verdict="erratum", weight="substance",
          implements=(complexity.propagation, complexity.slopes, complexity.fisher, complexity.kfi,
                      complexity.ea_cg, complexity.storage_of_kfi,
                      complexity.storage_of_ea_cg, complexity.propagation_in_table,
                      complexity.propagation_in_table_of_gauss_newton),
          uses=("u-time", "u-space-11a", "u-kfi-cost"))
def table_1(rng):
    pairs, case = complexity.pairs(WIDE), cases.case(rng, sizes=WIDTHS)
    fisher = sum(multiplications(ehht, (9, n)) for n in WIDE[1:])
    both_sides = sum(multiplications(lambda left, P, right: left @ (P @ right), (n, n), (n, m),
                                     (m, m)) for m, n in pairs)
    stored = [(case.inputs(t).shape[1], case.deltas(t).shape[1]) for t in (1, 2, 3)]
    of_pch = complexity.propagation_in_table(WIDE)
    of_gauss_newton = complexity.propagation_in_table_of_gauss_newton(WIDE)
    return [*same_numbers(
                ("carrying a curvature down, 9 instances, counted in (8b)",
                 complexity.propagation(WIDE) + complexity.slopes(WIDE, 9),
                 counted_propagation(WIDE, 9)),
                ("Fisher of 9 instances, counted", complexity.fisher(WIDE, 9), fisher),
                ("KFI: the products of its direction, counted, and two inverses at n^3",
                 complexity.kfi(WIDE), both_sides + sum(m**3 + n**3 for m, n in pairs)),
                ("EA-CG: 10 products (11b), counted", complexity.ea_cg(WIDE, 10),
                 10 * counted_products(WIDE)),
                ("numbers stored by KFI", complexity.storage_of_kfi(WIDTHS),
                 sum(m**2 + n**2 for m, n in stored)),
                ("numbers stored by EA-CG", complexity.storage_of_ea_cg(WIDTHS),
                 sum(m + n**2 for m, n in stored)),
                ("the entry of PCH, by loops", of_pch, sum(m * m * n for m, n in pairs[1:])),
                ("the entry of Gauss-Newton, by loops", of_gauss_newton,
                 sum(m * n for m, n in pairs[1:]))),
            AtMost("the products with W against twice the entry of PCH, layers that become "
                   "narrower", complexity.propagation(WIDE), 2.0 * of_pch),
            Printed(AtMost("a batch of 5000: PCH, counted, against ten times its entry",
                           float(counted_propagation(WIDE, 5000)), 10.0 * of_pch)),
            Printed(AtMost("one instance: Gauss-Newton, counted, against ten times its entry",
                           float(counted_propagation(WIDE, 1)), 10.0 * of_gauss_newton)),
            Case(widths=np.array(WIDE))]


@equation(PAPER, "table-1-criterion",
          where="Table 1, row Criterion Func.",
          statement="The empirical Fisher matrix and PCH are positive semidefinite for a "
                    "non-convex criterion too; the Gauss-Newton matrix is not.",
          formula=r"\mathbb{E}_i[\nabla_{\mathbf{b}^t} \xi_i \otimes \nabla_{\mathbf{b}^t} "
                  r"\xi_i^T] \succeq 0, \quad \mathbb{E}_i[\widehat{\nabla_{\mathbf{b}^t}^2} "
                  r"\xi_i] \succeq 0, \quad \mathbb{E}_i[\text{GN}(\nabla_{\mathbf{b}^t}^2 "
                  r"\xi_i)] \not\succeq 0",
          kind="claim", verdict="holds", ours=True, implements=(rivals.fisher, pch),
          uses=("8b", "u-fisher-labels", "u-gn"))
def table_1_criterion(rng):
    claims = []
    for activation in ("sigmoid", "tanh"):
        case = cases.case(rng, activation, "bounded", sizes=(3, 5, 8), scale=0.3, samples=2,
                          name=activation)
        fisher, blocks = rivals.fisher(case.all_layers), pch(*case.passes, -1.0)
        top = rivals.gauss_newton(*case.passes, convex=True)[-1]  # uncorrected
        H = reference.bias_hessians(case, 2).mean(axis=0)
        for t, (F, B) in enumerate(zip(fisher, blocks), start=1):
            given = reference.second_moment(reference.bias_gradients(case, t))
            claims += [case.equal("Fisher against the given labels' gradients", F, given, 1e-12, t),
                       case.positive("the least eigenvalue of Fisher", F, t),
                       case.positive("the least eigenvalue of PCH", B, t)]
        claims += [AtMost("Gauss-Newton: least eigenvalue of the top block against -1 % of its "
                          "largest entry", reference.least(top), -0.01, case=activation),
                   case.equal("PCH's top block against absolute eigenvalues of the mean Hessian",
                              blocks[-1], reference.absolute(H), 1e-6)]
    return [*claims, Case(fisher=fisher[-1], pch=blocks[-1])]


@equation(PAPER, "u-kfi-cost",
          where="Related Works, last lines",
          statement="KFI takes about as many operations as EA-CG.",
          formula=r"\sum_{t=1}^k [n_t^3 + n_{t-1}^3 + n_{t-1}^2 n_t + n_{t-1} n_t^2] \approx "
                  r"|\text{CG}| \times \sum_{t=1}^k [n_t (2n_{t-1} + n_t)]",
          kind="claim", verdict="conditional", condition=MANY_ITERATIONS, ours=True,
          implements=(complexity.kfi, complexity.ea_cg), uses=("u-kfi", "u-time"))
def u_kfi_cost(rng):
    n = int(rng.integers(20, 60))
    square, cifar = (n,) * 4, complexity.CIFAR_10
    kfi, ea_cg = float(complexity.kfi(cifar)), float(complexity.ea_cg(cifar, 50))
    return [Equal("layers of one width n, n iterations: KFI over EA-CG",
                  complexity.kfi(square) / complexity.ea_cg(square, n), 4 / 3, 1e-14),
            *same_numbers(
                ("EA-CG there, counted", complexity.ea_cg(square, n), n * counted_products(square)),
                ("KFI there: four cubes a layer", complexity.kfi(square), 12 * n**3)),
            Counterexample(AtMost("the network for Cifar-10, 50 iterations: KFI against twice "
                                  "EA-CG", kfi, 2 * ea_cg)),
            Case(n=n, cifar=kfi / ea_cg)]
