"""What a study is, and all of them."""

import hashlib
import importlib
import importlib.util
import json
from dataclasses import dataclass, field

from ..checks import lookup
from ..ledger import PAPERS
from ..ledger.labels import canonical
from ..ledger.registry import TITLES, paper_meant


@dataclass(frozen=True)
class Run:
    """One independent run: a function and plain arguments.

    Attributes
    ----------
    function : callable
        At the top of a module, so that another process finds it; returns what JSON can hold. Its
        name is its own among the functions that a paper's studies run.
    arguments : dict
        What JSON can hold: numbers, texts, lists.
    """

    function: object
    arguments: dict = field(default_factory=dict)

    @property
    def name(self):
        """Name of the run's file: the same function with the same arguments has the same one."""
        return name_of(self.function.__name__, self.arguments)


def name_of(function, arguments):
    """The name of a run, by the name of its function and its arguments."""
    told = json.dumps([function, arguments], sort_keys=True)
    return f"{function}-{hashlib.sha256(told.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Study:
    """A figure, a table or a claim of a paper, as something that runs and is judged.

    Attributes
    ----------
    paper, key : str
        ``low-rank``, ``figure-2``.
    shows : str
        What is to be seen, in one line.
    claims : dict of str to str
        Letter -> what the paper claims; it may be empty where another study has all claims.
    full, quick : dict
        Settings; `seeds` is a sequence in both.
    seconds : (float, float)
        Of one core, about, for the full and the quick setting.
    implementation : object
        Has `runs`, `judge`, `draw` and perhaps `packed`; see :func:`study`.
    needs : tuple of str
        Data sets, as :func:`secondorder.studies.images` names them; () for digits or none.
    smaller : str
        In a few words, what is smaller or other than in the paper: the setting is a stand-in. ""
        at the paper's own setting.
    deviation : str
        The same at length, and our readings of what the paper leaves open.
    ours : tuple of str
        Letters of `claims` that are findings of this edition, and no claims of the paper.
    also : dict of str to str
        Letter -> other places of the paper where the same claim stands, "Figure 4".
    """

    paper: str
    key: str
    shows: str
    claims: dict
    full: dict
    quick: dict
    seconds: tuple
    implementation: object
    needs: tuple = ()
    smaller: str = ""
    deviation: str = ""
    ours: tuple = ()
    also: dict = field(default_factory=dict)

    @property
    def setting(self):
        return f"stand-in: {self.smaller}" if self.smaller else "paper's"

    def settings(self, quick=False, seeds=None):
        """The settings, with another number of seeds where asked: those that follow are taken."""
        settings = dict(self.quick if quick else self.full)
        if seeds is not None:
            have = list(settings["seeds"])
            have += range(max(have) + 1, max(have) + 1 + max(0, seeds - len(have)))
            settings["seeds"] = tuple(have[:seeds])
        return settings

    def runs(self, settings, results):
        """The runs that the study takes, each once: two rules may choose one rate."""
        asked = self.implementation.runs(settings, results)
        return list({run.name: run for run in asked}.values())

    def judge(self, results, settings):
        return self.implementation.judge(results, settings)

    def draw(self, results, figure, settings):
        return self.implementation.draw(results, figure, settings)

    @property
    def packed(self):
        """The study's own function for what is kept of a run, or None where all is."""
        return getattr(self.implementation, "packed", None)


class Studies:
    """All studies, by paper and key, loaded when they are asked for."""

    def __init__(self, papers):
        self.papers, self._studies, self._loaded = dict(papers), {}, set()

    def add(self, one):
        place = self._studies.setdefault(one.paper, {})
        if one.key in place:
            raise ValueError(f"[{one.paper}] {one.key} is already registered")
        place[one.key] = one

    def room(self, paper):
        """The package of a paper: its studies stand in ``figures`` in it."""
        return self.papers[paper].rpartition(".")[0]

    def key(self, name):
        """The paper that a name means, as `paper_meant` reads it."""
        return paper_meant(name, {paper: TITLES.get(paper, "") for paper in self.papers})

    def of(self, paper):
        """The studies of a paper in the order of their registration, key -> Study."""
        paper = self.key(paper)
        if paper not in self._loaded:
            figures = f"{self.room(paper)}.figures"
            if importlib.util.find_spec(figures) is not None:
                importlib.import_module(figures)
            self._loaded.add(paper)
        return dict(self._studies.get(paper, {}))

    def select(self, paper=None, keys=()):
        """The studies of a paper (default: of all), or those with these keys, in any spelling; an
        unknown paper or key raises a ValueError with the closest known one.
        """
        if paper is None:
            return [one for name in self.papers for one in self.of(name).values()]
        known = self.of(paper)
        by_name = {canonical(key): study for key, study in known.items()}
        return [by_name[canonical(key)] if canonical(key) in by_name
                else lookup(known, key, f"study of {paper}") for key in keys] or [*known.values()]


STUDIES = Studies(PAPERS)


def study(paper, key, **about):
    """Register a study; decorates a class with three functions.

    ``runs(settings, results)``
        The runs that it takes, as a list of :class:`Run`. It is called again with what has come
        back until all that it names is there, so that later runs may depend on earlier ones (rates
        that are chosen on seeds of their own). What it names twice is run once.
    ``judge(results, settings)``
        A :class:`Verdict` a claim, letter -> Verdict.
    ``draw(results, figure, settings)``
        The figure; `figure` is an empty one of matplotlib.
    ``packed(result, arguments)``, where there is one
        A run's result without what neither verdict nor figure needs: packed runs stay small.

    The arguments are those of :class:`Study`.
    """
    def register(implementation):
        missing = [name for name in ("runs", "judge", "draw") if not hasattr(implementation, name)]
        if missing:
            raise TypeError(f"[{paper}] {key}: {', '.join(missing)} missing")
        STUDIES.add(Study(paper, key, implementation=implementation(), **about))
        return implementation

    return register
