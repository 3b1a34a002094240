"""What a paper reports, figures, tables and claims: the recorded studies, and the equations that
they are about.
"""

import re

from ..ledger.labels import canonical
from ..studies import STUDIES, records

GLYPHS = {"held": ("✓", "holds"), "did not hold": ("✗", "erratum"),
          "undecided": ("◐", "conditional"), "not run": ("·", "none")}
_NAMED = re.compile(r"\((\d+[a-z]?)\)|\b((?:algorithm|table|theorem|figure) \d+(?:\.\d+)?)", re.I)


def studies(papers):
    """Paper -> its studies, each with its claims and what was recorded of them."""
    by_paper = {}
    for study in STUDIES.select():
        if study.paper not in papers:
            continue
        rows = [row for row in records.rows(study.paper) if row["key"] == study.key]
        kinds = [row["verdict"] for row in rows]
        by_paper.setdefault(study.paper, []).append(
            {"key": study.key, "shows": study.shows, "deviation": study.deviation,
             "picture": records.picture(study.paper, study.key), "anchor": f"study-{study.key}",
             "told": ", ".join(f"{kinds.count(kind)} {kind}" for kind in GLYPHS if kind in kinds),
             "recorded": set(kinds) != {"not run"},
             "rows": [row | {"told": records.effect_text(row), "glyph": GLYPHS[row["verdict"]][0],
                             "colour": GLYPHS[row["verdict"]][1]} for row in rows]})
    return by_paper


def related(entries, some):
    """First label of an entry -> the studies that bear one of its labels, or name it in words:
    `(39)`, `Algorithm 1`.
    """
    home = {canonical(label): entry.labels[0] for entry in entries for label in entry.labels}
    by_label = {}
    for study in some:
        text = " ".join([study["shows"], study["deviation"] or "",
                         *(row["statement"] for row in study["rows"])])
        names = {study["key"]} | {one or two.replace(" ", "-").lower()
                                  for one, two in _NAMED.findall(text)}
        for label in dict.fromkeys(home[name] for name in map(canonical, sorted(names))
                                   if name in home):
            by_label.setdefault(label, []).append(study)
    return by_label


def figures(some):
    """File name -> bytes of the figures of recorded studies, by paper."""
    return {f"figures/{paper}-{study['key']}.png": study["picture"].read_bytes()
            for paper, ones in some.items() for study in ones if study["picture"] is not None}
