"""Rules by layer class: who inherits one, who does not, and what the table of methods shows."""

import pytest

from secondorder.nets import rules
from secondorder.book.parts import layer_table
from secondorder.nets import Activation, Chain, Layer, Linear
from secondorder.nets.rules import PASSES, LayerRules, nearest_class


@pytest.fixture
def methods(monkeypatch):
    """An empty table of methods; the rooms have registered theirs before, and get it back."""
    layer_table.table()
    monkeypatch.setattr(rules, "METHODS", {})
    return rules.METHODS


@pytest.fixture
def toy(methods):
    made = LayerRules("the toy")
    made.register(Linear)("linear")
    made.register(Layer)("any")
    return made


class Renamed(Linear):
    """Overrides no pass."""


class Narrow(Renamed):
    """Has a rule of its own in the tests."""


def test_the_nearest_class_in_the_mro_gives_the_rule(toy):
    toy.register(Narrow)("narrow")
    assert toy(Linear(2, 2)) == toy(Renamed(2, 2)) == "linear"
    assert toy(Narrow(2, 2)) == "narrow"
    assert toy.supported == [Linear, Layer, Narrow]
    assert nearest_class(Narrow(2, 2), (Layer, Linear), "x") is Linear


def test_a_later_registration_counts(toy):
    assert toy(Renamed(2, 2)) == "linear"
    toy.register(Renamed)("own")
    assert toy(Renamed(2, 2)) == toy(Narrow(2, 2)) == "own"


@pytest.mark.parametrize("name", PASSES)
def test_whoever_overrides_a_pass_is_refused(name, toy):
    changed = type("Changed", (Narrow,), {name: lambda self, *args: None})
    mixed = type("Mixed", (type("Mixin", (), {name: lambda self, *args: None}), Linear), {})
    for cls in (changed, mixed):
        with pytest.raises(
            TypeError,
            match=rf"the toy supports Linear, but {cls.__name__} overrides its .*{name}.*"
            rf"supported layers: Linear, Layer.*; register a rule for {cls.__name__}",
        ):
            toy(cls(2, 2))
        toy.register(cls)("own")
        assert toy(cls(2, 2)) == "own"


@pytest.mark.parametrize("half", ("input_gradient", "parameter_bars"))
def test_a_half_of_reverse_mode_is_a_pass_too(half, toy):
    with pytest.raises(TypeError, match=f"overrides its {half};"):
        toy(type("Changed", (Linear,), {half: lambda self, saved, y_bar: y_bar})(2, 2))


def test_the_base_rule_is_for_layers_without_passes_of_their_own(toy):
    assert toy(type("Nothing", (Layer,), {})()) == "any"
    with pytest.raises(
        TypeError,
        match="the toy supports Layer, but Activation overrides its forward, .*input_hessian",
    ):
        toy(Activation("tanh"))


def test_layers_without_a_rule_are_refused_by_name(methods):
    empty = LayerRules("the empty method")
    with pytest.raises(TypeError,
                       match=r"the empty method does not support the layer Linear\(2, 3\); "
                                        r"supported layers: ; register a rule for Linear"):
        empty(Linear(2, 3))
    assert methods == {}


def test_one_registration_for_several_classes_and_methods(methods):
    shared = LayerRules("one", "two")
    assert shared.register(Linear, Activation)("rule") == "rule"
    assert shared(Linear(2, 2)) == shared(Activation("tanh")) == "rule"
    assert methods == {"one": shared, "two": shared}
    rows = layer_table.table().splitlines()
    assert [row.split("|")[1:4] for row in rows if row.startswith(("| one", "| two"))] == [
        [" one ", " yes ", " no "], [" two ", " yes ", " no "]]
    with pytest.raises(TypeError, match="one and two does not support the layer Chain"):
        shared(Chain([Linear(2, 2)]))


def test_the_table_has_the_rooms_layers_and_does_not_deny_what_works():
    """What the kernel takes by gradients is measured in test_reversible_shaped_layers."""
    head, _, *rows = [[cell.strip() for cell in row.split("|")[1:-1]]
                      for row in layer_table.table().splitlines()]
    table = {row[0]: dict(zip(head[1:], row[1:])) for row in rows}
    kernel = table["Gauss-Newton through the tangent kernel"]
    assert kernel["`Coupling`"] == kernel["`Linear`"] == "yes" == table["exact derivatives"][
        "`Coupling`"]
    assert kernel["`Conv2d`"] == "by gradients" and table["EA-CG"]["`Reshape`"] == "no"


@pytest.mark.parametrize("given", [(), (lambda layer: layer,)])
def test_register_takes_classes(given, toy):
    """A decorator without parentheses gives the rule itself."""
    with pytest.raises(TypeError, match="register takes the layer classes that the rule is for"):
        toy.register(*given)
