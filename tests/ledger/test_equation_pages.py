"""What holds for the equations of every paper: live cases, code from the package, speed, a page."""

import functools
import time
from pathlib import Path

import pytest

import secondorder as so
from secondorder import eacg, low_rank, residual_partitioning, reversible_gauss_newton
from secondorder.ledger import registry

SECONDS = {residual_partitioning: 20, low_rank: 15, eacg: 15, reversible_gauss_newton: 20}
every_room = pytest.mark.parametrize("room", SECONDS, ids=lambda room: room.PAPER)


@functools.cache
def timed(paper):
    """Results of all checks, and the processor's seconds: others may use the machine too."""
    began = time.process_time()
    return so.verify.run(paper), time.process_time() - began


def results(paper):
    return timed(paper)[0]


@every_room
def test_every_label_shows_a_live_case(room):
    for result in results(room.PAPER):
        live = [claim for claim in result.claims if isinstance(claim, so.ledger.Case)]
        assert live and all(claim.arrays for claim in live), result.labels


@every_room
def test_implementations_are_in_the_package_and_not_in_the_checks(room):
    for entry in registry.REGISTRY.select(room.PAPER):
        for value in entry.implements:
            name = registry.qualified_name(value)
            assert name.startswith("secondorder.") and ".equations" not in name, (
                f"{entry.labels}: {name}")


@every_room
def test_whole_paper_is_quick(room):
    assert timed(room.PAPER)[1] < SECONDS[room]


@every_room
def test_page_is_up_to_date(room):
    page = Path(room.__file__).with_name("EQUATIONS.md")
    command = f"python -m secondorder verify {room.PAPER} --markdown --write"
    assert page.exists(), f"{page.name} is missing; make it with: {command}"
    assert page.read_text(encoding="utf-8") == so.ledger.markdown(room.PAPER), (
        f"{page.name} is out of date; make it with: {command}")
