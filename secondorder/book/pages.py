"""Writing the book: a page a paper, an index, errata, claims, letters; all in one folder."""

import concurrent.futures
import importlib.util
import json
import os
import time

from ..checks import whole_number
from ..ledger.labels import short
from ..ledger.pages import counts
from ..ledger.registry import REGISTRY
from ..studies.running import processes
from . import articles, bibliography, folder, graph, reported, search, tutorials
from .parts import docstrings, evidence, symbols

NEEDED = ("math_core", "jinja2", "pygments")


def write(out, paper=None, seeds=None, say=print, jobs=None, overwrite=False):
    """Write the edition as pages.

    Parameters
    ----------
    out : path
        A folder: made if it is not there. One that holds anything but an earlier book is refused.
    paper : str, optional
        One paper only; default: all.
    seeds : int, optional
        Dots of every ruler; default: five, fewer where a check takes long.
    say : callable
        Called with lines of progress.
    jobs : int, optional
        Processes that run the checks; default: one a core, four at most.
    overwrite : bool
        Whether an earlier book in the folder is replaced; nothing of it is left.

    Returns
    -------
    Path
        The page to open.

    Raises
    ------
    ImportError
        Without the extra ``[book]``; the message says which line installs it.
    OSError
        The folder holds something else, or cannot be written to.
    FormulaError, ValueError
        A formula that cannot be set; a label in ``uses=`` that does not exist.
    """
    require_extra()
    papers = REGISTRY.rooms() if paper is None else [REGISTRY.key(paper)]
    place, contents = folder.opened(out, overwrite), folder.static()
    claims = reported.studies(papers)
    pages = gathered(papers, claims, seeds, jobs, say)
    lessons = run_tutorials(jobs, say) if paper is None else []
    contents |= rendered(pages, claims, lessons) | reported.figures(claims)
    for lesson in lessons:
        contents |= lesson["figures"]
    folder.fill(place, contents)
    return place / ("index.html" if paper is None else f"{papers[0]}.html")


def gathered(papers, claims, seeds=None, jobs=None, say=print):
    """Paper -> what its page shows; the checks run in `jobs` processes."""
    seeds = None if seeds is None else whole_number(seeds, "seeds", 1)
    jobs = min(os.cpu_count() or 1, 4) if jobs is None else whole_number(jobs, "jobs", 1)
    entries = {name: REGISTRY.select(name) for name in papers}
    for name in papers:
        require_labels(name, entries[name])
    began, pages = time.monotonic(), {}
    with processes(jobs) as pool:
        asked = {name: [_evidence(pool, entry, seeds) for entry in entries[name]]
                 for name in papers}
        for name in papers:
            evaluated = [future.result() for future in asked[name]]
            pages[name] = _paper(name, entries[name], evaluated, claims.get(name, []))
            say(f"{name}: {len(pages[name]['articles'])} articles "
                f"({time.monotonic() - began:.0f} s)")
    return pages


def _evidence(pool, entry, seeds):
    """A future of a check's evidence; of a paper of the user's own, which another process could not
    import, it is gathered here.
    """
    given = entry.paper, entry.labels[0], seeds
    if pool is not None and REGISTRY.papers[entry.paper] is not None:
        return pool.submit(evidence.gathered, *given)
    future = concurrent.futures.Future()
    future.set_result(evidence.gathered(*given))
    return future


def run_tutorials(jobs=None, say=print):
    """What the pages of the tutorials show; each runs in a process of its own."""
    began, paths = time.monotonic(), tutorials.names()
    with concurrent.futures.ThreadPoolExecutor(jobs or min(os.cpu_count() or 1, 4)) as pool:
        outputs = list(pool.map(tutorials.ran, paths))
    say(f"tutorials: {len(paths)} ({time.monotonic() - began:.0f} s)")
    return [tutorials.page(*pair) for pair in zip(paths, outputs)]


def require_extra():
    """Say which line installs what is missing."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f"the book needs {', '.join(missing)}: pip install 'secondorder[book]' "
                          "(in a clone: pip install '.[book]')")


def require_labels(paper, entries):
    """Labels in ``uses=`` have to exist."""
    known = {label for entry in entries for label in entry.labels}
    for entry in entries:
        for label in entry.uses or ():
            other = graph.elsewhere(label)
            if other is None and label not in known:
                raise ValueError(f"[{paper}] {entry.labels[0]}: uses= names {label!r}, which is no "
                                 "label of this paper")
            if other is not None and other[1] not in REGISTRY.labels(other[0]):
                raise ValueError(f"[{paper}] {entry.labels[0]}: uses= names {other[1]!r}, which is "
                                 f"no label of {other[0]}")


def _paper(paper, entries, evaluated, studies):
    """Everything that the page of a paper shows."""
    known, blocks = symbols.letters(paper), articles.Blocks(paper, entries)
    steps = graph.edges(entries)
    written = [articles.article(*pair, known, blocks) for pair in zip(entries, evaluated)]
    by_label = {one.entry.labels[0]: one for one in written}
    uses = {label: [by_label[used] for used in steps[label]] for label in by_label}
    used_by = {label: [by_label[user] for user in steps if label in steps[user]]
               for label in by_label}
    topics = {}
    for one in written:
        topics.setdefault(one.topic, []).append(one)
    counts = {verdict: sum(one.entry.verdict == verdict for one in written)
              for verdict in articles.GLYPHS}
    return {"key": paper, "known": bibliography.of(paper), "told": reported.told(studies),
            "corrected": articles.corrected(entries), "articles": written, "topics": topics,
            "uses": uses, "used_by": used_by, "counts": counts,
            "symbols": symbols.table(paper), "letters": known,
            "labels": sum(len(entry.labels) for entry in entries), "helpers": blocks.helpers(),
            "studies": studies, "related": reported.related(entries, studies)}


def join(pages):
    """Articles of other pages that belong to one: (paper, first label) -> [(page, article)].

    From an article of `bridges` to those of the papers that it joins, and back.
    """
    where = {(paper["key"], label): (paper["key"], one) for paper in pages.values()
             for one in paper["articles"] for label in one.entry.labels}
    neighbours = {}
    for key, paper in pages.items():
        for one in paper["articles"]:
            for other in filter(None, map(graph.elsewhere, one.entry.uses or ())):
                if other in where:  # else the book is of one paper
                    page, there = where[other]
                    neighbours.setdefault((key, one.entry.labels[0]), []).append((page, there))
                    neighbours.setdefault((page, there.entry.labels[0]), []).append((key, one))
    return neighbours


def rendered(pages, claims, lessons=()):
    """File name -> text of every page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("secondorder.book"), undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True, autoescape=True)
    environment.globals.update(
        joined=join(pages), caption=short, glyphs=articles.GLYPHS,
        meanings=articles.MEANINGS, noun=counts.noun,
        symbol=docstrings.symbol, typeset=docstrings.typeset,
        spoken=symbols.name, anchor=articles.anchor, axis=evidence.axis,
        axis_again=evidence.axis_again,
        rulers=evidence.samples(), source=reported.source, lessons=lessons,
        named=tutorials.by_display(lessons), cited=bibliography.bibtex, open=reported.source)
    papers = list(pages.values())
    found = reported.findings(papers)
    asked = {f"{paper['key']}.html": ("paper", {"paper": paper}) for paper in papers}
    asked |= {f"claims-{paper['key']}.html": ("claims_of_paper", {"paper": paper})
              for paper in papers if paper["studies"]}
    asked |= {f"{name}.html": (name, {}) for name in ("index", "errata", "claims")}
    if lessons:
        asked["tutorials.html"] = "tutorials", {}
    asked |= {lesson["file"]: ("tutorial", {"lesson": lesson}) for lesson in lessons}
    asked["findings.html"] = "findings", {"findings": found}
    asked["letters.html"] = "letters", {"letters": symbols.collected(), "names": symbols.papers(),
                                        "cell": symbols.cell}
    texts = {file: environment.get_template(f"{name}.html").render(papers=papers, **facts)
             for file, (name, facts) in asked.items()}
    texts["search.js"] = "const INDEX = " + json.dumps(
        search.rows(papers, lessons, found), ensure_ascii=False, separators=(",", ":")) + ";\n"
    return texts

