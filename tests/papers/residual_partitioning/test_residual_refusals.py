"""What the literal form of residual partitioning does not speak of, it refuses: layers, losses,
fractions."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Linear, Network
from secondorder.papers.residual_partitioning import algorithm_1, explicit, partitions
from secondorder.papers.residual_partitioning.equations import reference


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def evaluation(rng, loss=None, **options):
    """Of five layers; the options are those of the middle linear one."""
    return evaluate(Network([Linear(3, 4, rng=rng), Activation("tanh"),
                             Linear(4, 3, rng=rng, **options),
                             Activation("tanh"), Linear(3, 2, rng=rng)]), rng, loss)


def evaluate(net, rng, loss=None):
    """A network of three inputs and two outputs on four samples."""
    loss, x = so.SquaredError() if loss is None else loss, rng.normal(size=(4, 3))
    classes = isinstance(loss, (so.SoftmaxCrossEntropy, so.BoundedCriterion))
    return net.evaluate(loss, x, rng.integers(0, 2, 4) if classes else rng.normal(size=(4, 2)))


# -- layers ----------------------------------------------------------------------------------------

class Doubled(Linear):
    """Overrides a pass: the printed equations are not those of this layer."""

    def forward(self, x):
        output, saved = super().forward(x)
        return 2 * output, saved._replace(output=2 * output)


class Named(Linear):
    """Overrides no pass."""


LITERAL = (explicit.explicit_bound, explicit.partitions_of, algorithm_1.algorithm_1,
           algorithm_1.algorithm_1_as_printed)


@pytest.mark.parametrize("function", LITERAL)
@pytest.mark.parametrize("made, words", [
    (lambda rng: so.nets.Skip([Linear(3, 3, rng=rng)]), "does not support the layer Skip"),
    (lambda rng: Doubled(3, 3, rng=rng), "supports Linear, but Doubled.* overrides its forward")])
def test_other_layers_are_refused_by_name(made, words, function, rng):
    at = evaluate(Network([made(rng), Activation("tanh"), Linear(3, 2, rng=rng)]), rng)
    with pytest.raises(TypeError, match=f"{words}.*supported layers: Linear, Activation"):
        function(at)


def test_a_subclass_that_overrides_no_pass_is_taken(rng):
    at = evaluate(Network([Named(3, 3, rng=rng), Activation("tanh"), Linear(3, 2, rng=rng)]), rng)
    np.testing.assert_allclose(explicit.explicit_bound(at).curvature, reference.algorithm(at)[1],
                               rtol=1e-12, atol=1e-13)


def test_printed_algorithm_refuses_layers_that_are_not_trained(rng):
    with pytest.raises(ValueError, match="Linear.* is not trained"):
        algorithm_1.algorithm_1_as_printed(evaluation(rng, trainable=False))


@pytest.mark.parametrize("function", (explicit.explicit_bound, algorithm_1.algorithm_1,
                                      algorithm_1.algorithm_1_as_printed))
def test_the_literal_forms_need_something_to_train_and_current_parameters(function, rng):
    at = evaluate(Network([Linear(3, 2, trainable=False, rng=rng)]), rng)
    with pytest.raises(ValueError, match="no trainable parameters"):
        function(at)
    at = evaluation(rng)
    at.network.theta += 1
    with pytest.raises(RuntimeError, match="parameters have changed"):
        function(at)


# -- losses ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("function", (explicit.explicit_bound, algorithm_1.algorithm_1,
                                      algorithm_1.algorithm_1_as_printed))
def test_fractions_at_the_output_need_a_convex_loss(function, rng):
    with pytest.raises(ValueError, match="convex.*TukeyBiweight"):
        function(evaluation(rng, so.TukeyBiweight()))


def test_no_fractions_need_a_diagonal_hessian(rng):
    with pytest.raises(ValueError, match="output_phi=None.*diagonal"):
        explicit.explicit_bound(evaluation(rng, so.SoftmaxCrossEntropy()), output_phi=None)


def test_without_fractions_the_second_derivative_counts_by_its_size(rng):
    at = evaluation(rng, so.TukeyBiweight(1.0))
    f_ii = at.loss_function.hessian_diagonal(at.outputs, at.y)
    assert (f_ii < 0).any() and (f_ii > 0).any()
    made = explicit.explicit_bound(at, output_phi=None)
    _, expected = reference.algorithm(at, reference.Reading(start="diagonal"))
    np.testing.assert_allclose(made.curvature, expected, rtol=1e-12, atol=1e-13)


def test_explicit_bound_refuses_unknown_options(rng):
    with pytest.raises(ValueError, match="output_phi"):
        explicit.explicit_bound(evaluation(rng), output_phi="best")
    # no activation that would look at the option
    linear = evaluate(Network([Linear(3, 2, rng=rng)]), rng)
    with pytest.raises(ValueError, match="negative_curvature"):
        explicit.explicit_bound(linear, partitions="never read", negative_curvature="clip")


# -- fractions -------------------------------------------------------------------------------------

def layer_3(rng):
    """An evaluation, and the fractions, inputs and u of its middle linear layer."""
    at = evaluation(rng)
    made = explicit.explicit_bound(at)
    return at, made.partitions, made.y[2], made.u[2]


def moved(eps, phi):
    """A negative entry, with the sum kept at one."""
    eps[0, 0, 0], eps[0, 0, 1] = eps[0, 0, 0] + eps[0, 0, 1] + 0.1, -0.1
    return eps, phi


def emptied(eps, phi):
    """Nothing for a term that is not zero, with the sum kept at one."""
    phi[2, 1, 1], eps[2, 1, 0] = 0, eps[2, 1, 0] + phi[2, 1, 1]
    return eps, phi


@pytest.mark.parametrize("change, words", [
    (lambda eps, phi: (eps[:, :, 1:], phi), r"eps has shape \(4, 3, 4\), expected \(4, 3, 5\)"),
    (moved, "not negative"),
    (lambda eps, phi: (eps, phi * np.nan), "finite"),
    (lambda eps, phi: (1.001 * eps, phi), "sum to one"),
    (emptied, "zero although its term is not"),
], ids=["shape", "negative", "nan", "sum", "empty term"])
def test_invalid_partitions_are_refused(change, words, rng):
    at, made, y, u = layer_3(rng)
    wrong = partitions.Partition(*change(*(part.copy() for part in made[2])))
    with pytest.raises(ValueError, match=words):
        partitions.check(wrong, at.network.layers[2], y, u)
    with pytest.raises(ValueError, match=words):
        explicit.explicit_bound(at, [*made[:2], wrong, *made[3:]])


def test_fractions_are_judged_in_the_networks_precision(rng):
    at, made, y, u = layer_3(rng)
    single = at.network.astype("float32").evaluate(at.loss_function, at.x, at.y)
    eps, phi = explicit.explicit_bound(single).partitions[2]
    with pytest.raises(ValueError, match="sum to one"):
        partitions.check(partitions.Partition(eps * np.float32(1.0001), phi),
                         single.network.layers[2], single.saved[2].input, u.astype("float32"))


@pytest.mark.parametrize("phi, words", [
    (np.full((4, 1), 1.0), r"shape \(4, 1\), expected \(4, 2\)"),
    (np.array([[0.3, 0.7]] * 3 + [[0.3, 0.6]]), "sum to one over the outputs"),
    (np.array([[0.3, 0.7]] * 3 + [[0.0, 1.0]]), "zero although its term is not"),
], ids=["shape", "sum", "empty term"])
def test_invalid_output_fractions_are_refused(phi, words, rng):
    at = evaluation(rng, so.SoftmaxCrossEntropy())
    explicit.explicit_bound(at, output_phi=np.array([[0.3, 0.7]] * 4))
    with pytest.raises(ValueError, match=words):
        explicit.explicit_bound(at, output_phi=phi)


def test_where_nothing_is_divided_at_the_output_any_fractions_will_do():
    phi, f_ii, u = np.array([[[0.0, 1.0], [0.0, 0.0]], [[0.0, 1.0], [2.0, 2.0]],
                             [[1.0, 1.0], [0.0, 0.0]]])
    partitions.check_output(phi, f_ii, u)
    with pytest.raises(ValueError, match="sum to one"):
        partitions.check_output(phi, f_ii, u + 1)


def test_partitions_must_be_one_a_layer(rng):
    at, made, _, _ = layer_3(rng)
    for wrong in (made[:-1], [made[0], *made[2:], None]):
        with pytest.raises(ValueError, match="partitions: expected 5 entries"):
            explicit.explicit_bound(at, wrong)


# -- the bounded Hessian ---------------------------------------------------------------------------

class Bent(so.Layer):
    """y = x + x^2 / 2, curved, and unknown to residual partitioning."""

    def forward(self, x):
        return x + x**2 / 2, so.nets.LinearSaved(x, x + x**2 / 2)

    def backward(self, saved, y_bar):
        return y_bar * (1 + saved.input), np.zeros(0)

    def tangent(self, saved, x_tangent, theta_tangent):
        return np.zeros_like(saved.output) if x_tangent is None else (1 + saved.input) * x_tangent


@pytest.mark.parametrize("layer", [Bent(), so.nets.Skip([Bent()])])
def test_bounded_hessian_does_not_leave_out_the_curvature_of_a_layer_it_does_not_know(layer, rng):
    net = Network([Linear(3, 2, rng=rng), layer, Linear(2, 1, rng=rng)])
    with pytest.raises(TypeError, match="bounded_hessian does not support the layer Bent"):
        so.residual_partitioning.bounded_hessian(net, so.SquaredError(), rng.normal(size=(4, 3)),
                                                 np.zeros((4, 1)))
