"""A room is whole: tests, mutations, records, pages, and formulas that the paper's text has."""

import dataclasses
import subprocess

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
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        (tmp_path / name).write_text("")
    (tmp_path / "secondorder").symlink_to(rooms.ROOT / "secondorder")
    return tmp_path


@pytest.mark.parametrize("words", [
    r"tests/papers/low_rank/: no test; every formula", "packages lacks secondorder.papers.low_rank",
    "tests/mutations/low_rank.toml: no entry for secondorder/papers/low_rank/steps.py",
    "displays.toml: the formula of 39 is not compared",
    "test_verify_optimizers.py: RIGHT, the table of methods that the checker passes, lacks Cubic",
    f"README.md: its first sentence does not speak of {rooms.NUMBERS[len(rooms.folders())]} papers",
    "README.md: the table of papers has no link (secondorder/papers/low_rank/EQUATIONS.md)",
    "README.md: the table of curvatures does not name CubicRegularization",
    "CHANGELOG.md: no line names low-rank",
    "tests/mutations/low_rank.toml: no entry for secondorder/papers/low_rank/optimizer.py",
    "README.md: no link to secondorder/papers/low_rank/studies/criteria.md",
    "CONTRIBUTING.md: which method takes which layer; run `secondorder verify low-rank --markdown"])
def test_what_is_missing_is_named(bare, words):
    assert any(words in sentence for sentence in rooms.lacks("low-rank", bare))


def test_a_letter_that_no_table_explains_is_named(monkeypatch):
    true = rooms.symbols.table
    monkeypatch.setattr(rooms.symbols, "table",
                        lambda paper: [row for row in true(paper) if row[0] != "tau"])
    told = [one for one in rooms.lacks("low-rank") if "table of symbols" in one]
    assert len(told) == 7 and all("has no row for τ of" in one for one in told)


@pytest.mark.parametrize("formula, letters", [
    (r"\text{Vec}(B) = e^{\delta x} \mathbf{e}_r", "Bδxer"),
    (r"\mathbb{E}_i[\mathbf{h}_i^{(t-1)T}] + E[f] = O(n) \tag{3a}", "ihtfn"),
    (r"\begin{array}{lcr} S^{T+} \ddot{Y}^{T} \ell \end{array}", "SYℓ")])
def test_letters_of_a_formula_are_those_that_want_a_row(formula, letters):
    assert rooms.symbols.letters_in(rooms.GENERAL.sub(" ", formula)) == set(letters)


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


@pytest.mark.parametrize("text, named", [("RIGHT = {'cubic': CubicRegularization}\n", False),
                                         ("RIGHT = {}\ndef test_it():\n    'CubicRegularization'\n",
                                          True)])
def test_a_method_stands_in_the_table_of_the_checker(bare, text, named):
    (bare / "tests" / "verify" / "test_verify_optimizers.py").write_text(text)
    assert named == any("RIGHT, the table of methods" in one
                        for one in rooms.lacks("low-rank", bare))


def test_every_file_with_formulas_wants_a_mutation(bare):
    """Though others of the room have one."""
    (bare / "tests" / "mutations" / "one.toml").write_text(
        '[[mutation]]\nfile = "secondorder/papers/low_rank/steps.py"\n')
    wanted = {sentence.split()[4].strip(",") for sentence in rooms.lacks("low-rank", bare)
              if sentence.startswith("tests/mutations/")}
    assert wanted >= {f"secondorder/papers/low_rank/{name}.py" for name in (
        "optimizer", "factors", "first_derivatives")}
    assert not [file for file in wanted if "steps" in file or "studies" in file
                or "equations" in file]


@pytest.mark.parametrize("wanted, change, words", [
    (lambda one: one.conditions, lambda one: {"conditions": ("one sample",)},
     "the condition of {} ends without a full stop: 'one sample'"),
    (lambda one: one.corrected, lambda one: {"corrected": rf"\;\, {one.formula}"},
     "the corrected form of {} says what its formula says"),
    (lambda one: one.labels == ("8",), lambda one: {"ours": True},
     "the formula of {} is said to be ours, and bears the paper's number")])
def test_what_is_wrong_with_an_entry_is_named(wanted, change, words, monkeypatch):
    entry = next(one for one in rooms.REGISTRY.select("low-rank") if wanted(one))
    monkeypatch.setattr(rooms.REGISTRY, "select", lambda paper: [
        dataclasses.replace(entry, **change(entry))])
    assert any(words.format(entry.labels[0]) in told for told in rooms.lacks("low-rank"))


def test_a_criterion_in_words_that_are_not_plain_is_named(bare):
    (bare / "secondorder").unlink()
    page = bare / "secondorder" / "papers" / "low_rank" / "studies" / "criteria.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Criteria\n\n- The loss is below that of SGD by .5.\n")
    told = [one for one in rooms.lacks("low-rank", bare) if "not in plain words" in one]
    assert len(told) >= 2 and all("criteria.md" in one for one in told)


def test_an_equation_that_cannot_be_registered_is_told(monkeypatch):
    def refused(paper):
        raise ValueError("[low-rank] 1: `corrected` is `formula`")

    monkeypatch.setattr(rooms.REGISTRY, "select", refused)
    with pytest.raises(SystemExit, match="low-rank cannot be registered: .*`corrected` is"):
        rooms.asked(["low-rank"])


def test_the_tests_of_a_room_are_run_where_asked(monkeypatch, capsys):
    """Everyday, mutations, sabotage, recorded runs, each told; one that fails is not lost."""
    ran = []

    def run(command, cwd):
        ran.append(" ".join(command[3:]))
        return subprocess.CompletedProcess(command, int("sabotage" in ran[-1]))

    monkeypatch.setattr(rooms.subprocess, "run", run)
    assert rooms.main(["ea-cg"]) == 0 and not ran
    assert rooms.main(["ea-cg", "--test"]) == 1
    assert ran[0].startswith("-q tests/papers tests/mutations tests/ledger")
    assert ran[1:] == ["-q -m slow tests/mutations/test_mutations.py -k eacg",
                       "-q -m slow tests/ledger/test_sabotage.py -k ea-cg-",
                       "-q -m slow tests/studies/test_recorded_runs.py -k ea-cg",
                       "-q -m not slow tests/studies/test_studies_commands.py -k "
                       "judged_as_recorded and ea-cg-"]
    assert capsys.readouterr().out.count("python -m pytest -q") == 5


def test_the_folders_and_files_of_these_tests_are_there():
    for command in rooms.tests("low-rank"):
        for word in command:
            assert not word.startswith("tests/") or (rooms.ROOT / word).exists(), word


@pytest.mark.thorough
def test_a_paper_without_a_title_is_named(monkeypatch):
    monkeypatch.setattr(rooms, "TITLES", {})
    assert any("TITLES has no title" in sentence for sentence in rooms.lacks("low-rank"))
