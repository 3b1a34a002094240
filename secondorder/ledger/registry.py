"""All papers with their executable equations, and how one is found by what people write."""

import importlib

from ..checks import close_matches, did_you_mean, shown
from ..papers import rooms
from .comparisons import VerificationError
from .labels import asked_for, canonical, in_order, papers_named, topic_pattern

#: Key of each paper -> the module that registers its equations, in the order of tables.
PAPERS = {paper: f"secondorder.papers.{room.name}.equations" for paper, room in rooms().items()}

#: Key of each paper -> its title and what else people call it.
TITLES = {paper: "; ".join(filter(None, (room.title, room.also)))
          for paper, room in rooms().items()}


class Registry:
    """The equations of a set of papers.

    `papers` has the module that registers a paper's equations when imported, or None; `titles` its
    title and what else people call it.
    """

    def __init__(self, papers, titles=None):
        self.papers = dict(papers)
        self.titles = {paper: (titles or {}).get(paper, "") for paper in papers}
        self.symbols = {}
        self._equations = {paper: {} for paper in papers}

    def begin(self, paper, title="", symbols=None):
        """Make a paper known, without equations; one that was known begins anew."""
        self.papers[paper], self.titles[paper] = None, title
        self.symbols[paper] = dict(symbols or {})
        self._equations[paper] = {}

    def forget(self, paper):
        """Drop a paper and its equations."""
        for table in (self.papers, self.titles, self.symbols, self._equations):
            table.pop(paper, None)

    def add(self, equation):
        """Register one equation under all its labels; a label that is taken is refused."""
        taken = self._equations[equation.paper]
        names = {canonical(label): entry for label, entry in taken.items()}
        for label in equation.labels:
            if canonical(label) in names:
                other = qualified_name(names[canonical(label)].check)
                raise VerificationError(f"[{equation.paper}] label {label!r} is already registered "
                                        f"by {other}")
            names[canonical(label)] = equation
        taken.update(dict.fromkeys(equation.labels, equation))

    def labels(self, paper):
        """All labels of a paper, in its order."""
        return tuple(label for entry in self.of(paper) for label in entry.labels)

    def load(self, paper):
        """Import the paper's equations, if a module has them."""
        if self.papers[paper] is not None:
            importlib.import_module(self.papers[paper])

    def rooms(self):
        """The papers that have executable equations."""
        return [paper for paper, module in self.papers.items() if module or self._equations[paper]]

    def key(self, name):
        """The paper that a name means: its key in any spelling, or a part of its title; else
        ValueError that names the papers.
        """
        if not isinstance(name, str):
            raise TypeError(f"paper must be the key of a paper, a text, got {shown(name)}")
        if name in self.papers:
            return name
        return paper_meant(name, {paper: self.titles[paper] for paper in self.rooms()})

    def of(self, paper):
        """The checks that are registered for one paper, in its order."""
        self.load(paper)
        entries = list(dict.fromkeys(self._equations[paper].values()))
        return [entries[k] for k in in_order([entry.labels for entry in entries])]

    def select(self, paper=None, label=None):
        """The equations of a paper (default: of all), or those that bear a label.

        A label may be in any spelling; also several (`6, 7`), a range (`33 to 39`) or a topic
        (`KFAC`): all displays whose words or code name it. ValueError for an unknown paper or label
        (with the close match), and for a paper without equations.
        """
        return self.find(paper, label)[0]

    def find(self, paper=None, label=None):
        """What `select` returns, and whether the label is a topic."""
        papers = list(self.papers) if paper is None else [self.key(paper)]
        entries = {name: self.of(name) for name in papers}
        every = [entry for mine in entries.values() for entry in mine]
        if paper is not None and not every:
            raise ValueError(f"paper {papers[0]!r} has no executable equations yet")
        if label is None:
            return every, False
        matches = []
        for mine in entries.values():
            wanted = asked_for(label, [label for entry in mine for label in entry.labels])
            matches += [entry for entry in mine if label in entry.names] or [
                entry for entry in mine if {*entry.labels} & {*wanted}]
        if matches:
            return matches, False
        if topic := self.about(label, papers):
            return topic, True
        close = close_matches(canonical(label), [name for entry in every
                                                 for name in (*entry.labels, *entry.names)], 0.5)
        where = f"paper {papers[0]!r} has no label" if paper is not None else "no paper has a label"
        raise ValueError(f"{where} {shown(str(label))}" + (
            f": did you mean {' or '.join(map(repr, close))}?" if close else ""))

    def about(self, topic, papers=None):
        """The displays of some papers (default: all) that name a topic in their words, formulas or
        code: `KFAC`, `Pos-Eig`, `total gradient`. Its words have to stand in a row; [] for what is
        no word.
        """
        pattern = topic_pattern(topic)
        if pattern is None:
            return []
        return [entry for paper in (self.rooms() if papers is None else papers)
                for entry in self.of(paper) if pattern.search(_words_of(entry))]


REGISTRY = Registry(PAPERS, TITLES)


def paper_meant(name, titles):
    """The one paper that a name means: its key in any spelling, or at least three letters of its
    key or title; ValueError for none, or for more than one.
    """
    matches = papers_named(name, titles)
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ValueError(f"paper {shown(name)} may be {' or '.join(matches)}")
    raise ValueError(f"{unknown('paper', name, titles)}; your own is loaded first (--load FOLDER, "
                     "secondorder.edition.load)")


def unknown(what, name, known):
    """The message for a name that is not among those known."""
    known = list(known)
    return (f"unknown {what} {shown(name)}: {did_you_mean(name, known, 0.5)}choose from "
            f"{', '.join(known)}")


def _words_of(entry):
    """All texts of a display in which a topic may be named."""
    texts = [*entry.labels, entry.statement, entry.where or "", entry.condition or "",
             entry.formula, entry.corrected or "", entry.check.__doc__ or "",
             *(qualified_name(value) for value in entry.implements),
             *((getattr(underlying(value), "__doc__", "") or "").partition("---")[0]
               for value in entry.implements)]
    return " \n ".join(texts).replace("_", " ")


def underlying(implementation):
    """The plain function or class behind a method, (cached) property or compiled function."""
    for attribute in ("__func__", "fget", "func", "py_func"):
        implementation = getattr(implementation, attribute, None) or implementation
    return implementation


def qualified_name(implementation):
    """Module and qualified name of an implementation, `package.module.Class.method`."""
    target = underlying(implementation)
    module = getattr(target, "__module__", None)
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None)
    return f"{module}.{name}" if module else str(name)


def short_name(paper, name):
    """A qualified name without the package and without the paper's own room."""
    room = room_of(paper)
    return name.removeprefix(f"{room}." if room else "").removeprefix("secondorder.").removeprefix(
        "papers.")


def room_of(paper):
    """The package in which a paper's checks stand, "" where they stand in none."""
    module = REGISTRY.papers.get(paper)
    if module is None and paper in REGISTRY.papers:
        module = next((entry.check.__module__ for entry in REGISTRY.of(paper)), None)
    return (module or "").rpartition(".")[0]
