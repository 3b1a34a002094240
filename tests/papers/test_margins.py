"""What comes near to failing in the first seeds stands in `MARGINS.md`, with the reason."""

import pytest

from harness import ledger_runs, margins
from secondorder.ledger import Counterexample, Equal
from secondorder.ledger.registry import REGISTRY

TEXT = margins.PAGE.read_text(encoding="utf-8")
PAPERS = REGISTRY.rooms()


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("seed", ledger_runs.SEEDS)
def test_what_is_near_is_listed(paper, seed):
    table = margins.rows(TEXT, paper)
    missing = [margins.row(label, what, ratio, f"{kind}, seed {seed}") for label, what, kind, ratio
               in margins.near(ledger_runs.results(paper, seed))
               if not margins.listed(label, what, table)]
    assert not missing, "\n".join([f"a row each, under `## {paper}` of MARGINS.md:", *missing])


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_has_a_reason_and_names_a_claim_of_the_paper(paper):
    claims = [(result.labels[0], claim.what) for result in ledger_runs.results(paper)
              for claim in result.claims if margins.margin(claim)]
    for row in margins.rows(TEXT, paper):
        label, claim, ratio, why = row
        assert len(why.split()) > 3 and 1 / 30 < float(ratio) < 1, row
        assert any(margins.listed(*one, [row]) for one in claims), row


def test_near_is_above_a_third_or_within_thirty():
    (kind, ratio), = {margins.margin(Equal("a", [1.0], [1.0 + 4e-3], 1e-2, scale=1.0))}
    assert kind == "tolerance" and ratio == pytest.approx(0.4)
    kind, ratio = margins.margin(Counterexample(Equal("a", [1.0], [3.0], 1e-2, scale=1.0)))
    assert kind == "must fail" and ratio == pytest.approx(10 * 1e-2 / 2)
    table = margins.rows("## a\n\n| l | c | r | w |\n| - | - | - | - |\n"
                         + margins.row("3", "|x| of the * layer", 0.4, "w") + "\n## b\n", "a")
    assert table == [("3", "|x| of the * layer", "0.4", "w")]
    assert margins.rows("## b\n", "b") == margins.rows("## b\n", "a") == []
    assert margins.listed("3", "|x| of the (first) layer", table)
    assert not margins.listed("4", "|x| of the first layer", table)
    assert not margins.listed("3", "|x| of the first", table)
