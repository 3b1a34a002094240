"""Recorded results: what stands in ``data/results/`` and is shown by ``secondorder claims``."""

import importlib
import importlib.resources
import textwrap
from pathlib import Path

from .. import files
from . import results
from .registry import STUDIES
from .running import duration
from .verdicts import DID_NOT_HOLD, HELD, UNDECIDED

LARGEST = 300_000  # bytes of a recorded file
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
    record, _ = files.read_json(path, what, remedy)
    with files.damage_told(path, what, remedy):
        if type(record["runs"]) is not int or record["runs"] < 0:
            raise ValueError(f"its runs are {record['runs']!r}")
        for claim in record["claims"]:
            claim["letter"], claim["verdict"]
    return record


def picture(paper, key):
    """Path of the recorded figure, or None."""
    path = folder() / paper / f"{key}.png"
    return path if path.is_file() else None


def runs(paper):
    """The runs of a paper's studies that are recorded, name -> run."""
    known = {}
    for path in sorted((folder() / paper).glob("*.runs.json.gz")):
        known |= results.read_all(path)
    return known


def keep(out, record):
    """Copy a result and its figure to the recorded ones, and its runs if they are small.

    Raises
    ------
    ValueError
        If it is of the quick setting, or too large.
    """
    if record["quick"]:
        raise ValueError("results of the quick setting are not recorded")
    place = folder() / record["paper"]
    place.mkdir(parents=True, exist_ok=True)
    image = (Path(out) / record["figure"]).read_bytes()
    for name, size in (("result", len(files.to_json(record))), ("figure", len(image))):
        if size > LARGEST:
            raise ValueError(f"the {name} of {record['key']} takes {size} bytes; recorded files "
                             f"hold {LARGEST} at most")
    files.write_json(place / f"{record['key']}.json", record)
    with files.atomic(place / f"{record['key']}.png") as temporary:
        temporary.write_bytes(image)
    packed = (Path(out) / f"{record['key']}.runs.json.gz").read_bytes()
    destination = place / f"{record['key']}.runs.json.gz"
    if len(packed) > LARGEST_RUNS:
        destination.unlink(missing_ok=True)  # those of an earlier record
        return
    with files.atomic(destination) as temporary:
        temporary.write_bytes(packed)


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
    return (f"{len(record['settings']['seeds'])} of {rest['seeds']} seeds: the rest, "
            f"{rest['runs']} runs, takes about {duration(rest['seconds'])} of one core")


def rows(paper=None):
    """One dictionary a claim, of all studies; `verdict` is "not run" where nothing is recorded."""
    table = []
    for study in STUDIES.select(paper):
        record = recorded(study.paper, study.key)
        told = {one["letter"]: one for one in record["claims"]} if record else {}
        for letter, text in study.claims.items():
            one = told.get(letter, {})
            table.append({"paper": study.paper, "key": study.key, "claim": letter,
                          "statement": text, "verdict": one.get("verdict", "not run"),
                          "effect": one.get("effect"), "spread": one.get("spread"),
                          "seeds": one.get("seeds", 0), "measure": one.get("measure", ""),
                          "because": one.get("because", ""),
                          "deviation": record["deviation"] if record else study.deviation})
    return table


def counts(paper):
    """Verdict -> number of claims of a paper."""
    kinds = [row["verdict"] for row in rows(paper)]
    return {kind: kinds.count(kind) for kind in (HELD, DID_NOT_HOLD, UNDECIDED, "not run")}


def counts_by_paper():
    """A table for the README: claims of every paper by verdict."""
    lines = ["| paper | held | did not hold | undecided | not run |",
             "| --- | --- | --- | --- | --- |"]
    for paper in STUDIES.papers:
        if STUDIES.of(paper):
            lines.append(f"| {paper} | " + " | ".join(map(str, counts(paper).values())) + " |")
    return "\n".join(lines)


def effect_text(row):
    """Effect, spread and seeds as a table shows them."""
    if row["effect"] is None:
        return ""
    spread = row["spread"]
    text = f"{row['effect']:.3g}" + (f" ({spread[0]:.3g} to {spread[1]:.3g})" if spread else "")
    return f"{row['measure']}: {text}" if row["measure"] else text


def page(paper):
    """CLAIMS.md of a paper: every study with its recorded figure, and its claims with verdicts."""
    lines = [f"# What the paper reports: {paper}", "",
             "Made by `secondorder claims --markdown --write` from the recorded results. "
             "[studies/criteria.md](studies/criteria.md) has the criterion of every claim, when it "
             "was set, and every judge that was changed after a run.", "",
             "| verdict | claims |", "| --- | --- |"]
    lines += [f"| {kind} | {number} |" for kind, number in counts(paper).items()]
    lines += in_short(paper)
    for study in STUDIES.select(paper):
        record = recorded(study.paper, study.key)
        lines += ["", f"## {study.key}", "", study.shows + ".", ""]
        image = picture(study.paper, study.key)
        if image is not None:
            lines += [f"![{study.key}](../../../data/results/{paper}/{study.key}.png)", ""]
        lines += ["| | claim | verdict | effect | seeds | note |",
                  "| --- | --- | --- | --- | --- | --- |"]
        lines += [f"| ({row['claim']}) | {_cell(row['statement'])} | **{row['verdict']}** "
                  f"| {_cell(effect_text(row))} | {row['seeds'] or ''} | {_cell(row['because'])} |"
                  for row in rows(paper) if row["key"] == study.key]
        if study.deviation:
            lines += ["", f"Differs from the paper: {study.deviation}"]
        if record:
            lines += ["", f"{record['runs']} runs, {duration(record['run_seconds'])} of one core; "
                      f"`secondorder reproduce {paper} {study.key}`."]
            if lacking(record):
                lines += ["", f"**{lacking(record)}.**"]
        else:
            lines += ["", f"Not run yet: about {duration(study.seconds[0])} of one core; "
                      f"`secondorder reproduce {paper} {study.key}`."]
    return "\n".join(lines) + "\n"


def in_short(paper):
    """What a room says of its runs (`IN_SHORT` in its studies), then what did not hold, and what is
    undecided and why, a line a claim or, where seeds are missing, a study.
    """
    place = importlib.import_module(STUDIES.papers[paper].rpartition(".")[0] + ".studies")
    lines = ["", "## In short", "", *textwrap.wrap(place.IN_SHORT, 140)]
    told = {kind: [row for row in rows(paper) if row["verdict"] == kind]
            for kind in (DID_NOT_HOLD, UNDECIDED)}
    if told[DID_NOT_HOLD]:
        lines += ["", "Did not hold:", ""]
        lines += [f"- {row['key']} ({row['claim']}), {row['statement']}" + (
            f": {effect_text(row)}" if effect_text(row) else "") for row in told[DID_NOT_HOLD]]
    if told[UNDECIDED]:
        lines += ["", "Undecided:", ""]
        for key in dict.fromkeys(row["key"] for row in told[UNDECIDED]):
            mine = [row for row in told[UNDECIDED] if row["key"] == key]
            missing = lacking(recorded(paper, key))
            lines += ([f"- {key} (" + ", ".join(row["claim"] for row in mine) + f"): {missing}"]
                      if missing else [f"- {key} ({row['claim']}), {row['statement']}: "
                                       f"{row['because']}" for row in mine])
    return lines


def shown(study):
    """A study on a terminal: what it shows, where its figure is, and its claims with numbers."""
    record, image = recorded(study.paper, study.key), picture(study.paper, study.key)
    lines = [f"[{study.paper}] {study.key}: {study.shows}", ""]
    lines.append(f"figure: {image}" if image else "figure: not run yet")
    if record:
        seeds = record["settings"]["seeds"]
        told = f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"
        lines.append(f"recorded: {record['runs']} runs, {duration(record['run_seconds'])} of one "
                     f"core, {told}")
        if lacking(record):
            lines.append(lacking(record))
    for row in rows(study.paper):
        if row["key"] == study.key:
            lines += ["", *_filled(f"({row['claim']}) {row['statement']}"),
                      "    " + "; ".join(filter(None, (row["verdict"].upper(),
                                                       seeds_text(row["seeds"]))))]
            lines += [f"    {text}" for text in (effect_text(row), row["because"]) if text]
    if study.deviation:
        lines += ["", *_filled(f"differs from the paper: {study.deviation}")]
    return "\n".join([*lines, "", f"again: secondorder reproduce {study.paper} {study.key}  (about "
                      f"{duration(seconds(study))} of one core; --quick: "
                      f"{duration(study.seconds[1])})"])


def seeds_text(number):
    """How many seeds, as a person says it; nothing of none."""
    return f"{number} seed{'s' * (number > 1)}" if number else ""


def _filled(text):
    return textwrap.wrap(text, 98, subsequent_indent="    ")


def _cell(text):
    return text.replace("|", "\\|").replace("\n", " ")
