"""Equations (4)-(9): through an affine layer, from the changes of its outputs to those of its weights and inputs."""

import numpy as np

from ...ledger import AtMost, Case, Counterexample, Equal, Property, Rate, equation
from .. import PAPER, bounding, partitions
from . import cases


# -- the change of an output and its square --------------------------------------------------------------------------

def with_ones(y):
    """y (S, in) with y_s0 = 1 in front."""
    return np.hstack([np.ones((len(y), 1)), y])


def change_by_loops(case):
    """Eq. (4), sum by sum, (S, out)."""
    y, w, (S, out) = with_ones(case.y), case.layer.weight, case.Y_dot.shape
    change = np.zeros((S, out))
    for s in range(S):
        for i in range(out):
            change[s, i] = (sum(case.dW[i, j] * y[s, j] for j in range(y.shape[1]))
                            + sum(w[i, j] * case.dY[s, j] for j in range(w.shape[1])))
    return change


def squares_by_loops(case, dW=None, dY=None):
    """Right side of (7), term by term, (S, out); a term with fraction zero is left out."""
    dW, dY = case.dW if dW is None else dW, case.dY if dY is None else dY
    y, w, (S, out) = with_ones(case.y), case.layer.weight, case.Y_dot.shape
    total = np.zeros((S, out))
    for s in range(S):
        for i in range(out):
            for j in range(y.shape[1]):
                total[s, i] += (dW[i, j] * y[s, j]) ** 2 / case.partition.eps[s, i, j]
            for j in range(w.shape[1]):
                if case.partition.phi[s, i, j]:
                    total[s, i] += (w[i, j] * dY[s, j]) ** 2 / case.partition.phi[s, i, j]
    return total


@equation(PAPER, "4",
          statement="An affine output is the weighted sum of its inputs, bias included; its change is the change of "
                    "the weights times the inputs plus the weights times the change of the inputs, to first order.",
          formula=r"""\begin{aligned}
                  y_{si}^{(\ell+1)} &\equiv \sum_{j=0}^{m_\ell} w_{ij}^{(\ell)} y_{sj}^{(\ell)} \\
                  \Delta y_{si}^{(\ell+1)} &\approx \sum_{j=0}^{m_\ell} \Delta w_{ij}^{(\ell)} y_{sj}^{(\ell)} +
                  \sum_{j=1}^{m_\ell} w_{ij}^{(\ell)} \Delta y_{sj}^{(\ell)}
                  \end{aligned}""",
          kind="approximation", verdict="holds", implements=(bounding.output_change,))
def equation_4(rng):
    case = cases.affine(rng)
    layer, y = case.layer, with_ones(case.y)
    w = np.hstack([layer.bias[:, None], layer.weight])
    output, first = layer.forward(case.y)[0], bounding.output_change(layer, case.y, case.dW, case.dY)

    def changed(t):
        moved = np.hstack([np.ones((len(case.y), 1)), case.y + t * case.dY])
        return np.array([[sum((w + t * case.dW)[i] * row) for i in range(len(w))] for row in moved])

    steps = 2.0 ** -np.arange(6)
    left_out = [np.abs(changed(t) - changed(0) - t * first).max() for t in steps]
    return [Equal("output against a sum over inputs from j = 0", output, changed(0), tolerance=1e-14),
            Equal("first-order change against sums over j", first, change_by_loops(case), tolerance=1e-14),
            Rate("what is left out, against the size of the step", steps, left_out, order=2, tolerance=1e-3),
            Equal("what is left out against the product of both changes", changed(1.0) - output - first,
                  np.einsum("ij,sj->si", case.dW[:, 1:], case.dY), tolerance=1e-12),
            Case(y=y, w=w, dW=case.dW, dY=case.dY)]


def refusal(partition, case):
    """Whether the room refuses these partitioning variables."""
    try:
        partitions.check(partition, case.layer, case.y, case.u)
    except ValueError:
        return True
    return False


@equation(PAPER, "5",
          statement="For every sample and output, the fractions for the weights and for the inputs are not negative "
                    "and add up to one.",
          formula=r"\sum_{j=0}^{m_\ell} \varepsilon_{sij}^{(\ell)} + \sum_{j=1}^{m_\ell} \varphi_{sij}^{(\ell)} = 1 "
                  r"\quad \forall s, i \quad \varepsilon_{sij}^{(\ell)} \geq 0 \quad "
                  r"\varphi_{sij}^{(\ell)} \geq 0 \quad \forall s, i, j",
          kind="definition", verdict="definition",
          implements=(partitions.optimal, partitions.arbitrary, partitions.check))
def equation_5(rng):
    claims = []
    for name, options in (("trained", {}), ("fixed", {"trainable": False}), ("first", {"first": True})):
        case = cases.affine(rng, **options)
        for made in (partitions.optimal(case.layer, case.y, case.u), case.partition):
            totals = [[sum(eps) + sum(phi) for eps, phi in zip(*pair)] for pair in zip(*made)]
            claims += [Equal(f"{name} layer: sums over j against one", totals, np.ones(case.Y_dot.shape), 1e-13),
                       AtMost(f"{name} layer: 0 against eps and phi", 0.0, np.concatenate(made, axis=2)),
                       Property(f"{name} layer: accepted", not refusal(made, case))]
        eps, phi = made
        gap = max(np.abs(one - other).max() for one, other in zip(partitions.optimal(case.layer, case.y, case.u), made))
        claims.append(AtMost(f"{name} layer: 0.01 against the largest difference of arbitrary from optimal fractions",
                             0.01, gap))
        claims.append(Property(f"{name} layer: some of it goes to the weights", bool(eps.any()), name != "fixed"))
        claims.append(Property(f"{name} layer: some of it goes further down", bool(phi.any()), name != "first"))
        claims.append(Property(f"{name} layer: refused when it adds up to 1.1",
                               refusal(partitions.Partition(1.1 * eps, 1.1 * phi), case)))
    shifted = eps.copy()
    shifted[..., 0], shifted[..., 1] = eps[..., 0] + eps[..., 1] + 0.1, -0.1
    claims.append(Property("refused when an entry is negative although the sum is one",
                           refusal(partitions.Partition(shifted, phi), case)))
    return [*claims, Case(eps=eps, phi=phi)]


@equation(PAPER, "6",
          statement="The squared change of an output, every part of it multiplied and divided by its fraction.",
          formula=r"""\Delta y_{si}^{(\ell+1)2} = \left(
                  \sum_{j=0}^{m_\ell} \varepsilon_{sij}^{(\ell)}
                  \frac{\Delta w_{ij}^{(\ell)} y_{sj}^{(\ell)}}{\varepsilon_{sij}^{(\ell)}} +
                  \sum_{j=1}^{m_\ell} \varphi_{sij}^{(\ell)}
                  \frac{w_{ij}^{(\ell)} \Delta y_{sj}^{(\ell)}}{\varphi_{sij}^{(\ell)}}
                  \right)^2""",
          kind="identity", verdict="holds",
          implements=(bounding.output_change, partitions.arbitrary, partitions.optimal))
def equation_6(rng):
    case, claims = cases.affine(rng), []
    square = bounding.output_change(case.layer, case.y, case.dW, case.dY) ** 2
    y, w = with_ones(case.y), case.layer.weight
    optimal = partitions.optimal(case.layer, case.y, case.u)
    for name, (eps, phi) in (("arbitrary", case.partition), ("optimal", optimal)):
        total = np.zeros_like(square)
        for s, i in np.ndindex(square.shape):
            own = sum(eps[s, i, j] * (case.dW[i, j] * y[s, j] / eps[s, i, j]) for j in range(y.shape[1]))
            below = sum(phi[s, i, j] * (w[i, j] * case.dY[s, j] / phi[s, i, j]) for j in range(w.shape[1]))
            total[s, i] = (own + below) ** 2
        claims.append(Equal(f"{name} fractions: square of (4) against the sum over parts", square, total, 1e-13))
    return [*claims, Case(eps=eps, phi=phi, dW=case.dW, dY=case.dY)]


def squared_change(case, rng):
    """Claims of (7) and (16): value, inequality for many steps, equality where all parts over their fractions agree."""
    right = bounding.squared_change_bound(case.layer, case.y, case.dW, case.dY, case.partition)
    claims = [Equal("bound on the squared change against a sum over parts", right, squares_by_loops(case), 1e-13)]
    for size in (1.0, 0.01, 100.0):
        dW, dY = size * rng.normal(size=case.dW.shape), rng.normal(size=case.dY.shape) * (case.dY != 0)
        first = change_by_loops(case._replace(dW=dW, dY=dY))
        claims.append(AtMost(f"squared change against its bound, changes of weights of size {size:g}", first**2,
                             bounding.squared_change_bound(case.layer, case.y, dW, dY, case.partition)))
    made = partitions.optimal(case.layer, case.y[:1], case.u[:1])
    one = case._replace(y=case.y[:1], dY=case.u[:1] * np.sign(case.layer.weight[:1]), Y_dot=case.Y_dot[:1],
                        dW=np.sign(with_ones(case.y[:1])) * np.ones_like(case.dW))
    tight = bounding.squared_change_bound(case.layer, one.y, one.dW, one.dY, made)[0, 0]
    return [*claims, Equal("equality where every part is in proportion to its fraction", tight,
                           change_by_loops(one)[0, 0] ** 2, 1e-13)]


@equation(PAPER, "7",
          statement="Jensen's inequality: the squared change of an output is at most the sum of the squared parts, "
                    "each over its fraction.",
          formula=r"""\Delta y_{si}^{(\ell+1)2} \leq
                  \sum_{j=0}^{m_\ell} \frac{(\Delta w_{ij}^{(\ell)} y_{sj}^{(\ell)})^2}{\varepsilon_{sij}^{(\ell)}} +
                  \sum_{j=1}^{m_\ell} \frac{(w_{ij}^{(\ell)} \Delta y_{sj}^{(\ell)})^2}{\varphi_{sij}^{(\ell)}}""",
          kind="inequality", verdict="holds", implements=(bounding.squared_change_bound,))
def equation_7(rng):
    case = cases.affine(rng)
    return [*squared_change(case, rng), Case(y=case.y, dW=case.dW, dY=case.dY, eps=case.partition.eps)]


def sums_of_quadratics(case, dW, dY, made):
    """Both sides of (8): the outputs' quadratics at the first-order change, and those of weights and inputs."""
    first = change_by_loops(case._replace(dW=dW, dY=dY))
    left = np.sum(case.Y_dot * first), np.sum(case.Y_ddot * first**2) / 2
    right = (np.sum(made.W_dot * dW) + np.sum(made.Y_dot * dY),
             (np.sum(made.W_ddot * dW**2) + np.sum(made.Y_ddot * dY**2)) / 2)
    return left, right


def quadratics(case, rng):
    """Claims of (8) and (17): linear parts agree, the quadratic part is bounded, and not where Y_ddot is negative."""
    dW, dY = rng.normal(size=(20, *case.dW.shape)), rng.normal(size=(20, *case.dY.shape)) * (case.dY != 0)

    def both_sides(case, partition):
        made = bounding.affine(case.layer, case.y, case.Y_dot, case.Y_ddot, partition)
        return np.array([sums_of_quadratics(case, *step, made) for step in zip(dW, dY)]).transpose(1, 2, 0)

    claims = []
    for name, partition in (("arbitrary", case.partition), ("optimal", partitions.optimal(case.layer, case.y, case.u))):
        left, right = both_sides(case, partition)
        claims += [Equal(f"{name} fractions: linear parts of both sides", left[0], right[0], 1e-12),
                   AtMost(f"{name} fractions: left side against right side", left.sum(axis=0), right.sum(axis=0))]
    left, right = both_sides(case._replace(Y_ddot=-case.Y_ddot), case.partition)
    return [*claims, tight_quadratics(case),
            Counterexample(AtMost("the same with Y_ddot < 0", left.sum(axis=0), right.sum(axis=0)))]


def tight_quadratics(case):
    """Equality in (8) and (17): one sample, one output that counts, all parts in proportion to optimal fractions."""
    y, u, only = case.y[:1], case.u[:1], np.eye(len(case.dW))[:1]
    one = case._replace(y=y, u=u, Y_dot=case.Y_dot[:1] * only, Y_ddot=case.Y_ddot[:1] * only)
    partition = partitions.optimal(one.layer, y, u)
    made = bounding.affine(one.layer, y, one.Y_dot, one.Y_ddot, partition)
    dW, dY = 0.7 * np.sign(with_ones(y)) * np.ones_like(case.dW), 0.7 * u * np.sign(one.layer.weight[:1])
    left, right = sums_of_quadratics(one, dW, dY, made)
    return Equal("one sample, one output, changes in proportion to optimal fractions: quadratic parts of both sides",
                 left[1], right[1], 1e-12)


@equation(PAPER, "8",
          statement="The quadratics of an affine layer's outputs are at most those of its weights and of its inputs.",
          formula=r"\sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \mathcal{Y}_{si}^{(\ell+1)} \leq \sum_{i=1}^{m_{\ell+1}} "
                  r"\sum_{j=0}^{m_{\ell}} \mathcal{W}_{ij}^{(\ell)} + \sum_{s=1}^S \sum_{j=1}^{m_{\ell}} "
                  r"\mathcal{Y}_{sj}^{(\ell)}",
          kind="inequality", verdict="conditional",
          condition="The second coefficients Y_ddot of the outputs are not negative. (The paper's note below (9) can "
                    "be read as asking this of the first coefficients, which take both signs.)",
          implements=(bounding.affine,))
def equation_8(rng):
    case = cases.affine(rng)
    return [*quadratics(case, rng), Case(y=case.y, Y_dot=case.Y_dot, Y_ddot=case.Y_ddot, eps=case.partition.eps)]


def coefficients_by_differences(case):
    """First and second coefficients of the right side of (8), with (7) for the squares, by central differences.

    The function is a sum of univariate quadratics, for which differences of any width are exact.
    """
    def right_side(dW, dY):
        linear = change_by_loops(case._replace(dW=dW, dY=dY))
        return np.sum(case.Y_dot * linear + case.Y_ddot * squares_by_loops(case, dW, dY) / 2)

    def differences(shape, value):
        first, second = np.zeros(shape), np.zeros(shape)
        for where in np.ndindex(shape):
            step = np.zeros(shape)
            step[where] = 1.0
            first[where], second[where] = (value(step) - value(-step)) / 2, value(step) + value(-step)
        return first, second

    no_dW, no_dY = np.zeros_like(case.dW), np.zeros_like(case.dY)
    return (*differences(no_dW.shape, lambda dW: right_side(dW, no_dY)),
            *differences(no_dY.shape, lambda dY: right_side(no_dW, dY)))


@equation(PAPER, "9",
          statement="First and second coefficients of the quadratics of the weights and inputs of an affine layer.",
          formula=r"""\begin{aligned} \dot{\mathcal{W}}_{ij}^{(\ell)} &\equiv \sum_{s=1}^S
                  \dot{\mathcal{Y}}_{si}^{(\ell+1)} y_{sj}^{(\ell)} & \dot{\mathcal{Y}}_{sj}^{(\ell)} &\equiv
                  \sum_{i=1}^{m_{\ell+1}} \dot{\mathcal{Y}}_{si}^{(\ell+1)} w_{ij}^{(\ell)} \\
                  \ddot{\mathcal{W}}_{ij}^{(\ell)} &\equiv \sum_{s=1}^S \frac{\ddot{\mathcal{Y}}_{si}^{(\ell+1)}
                  y_{sj}^{(\ell)2}}{\varepsilon_{sij}^{(\ell)}} & \ddot{\mathcal{Y}}_{sj}^{(\ell)} &\equiv
                  \sum_{i=1}^{m_{\ell+1}} \frac{\ddot{\mathcal{Y}}_{si}^{(\ell+1)}
                  w_{ij}^{(\ell)2}}{\varphi_{sij}^{(\ell)}} \end{aligned}""",
          kind="definition", verdict="holds", implements=(bounding.affine,))
def equation_9(rng):
    case = cases.affine(rng)
    made = bounding.affine(case.layer, case.y, case.Y_dot, case.Y_ddot, case.partition)
    expected = coefficients_by_differences(case)
    names = ("W_dot", "W_ddot", "Y_dot", "Y_ddot")
    claims = [Equal(f"{name} against differences of the right side of (8)", getattr(made, name), value, 1e-12)
              for name, value in zip(names, expected)]
    return [*claims, AtMost("0 against W_ddot, although Y_dot has both signs", 0.0, made.W_ddot),
            AtMost("0 against Y_ddot", 0.0, made.Y_ddot), Case(y=case.y, Y_dot=case.Y_dot, Y_ddot=case.Y_ddot)]
