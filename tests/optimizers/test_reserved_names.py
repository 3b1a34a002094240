"""Names that the base classes use themselves are refused where a class is defined."""

import pytest

import secondorder as so
from secondorder.nets.layers import base as layers
from secondorder.optimizers import Optimizer, base


@pytest.mark.parametrize("name", layers.RESERVED)
def test_a_layer_that_takes_a_name_of_the_base_is_refused(name):
    with pytest.raises(TypeError, match=f"class Mine defines '{name}'.*every Layer.*choose"):
        type("Mine", (so.Linear,), {name: lambda self, x: x})
    mixin = type("Mixin", (), {name: 3})
    with pytest.raises(TypeError, match=f"class Mixin defines '{name}'"):
        type("Mine", (mixin, so.Layer), {})


@pytest.mark.parametrize("name", base.RESERVED)
def test_a_method_that_takes_a_name_of_the_base_is_refused(name):
    with pytest.raises(TypeError, match=f"class Mine defines '{name}'.*every Optimizer.*choose"):
        type("Mine", (so.Adam,), {name: lambda self: 3})


@pytest.mark.parametrize("name", [*base.KEPT, "method"])
def test_memory_under_a_name_of_the_base_is_refused(name):
    with pytest.raises(TypeError, match=f"class Mine: '{name}' in state_names is a name that"):
        type("Mine", (Optimizer,), {"state_names": ("total", name)})


@pytest.mark.parametrize("names, words", [
    ("total", "must be a tuple of names, got 'total'"),
    (("total", "total"), "'total' in state_names stands there")])
def test_state_names_are_names(names, words):
    with pytest.raises(TypeError, match=words):
        type("Mine", (Optimizer,), {"state_names": names})


class Counting(so.SGD):
    """It has a use of its own for the count of steps."""

    def __init__(self, network, loss):
        super().__init__(network, loss, 0.1)
        self.steps = 5


def test_the_checker_tells_of_a_name_that_is_taken_in_the_constructor():
    report = so.verify.optimizer(Counting)
    assert not report.ok and any(finding.pass_name == "names" and "steps" in str(finding)
                                 for finding in report.findings)
    assert "names" not in {finding.pass_name for finding in so.verify.optimizer(so.SGD).findings}
