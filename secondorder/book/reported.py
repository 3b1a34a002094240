"""What a paper reports: the recorded studies, and the equations that they are about."""

import re

from ..ledger.labels import canonical
from ..studies import STUDIES, pages, records
from . import pictures

GLYPHS = {"held": ("✓", "holds"), "did not hold": ("✗", "erratum"),
          "undecided": ("◐", "conditional")}
_NAMED = re.compile(r"\((\d+[a-z]?)\)|\b((?:algorithm|table|theorem|figure) \d+(?:\.\d+)?)", re.I)


def studies(papers):
    """Paper -> its studies, each with its claims and what was recorded of them."""
    by_paper, recorded = {}, {}
    for study in STUDIES.select():
        if study.paper not in papers:
            continue
        if study.paper not in recorded:  # every record is read once
            recorded[study.paper] = records.rows(study.paper)
        rows = [row for row in recorded[study.paper] if row["key"] == study.key]
        kinds = [row["verdict"] for row in rows if not row["ours"]]
        by_paper.setdefault(study.paper, []).append(
            {"key": study.key, "shows": study.shows, "deviation": study.deviation,
             "picture": _picture(study), "anchor": f"study-{study.key}",
             "told": ", ".join(f"{kinds.count(kind)} {kind}" for kind in GLYPHS if kind in kinds),
             "setting": study.setting, "recorded": any(row["because"] != "not run" for row in rows),
             "rows": [row | {"told": pages.outcome(row), "glyph": GLYPHS[row["verdict"]][0],
                             "colour": GLYPHS[row["verdict"]][1]} for row in rows]})
    return by_paper


def _picture(study):
    path = records.picture(study.paper, study.key)
    return None if path is None else pictures.prepared(path.read_bytes())


def told(some):
    """Verdict -> number of a paper's claims in some studies, without findings of ours."""
    kinds = [row["verdict"] for study in some for row in study["rows"] if not row["ours"]]
    return {kind: kinds.count(kind) for kind in GLYPHS if kind in kinds}


def related(entries, some):
    """First label of an entry -> the studies that bear one of its labels, or name it in words."""
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


def findings(papers):
    """What was found in some papers, the firmest first, with an address each; see
    `studies.pages.findings`.
    """
    keys = {paper["key"] for paper in papers}
    return [one | {"anchor": "-".join(one["row"][name] for name in ("paper", "key", "claim"))}
            for one in pages.findings() if one["row"]["paper"] in keys]


def source(paper, key):
    """Where the figure of a study stands beside the pages."""
    return f"figures/{paper}-{key}.{pictures.KIND}"


def figures(some):
    """File name -> bytes of the figures of recorded studies, by paper."""
    return {source(paper, study["key"]): study["picture"].raw
            for paper, ones in some.items() for study in ones if study["picture"] is not None}
