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
    from secondorder import edition
    from secondorder.ledger.registry import REGISTRY

    before = set(REGISTRY.papers)
    for place in places:
        if Path(place).suffix == ".py":
            module_of(place)
        elif not Path(place).exists():
            raise FileNotFoundError(f"--load: no such file or folder: {place}")
        else:
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
    """Load the edition that a name means, in the working directory or which this is itself; a paper
    that is known already is left as it is. ValueError where a name is nearly that of an edition.
    """
    from secondorder.checks import close_matches
    from secondorder.edition import loading
    from secondorder.ledger.labels import papers_named
    from secondorder.ledger.registry import REGISTRY, unknown

    if not name or name in REGISTRY.papers:
        return
    folders = {loading.key_of(folder): folder for folder in [Path(), *sorted(Path().iterdir())]
               if loading.is_edition(folder)}
    meant = papers_named(name, dict.fromkeys(folders, ""))
    for key in meant:
        if key not in REGISTRY.papers:
            loading.load(folders[key])
    if not meant and close_matches(name, folders, 0.8):
        raise ValueError(unknown("paper", name, folders))
