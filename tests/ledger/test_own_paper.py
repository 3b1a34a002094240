"""A paper of one's own: registered outside the package, executed, shown, documented."""


import pytest

from secondorder import ledger
from secondorder.ledger import Equal, VerificationError

@pytest.fixture
def mine():
    """A paper that is forgotten after the test."""
    paper = ledger.paper("own-toy", "On toys", symbols={"x": "`x`, a number"})
    yield paper
    paper.forget()


def triple(x):
    """t(x) = x + x + x, Eq. (1)."""
    return x + x + x


def register_one(paper, label="1"):
    @paper.equation(label, statement="Three times a number.", formula="3 x = x + x + x",
                    kind="identity", verdict="holds", implements=triple)
    def check(rng):
        x = rng.normal(size=4)
        return [Equal("three times", triple(x), 3 * x, 1e-12)]
    return check


def test_own_paper_is_run_shown_and_documented(mine):
    register_one(mine)
    result, = mine.run()
    assert result.ok and result.paper == "own-toy"
    assert ledger.run("own_toy", "(1)")[0].ok and ledger.run("On toys", 1)[0].ok
    assert "return x + x + x" in mine.show("1") and "3x = x + x + x" in mine.show("1")
    page = mine.markdown()
    assert page.startswith("# own-toy: every equation, executed\n\n1 check of 1 label: 1 holds.")
    assert "| x |" in page and "[`triple`](test_own_paper.py#L" in page.replace(
        "test_own_paper.triple", "triple")
    assert ledger.summary([result]).startswith("1 check of 1 label: 1 holds; 0 failed")


def test_registering_again_begins_anew(mine):
    register_one(mine)
    with pytest.raises(VerificationError, match="already registered"):
        register_one(mine)
    again = ledger.paper("own-toy")
    register_one(again)
    assert len(again.run()) == 1


@pytest.mark.parametrize("key, expected", [
    ("ea-cg", "one of the package's own"), ("my paper", "letters, digits")])
def test_bad_papers_are_refused(key, expected):
    with pytest.raises(VerificationError, match=expected):
        ledger.paper(key)
