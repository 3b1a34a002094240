"""Names that people guess get an answer that tells the right one."""

import re

import pytest

import secondorder as so
from secondorder.checks import close_names

@pytest.mark.parametrize("name", close_names.INSTEAD)
def test_a_guess_is_answered(name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': use so") as caught:
        getattr(so, name)
    told = str(caught.value).partition(": use ")[2]
    assert callable(eval(re.match(r"[A-Za-z_.0-9]+", told)[0], {"so": so}))


@pytest.mark.parametrize("room, typo, right", [
    ("exact", "hesian", "hessian"), ("exact", "GaussNewton_Operator", "GaussNewtonOperator"),
    ("nets", "softmaxcrossentropy", "SoftmaxCrossEntropy"), ("verify", "losses", "loss"),
    ("low_rank", "step_lenght", "step_length")])
def test_close_names(room, typo, right):
    with pytest.raises(AttributeError, match=f"did you mean .*'{right}'"):
        getattr(getattr(so, room), typo)
    with pytest.raises(AttributeError, match="did you mean 'SGD'"):
        so.sgd
    with pytest.raises(AttributeError, match="has no attribute 'entirely_unknown_thing'$"):
        so.exact.entirely_unknown_thing
