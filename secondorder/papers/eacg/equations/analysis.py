"""The analysis of space and time, and Table 1: operations and stored numbers are counted."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Property, equation
from ....nets import mlp
from .. import PAPER, complexity, systems
from . import cases, reference

WIDTHS = (7, 5, 6, 3)


def carried(W, B):
    """W^T B W."""
    return W.T @ (B @ W)


def counted_propagation(widths):
    """Multiplications of W^T B W in all layers but the first."""
    return sum(reference.multiplications(carried, (n, m), (n, n))
               for m, n in complexity.pairs(widths)[1:])


@equation(PAPER, "u-space", where="Analysis of Space Complexity",
          statement="Newton's matrix has the square of the number of parameters as entries: a bias "
                    "belongs to an output of a layer, not to an input.",
          formula=r"O([\sum_{t=1}^k n_{t-1}(n_t + 1)]^2)",
          corrected=r"O([\sum_{t=1}^k n_t (n_{t-1} + 1)]^2)", kind="claim", verdict="erratum",
          weight="misprint",
          implements=(complexity.parameters, complexity.storage_of_blocks))
def space(rng):
    made = mlp(WIDTHS, rng=rng)
    case = cases.case(rng)
    blocks = sum(layer.weight.size**2 + layer.bias.size**2 for layer in made.layers[::2])
    return [
        Equal("parameters of a network", complexity.parameters(WIDTHS), made.size, 1e-15),
        Equal("of the paper's network for Cifar-10", complexity.parameters(complexity.CIFAR_10),
              3846810, 1e-15),
        Property("ImageNet-10: as Cifar-10 above", complexity.IMAGENET_10[1:],
                 complexity.CIFAR_10[1:]),
        Property("pixels of three colours", complexity.IMAGENET_10[0], 224 * 224 * 3),
        Equal("entries of the diagonal blocks", complexity.storage_of_blocks(WIDTHS), blocks,
              1e-15),
        Printed(Equal("parameters as printed", complexity.parameters_as_printed(WIDTHS), made.size,
                      1e-15)),
        Case(theta=case.theta),
    ]


@equation(PAPER, "u-space-11a", where="Analysis of Space Complexity",
          statement="With (11a) the blocks of the biases are enough in the place of those of the "
                    "weights.",
          formula=r"O(\sum_{t=1}^k n_t^2)", kind="claim", verdict="conditional",
          condition="The inputs' second moment is not held: products are made with the batch's own "
                    "inputs, or with their mean as in (11b), which takes sum n_{t-1} numbers more.",
          implements=(complexity.storage_of_bias_curvature, complexity.storage_of_kfi,
                      complexity.storage_of_ea_cg))
def space_11a(rng):
    case = cases.case(rng, sizes=WIDTHS)
    biases = sum(case.linear(t).layer.bias.size ** 2 for t in (1, 2, 3))
    moments = sum(case.inputs(t).shape[1] ** 2 for t in (1, 2, 3))
    means = sum(case.inputs(t).shape[1] for t in (1, 2, 3))
    return [
        Equal("blocks of the biases", complexity.storage_of_bias_curvature(WIDTHS), biases, 1e-15),
        Equal("with the mean inputs", complexity.storage_of_ea_cg(WIDTHS), biases + means, 1e-15),
        Equal("with the second moments", complexity.storage_of_kfi(WIDTHS), biases + moments,
              1e-15),
        Counterexample(AtMost("what (11a) holds with E[h h^T] against the blocks of the biases",
                              complexity.storage_of_kfi(WIDTHS), biases)),
        Case(widths=WIDTHS),
    ]


@equation(PAPER, "u-time", where="Analysis of Additional Time Complexity",
          statement="Operations of carrying curvature down and of solving. Nothing is carried into "
                    "the inputs, so the first sum starts at t = 2; the outer products of the "
                    "slopes come on top.",
          formula=r"O(\sum_{t=1}^k [n_{t-1} n_t (n_{t-1} + n_t)]), \qquad O(|\text{CG}| \times "
                  r"\sum_{t=1}^k [n_t (2n_{t-1} + n_t)])",
          corrected=r"O(\sum_{t=2}^k [n_{t-1} n_t (n_{t-1} + n_t)] + \text{Batch} \sum_{t=1}^{k-1} "
                    r"n_t^2), \qquad O(|\text{CG}| \times \sum_{t=1}^k [n_t (2n_{t-1} + n_t)])",
          kind="claim", verdict="erratum", weight="substance",
          implements=(complexity.propagation, complexity.ea_cg, complexity.slopes))
def time(rng):
    counted = counted_propagation(WIDTHS)
    products = sum(reference.multiplications(systems.rank_one_product, (n, n), (n, m), (m,))
                   for m, n in complexity.pairs(WIDTHS))
    outer = sum(reference.multiplications(lambda slope: slope.T @ slope, (9, n))
                for n in WIDTHS[1:-1])
    case = cases.case(rng, sizes=WIDTHS)
    return [
        Equal("W^T B W, counted", complexity.propagation(WIDTHS), counted, 1e-15),
        Equal("four products (11b), counted", complexity.ea_cg(WIDTHS, 4), 4 * products, 1e-15),
        Equal("slopes of 9 instances, counted", complexity.slopes(WIDTHS, 9), outer, 1e-15),
        Equal("what the sum from t = 1 has more",
              complexity.propagation_in_text(WIDTHS) - complexity.propagation(WIDTHS),
              WIDTHS[0] * WIDTHS[1] * (WIDTHS[0] + WIDTHS[1]), 1e-15),
        Printed(Equal("the sum from t = 1", complexity.propagation_in_text(WIDTHS), counted,
                      1e-15)),
        Case(theta=case.theta),
    ]


@equation(
    PAPER,
    "table-1",
    where="Table 1",
    statement="Operations and storage of Fisher, Gauss-Newton and PCH, of KFI and EA-CG. "
    "Gauss-Newton and PCH "
    "make the same two products a layer, which neither entry counts; the other entries are right.",
    formula=r"""\begin{array}{llll}
                  & \text{KFAC} & \text{KFRA} & \text{EA-CG} \\
                  \text{curvature} & \text{Batch} \sum n_t^2 & \sum_{t \ge 2} n_{t-1} n_t &
                  \sum_{t \ge 2} n_{t-1}^2 n_t \\
                  \text{solving} & \sum n_t^3 + n_{t-1}^3 + n_{t-1}^2 n_t + n_{t-1} n_t^2 &
                  \text{same} & \text{CG} \sum n_t^2 + 2 n_t n_{t-1} \\
                  \text{space} & \sum n_{t-1}^2 + n_t^2 & \text{same} & \sum n_{t-1} + n_t^2
                  \end{array}""",
    corrected=r"\text{curvature of KFRA and of EA-CG: } \sum_{t \ge 2} n_{t-1} n_t (n_{t-1} + n_t)",
    kind="claim",
    verdict="erratum",
    weight="substance",
    implements=(
        complexity.propagation,
        complexity.fisher,
        complexity.kfi,
        complexity.ea_cg,
        complexity.storage_of_kfi,
        complexity.storage_of_ea_cg,
    ),
)
def table_1(rng):
    counted = counted_propagation(WIDTHS)
    fisher = sum(reference.multiplications(lambda g: g.T @ g, (9, n)) for n in WIDTHS[1:])
    sides = sum(reference.multiplications(lambda L, G, R: L @ (G @ R), (n, n), (n, m), (m, m))
                for m, n in complexity.pairs(WIDTHS))
    inverses = sum(reference.multiplications(lambda M: M @ M, (n, n))
                   for pair in complexity.pairs(WIDTHS) for n in pair)
    products = sum(reference.multiplications(systems.rank_one_product, (n, n), (n, m), (m,))
                   for m, n in complexity.pairs(WIDTHS))
    case = cases.case(rng, sizes=WIDTHS)
    return [
        Equal("carrying a curvature down, counted", complexity.propagation(WIDTHS), counted, 1e-15),
        Equal("Fisher of 9 instances, counted", complexity.fisher(WIDTHS, 9), fisher, 1e-15),
        Equal("KFI: two products, and inverses at n^3", complexity.kfi(WIDTHS), sides + inverses,
              1e-15),
        Equal("EA-CG: 10 products", complexity.ea_cg(WIDTHS, 10), 10 * products, 1e-15),
        Equal("numbers kept by KFI", complexity.storage_of_kfi(WIDTHS),
              sum(case.inputs(t).shape[1] ** 2 + case.deltas(t).shape[1] ** 2 for t in (1, 2, 3)),
              1e-15),
        Equal("numbers kept by EA-CG", complexity.storage_of_ea_cg(WIDTHS),
              sum(case.inputs(t).shape[1] + case.deltas(t).shape[1] ** 2 for t in (1, 2, 3)),
              1e-15),
        Equal("Cifar-10, 50 iterations: KFI's operations over those of EA-CG",
              complexity.kfi(complexity.CIFAR_10) / complexity.ea_cg(complexity.CIFAR_10, 50),
              100.0, 0.01),
        Printed(Equal("entry of PCH", complexity.propagation_in_table(WIDTHS), counted, 1e-15)),
        Printed(Equal("entry of Gauss-Newton",
                      complexity.propagation_in_table_of_gauss_newton(WIDTHS), counted, 1e-15)),
        Case(widths=np.array(WIDTHS)),
    ]
