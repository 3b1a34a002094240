"""Malformed calls of everything that is public: the right kind of error, with the argument's name
in it.

Each public callable is called with each bad value in the place of the good one; the tables stand in
`malformed_calls.py`. A public callable, or an argument, that is in none of them fails a test;
records (dataclasses, named tuples) and exceptions need no row.
"""

import dataclasses
import inspect
import re
from pathlib import Path

import pytest
from harness.everyday import all_but
from harness.malformed_calls import ANYTHING, BAD, CALLS, ELSEWHERE, OWN

import secondorder as so

TESTS = Path(__file__).parents[1]
TEXT_OF_A_PLOT = "label"  # elsewhere it is the label of an equation
HOW = (
    'add to tests/harness/malformed_calls.py a line in CALLS: "{0}": {{its arguments in a call '
    'that works}}, and in OWN, "{0}.argument": [(bad value, error)], for arguments whose '
    "names BAD does not know (or in ANYTHING, with the reason)"
)


def public():
    """Every public callable of the package as (room.name, object); what is public in two rooms
    counts once."""
    found, seen = {}, set()
    for room in so._ROOMS:
        module = getattr(so, room)
        for name in getattr(module, "__all__", None) or [name for name in vars(module)
                                                         if name[0] != "_"]:
            thing = getattr(module, name)
            record = inspect.isclass(thing) and (issubclass(thing, (tuple, BaseException))
                                                 or dataclasses.is_dataclass(thing))
            ours = getattr(thing, "__module__", "").startswith("secondorder")
            if callable(thing) and ours and not record and id(thing) not in seen:
                seen.add(id(thing))
                found[f"{room}.{name}"] = thing
    return found


def resolve(name):
    thing = so
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def arguments(thing):
    """Names of the arguments of a callable, or none where Python cannot tell."""
    try:
        return [p.name for p in inspect.signature(thing).parameters.values()
                if p.kind is not p.VAR_POSITIONAL]
    except ValueError:
        return []


def bad(name, argument):
    """The values that a callable must refuse under the name of an argument."""
    if name.startswith("plots.") and argument == TEXT_OF_A_PLOT:
        return []
    return OWN.get(f"{name}.{argument}", BAD.get(argument, []))


def rows():
    """Everything that is tried: name, argument, bad value, error, words."""
    for name in CALLS:
        for argument in arguments(resolve(name)):
            for position, (value, error, *words) in enumerate(bad(name, argument)):
                yield pytest.param(name, argument, value, error, *(words or [argument]),
                                   id=f"{name}-{argument}-{position}")


@pytest.mark.parametrize("name", sorted(public()))
def test_every_public_callable_has_rows(name):
    takes_nothing = not arguments(public()[name])
    assert name in CALLS or name in ELSEWHERE or takes_nothing, \
        f"{name} has no row: " + HOW.format(name)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_every_argument_has_rows(name):
    missing = [argument for argument in arguments(resolve(name))
               if not bad(name, argument) and argument not in ANYTHING]
    assert not missing, f"{name}: no rows for {', '.join(missing)}: " + HOW.format(name)


def good(name):
    given = CALLS[name]
    return dict(given() if callable(given) else given)


@pytest.mark.parametrize("name", all_but(sorted(CALLS), "ledger.markdown"))
def test_the_good_call_works(name):
    resolve(name)(**good(name))


@pytest.mark.everyday(900)
@pytest.mark.parametrize("name, argument, value, error, words", list(rows()))
def test_malformed_call(name, argument, value, error, words):
    with pytest.raises(error, match=words or None) as caught:
        resolve(name)(**good(name) | {argument: value})
    assert len(str(caught.value)) < 1000


def test_a_new_public_function_without_rows_is_noticed(monkeypatch):
    def fresh(network):
        return network

    fresh.__module__ = "secondorder.exact"
    monkeypatch.setattr(so.exact, "fresh", fresh, raising=False)
    monkeypatch.setattr(so.exact, "__all__", [*so.exact.__all__, "fresh"], raising=False)
    assert "exact.fresh" in public()
    with pytest.raises(AssertionError, match="exact.fresh has no row: add"):
        test_every_public_callable_has_rows("exact.fresh")


def test_tables_are_about_what_exists():
    known = public()
    assert not [name for name in ELSEWHERE if name not in known
                and not hasattr(resolve(name.rpartition(".")[0]), name.rpartition(".")[2])]
    for name in OWN:
        call, _, argument = name.rpartition(".")
        assert call in CALLS and argument in arguments(resolve(call)), name
    for file, test in re.findall(r"(test_\w+\.py)::(\w+)", " ".join(ELSEWHERE.values())):
        assert f"def {test}(" in next(TESTS.rglob(file)).read_text(encoding="utf-8")
