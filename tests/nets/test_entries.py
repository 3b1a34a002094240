"""Who is run by his own passes: whoever overrides anything has no entry in the compiled form."""

import secondorder as so
from secondorder.nets import Activation, Linear, Skip, SquaredError, Tanh, programs
from secondorder.nets.entries import Entries


class Louder:
    """A mixin: twice what the class beside it makes."""

    def forward(self, x):
        y, saved = super().forward(x)
        return 2 * y, saved._replace(output=2 * y)


class Mixed(Louder, Linear):
    pass


class Masked(Linear):
    @property
    def weight(self):
        return super().weight * 0.5


class Named(Linear):
    def __init__(self, name):
        super().__init__(3, 2, rng=0)
        self.name = name

    def __repr__(self):
        return self.name


def test_whoever_overrides_anything_has_no_entry():
    def has_entry(layer):
        return programs.layers.find(layer) is not None

    assert all(map(has_entry, (Linear(3, 2), Named("one"))))
    assert not any(has_entry(kind(3, 2)) for kind in (Mixed, Masked))
    shadowed = Linear(3, 2)
    shadowed.forward = lambda x: None
    assert not has_entry(shadowed) and has_entry(Linear(3, 2))

    class OwnHalf(Skip):
        def input_gradient(self, saved, y_bar):
            return super().input_gradient(saved, y_bar)

    assert not has_entry(OwnHalf([Activation("tanh")])) and has_entry(Skip([Activation("tanh")]))

    class Robust(SquaredError):
        def value(self, p, target):
            return super().value(p, target)

    assert programs.criteria.find(Robust()) is None is not programs.criteria.find(SquaredError())

    class Steep(Tanh):
        def slope(self, x):
            return 2 * super().slope(x)

    assert programs.functions.find(Steep()) is None is not programs.functions.find(Tanh())


def test_an_entry_registered_later_is_found():
    class Plain(so.Layer):
        def forward(self, x):
            return x, (x, x)

    entries = Entries()
    assert entries.find(Plain()) is None
    entries.register(Plain)("of plain layers")
    assert entries.find(Plain()) == "of plain layers"
