"""Users' papers on the command line: from a file, or from the folder of an edition."""

import importlib.util
import sys
import traceback
from pathlib import Path


def load_option(parser):
    """Add ``--load``."""
    parser.add_argument("--load", action="append", default=[], metavar="FILE",
                        help="a Python file that registers your paper (secondorder.ledger.paper), "
                             "or the folder of an edition; repeatable")


def load(places):
    """Run files or load editions; the papers that they brought."""
    from secondorder.ledger.registry import REGISTRY

    before = set(REGISTRY.papers)
    for place in places:
        if Path(place).suffix == ".py":
            module_of(place)
        elif not Path(place).exists():
            raise FileNotFoundError(f"--load: no such file or folder: {place}")
        else:
            from secondorder import edition

            before.discard(edition.load(place))
    brought = [paper for paper in REGISTRY.papers if paper not in before]
    if places and not brought:
        raise ValueError(f"--load: {', '.join(places)} registered no paper: it has to call "
                         "secondorder.ledger.paper(key)")
    return brought


def module_of(place):
    """A user's file, run as a module; an error of his is one line."""
    path = Path(place)
    if path.suffix != ".py" or not path.is_file():
        raise FileNotFoundError(f"--load: no such file: {place}")
    name = f"own_{path.stem}"  # a file numpy.py does not stand in NumPy's place
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]  # as after an import that failed
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
                 if Path(frame.filename) == path.resolve()]
        said = error
        if isinstance(error, SyntaxError):
            lines, said = [error.lineno], error.msg
        where = f", line {lines[-1]}" if lines else ""
        raise ValueError(f"--load {path}{where}: {type(error).__name__}: {said}") from error
    return module


def load_here(name):
    """Load the edition in the working directory that a name means, where there is one.

    A paper that is known already, the package's own first of all, is left as it is. ValueError
    names an edition whose name is nearly the given one.
    """
    from secondorder.checks import close_matches
    from secondorder.ledger.labels import papers_named
    from secondorder.ledger.registry import REGISTRY, paper_meant

    if not name or name in REGISTRY.papers or "/" in name or "\\" in name:
        return
    from secondorder.edition import loading

    if loading.is_edition("."):  # the working directory is one itself
        key = loading.key_of(".")
        if key not in REGISTRY.papers and papers_named(name, {key: ""}):
            loading.load(".")
            return
    editions = [folder.name for folder in sorted(Path().iterdir()) if loading.is_edition(folder)]
    if not editions:
        return
    titles = {paper: REGISTRY.titles[paper] for paper in REGISTRY.rooms()}
    titles |= dict.fromkeys(editions, "")
    try:
        meant = name if name in editions else paper_meant(name, titles)
    except ValueError:  # it may be a topic, unless it is nearly a key
        if close_matches(name, editions, 0.8):
            raise
        return
    if meant in editions and meant not in REGISTRY.papers and loading.key_of(meant) == meant:
        loading.load(meant)
