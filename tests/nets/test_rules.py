"""Rules by layer class: who inherits one, and who does not."""

import pytest

from secondorder.nets import Activation, Chain, Layer, Linear, rules
from secondorder.nets.rules import PASSES, LayerRules


class Renamed(Linear):
    """Overrides no pass."""


class Narrow(Renamed):
    """Has a rule of its own in the tests."""


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(rules, "METHODS", {})
    made = LayerRules("the toy", "its twin")
    made.register(Linear, Activation)("linear")
    return made


def test_the_nearest_class_in_the_mro_gives_the_rule(toy):
    assert toy(Linear(2, 2)) == toy(Activation("tanh")) == toy(Narrow(2, 2)) == "linear"
    toy.register(Narrow)("narrow")  # a later registration counts
    assert toy(Narrow(2, 2)) == "narrow" and toy(Renamed(2, 2)) == "linear"
    assert toy.supported == [Linear, Activation, Narrow]
    assert rules.METHODS == {"the toy": toy, "its twin": toy}
    toy.register(Layer)("any")
    assert toy(type("Nothing", (Layer,), {})()) == "any"


@pytest.mark.parametrize("name", [*PASSES, "input_gradient", "parameter_bars"])
def test_whoever_overrides_a_pass_is_refused(name, toy):
    changed = type("Changed", (Narrow,), {name: lambda self, *args: None})
    mixed = type("Mixed", (type("Mixin", (), {name: lambda self, *args: None}), Linear), {})
    for cls in (changed, mixed):
        with pytest.raises(TypeError, match=f"the toy.* {cls.__name__} overrides its .*{name}"):
            toy(cls(2, 2))
        toy.register(cls)("own")
        assert toy(cls(2, 2)) == "own"


def test_layers_without_a_rule_are_refused_by_name(toy):
    with pytest.raises(TypeError, match="the toy and its twin does not support the layer Chain"):
        toy(Chain([Linear(2, 2)]))
    for given in ((), (lambda layer: layer,)):  # a decorator without parentheses gives the rule
        with pytest.raises(TypeError, match="^register"):
            toy.register(*given)
