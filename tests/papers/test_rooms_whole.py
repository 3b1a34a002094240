"""A room is whole: tests, mutations, records, pages, and formulas that the paper's text has."""

import pytest

from harness import rooms
from secondorder.ledger import registry
from secondorder.ledger.registry import REGISTRY

PAPERS = REGISTRY.rooms()


@pytest.mark.parametrize("paper", PAPERS)
def test_a_room_lacks_nothing(paper):
    assert not rooms.lacks(paper), "\n".join([f"{paper} lacks:", *rooms.lacks(paper)])


def test_every_room_is_known_under_a_key():
    folders = {path.parent.name for path in (rooms.ROOT / "secondorder" / "papers").glob(
        "*/__init__.py")}
    assert folders == {module.split(".")[2] for module in registry.PAPERS.values()}, (
        "PAPERS of secondorder/ledger/registry.py")


@pytest.mark.parametrize("arguments", [["no-such-paper"], []])
def test_who_asks_for_a_paper_that_is_not_known_is_told_where_to_begin(arguments):
    with pytest.raises(SystemExit, match="begins with its key .* in PAPERS of"):
        rooms.asked(arguments)
    assert rooms.asked(["low rank"]) == "low-rank"


@pytest.fixture
def bare(tmp_path):
    """A project in which nothing was written for any room, but for the package itself."""
    (tmp_path / "tests" / "mutations").mkdir(parents=True)
    (tmp_path / "tests" / "papers" / "low_rank").mkdir(parents=True)
    (tmp_path / "tests" / "verify").mkdir()
    (tmp_path / "tests" / "verify" / "test_verify_optimizers.py").write_text("")
    (tmp_path / "tests" / "papers" / "displays.toml").write_text("[digests]\n[explained]\n")
    (tmp_path / "pyproject.toml").write_text("[tool.setuptools]\npackages = []\n")
    (tmp_path / "README.md").write_text("")
    (tmp_path / "CONTRIBUTING.md").write_text("<!-- letters -->\nnone\n<!-- end -->\n")
    (tmp_path / "secondorder").symlink_to(rooms.ROOT / "secondorder")
    return tmp_path


@pytest.mark.parametrize("words", [
    r"tests/papers/low_rank/: no test; every formula", "packages lacks secondorder.papers.low_rank",
    "tests/mutations/low_rank.toml: no entry for secondorder/papers/low_rank/steps.py",
    "displays.toml: the formula of 39 is not compared", "no test puts CubicRegularization before",
    "tests/mutations/low_rank.toml: no entry for secondorder/papers/low_rank/optimizer.py",
    "README.md: no link to secondorder/papers/low_rank/studies/criteria.md",
    "CONTRIBUTING.md: the list of letters"])
def test_what_is_missing_is_named(bare, words):
    assert any(words in sentence for sentence in rooms.lacks("low-rank", bare))


def test_a_study_without_a_record_is_named(monkeypatch):
    monkeypatch.setattr(rooms.records, "recorded", lambda paper, key: None)
    assert any("data/results/low-rank/figure-2.json: not recorded" in sentence
               for sentence in rooms.lacks("low-rank"))


def test_a_claim_that_the_record_does_not_judge_is_named(monkeypatch):
    true = rooms.records.recorded

    def one_renamed(paper, key):
        record = true(paper, key)
        record["claims"][0]["letter"] = "other"
        return record

    monkeypatch.setattr(rooms.records, "recorded", one_renamed)
    told = [sentence for sentence in rooms.lacks("low-rank") if "figure-2.json" in sentence]
    assert [sentence.partition("; ")[0].partition(": ")[2] for sentence in told] == [
        "claim a-exact is not judged", "claim other is none of the study"]


def test_a_criterion_that_was_changed_after_the_record_is_named(monkeypatch):
    monkeypatch.setattr(rooms.records, "criterion", lambda paper, key: "another")
    told = [one for one in rooms.lacks("low-rank") if "criteria.md was changed after it" in one]
    assert len(told) == len(rooms.STUDIES.of("low-rank"))


@pytest.mark.parametrize("bullets", ["", "- one\n- two"])
def test_a_page_that_does_not_open_with_its_bullets_is_named(bullets, monkeypatch):
    monkeypatch.setattr(rooms, "summary", lambda paper: bullets)
    assert any("in_short.md: it wants 5 bullets" in one for one in rooms.lacks("low-rank"))


@pytest.mark.parametrize("test, named", [("verify.optimizer(CubicRegularization)", False),
                                         ("CubicRegularization", True)])
def test_a_method_is_put_before_the_checker(bare, test, named):
    path = bare / "tests" / "papers" / "low_rank" / "test_it.py"
    path.write_text(f"def test_it():\n    {test}\n")
    told = any("no test puts CubicRegularization" in one for one in rooms.lacks("low-rank", bare))
    assert told == named


@pytest.mark.thorough
def test_a_paper_without_a_title_is_named(monkeypatch):
    monkeypatch.setattr(rooms, "TITLES", {})
    assert any("TITLES has no title" in sentence for sentence in rooms.lacks("low-rank"))
