"""What the room of a paper lacks, in plain sentences: what CONTRIBUTING asks for, looked up.

In ``tests/``: ``python -m harness.rooms PAPER``; ``python -m harness.rooms --letters`` writes the
list of letters in CONTRIBUTING anew.
"""

import ast
import importlib
import inspect
import re
import sys
import tomllib
from pathlib import Path

from secondorder.ledger.registry import REGISTRY, TITLES, qualified_name
from secondorder.optimizers import Optimizer
from secondorder.studies import records
from secondorder.studies.pages import summary
from secondorder.studies.registry import STUDIES

SECTIONS = ("In all studies", "Criteria", "Order of things", "Judges changed after a run")
TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent


def lacks(paper, root=ROOT):
    """Sentences, each with the file that is to be written; none for a room that is whole."""
    folder = REGISTRY.papers[paper].split(".")[2]
    checks = (_known, _pages, _letters, _tests, _mutations, _displays, _studies, _in_short,
              _methods)
    return [sentence for check in checks for sentence in check(paper, folder, root)]


def asked(arguments):
    """The paper that the command names; one that is not known yet is told where to begin."""
    try:
        (name,) = arguments
        return REGISTRY.key(name)
    except ValueError as error:
        sys.exit(f"{error if len(arguments) == 1 else __doc__}\n"
                 "A new paper begins with its key and the module of its equations, in PAPERS of "
                 "secondorder/ledger/registry.py.")


def _known(paper, folder, root):
    from secondorder.book import bibliography

    if paper not in TITLES and paper != "bridges":
        yield "secondorder/ledger/registry.py: TITLES has no title"
    if paper not in bibliography.PAPERS:
        yield "secondorder/book/bibliography.py: PAPERS does not say who wrote it"
    listed = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    room = root / "secondorder" / "papers" / folder
    for path in [room, *room.glob("*/")]:
        name = ".".join(path.relative_to(root).parts)
        if (path / "__init__.py").is_file() and name not in listed:
            yield f"pyproject.toml: packages lacks {name}"


def _pages(paper, folder, root):
    room = root / "secondorder" / "papers" / folder
    if not (room / "EQUATIONS.md").is_file():
        yield f"EQUATIONS.md: run `secondorder verify {paper} --markdown --write`"
    if STUDIES.of(paper) and not (room / "CLAIMS.md").is_file():
        yield f"CLAIMS.md: run `secondorder claims {paper} --markdown --write`"


def _tests(paper, folder, root):
    place = root / "tests" / "papers" / folder
    functions = [node.name for path in place.glob("test_*.py")
                 for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                 if isinstance(node, ast.FunctionDef)]
    if not any(name.startswith("test_") for name in functions):
        yield f"tests/papers/{folder}/: no test; every formula is compared with another way to it"


def _mutations(paper, folder, root):
    """Every file with a formula that a check names has an entry, and the file of the method."""
    room = f"secondorder.papers.{folder}."
    formulas = {Path(inspect.getsourcefile(sys.modules[module])).relative_to(ROOT).as_posix()
                for entry in REGISTRY.select(paper) for module in _modules(entry)
                if (module + ".").startswith(room)}
    if (ROOT / "secondorder" / "papers" / folder / "optimizer.py").is_file():
        formulas.add(f"secondorder/papers/{folder}/optimizer.py")
    changed = {entry["file"] for path in (root / "tests" / "mutations").glob("*.toml")
               for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]}
    for file in sorted(formulas - changed):
        yield (f"tests/mutations/{folder}.toml: no entry for {file}, which holds the method or "
               "formulas that a check names in `implements`")


def _modules(entry):
    """The modules in which the implementations of an equation stand."""
    for one in entry.implements:
        name = qualified_name(one)
        while name and name not in sys.modules:
            name = name.rpartition(".")[0]
        yield name


def _displays(paper, folder, root):
    """Every formula that is the paper's is compared with the paper's text."""
    kept = tomllib.loads((root / "tests" / "papers" / "displays.toml").read_text(encoding="utf-8"))
    known = {*kept["digests"].get(paper, {}), *kept["explained"].get(paper, {})}
    for entry in REGISTRY.select(paper):
        label = entry.labels[0]
        if paper != "bridges" and not entry.ours and label not in known:
            yield (f"tests/papers/displays.toml: the formula of {label} is not compared with the "
                   f"text; `python -m harness.displays {paper} TEXT --write`, or a reason under "
                   f"[explained.{paper}]")


def _studies(paper, folder, root):
    for key, study in STUDIES.of(paper).items():
        record = records.recorded(paper, key)
        again = f"`secondorder reproduce {paper} {key} --record`"
        if record is None:
            yield f"data/results/{paper}/{key}.json: not recorded; {again}"
            continue
        judged = {one["letter"] for one in record["claims"]}
        for letter in sorted(judged ^ set(study.claims)):
            yield (f"data/results/{paper}/{key}.json: claim {letter} "
                   f"{'is not judged' if letter in study.claims else 'is none of the study'}; "
                   f"{again}")
        if record.get("criterion", "") != records.criterion(paper, key):
            yield (f"data/results/{paper}/{key}.json: criteria.md was changed after it; tell the "
                   f"change there, then `secondorder reproduce {paper} {key} --recorded --resume "
                   "--record`")
    criteria = root / "secondorder" / "papers" / folder / "studies" / "criteria.md"
    if STUDIES.of(paper):
        text = criteria.read_text(encoding="utf-8") if criteria.is_file() else ""
        for title in SECTIONS:
            if f"\n## {title}\n" not in text:
                yield f"{criteria.relative_to(root)}: no section {title!r}"
        link = criteria.relative_to(root).as_posix()
        if link not in (root / "README.md").read_text(encoding="utf-8"):
            yield f"README.md: no link to {link}, beside those of the other papers"


def _in_short(paper, folder, root):
    """The page of the claims opens with five bullets, or one a claim where these are fewer."""
    asked = min(5, sum(len(study.claims) for study in STUDIES.of(paper).values()))
    if asked and len(summary(paper).splitlines()) != asked:
        yield (f"secondorder/papers/{folder}/studies/in_short.md: it wants {asked} "
               f"bullet{'s' * (asked != 1)}, a line each")


def _methods(paper, folder, root):
    """Every method is put before the checker of methods, and its file has mutations."""
    path = root / "secondorder" / "papers" / folder / "optimizer.py"
    if not path.is_file():
        return
    tests = [*(root / "tests" / "papers" / folder).glob("test_*.py"),
             root / "tests" / "verify" / "test_verify_optimizers.py"]
    texts = "".join(text for text in (one.read_text(encoding="utf-8") for one in tests)
                    if "verify.optimizer(" in text)
    module = importlib.import_module(f"secondorder.papers.{folder}.optimizer")
    for name, value in vars(module).items():
        own = inspect.isclass(value) and value.__module__ == module.__name__
        if own and issubclass(value, Optimizer) and not re.search(rf"\b{name}\b", texts):
            yield (f"tests/papers/{folder}/: no test puts {name} before the checker: "
                   "`report = so.verify.optimizer(...); assert report.ok, str(report)`")


def letters(text):
    """CONTRIBUTING with the list of letters that the rooms make."""
    from secondorder.book.parts import symbols

    start, end = "<!-- letters -->\n", "\n<!-- end -->"
    before, _, rest = text.partition(start)
    return before + start + symbols.markdown() + end + rest.partition(end)[2]


def _letters(paper, folder, root):
    page = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    if page != letters(page):
        yield "CONTRIBUTING.md: the list of letters; `python -m harness.rooms --letters`"


if __name__ == "__main__" and sys.argv[1:] == ["--letters"]:
    path = ROOT / "CONTRIBUTING.md"
    path.write_text(letters(path.read_text(encoding="utf-8")), encoding="utf-8")
elif __name__ == "__main__":
    for sentence in lacks(asked(sys.argv[1:])):
        print(sentence)
