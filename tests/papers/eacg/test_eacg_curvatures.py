"""EA-CG's curvatures: exact blocks, approximations by hand, positive definiteness and order."""

import numpy as np
import pytest

import secondorder as so
from secondorder import eacg
from secondorder.papers.eacg import curvatures, errors, hessians, pos_eig, rules
from secondorder.nets import Activation, Chain, Linear, Network

ACTIVATIONS = ("sigmoid", "tanh", "softplus", "sin", "relu", "leaky_relu", "identity")
LOSSES = {
    "softmax": so.SoftmaxCrossEntropy,
    "bounded": so.BoundedCriterion,
    "tukey": lambda: so.TukeyBiweight(c=2.0),
    "squared": so.SquaredError,
}


def case(seed, activation="sigmoid", loss="softmax", sizes=(5, 6, 4, 3), samples=7, **options):
    """A random network with biases, a loss and a batch."""
    rng = np.random.default_rng([seed, *map(ord, activation + loss)])
    net = so.mlp(sizes, activation=activation, init=1.2 / np.sqrt(sizes[0]), rng=rng, **options)
    x = rng.normal(size=(samples, sizes[0]))
    classes = loss in ("softmax", "bounded")
    y = (rng.integers(0, sizes[-1], samples) if classes
         else 1.5 * rng.normal(size=(samples, sizes[-1])))
    return net, LOSSES[loss](), x, y


def all_cases():
    return [(activation, loss) for activation in ACTIVATIONS for loss in LOSSES]


def exact_blocks(net, H):
    """Blocks of a full (P, P) Hessian in the biases of the linear layers, and in their weights."""
    found = []
    for layer, where in zip(net.layers, net.slices):
        if layer.size and isinstance(layer, Linear):
            middle = where.start + layer.weight.size
            found.append((H[middle : where.stop, middle : where.stop],
                          H[where.start : middle, where.start : middle]))
    return found


def relative(left, right):
    return np.abs(left - right).max() / np.abs(right).max()


# -- exact -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("activation", "loss"), all_cases())
def test_exact_means_are_blocks_of_the_hessian(activation, loss):
    net, criterion, x, y = case(0, activation, loss)
    blocks = exact_blocks(net, so.exact.hessian(net, criterion, x, y, method="products"))
    found = eacg.bias_curvatures(net, criterion, x, y, "hessian")
    assert len(found) == 3
    for B, (of_bias, _) in zip(found, blocks):
        assert np.abs(B - of_bias).max() <= 1e-12 * np.abs(of_bias).max()


@pytest.mark.parametrize("loss", LOSSES)
def test_one_instance_bias_and_weight_blocks(loss):
    net, criterion, x, y = case(1, "tanh", loss)
    evaluation = net.evaluate(criterion, x, y)
    units = rules.units(evaluation)
    per_instance = hessians.bias_hessians(
        units, hessians.output_hessians(criterion, evaluation.outputs, evaluation.y)
    )
    linear = rules.linear(units)
    for s in (0, 3):
        blocks = exact_blocks(
            net, so.exact.hessian(net, criterion, x[s : s + 1], y[s : s + 1], method="products")
        )
        for unit, H, (of_bias, of_weight) in zip(linear, per_instance, blocks):
            assert np.abs(H[s] - of_bias).max() <= 1e-12 * np.abs(of_bias).max()
            n, m = unit.layer.weight.shape
            columns = np.arange(n * m).reshape(n, m).ravel(order="F")
            by_columns = hessians.weight_hessian(unit.saved.input[s], H[s])
            wanted = of_weight[np.ix_(columns, columns)]
            assert np.abs(by_columns - wanted).max() <= 1e-12 * np.abs(wanted).max()


def test_literal_step_is_the_layers_step():
    net, criterion, x, y = case(2, "sigmoid", "bounded")
    evaluation = net.evaluate(criterion, x, y)
    H = criterion.hessian(evaluation.outputs, evaluation.y)
    by_layers = hessians.bias_hessians(rules.units(evaluation), H)
    for k in (4, 2):
        kept, W = evaluation.saved[k - 1], net.layers[k].weight
        H = hessians.hidden_hessians(W, H, evaluation.deltas[k], kept.slope, kept.curvature)
        np.testing.assert_allclose(by_layers[k // 2 - 1], H, rtol=0, atol=1e-15)


def test_weights_have_the_mean_of_5():
    net, criterion, x, y = case(3, "softplus", "softmax")
    evaluation = net.evaluate(criterion, x, y)
    units = rules.units(evaluation)
    per_instance = hessians.bias_hessians(units,
                                          criterion.hessian(evaluation.outputs, evaluation.y))
    blocks = exact_blocks(net, so.exact.hessian(net, criterion, x, y))
    for unit, H, (_, of_weight) in zip(rules.linear(units), per_instance, blocks):
        n, m = unit.layer.weight.shape
        columns = np.arange(n * m).reshape(n, m).ravel(order="F")
        found = hessians.mean_weight_hessian(unit.saved.input, H)
        assert relative(found, of_weight[np.ix_(columns, columns)]) < 1e-12


def test_symmetric_part():
    np.testing.assert_array_equal(hessians.symmetric(np.array([[1.0, 4.0], [2.0, 0.0]])),
                                  [[1.0, 3.0], [3.0, 0.0]])


def test_memory_is_bounded_by_parts_of_the_batch():
    net, criterion, x, y = case(4, samples=11)
    evaluation = net.evaluate(criterion, x, y)
    units = rules.units(evaluation)
    whole = hessians.mean_bias_hessians(evaluation, units)
    for max_bytes in (1, 4 * 36 * 8 * 3):
        parts = hessians.mean_bias_hessians(evaluation, units, max_bytes)
        assert all(relative(a, b) < 1e-14 for a, b in zip(parts, whole))
    for max_bytes, sizes in ((1, [1] * 11), (4 * 36 * 8 * 3, [3, 3, 3, 2])):
        seen = []
        hessians.mean_of_instances(evaluation, units,
                                   lambda p, y: (seen.append(len(p)), criterion.hessian(p, y))[1],
                                   max_bytes=max_bytes)
        assert seen == sizes


# -- approximations --------------------------------------------------------------------------------


def absolute(A, gamma=-1.0):
    eigenvalues, V = np.linalg.eig(A)
    return np.real(V @ np.diag(np.where(eigenvalues < 0, gamma * eigenvalues, eigenvalues))
                   @ np.linalg.inv(V))


class Silent:
    """A bounded criterion that does not say whether it is convex."""

    def __getattr__(self, name):
        if name == "convex":
            raise AttributeError(name)
        return getattr(so.BoundedCriterion(), name)


@pytest.mark.parametrize("name", ("clipped", "gauss-newton"))
def test_a_loss_that_does_not_say_is_taken_for_one_that_is_not_convex(name):
    net, criterion, x, y = case(5, "sigmoid", "bounded")
    with so.literal():  # as a loss of one's own runs anyway
        for B, wanted in zip(eacg.bias_curvatures(net, Silent(), x, y, name),
                             eacg.bias_curvatures(net, criterion, x, y, name)):
            np.testing.assert_array_equal(B, wanted)


def test_printed_brackets_differ():
    net, criterion, x, y = case(6, "sigmoid", "softmax")
    evaluation = net.evaluate(criterion, x, y)
    arguments = (
        net.layers[2].weight,
        np.eye(4),
        evaluation.deltas[2],
        evaluation.saved[1].slope,
        evaluation.saved[1].curvature,
        -1.0,
    )
    assert (relative(curvatures.pch_step_as_printed(*arguments),
                     curvatures.pch_step(*arguments)) > 1e-4)


@pytest.mark.parametrize("loss", ("softmax", "squared"))
def test_fisher_kinds(loss):
    net, criterion, x, y = case(7, "tanh", loss, samples=5)
    for kind, name in (("empirical", "fisher"),
                       ("exact", "fisher-exact"),
                       ("sampled", "fisher-sampled")):
        full = so.exact.fisher(net, criterion, x, y, kind=kind, rng=3)
        for B, (of_bias, _) in zip(eacg.bias_curvatures(net, criterion, x, y, name, rng=3),
                                   exact_blocks(net, full)):
            assert relative(B, of_bias) < 1e-12, name


def test_exact_fisher_is_the_mean_gauss_newton_block():
    net, criterion, x, y = case(8, "sigmoid", "softmax")
    full = so.exact.gauss_newton(net, criterion, x, y)
    for B, (of_bias, _) in zip(eacg.bias_curvatures(net, criterion, x, y, "fisher-exact"),
                               exact_blocks(net, full)):
        assert relative(B, of_bias) < 1e-12


# -- positive definiteness and order ---------------------------------------------------------------

NETS = 100


@pytest.mark.everyday(3)
@pytest.mark.parametrize(("activation", "loss"), all_cases())
def test_pch_is_positive_semidefinite_and_ordered(activation, loss):
    """100 nets for every activation and criterion: PSD, and PCH-1 >= PCH-2 >= the uncorrected."""
    rng = np.random.default_rng(1)
    for seed in range(NETS):
        net, criterion, x, y = case(seed, activation, loss, samples=int(rng.integers(1, 9)))
        evaluation = net.evaluate(criterion, x, y)
        units = rules.units(evaluation)
        one, two, newton = (curvatures.CURVATURES[name].make(evaluation, units, None)
                            for name in ("pch-1", "pch-2", "gauss-newton"))
        uncorrected = curvatures.expectation(evaluation, units)
        for matrices in zip(one, two, newton, uncorrected):
            size = max(np.abs(B).max() for B in matrices)
            first, second, third, sixth = matrices
            for difference in (first, second, third, first - second, second - third,
                               second - sixth):
                assert np.linalg.eigvalsh(difference)[0] >= -1e-12 * size


@pytest.mark.parametrize("loss", LOSSES)
def test_clipped_is_at_least_the_exact_mean(loss):
    for seed in range(20):
        net, criterion, x, y = case(seed, "sin", loss)
        exact = eacg.bias_curvatures(net, criterion, x, y, "hessian")
        for B, H in zip(eacg.bias_curvatures(net, criterion, x, y, "clipped"), exact):
            assert np.linalg.eigvalsh(B - H)[0] >= -1e-12 * np.abs(B).max()


def test_uncorrected_gauss_newton_of_one_instance_is_indefinite_for_the_bounded_criterion():
    for seed in range(20):
        net, criterion, x, y = case(seed, "sigmoid", "bounded", (5, 6, 10), samples=1)
        evaluation = net.evaluate(criterion, x, y)
        top = curvatures.gauss_newton(evaluation, rules.units(evaluation), top_gamma=1.0)[-1]
        assert np.linalg.eigvalsh(top)[0] < -1e-2 * np.abs(top).max()


# -- networks of other shapes ----------------------------------------------------------------------


def test_frozen_layers_chains_and_an_activation_at_the_end():
    rng = np.random.default_rng(0)
    inside = Chain([Linear(4, 4, bias=False, rng=rng),
                    Activation("sin"),
                    Linear(4, 3, trainable=False, rng=rng)])
    net = Network([Linear(5, 4, rng=rng), Activation("tanh"), inside, Activation("softplus")])
    x, y = rng.normal(size=(6, 5)), rng.integers(0, 3, 6)
    loss = so.SoftmaxCrossEntropy()
    found = eacg.bias_curvatures(net, loss, x, y, "hessian")
    assert [B.shape for B in found] == [(4, 4), (4, 4), (3, 3)]
    (of_bias, _), *_ = exact_blocks(net, so.exact.hessian(net, loss, x, y))
    assert relative(found[0], of_bias) < 1e-12
    step = eacg.direction(net, loss, x, y, "pch-1", "exact", alpha=0.1)
    assert step.shape == (net.size,) and step @ so.exact.gradient(net, loss, x, y) < 0


# -- refusals --------------------------------------------------------------------------------------


def test_a_curvature_that_overflows_is_named():
    whole, hurt = np.eye(2), np.array([[np.nan, 0.0], [0.0, 1.0]])
    with pytest.raises(FloatingPointError, match="linear layer 2"):
        curvatures.finite([whole, hurt])


@pytest.mark.parametrize("scale", (1e-12, 1.0, 1e12))
def test_symmetry_is_relative_to_the_matrix(scale):
    A = scale * np.array([[1.0, 0.5], [0.5 * (1 + 1e-13), 2.0]])
    assert errors.layer_errors([A], [A])[0] < 1e-12 * scale
    for left, largest in ((0.5, 2.0), (0.0, -2.0)):  # they may be 1e-5 of the largest entry apart
        A = scale * np.array([[0.0, left], [left + 1.8e-5, largest]])
        errors.layer_errors([A], [A])
        A[1, 0] = scale * (left + 2.2e-5)
        with pytest.raises(ValueError, match="symmetric"):
            errors.layer_errors([A], [A])


def test_pos_eig_takes_absolute_values_unless_told_otherwise():
    A = np.array([[0.0, 2.0], [2.0, 0.0]])  # eigenvalues 2 and -2
    np.testing.assert_allclose(pos_eig.pos_eig(A), 2 * np.eye(2), atol=1e-15)
    np.testing.assert_allclose(pos_eig.pos_eig(A, 0), [[1, 1], [1, 1]], atol=1e-15)


def test_pos_eig_as_printed_with_the_eigenvectors_of_numpy_in_rows():
    A = case(0)[0].layers[2].weight[:4, :4]
    A = A + A.T
    eigenvalues, Q = np.linalg.eigh(A)
    np.testing.assert_allclose(pos_eig.pos_eig_as_printed(Q.T, eigenvalues), pos_eig.pos_eig(A),
                               atol=1e-14)
    wrong = Q.T @ np.diag(np.abs(eigenvalues)) @ Q
    np.testing.assert_allclose(pos_eig.pos_eig_as_printed(Q, eigenvalues), wrong, atol=1e-14)
    assert np.abs(wrong - pos_eig.pos_eig(A)).max() > 0.1


@pytest.mark.parametrize("name", eacg.CURVATURES)
def test_a_penalty_adds_its_multiple_of_the_identity(name):
    for dtype in ("float64", "float32"):
        net, criterion, x, y = case(0, dtype=dtype)
        bare = eacg.bias_curvatures(net, criterion, x, y, name, rng=0)
        found = eacg.bias_curvatures(net, criterion, x, y, name, rng=0, l2=0.75)
        for B, wanted in zip(found, bare, strict=True):
            assert B.dtype == dtype
            np.testing.assert_allclose(B, wanted + 0.75 * np.eye(len(B)), rtol=1e-6, atol=1e-15)
    net, criterion, x, y = case(0)
    H = so.exact.hessian(net, criterion, x, y, l2=0.75)
    for B, (block, _) in zip(eacg.bias_curvatures(net, criterion, x, y, "hessian", l2=0.75),
                             exact_blocks(net, H)):
        np.testing.assert_allclose(B, block, rtol=1e-10, atol=1e-12)


GOOD = [np.eye(2), np.eye(3)]


@pytest.mark.parametrize("wrong, error, words", [
    (GOOD[:1], ValueError, "approximate holds .* exact"),
    ([np.eye(2), np.eye(2)], ValueError, r"\[1\] has shape .* exact"),
    ([np.eye(2), np.ones((3, 1))], ValueError, r"\[1\] has shape \(3, 1\)"),
    ([np.eye(2), np.full((3, 3), np.nan)], ValueError, r"\[1\] holds NaN"),
    (["a", "b"], TypeError, r"\[0\] must hold real"), ("ab", TypeError, "must be a sequence"),
    (3, TypeError, "must be a sequence"), (None, TypeError, "must be a sequence"),
])
def test_errors_of_what_is_no_list_of_matrices(wrong, error, words):
    for name, given in (("approximate", (wrong, GOOD)), ("exact", (GOOD, wrong))):
        with pytest.raises(error, match=words) as raised:
            eacg.layer_errors(*given)
        assert name in str(raised.value)
    assert eacg.layer_errors(GOOD, GOOD).tolist() == [0, 0]


@pytest.mark.parametrize("wrong, error", [
    (["a"], TypeError), (None, TypeError), ([1.0, np.nan], ValueError), (3.0, ValueError),
    ([[1.0], [1.0, 2.0]], ValueError), ([1j], TypeError),
])
def test_totals_of_what_is_no_array_of_errors(wrong, error):
    with pytest.raises(error, match="^errors "):
        eacg.total_error(wrong)


def test_public_names_stand_once():
    assert len(set(eacg.__all__)) == len(eacg.__all__)


def test_semidefinite_curvatures_are_those_that_have_no_negative_eigenvalue():
    """On a batch and a loss for which all others have one."""
    rng = np.random.default_rng(0)
    net, loss = so.mlp([4, 6, 5, 3], activation="tanh", rng=3), so.SoftmaxCrossEntropy()
    x, y = rng.normal(size=(12, 4)), rng.integers(0, 3, 12)
    least = {name: min(np.linalg.eigvalsh(one)[0] for one in so.eacg.bias_curvatures(
        net, loss, x, y, curvature=name, rng=0)) for name in curvatures.CURVATURES}
    found = {name: one >= -1e-12 for name, one in least.items()}
    assert found == {name: one.positive for name, one in curvatures.CURVATURES.items()}, least
    assert curvatures.POSITIVE == tuple(name for name in least if found[name])
