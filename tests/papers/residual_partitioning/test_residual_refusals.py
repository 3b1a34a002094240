"""What the literal form of residual partitioning does not speak of, it refuses: layers, losses,
fractions."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Linear, Network
from secondorder.papers.residual_partitioning import algorithm_1, coefficients, explicit, partitions
from secondorder.papers.residual_partitioning.equations import reference
from test_residual_literal import close, evaluate, evaluation, make


@pytest.fixture
def rng():
    return np.random.default_rng(7)


class Doubled(Linear):
    """Overrides a pass: the printed equations are not those of this layer."""

    def forward(self, x):
        output, saved = super().forward(x)
        return 2 * output, saved._replace(output=2 * output)


class Named(Linear):
    """Overrides no pass."""

    note = "the same layer by another name"


UNSUPPORTED = {
    "skip": (lambda rng: so.nets.Skip([Linear(3, 3, rng=rng)]), "does not support the layer Skip"),
    "chain": (lambda rng: so.nets.Chain([Linear(3, 3, rng=rng)]),
              "does not support the layer Chain"),
    "overridden pass": (lambda rng: Doubled(3, 3, rng=rng),
                        "supports Linear, but Doubled.* overrides its forward"),
}
LITERAL = {"explicit_bound": explicit.explicit_bound, "partitions_of": explicit.partitions_of,
           "algorithm 1": algorithm_1.algorithm_1,
           "algorithm 1 as printed": algorithm_1.algorithm_1_as_printed}


@pytest.mark.parametrize("function", LITERAL.values(), ids=LITERAL)
@pytest.mark.parametrize("made, words", UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_other_layers_are_refused_by_name(made, words, function, rng):
    at = evaluate(Network([made(rng), Activation("tanh"), Linear(3, 2, rng=rng)]), rng)
    with pytest.raises(TypeError,
                       match=f"the explicit form of residual partitioning {words}.*supported "
                             f"layers: Linear, Activation"):
        function(at)


def test_a_subclass_that_overrides_no_pass_is_taken(rng):
    at = evaluate(Network([Named(3, 3, rng=rng), Activation("tanh"), Linear(3, 2, rng=rng)]), rng)
    close(explicit.explicit_bound(at).curvature, reference.algorithm(at)[1])


def test_the_explicit_form_adds_nothing_to_the_table_of_methods():
    from secondorder.nets.rules import METHODS

    assert not [name for name in METHODS if "explicit" in name]


def test_printed_algorithm_refuses_layers_that_are_not_trained_and_losses_that_are_not_convex(rng):
    with pytest.raises(ValueError, match=r"Algorithm 1 as printed.*Linear.* is not trained"):
        algorithm_1.algorithm_1_as_printed(evaluation(rng, trainable=False))
    for run, name in ((algorithm_1.algorithm_1, "Algorithm 1"),
                      (algorithm_1.algorithm_1_as_printed, "Algorithm 1 as printed")):
        with pytest.raises(ValueError, match=f"{name},.*convex.*TukeyBiweight"):
            run(evaluation(rng, loss=so.TukeyBiweight()))


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


# -- the loss: which fractions are a bound ---------------------------------------------------------

def test_fractions_at_the_output_need_a_convex_loss(rng):
    for loss in (so.TukeyBiweight(), so.BoundedCriterion()):
        at = evaluation(rng, loss=loss)
        for phi in ("optimal", np.full((4, 2), 0.5)):
            with pytest.raises(ValueError, match=f"convex in the outputs; {type(loss).__name__}"):
                explicit.explicit_bound(at, output_phi=phi)


def test_no_fractions_need_a_diagonal_hessian(rng):
    for loss in (so.SoftmaxCrossEntropy(), so.BoundedCriterion()):
        with pytest.raises(ValueError,
                           match=f"output_phi=None.*diagonal; that of {type(loss).__name__}"):
            explicit.explicit_bound(evaluation(rng, loss=loss), output_phi=None)


def test_without_fractions_the_second_derivative_counts_by_its_size(rng):
    at = evaluation(rng, loss=so.TukeyBiweight(1.0))
    f_ii = at.loss_function.hessian_diagonal(at.outputs, at.y)
    assert (f_ii < 0).any() and (f_ii > 0).any()
    made = explicit.explicit_bound(at, output_phi=None)
    close(made.Y_ddot[-1], [[abs(v) / 4 for v in row] for row in f_ii])
    close(made.curvature, reference.algorithm(at, reference.Reading(start="diagonal"))[1])


def spoiled(change):
    phi = np.array([[0.3, 0.7]] * 4)
    return phi if change is None else change(phi)


def put(where, value):
    def change(phi):
        phi[where] = value
        return phi
    return change


@pytest.mark.parametrize("change, words", [
    (lambda phi: phi[0], r"shape \(2,\), expected \(4, 2\)"),
    (lambda phi: phi[:, :1], r"shape \(4, 1\), expected \(4, 2\)"),
    (lambda phi: 0.5, r"shape \(\), expected \(4, 2\)"),
    (put((1, 0), np.nan), "finite"),
    (put((1, 0), np.inf), "finite"),
    (put(1, (-0.1, 1.1)), "not negative"),
    (put((2, 1), 0.8), "sum to one over the outputs"),
    (put((2, 1), 0.6), "sum to one over the outputs"),
    (put(3, (0.0, 1.0)), "zero although its term is not"),
], ids=["one row", "one column", "a number", "nan", "infinite", "negative", "too much",
        "too little", "empty term"])
def test_invalid_output_fractions_are_refused(change, words, rng):
    at = evaluation(rng, loss=so.SoftmaxCrossEntropy())
    explicit.explicit_bound(at, output_phi=spoiled(None))
    with pytest.raises(ValueError, match=words):
        explicit.explicit_bound(at, output_phi=spoiled(change))


def test_where_nothing_is_divided_at_the_output_any_fractions_will_do():
    phi, f_ii, u = np.array([[[0.0, 1.0], [0.0, 0.0]], [[0.0, 1.0], [2.0, 2.0]],
                             [[1.0, 1.0], [0.0, 0.0]]])
    partitions.check_output(phi, f_ii, u)
    with pytest.raises(ValueError, match="sum to one"):
        partitions.check_output(phi, f_ii, u + 1)


def test_partitions_must_be_one_a_layer(rng):
    at = evaluation(rng)
    made = explicit.partitions_of(at)
    for wrong in (made[:-1], [made[0], *made[2:], None], [None] * 5, []):
        with pytest.raises(ValueError,
                           match="partitions: expected 5 entries, None for activation layers"):
            explicit.explicit_bound(at, wrong)


@pytest.mark.parametrize("part", ("eps", "phi"))
def test_a_part_of_the_change_without_a_fraction_is_refused(part, rng):
    layer, y, u, _, _ = make(rng, {})
    dW, dY = rng.normal(size=(2, 4)), rng.normal(size=(4, 3)) * (u > 0)
    made = partitions.arbitrary(layer, y, u, rng)
    coefficients.squared_change_bound(layer, y, dW, dY, made)
    empty = getattr(made, part).copy()
    empty[2, 1, 0] = 0
    with pytest.raises(ValueError, match="not zero although its fraction is"):
        coefficients.squared_change_bound(layer, y, dW, dY, made._replace(**{part: empty}))


class Bent(so.Layer):
    """y = x + x^2 / 2, curved, and unknown to residual partitioning."""

    def forward(self, x):
        return x + x**2 / 2, so.nets.LinearSaved(x, x + x**2 / 2)

    def backward(self, saved, y_bar):
        return y_bar * (1 + saved.input), np.zeros(0)

    def tangent(self, saved, x_tangent, theta_tangent):
        return np.zeros_like(saved.output) if x_tangent is None else (1 + saved.input) * x_tangent


@pytest.mark.parametrize("layer", [Bent(), so.nets.Chain([Bent()]), so.nets.Skip([Bent()])])
def test_bounded_hessian_does_not_leave_out_the_curvature_of_a_layer_it_does_not_know(layer, rng):
    net = Network([Linear(3, 2, rng=rng), layer, Linear(2, 1, rng=rng)])
    with pytest.raises(TypeError, match="bounded_hessian does not support the layer Bent"):
        so.residual_partitioning.bounded_hessian(net, so.SquaredError(), rng.normal(size=(4, 3)),
                                                 np.zeros((4, 1)))
