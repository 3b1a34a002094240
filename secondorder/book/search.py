"""What the search of the book looks through: a row for everything that has an address."""

import re

from ..ledger.pages.source import doc_lines
from ..ledger.registry import underlying
from .parts import symbols

#: What people ask for, by the words with which it is told here.
ALSO = {"kfi": "KFAC K-FAC", "tangent kernel": "NTK", "generalised gauss-newton": "GGN",
        "gauss-newton": "GGN", "pch": "Pos-Eig", "moore-penrose": "pseudo-inverse pinv",
        "conjugate gradient": "CG"}


def rows(papers, lessons, findings):
    """One dictionary a row.

    ``label``, ``page``, ``paper``, ``glyph``, ``text``: what is shown, where it stands, what it
    says; ``code``: names of functions; ``called`` and ``also``: how people call what its label and
    its words name; ``more``: words by which it is found, too.
    """
    found = []
    for paper in papers:
        page = f"{paper['key']}.html"
        for one in paper["articles"]:
            entry = one.entry
            names = [getattr(underlying(value), "__name__", "") for value in entry.implements]
            more = [entry.where or "", entry.condition or "", entry.check.__doc__ or "",
                    *(line for value in entry.implements for line in doc_lines(value))]
            found += [_row(label, f"{page}#{one.anchor}", paper["key"], one.glyph,
                           entry.statement, names, more) for label in entry.labels]
        for study in paper["studies"]:
            found.append(_row(study["key"], f"{page}#{study['anchor']}", paper["key"], "▦",
                              study["shows"]))
            found += [_row(f"{study['key']} ({row['claim']})", f"{page}#{study['anchor']}",
                           paper["key"], row["glyph"], row["statement"])
                      for row in study["rows"]]
    for lesson in lessons:
        found.append(_row(lesson["title"], lesson["file"], "tutorial", "✎", lesson["question"]))
        found += [_row(head, f"{lesson['file']}#{address}", "tutorial", "✎", lesson["title"])
                  for address, head in lesson["heads"]]
    found += [_row(one["title"], f"findings.html#{one['anchor']}", one["row"]["paper"], "★",
                   one["says"]) for one in findings]
    for letter, meanings in symbols.collected().items():
        told = [f"{paper}: {symbols.cell(some)}" for paper, some in meanings.items() if some]
        found.append(_row(letter, f"letters.html#letter-{letter}", "letter", "α",
                          "; ".join(told).replace("`", "")))
    return found


def _row(label, page, paper, glyph, text, names=(), more=()):
    words = " ".join([text, *more]).lower()
    called, also = ([name for word, name in ALSO.items() if re.search(rf"\b{word}\b", one)]
                    for one in (label.lower().replace("-", " "), words))
    said = set(re.findall(r"\w+", text.lower()))
    rest = dict.fromkeys(word for word in re.findall(r"[^\W\d_][\w-]+", " ".join(more).lower())
                         if word not in said and len(word) > 3)
    found = {"code": " ".join(dict.fromkeys(filter(None, names))), "called": " ".join(called),
             "also": " ".join(also), "more": " ".join(rest)}
    return {"label": label, "page": page, "paper": paper, "glyph": glyph, "text": text} | {
        name: words for name, words in found.items() if words}
