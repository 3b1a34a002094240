"""Pages of claims: CLAIMS.md of a paper, FINDINGS.md, a study and a table on a terminal."""

import importlib.resources
import textwrap
import tomllib

from .numbers import effect_text
from .records import counts, picture, recorded, rows, seconds
from .registry import STUDIES
from .running import duration
from .verdicts import KINDS

FINDINGS = "secondorder/studies/FINDINGS.md"  # from the project's root

#: What a page of claims begins with.
HEAD = """\
Each was run again and judged by a criterion in [figures/criteria.md](figures/criteria.md). A row is
one claim of a study; its link leads to what was run. *Stand-in* means a setting that is smaller
than the paper's. Made by `secondorder claims --markdown --write` from the recorded results.

How to read a row:

- A limit in the first column ("within 5 %", "0.9 or more") is our reading, where the paper has
  words alone.
- In brackets stands the spread of a number. Where seeds are counted ("in 4 of 5 seeds"), the number
  is the median and the bracket the range over the seeds. Where a method is compared with another
  seed by seed (*paired* and *alike* in the criteria), it is the mean and the bracket its 95 %
  interval; "times" marks a mean of logarithms, told as the factor. Where a timing was repeated, it
  is the median over the repeats and the bracket their range: the interval over seeds, which
  decides, is wider. What one count decides has no bracket.
- A claim may have several parts: curvatures, data sets, the losses at which seconds are read. The
  number is that of one part: the first that did not hold, else the first that is undecided. Where
  all parts hold it is the first, or the one whose interval comes nearest to 0.
- A claim that can be read in several ways has a number for each reading.
""".splitlines()


def outcome(row):
    """What came out: number, spread, seeds, and what a reader should know beside them. Of several
    readings each, then what they share.
    """
    readings = row["readings"]
    if not readings:
        return "; ".join(clauses(row))
    told = {name: clauses(one) for name, one in readings.items()}
    known = [clause for own in told.values() for clause in own]
    shared = [clause for clause in dict.fromkeys(known) if known.count(clause) == len(told)]
    each = [f"{name}: " + ", ".join([one["verdict"], *(clause for clause in told[name]
                                                       if clause not in shared)])
            for name, one in readings.items()]
    return "; ".join([*each, *shared, *(clause for clause in noted(row) if clause not in known)])


def clauses(row):
    """Number and spread of one verdict, its seeds unless they are counted, and what it notes."""
    told, notes = [], noted(row)
    if row["effect"] is not None:
        told.append(effect_text(row["measure"], row["effect"], row["spread"]))
    if row["seeds"] and not any(f"of {row['seeds']} seeds" in note for note in notes):
        told.append(f"{row['seeds']} seed{'s' * (row['seeds'] > 1)}")
    return told + notes


def noted(row):
    """What a verdict notes beside its number, one text a note."""
    return list(filter(None, row["because"].split("; ")))


def page(paper):
    """CLAIMS.md of a paper: its claims, what was found beside them, and every study's picture."""
    table = rows(paper)
    told = ", ".join(f"{count} {kind}" for kind, count in counts(paper).items() if count)
    claims = sum(not row["ours"] for row in table)
    lines = [f"# What the paper reports: {paper}", "",
             f"{claims} claim{'s' * (claims != 1)}: {told}.", "", *HEAD, "", *words(paper),
             *_table(table, False)]
    if any(row["ours"] for row in table):
        lines += ["", "## Findings of this edition", "",
                  "The paper does not claim these. Each is a question of ours, put in the same "
                  "way.", "", *_table(table, True)]
    lines += ["", "## Pictures"]
    up = "../" * (STUDIES.room(paper).count(".") + 1)  # from the room to the project's root
    for study in STUDIES.select(paper):
        record = recorded(paper, study.key)
        lines += ["", f"### {study.key}", "", study.shows + ".", ""]
        if picture(paper, study.key) is not None:
            lines += [f"![{study.key}]({up}data/results/{paper}/{study.key}.png)", ""]
        if study.deviation:
            lines += [f"Differs from the paper: {study.deviation}.", ""]
        lines += [f"{runs_text(record)}; `secondorder reproduce {paper} {study.key}`." if record
                  else f"Not run yet; `secondorder reproduce {paper} {study.key}`, about "
                  f"{duration(study.seconds[0])} of one core."]
    return "\n".join(lines) + "\n"


def words(paper):
    """The short names of a paper's claims: what its criteria.md says of them."""
    criteria = importlib.resources.files(STUDIES.room(paper)) / "figures" / "criteria.md"
    if not criteria.is_file():
        return []
    _, _, told = criteria.read_text(encoding="utf-8").partition("## Words\n\n")
    return ["Short names:", "", *told.partition("\n\n")[0].splitlines(), ""]


def _table(table, ours):
    head = ["what is found" if ours else "what the paper says", "where", "setting",
            "what came out", "verdict"]
    lines = [f"| {' | '.join(head)} |", "| --- | --- | --- | --- | --- |"]
    for row in table:
        if row["ours"] == ours:
            where = row["where"].replace(row["key"], f"[{row['key']}](#{row['key']}) "
                                         f"({row['claim']})", 1)
            cells = (row["statement"], where, row["setting"], outcome(row), f"**{row['verdict']}**")
            lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ")
                                           for cell in cells) + " |")
    return lines


def runs_text(record):
    """How many runs a record has, and how long they took."""
    return f"{record['runs']} runs, {duration(record['run_seconds'])} of one core"


def shown(study):
    """A study on a terminal: what it shows, where its figure is, and its claims with numbers."""
    record, image = recorded(study.paper, study.key), picture(study.paper, study.key)
    lines = [f"[{study.paper}] {study.key}: {study.shows}", "",
             f"figure: {image or 'not run yet'}", f"setting: {study.setting}"]
    if record:
        lines.append(f"recorded: {runs_text(record)}")
    for row in rows(study.paper, [study.key]):
        whose = "; a finding of this edition" if row["ours"] else ""
        lines += ["", *_filled(f"({row['claim']}) {row['statement']}"),
                  f"    {row['verdict'].upper()}{whose}", *_filled(f"    {outcome(row)}")]
    if study.deviation:
        lines += ["", *_filled(f"differs from the paper: {study.deviation}")]
    return "\n".join([*lines, "", f"again: secondorder reproduce {study.paper} {study.key}  (about "
                      f"{duration(seconds(study))} of one core; --quick: "
                      f"{duration(study.seconds[1])})"])


def table(claims, width=100):
    """Lines of a table on a terminal: study and letter, verdict, claim with its outcome below."""
    names = [f"{row['key']} ({row['claim']})" + " ours" * row["ours"] for row in claims]
    first, second = max(map(len, names), default=0), max(map(len, KINDS))
    before = 2 + first + 2 + second + 2
    lines = []
    for name, row in zip(names, claims):
        told = [line for text in (row["statement"], outcome(row)) if text
                for line in textwrap.wrap(text, max(30, width - before))]
        lines.append(f"  {name:<{first}}  {row['verdict']:<{second}}  {told[0]}")
        lines += [" " * before + line for line in told[1:]]
    return lines


def findings():
    """What was found, over all papers: the texts of ``findings.toml``.

    Returns
    -------
    list of dict
        ``says``, ``control``, ``limits``; ``effect``, with spread and seeds as recorded; ``row``,
        the claim as `records.rows` gives it; ``page``, where CLAIMS.md has it.
    """
    text = importlib.resources.files("secondorder.studies").joinpath("findings.toml").read_text(
        encoding="utf-8")
    claims = {f"{row['paper']} {row['key']} {row['claim']}": row for row in rows()}
    told = []
    for one in tomllib.loads(text)["finding"]:
        row = claims[one["claim"]]
        room = STUDIES.room(row["paper"]).replace(".", "/")
        told.append(one | {"row": row, "page": f"{room}/CLAIMS.md#{row['key']}",
                           "effect": outcome(row)})
    return told


def page_of_findings():
    """FINDINGS.md."""
    lines = ["# What was found", "", "Every number was measured in this repository; the claim "
             "behind it has the runs."]
    for k, one in enumerate(findings(), 1):
        row, link = one["row"], f"../{one['page'].removeprefix('secondorder/')}"
        lines += ["", f"## {k}. {one['title']}", "", one["says"], "",
                  f"- Control: {one['control']}", f"- Limits: {one['limits']}",
                  f"- Measured: {one['effect']} ([{row['paper']}, {row['key']}]({link}), "
                  f"\"{row['statement']}\": {row['verdict']})."]
    return "\n".join(lines) + "\n"


def _filled(text):
    return textwrap.wrap(text, 98, initial_indent=" " * (len(text) - len(text.lstrip())),
                         subsequent_indent="    ")
