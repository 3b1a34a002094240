"""Every claim has its criterion in its paper's criteria.md, and no claim that does not exist."""

import re
from importlib.resources import files

import pytest

from secondorder.studies import records
from secondorder.studies.registry import STUDIES

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
PAPERS = [paper for paper in STUDIES.papers if STUDIES.of(paper)]


def text_of(paper):
    room = STUDIES.papers[paper].rpartition(".")[0]
    return (files(f"{room}.studies") / "criteria.md").read_text(encoding="utf-8")


def part(text, title):
    """The text of a section of the second level."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"no section {title!r}"
    return found.group(1)


def criteria(text):
    """Key -> letters that stand bold and in brackets below its heading."""
    _, *studies = re.split(r"^### ", part(text, "Criteria"), flags=re.MULTILINE)
    told = {}
    for one in studies:
        key, _, body = one.partition("\n")
        assert key not in told, f"{key} twice"
        told[key] = [letter for bold in re.findall(r"\*\*(\(.+?\))\*\*", body)
                     for letter in re.findall(r"\(([^()]+)\)", bold)]
    return told


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_has_one_criterion(paper):
    """In the order of the studies."""
    told = [(key, sorted(letters)) for key, letters in criteria(text_of(paper)).items()]
    assert told == [(key, sorted(study.claims)) for key, study in STUDIES.of(paper).items()]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_study_says_how_it_differs_from_the_plan(paper):
    _, *studies = re.split(r"^### ", part(text_of(paper), "Criteria"), flags=re.MULTILINE)
    assert [one.partition("\n")[0] for one in studies
            if one.count("iffers from the plan:") != 1] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_a_criterion_is_older_than_its_records(paper):
    """By its date in the table, of 2026 unless it names a year. What was changed later stands among
    the judges changed.
    """
    def first(cell):
        day, month, year, hour, minute = re.search(
            r"(\d+) (\w{3})(?: (\d{4}))? (\d+):(\d+)", cell).groups()
        return int(year or 2026), MONTHS.index(month), int(day), int(hour), int(minute)

    rows = re.findall(r"^\| ([\w-]+) \| (\d.*?) \| (.*?) \|$", part(text_of(paper),
                      "Order of things"), re.MULTILINE)
    assert [key for key, *_ in rows] == list(STUDIES.of(paper))
    assert [key for key, set_at, run_at in rows if first(set_at) > first(run_at)] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_a_record_was_judged_by_the_criterion_that_stands(paper):
    other = [key for key in STUDIES.of(paper) if records.recorded(paper, key)["criterion"]
             != records.criterion(paper, key)]
    assert other == [], ("tell the change under 'Judges changed after a run', then: secondorder "
                         "reproduce PAPER KEY --recorded --resume --record")
    assert all(len(records.criterion(paper, key)) == 16 for key in STUDIES.of(paper))


def test_a_criterion_that_is_changed_is_noticed(tmp_path, monkeypatch):
    """In its own text, not in that of another study; the breaks of lines do not count."""
    def read(text):
        (tmp_path / "criteria.md").write_text(text)
        return records.criterion("low-rank", "figure-1")

    monkeypatch.setattr(records.importlib.resources, "files", lambda room: tmp_path)
    other = "\n### figure-2\n- **(a)** Above.\n"
    before = read(f"### figure-1\n- **(a)** Below 0.01.\n{other}## Order of things\n")
    assert before == read("### figure-1\n- **(a)** Below\n  0.01.\n\n### figure-2\n- None.\n")
    assert before != read(f"### figure-1\n- **(a)** Below 0.02.\n{other}")
    assert len(before) == 16 and read(other) == ""


@pytest.mark.parametrize("paper", PAPERS)
def test_judges_that_were_changed_are_judges_that_exist(paper):
    """A section with none says "None."."""
    changed = part(text_of(paper), "Judges changed after a run")
    keys = set(re.findall(r"\b((?:claim|figure|table)-[\w-]+)", changed))
    keys |= set(re.findall(r"^- ([a-z][\w-]+): ", changed, re.MULTILINE))
    assert (keys or changed.strip() == "None.") and keys <= set(STUDIES.of(paper))
    for key, letters in re.findall(r"^- ([\w-]+) \(([^)]+)\)", changed, re.MULTILINE):
        assert set(letters.split(", ")) <= set(STUDIES.of(paper)[key].claims), key
