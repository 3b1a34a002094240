"""What an equation names as its implementation is made wrong, and its check has to notice.

Exceptions stand, each with its reason, in `sabotage/<room>.toml`: tables `[[explained]]` with
`label` (the first of the check), `implementation`, `reason`, and optionally `output` and `mode`.
An entry that explains nothing is an error.  For one paper: ``pytest -m slow
tests/ledger/test_sabotage.py -k low-rank``; while writing:
``secondorder edition test low-rank 12``.
"""

import functools
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from secondorder import ledger
from harness import sabotage
from secondorder.ledger import Equal, Stated, registry
from secondorder.ledger.registry import REGISTRY
from test_ledger import register, toys  # noqa: F401

EXCEPTIONS = Path(__file__).with_name("sabotage")
ENTRIES = {f"{entry.paper}-{entry.labels[0]}": entry for entry in REGISTRY.select()}


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
    (lambda: twice(X) ** 2, lambda: (X + X) ** 2, [sabotage.SIGN]),
    (lambda: twice(X)[0], lambda: 2.0, [sabotage.LARGEST]),
    (lambda: np.round(twice(X), 1), lambda: X + X, [sabotage.PERCENT]),
    (lambda: twice(X), lambda: twice(X), [sabotage.PERCENT, sabotage.LARGEST, sabotage.SIGN]),
])
def test_each_way_of_being_wrong_is_told(toys, left, right, expected):
    assert {mode for _, mode in gaps(lambda rng: [Equal("a", left(), right(), 1e-12)],
                                     twice)} == set(expected)


def test_one_output_is_enough_unless_the_label_states_others(toys):
    def check(rng):
        return [Equal("a", Pair().both(X)["twice"], X + X, 1e-12)]

    assert gaps(check, Pair.both) == []
    assert gaps(check, Stated(Pair.both, "twice")) == []
    every = [("thrice", sabotage.PERCENT), ("thrice", sabotage.LARGEST), ("thrice", sabotage.SIGN)]
    assert sorted(gaps(check, Stated(Pair.both, "twice", "thrice"))) == sorted(every)
    assert gaps(check, Stated(Pair.both, "four")) == [("four", "not an output, or zero")]
    assert sorted(gaps(check, Pair.both, every=True)) == sorted(every)


def test_properties_closures_and_classes_are_reached(toys):
    assert gaps(lambda rng: [Equal("a", Pair().factor, float("2"), 1e-12)], Pair.factor) == []
    registry.REGISTRY.begin("toy")
    register("1", check=lambda rng: [Equal("a", thrice(X), X + X + X, 1e-12)],
             implements=(Pair.both,))
    entry = registry.REGISTRY.select("toy")[0]
    assert sabotage.fails(entry, thrice, 0, "", sabotage.PERCENT) and thrice(X, power=2)[2] == 48
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
    assert gaps(careless, refuse_negative) == [("", sabotage.NOTHING)]


def test_nested_values_are_made_wrong_as_one_output():
    value = [np.array([1.0, -4.0]), (np.float32(2.0), np.array([4.0]))]
    wrong = sabotage.made_wrong(value, sabotage.LARGEST)
    assert wrong[0].tolist() == [1.0, -4.04] and wrong[1][1].tolist() == [4.04] and wrong[1][0] == 2
    assert type(sabotage.made_wrong(value, sabotage.PERCENT)[1][0]) is np.float32
    assert value[0].tolist() == [1.0, -4.0], "the value itself is left alone"
    assert sabotage.modes_of(np.zeros(3)) == () and sabotage.modes_of("text") == ()
    assert sabotage.made_wrong(True, sabotage.NEGATED) is False
    assert sabotage.made_wrong(3, sabotage.NEXT) == 4


@pytest.mark.parametrize("room", sorted(path.stem for path in EXCEPTIONS.glob("*.toml")))
def test_exceptions_name_what_there_is(room):
    paper = next(paper for paper, module in ledger.PAPERS.items() if f".{room}." in module)
    for entry in sabotage.tomllib.loads((EXCEPTIONS / f"{room}.toml").read_text(encoding="utf-8"))[
        "explained"
    ]:
        assert set(entry) <= {"label", "implementation", "output", "mode",
                              "reason"} and entry["reason"]
        named = REGISTRY.select(paper, entry["label"])[0]
        assert entry["label"] == named.labels[0]
        names = [sabotage.short_name(paper, registry.qualified_name(value))
                 for value in named.implements]
        assert entry["implementation"] in names, f"{entry['label']}: {names}"


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


@functools.cache
def exceptions(paper):
    file = EXCEPTIONS / (ledger.PAPERS[paper].split(".")[-2] + ".toml")
    return file if file.exists() else None


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_wrong_implementations_are_noticed(name, outcomes):
    found, entry = outcomes[name].result(), ENTRIES[name]
    stale = []
    if exceptions(entry.paper):
        found, stale = sabotage.explained(exceptions(entry.paper), found)
    stale = [one for one in stale if one["label"] == entry.labels[0]]
    assert not found, "\n".join(map(str, found))
    assert not stale, f"explains nothing: {stale}"
