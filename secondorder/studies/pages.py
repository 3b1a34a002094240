"""Pages of claims: CLAIMS.md of a paper, a study on a terminal, claims as a table."""

import importlib.resources
import textwrap

from .numbers import number
from .quoting import quoted
from .records import HEADINGS, counts, lacking, picture, recorded, rows, seconds
from .registry import STUDIES
from .running import duration
from .verdicts import DEPENDS, DID_NOT_HOLD, HELD_BY_RULE, TAKEN_OUT, UNDECIDED


def effect_text(row):
    """Effect, spread and seeds as a table shows them."""
    if row["effect"] is None:
        return ""
    spread = row["spread"]
    text = number(row["effect"])
    if spread and number(spread[0]) != number(spread[1]):
        text += f" ({number(spread[0])} to {number(spread[1])})"
    return f"{row['measure']}: {text}" if row["measure"] else text


def page(paper):
    """CLAIMS.md of a paper: every study with its recorded figure, and its claims with verdicts."""
    lines = [f"# What the paper reports: {paper}", "",
             "Made by `secondorder claims --markdown --write` from the recorded results. "
             "[studies/criteria.md](studies/criteria.md) has the criterion of every claim, when it "
             "was set, and every judge that was changed after a run.", "",
             "| verdict | claims |", "| --- | --- |"]
    lines += [f"| {HEADINGS.get(kind, kind)} | {count} |" for kind, count in counts(paper).items()]
    lines += in_short(paper)
    up = "../" * STUDIES.papers[paper].count(".")  # from the room to the project's root
    for study in STUDIES.select(paper):
        record = recorded(study.paper, study.key)
        lines += ["", f"## {study.key}", "", study.shows + ".", ""]
        image = picture(study.paper, study.key)
        if image is not None:
            lines += [f"![{study.key}]({up}data/results/{paper}/{study.key}.png)", ""]
        lines += ["| | claim | verdict | effect | seeds | note |",
                  "| --- | --- | --- | --- | --- | --- |"]
        lines += [f"| ({row['claim']}) | {_cell(row['statement'])} | **{row['verdict']}** "
                  f"| {_cell(effect_text(row))} | {row['seeds'] or ''} | {_cell(_note(row))} |"
                  for row in rows(paper) if row["key"] == study.key]
        if study.deviation:
            lines += ["", f"Differs from the paper: {study.deviation}"]
        if record:
            lines += ["", f"{runs_text(record)}; `secondorder reproduce {paper} {study.key}`."]
            if lacking(record):
                lines += ["", f"**{lacking(record)}.**"]
        else:
            lines += ["", f"Not run yet: about {duration(study.seconds[0])} of one core; "
                      f"`secondorder reproduce {paper} {study.key}`."]
    return "\n".join(lines) + "\n"


def runs_text(record):
    """How many runs a record has, and how long they took."""
    return f"{record['runs']} runs, {duration(record['run_seconds'])} of one core"


def _note(row):
    """What a reader should know of a claim beside its verdict."""
    whose = "not the paper's claim" if row["ours"] else ""
    again = f"the numbers of {row['twice']}" if row["twice"] else ""
    return "; ".join(text for text in (whose, again, row["because"]) if text)


#: Kinds of verdict that a page of claims lists at its beginning, with the words above them.
LISTED = {DID_NOT_HOLD: "Did not hold:", HELD_BY_RULE: "Held by the paper's rule of choosing "
          "rates, not at the best rate:", DEPENDS: "Held by one way of choosing rates, refuted by "
          "another:", UNDECIDED: "Undecided:", TAKEN_OUT: "Taken out: no "
          "number of seeds that one would run decides them, or a timing's repeats disagree:"}


def in_short(paper):
    """What a room says of its runs (``studies/in_short.md``), then what did not hold, and what is
    open and why, a line a claim or, where seeds are missing, a study.
    """
    lines = ["", "## In short", "", *quoted(summary(paper), paper).splitlines()]
    for kind, heading in LISTED.items():
        told = [row for row in rows(paper) if row["verdict"] == kind]
        lines += ["", heading, ""] if told else []
        for key in dict.fromkeys(row["key"] for row in told):
            mine = [row for row in told if row["key"] == key]
            missing = kind == UNDECIDED and lacking(recorded(paper, key))
            lines += ([f"- {key} (" + ", ".join(row["claim"] for row in mine) + f"): {missing}"]
                      if missing else [_listed(row, kind) for row in mine])
    return lines


def _listed(row, kind):
    """A claim with its number or, where it is open, with the reason."""
    told = effect_text(row) if kind == DID_NOT_HOLD else row["because"]
    return f"- {row['key']} ({row['claim']}), {row['statement']}" + (f": {told}" if told else "")


def summary(paper):
    """The text of a room's ``studies/in_short.md``, five bullets with quotations; "" without."""
    room = STUDIES.papers[paper].rpartition(".")[0]
    path = importlib.resources.files(f"{room}.studies") / "in_short.md"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def shown(study):
    """A study on a terminal: what it shows, where its figure is, and its claims with numbers."""
    record, image = recorded(study.paper, study.key), picture(study.paper, study.key)
    lines = [f"[{study.paper}] {study.key}: {study.shows}", ""]
    lines.append(f"figure: {image}" if image else "figure: not run yet")
    if record:
        seeds = record["settings"]["seeds"]
        told = f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"
        lines.append(f"recorded: {runs_text(record)}, {told}")
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


def table(claims, width=100):
    """Lines of a table on a terminal: study and letter, verdict, claim with its effect below; each
    begins in the same column on every line, and the last column is at least 30 wide.
    """
    names = [f"{row['key']} ({row['claim']})" for row in claims]
    first = max(map(len, names), default=0)
    second = max((len(row["verdict"]) for row in claims), default=0)
    before = 2 + first + 2 + second + 2
    lines = []
    for name, row in zip(names, claims):
        effect = ", ".join(filter(None, (effect_text(row), seeds_text(row["seeds"]))))
        texts = [row["statement"], *([effect] if effect_text(row) else [])]
        told = [line for text in texts for line in textwrap.wrap(text, max(30, width - before))]
        lines.append(f"  {name:<{first}}  {row['verdict']:<{second}}  {told[0]}")
        lines += [" " * before + line for line in told[1:]]
    return lines


def seeds_text(number):
    """How many seeds, as a person says it; nothing of none."""
    return f"{number} seed{'s' * (number > 1)}" if number else ""


def _filled(text):
    return textwrap.wrap(text, 98, subsequent_indent="    ")


def _cell(text):
    return text.replace("|", "\\|").replace("\n", " ")
