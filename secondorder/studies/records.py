"""Recorded results: what stands in ``data/results/`` and is shown by ``secondorder claims``."""

import importlib.resources
from dataclasses import asdict
from pathlib import Path

from .. import files
from . import results
from .registry import STUDIES
from .verdicts import KINDS, undecided

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


def picture(paper, key):
    """Path of the recorded figure, or None."""
    path = folder() / paper / f"{key}.png"
    return path if path.is_file() else None


def runs(study):
    """The recorded runs of a study, name -> run; none where they were too large to keep."""
    path = folder() / study.paper / f"{study.key}.runs.json.gz"
    return results.read_all(path) if path.is_file() else {}


def keep(out, record):
    """Copy a result and its figure to the recorded ones, and its runs if they are small."""
    place = files.output_directory(folder() / record["paper"])
    files.write_json(place / f"{record['key']}.json", record)
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
    return study.seconds[0] if record is None else record["run_seconds"]


def rows(paper=None, keys=()):
    """One dictionary a claim and finding, of all studies or of those with these keys.

    Returns
    -------
    list of dict
        ``paper``, ``key``, ``claim`` (its letter), ``statement``, ``where`` it stands in the paper,
        ``setting``, ``ours`` (a finding of this edition), and what is recorded, as in
        :class:`Verdict`: undecided where nothing is.
    """
    table, none = [], asdict(undecided("not run"))
    for study in STUDIES.select(paper, keys):
        record = recorded(study.paper, study.key)
        told = {one["letter"]: one for one in record["claims"]} if record else {}
        for letter, text in study.claims.items():
            where = ", ".join(filter(None, (study.key, study.also.get(letter))))
            table.append({"paper": study.paper, "key": study.key, "claim": letter,
                          "statement": text, "where": where, "setting": study.setting,
                          "ours": letter in study.ours} | {
                              name: told.get(letter, none).get(name, value)
                              for name, value in none.items() if name != "p"})
    return table


def counts(paper):
    """Verdict -> number of the claims of a paper."""
    kinds = [row["verdict"] for row in rows(paper) if not row["ours"]]
    return {kind: kinds.count(kind) for kind in KINDS}


def counts_by_paper():
    """A table for the README: claims of every paper by verdict."""
    lines = ["| " + " | ".join(["paper", *KINDS]) + " |",
             "| " + " | ".join(["---"] * (1 + len(KINDS))) + " |"]
    lines += [f"| {paper} | " + " | ".join(map(str, counts(paper).values())) + " |"
              for paper in STUDIES.papers if STUDIES.of(paper)]
    return "\n".join(lines)
