"""Writing the book: one page a paper, an index, errata, claims, letters; everything in one folder.
"""

import importlib.resources
import importlib.util
import json
import shutil
import time
from pathlib import Path

from .. import files
from ..checks import whole_number
from ..ledger.registry import REGISTRY
from . import articles, formulas, graph, symbols

MARK = "made-by-secondorder-book"  # a file that says: this folder may be written again
NEEDED = ("math_core", "jinja2", "pygments")


def write(out, paper=None, seeds=5, say=print):
    """Write the edition as pages.

    Parameters
    ----------
    out : path
        A folder: made if it is not there. One that holds anything but an earlier book is refused.
    paper : str, optional
        One paper only; default: all.
    seeds : int
        Dots of every ruler.
    say : callable
        Called with lines of progress.

    Returns
    -------
    Path
        The page to open.

    Raises
    ------
    ImportError
        Without the extra ``[book]``; the message says which line installs it.
    FileExistsError
        The folder holds something else.
    FormulaError, ValueError
        A formula that cannot be set; a label in ``uses=`` that does not exist.
    """
    require_extra()
    seeds = whole_number(seeds, "seeds", 1)
    papers = REGISTRY.rooms() if paper is None else [paper]
    entries = {name: REGISTRY.select(name) for name in papers}
    place = Path(out)
    refuse_other_things(place)
    began, made = time.monotonic(), {}
    for name in papers:
        made[name] = _paper(name, entries[name], seeds)
        say(f"{name}: {len(made[name]['articles'])} articles ({time.monotonic() - began:.0f} s)")
    texts = _render(made)
    place = files.output_directory(place)
    for file, text in texts.items():
        files.write_text(place / file, text)
    _copy_static(place)
    files.write_text(place / MARK, "Written by secondorder book; it may be written again.\n")
    return place / ("index.html" if paper is None else f"{paper}.html")


def require_extra():
    """Say which line installs what is missing."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f"the book needs {', '.join(missing)}: pip install 'secondorder[book]' "
                          "(in a clone: pip install '.[book]')")


def refuse_other_things(place):
    """A folder with other things in it is not written to, nor one that cannot be made."""
    if not place.parent.is_dir():
        raise FileNotFoundError(f"the parent of the folder does not exist: {place.parent}")
    if place.is_dir() and any(place.iterdir()) and not (place / MARK).is_file():
        raise FileExistsError(f"{place} holds other things; name a folder that is new or empty, or "
                              "one that holds an earlier book")


def _paper(paper, entries, seeds):
    """Everything that the page of a paper shows."""
    known = symbols.letters(paper)
    for entry in entries:
        for label in entry.uses:
            if label not in {one for other in entries for one in other.labels}:
                raise ValueError(f"[{paper}] {entry.labels[0]}: uses= names {label!r}, which is no "
                                 "label of this paper")
    links = {}
    for entry in entries:
        for function in graph.functions(entry)[:1]:
            links.setdefault(getattr(function, "__name__", ""),
                             (f"#{articles.anchor(entry.labels[0])}", entry.labels[0]))
    made = [articles.article(entry, seeds, known, links) for entry in entries]
    edges = graph.edges(entries)
    by_label = {one.entry.labels[0]: one for one in made}
    uses = {label: [by_label[used] for user, used in edges if user == label] for label in by_label}
    used_by = {label: [by_label[user] for user, used in edges if used == label]
               for label in by_label}
    picture = graph.svg(entries, edges, lambda entry: f"{articles.GLYPHS[entry.verdict][0]} "
                        f"{articles.short(entry)[:14]}",
                        lambda entry: f"#{articles.anchor(entry.labels[0])}")
    topics = {}
    for one in made:
        topics.setdefault(one.topic, []).append(one)
    counts = {verdict: sum(one.entry.verdict == verdict for one in made)
              for verdict in articles.GLYPHS}
    return {"key": paper, "title": symbols.title(paper), "articles": made, "topics": topics,
            "graph": picture, "uses": uses, "used_by": used_by, "counts": counts,
            "symbols": symbols.table(paper), "letters": known, "seeds": seeds,
            "labels": sum(len(entry.labels) for entry in entries)}


def _render(made):
    """File name -> text of every page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from . import evidence

    environment = Environment(loader=PackageLoader("secondorder.book"), undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True, autoescape=True)
    environment.globals.update(glyphs=articles.GLYPHS, axis=evidence.axis, prose=formulas.prose,
                               anchor=articles.anchor)
    papers = list(made.values())
    texts = {f"{paper['key']}.html": environment.get_template("paper.html").render(
        paper=paper, papers=papers) for paper in papers}
    for name, facts in (("index", {}), ("errata", {}), ("claims", {"claims": recorded_claims()}),
                        ("letters", {"letters": symbols.collisions()})):
        texts[f"{name}.html"] = environment.get_template(f"{name}.html").render(papers=papers,
                                                                                **facts)
    texts["search.js"] = "const INDEX = " + json.dumps(search_index(papers),
                                                       ensure_ascii=False) + ";\n"
    return texts


def search_index(papers):
    """One row a label: what is shown, where it stands, what it states."""
    return [{"label": label, "page": f"{paper['key']}.html#{one.anchor}", "paper": paper["key"],
             "glyph": one.glyph, "heading": one.heading, "text": one.entry.statement}
            for paper in papers for one in paper["articles"] for label in one.entry.labels]


def recorded_claims():
    """The recorded claims by paper and key, with their figures."""
    from ..studies import STUDIES, records

    found = {}
    for study in STUDIES.select():
        rows = [row for row in records.rows(study.paper) if row["key"] == study.key]
        picture = records.picture(study.paper, study.key)
        found.setdefault(study.paper, []).append(
            {"key": study.key, "shows": study.shows, "rows": rows, "picture": picture,
             "deviation": study.deviation, "effects": [records.effect_text(row) for row in rows]})
    return found


def _copy_static(place):
    """Style, script and fonts, and the figures of recorded studies."""
    source = importlib.resources.files("secondorder.book") / "static"
    for name in ("style.css", "script.js"):
        files.write_text(place / name, (source / name).read_text(encoding="utf-8"))
    fonts = files.output_directory(place / "fonts")
    for font in (source / "fonts").iterdir():
        with files.atomic(fonts / font.name) as temporary:
            temporary.write_bytes(font.read_bytes())
    for studies in recorded_claims().values():
        for study in studies:
            if study["picture"] is not None:
                figures = files.output_directory(place / "figures")
                name = f"{study['picture'].parent.name}-{study['picture'].name}"
                shutil.copyfile(study["picture"], figures / name)
