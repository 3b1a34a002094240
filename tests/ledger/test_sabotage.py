"""What an equation names as its implementation is made wrong, and its check has to notice.

For one paper: ``pytest -m slow tests/ledger/test_sabotage.py -k low-rank``; while writing:
``secondorder edition test low-rank 12``.
"""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from secondorder import ledger
from secondorder.ledger import Equal, Stated, registry, sabotage, spoiling
from secondorder.ledger.registry import REGISTRY
from test_ledger import register, toys  # noqa: F401

ENTRIES = {f"{entry.paper}-{entry.labels[0]}": entry for entry in REGISTRY.select()}
#: Zero everywhere, so that no factor makes them wrong; their values are compared beside those of
#: the slope and of gamma.
ZERO = {"low-rank 29: eq_29_33_second_derivatives.eq_29_relu_bend",
        "low-rank 29: eq_29_33_second_derivatives.eq_31_dgamma"}


# -- every day: the machinery ----------------------------------------------------------------------

class Pair:
    """Toy implementations."""

    def both(self, x):
        return {"twice": 2 * x, "thrice": 3 * x}

    @property
    def factor(self):
        return 2.0


def twice(x, *, by=2):
    return by * x


def refuse_negative(x):
    if (x < 0).any():
        raise ValueError("negative")


def closing_over(factor):
    def inner(x, power=1):
        return factor * x**power
    return inner


thrice = closing_over(3)
X = np.array([1.0, -2.0, 4.0])


def gaps(check, *implements, **options):
    """Output and mode of what goes unnoticed in a paper of this check alone."""
    registry.REGISTRY.begin("toy")
    register("1", check=check, implements=implements)
    return [(one.output, one.mode)
            for one in sabotage.unnoticed(registry.REGISTRY.select("toy")[0], **options)]


def test_a_check_that_compares_with_something_else_notices_everything(toys):
    assert gaps(lambda rng: [Equal("a", twice(X), X + X, 1e-12)], twice) == []
    assert twice(X, by=3).tolist() == [3.0, -6.0, 12.0], "the function is itself again"
    assert "_sabotaged" not in globals()


@pytest.mark.parametrize("left, right, expected", [
    (lambda: twice(X) ** 2, lambda: (X + X) ** 2, [spoiling.SIGN]),
    (lambda: twice(X)[0], lambda: 2.0, [spoiling.LARGEST]),
    (lambda: np.round(twice(X), 1), lambda: X + X, [spoiling.PERCENT]),
    (lambda: twice(X), lambda: twice(X), [spoiling.PERCENT, spoiling.LARGEST, spoiling.SIGN]),
])
def test_each_way_of_being_wrong_is_told(toys, left, right, expected):
    assert {mode for _, mode in gaps(lambda rng: [Equal("a", left(), right(), 1e-12)],
                                     twice)} == set(expected)


def test_one_output_is_enough_unless_the_label_states_others(toys):
    def check(rng):
        return [Equal("a", Pair().both(X)["twice"], X + X, 1e-12)]

    assert gaps(check, Pair.both) == []
    assert gaps(check, Stated(Pair.both, "twice")) == []
    every = [("thrice", spoiling.PERCENT), ("thrice", spoiling.LARGEST), ("thrice", spoiling.SIGN)]
    assert sorted(gaps(check, Stated(Pair.both, "twice", "thrice"))) == sorted(every)
    assert gaps(check, Stated(Pair.both, "four")) == [("four", "not an output, or zero")]
    assert sorted(gaps(check, Pair.both, every=True)) == sorted(every)


def test_properties_closures_and_classes_are_reached(toys):
    assert gaps(lambda rng: [Equal("a", Pair().factor, float("2"), 1e-12)], Pair.factor) == []
    registry.REGISTRY.begin("toy")
    register("1", check=lambda rng: [Equal("a", thrice(X), X + X + X, 1e-12)],
             implements=(Pair.both,))
    entry = registry.REGISTRY.select("toy")[0]
    assert sabotage.fails(entry, thrice, 0, "", spoiling.PERCENT) and thrice(X, power=2)[2] == 48
    assert gaps(lambda rng: [Equal("a", Pair().factor, float("2"), 1e-12)], Pair) == []
    assert gaps(lambda rng: [Equal("a", X[0], 1.0, 1e-12)],
                twice) == [("", "never called, or nothing to make wrong")]


def test_a_guard_that_does_nothing_is_noticed(toys):
    def check(rng):
        try:
            refuse_negative(X)
            refused = False
        except ValueError:
            refused = True
        return [Equal("a", X, X.copy(), 1e-12), ledger.Property("refused", refused)]

    def careless(rng):
        refuse_negative(X**2)
        return [Equal("a", X, X.copy(), 1e-12)]

    assert gaps(check, refuse_negative) == []
    assert gaps(careless, refuse_negative) == [("", spoiling.NOTHING)]


def test_nested_values_are_made_wrong_as_one_output():
    value = [np.array([1.0, -4.0]), (np.float32(2.0), np.array([4.0]))]
    wrong = spoiling.made_wrong(value, spoiling.LARGEST)
    assert wrong[0].tolist() == [1.0, -4.04] and wrong[1][1].tolist() == [4.04] and wrong[1][0] == 2
    assert type(spoiling.made_wrong(value, spoiling.PERCENT)[1][0]) is np.float32
    assert value[0].tolist() == [1.0, -4.0], "the value itself is left alone"
    assert spoiling.modes_of(np.zeros(3)) == () and spoiling.modes_of("text") == ()
    assert spoiling.made_wrong(True, spoiling.NEGATED) is False
    assert spoiling.made_wrong(3, spoiling.NEXT) == 4


# -- slow: every equation of every room ------------------------------------------------------------

@pytest.fixture(scope="session")
def outcomes(request):
    """Name of an equation -> future list of what goes unnoticed: all that were asked for, in two
    processes."""
    wanted = [item.callspec.params["name"] for item in request.session.items
              if item.originalname == "test_wrong_implementations_are_noticed"]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield {name: pool.submit(sabotage.by_label, ENTRIES[name].paper, ENTRIES[name].labels[0])
               for name in wanted}
        pool.shutdown(cancel_futures=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_wrong_implementations_are_noticed(name, outcomes):
    found = {str(one) for one in outcomes[name].result()}
    known = {text for text in found if text.startswith(tuple(ZERO))}
    assert found == known and len(known) == sum(text.startswith(f"{ENTRIES[name].paper} "
                                                                f"{ENTRIES[name].labels[0]}:")
                                                for text in ZERO), "\n".join(found)
