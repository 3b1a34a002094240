"""What holds for the equations of every paper: live cases, code from the package, a page."""

import importlib
from pathlib import Path

import pytest

import secondorder as so
from harness import ledger_runs
from secondorder.ledger import registry

ROOMS = [importlib.import_module(registry.REGISTRY.papers[paper].rpartition(".")[0])
         for paper in registry.REGISTRY.rooms()]
every_room = pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.PAPER)


@every_room
def test_every_label_shows_a_live_case(room):
    for result in ledger_runs.results(room.PAPER):
        live = [claim for claim in result.claims if isinstance(claim, so.ledger.Case)]
        assert live and all(claim.arrays for claim in live), (
            f"{result.labels}: the check returns no `Case(name=array, ...)`, which the page shows")


@every_room
def test_implementations_are_in_the_package_and_not_in_the_checks(room):
    for entry in registry.REGISTRY.select(room.PAPER):
        for value in entry.implements:
            name = registry.qualified_name(value)
            assert name.startswith("secondorder.") and ".equations" not in name, (
                f"{entry.labels}: {name}")


@every_room
def test_page_is_up_to_date(room):
    page = Path(room.__file__).with_name("EQUATIONS.md")
    command = f"python -m secondorder verify {room.PAPER} --markdown --write"
    assert page.exists(), f"{page.name} is missing; make it with: {command}"
    with ledger_runs.shared():
        made = so.ledger.markdown(room.PAPER)
    assert page.read_text(encoding="utf-8") == made, (
        f"{page.name} is out of date; make it with: {command}")
