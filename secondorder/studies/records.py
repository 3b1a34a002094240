"""Recorded results: what stands in ``data/results/`` and is shown by ``secondorder claims``."""

import hashlib
import importlib.resources
import re
from pathlib import Path

from .. import files
from . import results
from .registry import STUDIES
from .running import duration
from .verdicts import KINDS

LARGEST_RUNS = 300_000  # bytes of the packed runs of a study; larger ones are not kept


def folder():
    """The folder of recorded results: of the checkout that this file is in, else the installed
    one.
    """
    top = Path(__file__).resolve().parents[2]
    if (top / "pyproject.toml").is_file():
        return top / "data" / "results"
    return Path(str(importlib.resources.files("secondorder.data"))) / "results"


def recorded(paper, key):
    """The recorded result of a study, or None."""
    path = folder() / paper / f"{key}.json"
    if not path.is_file():
        return None
    what, remedy = "a record of a study", "take it from the package again, or remove it"
    record = files.read_json(path, what, remedy)
    with files.damage_told(path, what, remedy):
        for claim in record["claims"]:
            claim["letter"], claim["verdict"]
    return record


def criterion(paper, key):
    """A digest of what a paper's ``studies/criteria.md`` says of a study, "" where it says nothing.

    A record keeps it: who changes a criterion later is asked to judge and to record again.
    """
    told = re.search(rf"^### {re.escape(key)}\n(.*?)(?=^##|\Z)", _criteria(paper),
                     re.MULTILINE | re.DOTALL)
    return hashlib.sha256(" ".join(told[1].split()).encode()).hexdigest()[:16] if told else ""


def changed_untold(paper, key):
    """Whether a study's criterion is another one than at its record, and no line on its changes was
    added to ``criteria.md``.
    """
    record = recorded(paper, key)
    if record is None or record.get("criterion", "") in ("", criterion(paper, key)):
        return False
    return lines_of_changes(paper, key) <= record.get("changes", 0)


def lines_of_changes(paper, key):
    """How many lines of ``criteria.md`` under "Judges changed after a run" begin with the key of a
    study, alone or beside others.
    """
    lines = _criteria(paper).partition("\n## Judges changed after a run\n")[2].splitlines()
    return sum(bool(re.match(rf"- [^:]*(?<![\w-]){re.escape(key)}(?![\w-])", line))
               for line in lines)


def _criteria(paper):
    """The text of a paper's ``studies/criteria.md``, "" where there is none."""
    room = STUDIES.papers[paper].rpartition(".")[0]
    path = importlib.resources.files(f"{room}.studies") / "criteria.md"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def changes(record):
    """A line a claim whose recorded verdict would be another one by this record."""
    earlier = recorded(record["paper"], record["key"]) or {"claims": []}
    before = {one["letter"]: one["verdict"] for one in earlier["claims"]}
    return [f"({one['letter']}) was {before[one['letter']]!r}, is {one['verdict']!r}"
            for one in record["claims"]
            if before.get(one["letter"], one["verdict"]) != one["verdict"]]


def picture(paper, key):
    """Path of the recorded figure, or None."""
    path = folder() / paper / f"{key}.png"
    return path if path.is_file() else None


def runs(study):
    """The recorded runs that a study can take, name -> run: its own, and those of the paper's other
    studies that leave nothing out of their packed runs, or the same.
    """
    known, studies = {}, STUDIES.of(study.paper)
    for path in sorted((folder() / study.paper).glob("*.runs.json.gz")):
        key = path.name.partition(".")[0]
        if key == study.key:
            known |= results.read_all(path)
        elif key in studies and studies[key].leaves_out in (None, study.leaves_out):
            known = results.read_all(path) | known
    return known


def keep(out, record):
    """Copy a result and its figure to the recorded ones, and its runs if they are small."""
    place = folder() / record["paper"]
    place.mkdir(parents=True, exist_ok=True)
    files.write_json(place / f"{record['key']}.json",
                     {**record, "criterion": criterion(record["paper"], record["key"]),
                      "changes": lines_of_changes(record["paper"], record["key"])})
    files.write_bytes(place / f"{record['key']}.png", (Path(out) / record["figure"]).read_bytes())
    packed = (Path(out) / f"{record['key']}.runs.json.gz").read_bytes()
    destination = place / f"{record['key']}.runs.json.gz"
    if len(packed) > LARGEST_RUNS:
        destination.unlink(missing_ok=True)  # those of an earlier record
    else:
        files.write_bytes(destination, packed)


def seconds(study):
    """Of one core for the full setting: as recorded, else as estimated before any run."""
    record = recorded(study.paper, study.key)
    if record is None:
        return study.seconds[0]
    return record["run_seconds"] + record.get("rest", {}).get("seconds", 0)


def lacking(record):
    """What a record of fewer seeds than the full setting's says of the rest, or ""."""
    rest = (record or {}).get("rest")
    if not rest or not rest["runs"]:
        return ""
    return (f"{len(record['settings']['seeds'])} of {rest['seeds']} seeds run; {rest['runs']} runs "
            f"remain (about {duration(rest['seconds'])} on one core)")


def rows(paper=None, keys=()):
    """One dictionary a claim, of all studies or of those with these keys; `verdict` is "not run"
    where nothing is recorded.
    """
    table = []
    for study in STUDIES.select(paper, keys):
        record = recorded(study.paper, study.key)
        told = {one["letter"]: one for one in record["claims"]} if record else {}
        for letter, text in study.claims.items():
            one = told.get(letter, {})
            table.append({"paper": study.paper, "key": study.key, "claim": letter,
                          "statement": text, "verdict": one.get("verdict", "not run"),
                          "effect": one.get("effect"), "spread": one.get("spread"),
                          "seeds": one.get("seeds", 0), "measure": one.get("measure", ""),
                          "because": one.get("because", ""),
                          "ours": letter in study.ours, "twice": study.twice.get(letter, ""),
                          "deviation": record["deviation"] if record else study.deviation})
    return table


def counts(paper):
    """Verdict -> number of claims of a paper; those that repeat the numbers of another one, and
    those that are not the paper's, are counted apart, under "twice" and "ours".
    """
    told = rows(paper)
    kinds = [row["verdict"] for row in told if not row["ours"] and not row["twice"]]
    return {kind: kinds.count(kind) for kind in (*KINDS, "not run")} | {
        "ours": sum(row["ours"] for row in told), "twice": sum(bool(row["twice"]) for row in told)}


HEADINGS = {"ours": "controls of ours", "twice": "the same numbers again"}


def counts_by_paper():
    """A table for the README: claims of every paper by verdict."""
    papers = [paper for paper in STUDIES.papers if STUDIES.of(paper)]
    names = [HEADINGS.get(name, name) for name in counts(papers[0])]
    lines = ["| " + " | ".join(["paper", *names]) + " |",
             "| " + " | ".join(["---"] * (1 + len(names))) + " |"]
    for paper in papers:
        lines.append(f"| {paper} | " + " | ".join(map(str, counts(paper).values())) + " |")
    return "\n".join(lines)
