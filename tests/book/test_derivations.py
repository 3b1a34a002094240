"""What derivations rest on: what the registrations state, without a circle."""

import re

import pytest

pytest.importorskip("jinja2")

from secondorder.book import graph  # noqa: E402
from secondorder.ledger.registration import Equation  # noqa: E402
from secondorder.ledger.registry import REGISTRY  # noqa: E402

#: Steps that a proof begins with: the hypothesis of an induction, a chain rule.
BEGINNINGS = {"residual-partitioning": [("26", "27")], "ea-cg": [("b-ii",)]}
PAPERS = [paper for paper in REGISTRY.rooms() if paper != "bridges"]


def entry(*labels, uses=()):
    return Equation("low-rank", labels, "a", "x", "identity", "holds", None, (), None, (), (),
                    len, uses=uses)


def diamond():
    """theorem-1 rests on 3 and 1, 3 on 2 and 1, 2 on 1; 4 on the theorem; 5 on nothing."""
    return [entry("1"), entry("2", uses=("1",)), entry("3", "9", uses=("2", "1")),
            entry("theorem-1", uses=("9", "1")), entry("4", uses=("theorem-1",)), entry("5")]


def test_edges_are_what_is_stated_by_first_labels():
    known = graph.edges(diamond())
    assert known == {"1": [], "2": ["1"], "3": ["2", "1"], "theorem-1": ["3", "1"],
                     "4": ["theorem-1"], "5": []}
    assert graph.below("4", known) == ["theorem-1", "3", "1", "2"]


def test_circles_are_refused():
    with pytest.raises(ValueError, match="circle"):
        graph.edges([entry("1", uses=("2",)), entry("2", uses=("3",)), entry("3", uses=("1",))])
    with pytest.raises(ValueError, match="circle"):
        graph.edges([entry("1", "2", uses=("2",))])


@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_every_label_says_what_it_rests_on_or_that_it_stands_alone(paper):
    entries = REGISTRY.select(paper)
    assert [one.labels for one in entries if one.uses is None] == []
    proved = [one.labels for one in entries if one.kind == "proof-step" and not one.uses]
    assert proved == BEGINNINGS.get(paper, [])
    results = [one for one in entries
               if any(re.match("theorem|lemma|proposition|algorithm", label)
                      for label in one.labels)]
    assert all(one.uses for one in results)


def test_what_the_papers_prove_stands_where_they_prove_it():
    """A few steps of every paper, read from its text."""
    steps = {paper: graph.edges(REGISTRY.select(paper)) for paper in PAPERS}
    assert {"25", "26", "28", "34", "19"} <= set(graph.below("10", steps["residual-partitioning"]))
    assert "10" not in graph.below("25", steps["residual-partitioning"])
    assert {"26", "28", "30", "31", "32"} <= set(
        graph.below("theorem-4.3", steps["reversible-gauss-newton"]))
    assert "43" in graph.below("proposition-4.4", steps["reversible-gauss-newton"])
    assert graph.below("9", steps["low-rank"]) == ["8"]
    assert {"15", "16", "17"} <= set(graph.below("7", steps["ea-cg"]))
