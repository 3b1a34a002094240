"""What was found: at most ten sentences over all papers, each with its effect, control and limits.

The words stand in ``findings.toml``; every number is quoted from the records.
"""

import importlib.resources
import math
import tomllib

from .pages import effect_text, seeds_text
from .quoting import quoted
from .records import rows
from .registry import STUDIES

PAGE = "secondorder/studies/FINDINGS.md"  # from the project's root


def findings():
    """The findings, the firmest first.

    Returns
    -------
    list of dict
        ``says``, ``control`` and ``limits``, texts with their numbers; ``effect``, with spread and
        seeds; ``row``, the claim as `records.rows` gives it; ``page``, where CLAIMS.md has it.
    """
    table = rows()
    claims = {f"{row['paper']} {row['key']} {row['claim']}": row for row in table}
    return [{"row": claims[one["claim"]], "page": place(claims[one["claim"]]),
             "effect": effect_of(claims[one["claim"]])}
            | {name: quoted(one[name], table=table) for name in ("says", "control", "limits")}
            for one in _written()]


def _written():
    path = importlib.resources.files("secondorder.studies") / "findings.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))["finding"]


def effect_of(row):
    """Effect with what its spread is, and the seeds. Intervals lie evenly around the effect."""
    kind = ""
    if row["spread"] is not None and row["spread"][0] < row["spread"][1]:
        even = math.isclose(sum(row["spread"]), 2 * row["effect"], rel_tol=1e-9)
        kind = "95 % interval" if even else "range"
    return "; ".join(filter(None, (effect_text(row), " over ".join(filter(None, (
        kind, seeds_text(row["seeds"])))))))


def place(row):
    """The claim's study in CLAIMS.md, from the project's root."""
    room = STUDIES.papers[row["paper"]].rpartition(".")[0].replace(".", "/")
    return f"{room}/CLAIMS.md#{row['key']}"


def page():
    """FINDINGS.md."""
    lines = ["# What was found", "",
             "Made by `secondorder claims --markdown --write` from the recorded results. The "
             "firmest finding stands first."]
    for number, one in enumerate(findings(), 1):
        row, link = one["row"], f"../{one['page'].removeprefix('secondorder/')}"
        lines += ["", f"## {number}. {row['paper']}", "", one["says"], "",
                  f"- Effect: {one['effect']}.", f"- Control: {one['control']}",
                  f"- Limits: {one['limits']}",
                  f"- Claim: [{row['key']} ({row['claim']})]({link}), "
                  f"\"{row['statement']}\": {row['verdict']}."]
    return "\n".join(lines) + "\n"
