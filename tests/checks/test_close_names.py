"""Names that people guess get an answer that tells the right one."""

import re

import numpy as np
import pytest

import secondorder as so
from secondorder.checks import close_names

@pytest.mark.parametrize("name", close_names.INSTEAD)
def test_a_guess_is_answered(name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': use so") as caught:
        getattr(so, name)
    told = str(caught.value).partition(": use ")[2]
    assert callable(eval(re.match(r"[A-Za-z_.0-9]+", told)[0], {"so": so}))


def test_the_hint_for_kfac_is_the_fisher_matrix_of_the_model():
    """Under its own distribution: it asks for no labels of the data."""
    network, loss, x = so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy(), np.eye(3)
    hint = close_names.INSTEAD["KFAC"]
    method = eval(hint, {"so": so, "network": network, "loss": loss})
    one, other = (so.eacg.matrix(network, loss, x, y, curvature=method.curvature, rng=0)
                  for y in (np.array([0, 0, 0]), np.array([0, 1, 1])))
    assert "solver='kfi'" in hint and (one == other).all() and one.any()
    assert "curvature='fisher'" not in str(close_names.INSTEAD)


@pytest.mark.parametrize("room, typo, right", [
    ("exact", "hesian", "hessian"), ("exact", "GaussNewton_Operator", "GaussNewtonOperator"),
    ("nets", "softmaxcrossentropy", "SoftmaxCrossEntropy"), ("optimizers", "adam", "Adam"),
    ("plots", "learning_curve", "learning_curves"), ("verify", "losses", "loss"),
    ("training", "evalute", "evaluate"), ("datasets", "load_digit", "load_digits"),
    ("low_rank", "step_lenght", "step_length"), ("eacg", "bias_curvature", "bias_curvatures"),
    ("reversible_gauss_newton", "RevMlp", "RevMLP"), ("residual_partitioning", "bounds", "bound")])
def test_close_names(room, typo, right):
    with pytest.raises(AttributeError, match=f"did you mean .*'{right}'"):
        getattr(getattr(so, room), typo)


def test_close_names_of_the_package():
    with pytest.raises(AttributeError, match="did you mean 'SGD'"):
        so.sgd
    with pytest.raises(AttributeError, match="use so.exact.hessian"):
        so.hessian
    with pytest.raises(AttributeError) as caught:
        so.exact.entirely_unknown_thing
    assert str(caught.value).endswith("'entirely_unknown_thing'")
