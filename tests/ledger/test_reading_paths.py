"""Reading paths: stations that exist, in an order in which nothing is used before it is read."""

import pytest

from secondorder.cli import main
from secondorder.ledger.pages import reading_path
from secondorder.ledger.registry import REGISTRY
from secondorder.studies import STUDIES

PAPERS = [paper for paper in REGISTRY.rooms() if reading_path.stations(paper)]


@pytest.mark.parametrize("paper", PAPERS)
def test_the_stations_of_a_path_exist(paper):
    stops = reading_path.stations(paper)
    assert stops and {stop.at for stop in stops} <= {*REGISTRY.labels(paper), *STUDIES.of(paper)}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_path_goes_from_what_is_used_to_what_uses_it(paper):
    from secondorder.book import graph

    entries = REGISTRY.select(paper)
    first = {label: entry.labels[0] for entry in entries for label in entry.labels}
    known = graph.edges(entries)
    stops = [first[stop.at] for stop in reading_path.stations(paper) if stop.at in first]
    early = [(before, after) for k, before in enumerate(stops) for after in stops[k + 1:]
             if after in graph.below(before, known)]
    assert early == []


def test_the_terminal_shows_a_path(capsys):
    assert main(["show", "EA-CG", "--path"]) == 0
    shown = capsys.readouterr().out
    assert "10 stations" in shown and "(4b)" in shown and "pos-eig" in shown
    assert max(map(len, shown.splitlines())) <= 80
    total = sum(stop.minutes for stop in reading_path.stations("ea-cg"))
    assert f"{total} minutes" in shown


@pytest.mark.parametrize("words, expected", [
    (["--path"], "goes with PAPER"), (["bridges", "--path"], "has no reading path")])
def test_what_has_no_path_is_refused(words, expected, capsys):
    assert main(["show", *words]) != 0
    assert expected in " ".join(capsys.readouterr().err.split())
