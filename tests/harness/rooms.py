"""What the room of a paper lacks, in plain sentences: what CONTRIBUTING asks for, looked up.

In ``tests/``: ``python -m harness.rooms PAPER``; with ``--test`` behind it the tests that read the
room run too: its mutations, the sabotage of its equations, runs that were recorded, their verdicts
(`COMMANDS`).
"""

import ast
import importlib
import inspect
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

from harness import displays, plain_words
from secondorder.book.parts import symbols
from secondorder.ledger.labels import is_number
from secondorder.ledger.registry import REGISTRY, TITLES
from secondorder.optimizers import Optimizer
from secondorder.studies import records
from secondorder.studies.pages import summary
from secondorder.studies.registry import STUDIES

#: The tests that read a room. {paper} is its key, {room} its folder.
COMMANDS = (
    "tests/papers tests/mutations tests/ledger tests/optimizers tests/verify tests/project "
    "tests/studies/test_criteria.py tests/studies/test_studies_commands.py "
    "tests/book/test_letters.py tests/checks/test_malformed_calls.py --processes auto",
    "-m slow tests/mutations/test_mutations.py -k {room}",
    "-m slow tests/ledger/test_sabotage.py -k {paper}-",
    "-m slow tests/studies/test_recorded_runs.py -k {paper}",
    "-m 'not slow' tests/studies/test_studies_commands.py -k 'judged_as_recorded and {paper}-'")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SECTIONS = ("In all studies", "Criteria", "Order of things", "Judges changed after a run")
TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent


def lacks(paper, root=ROOT):
    """Sentences, each with the file that is to be written; none for a room that is whole."""
    folder = REGISTRY.papers[paper].split(".")[2]
    checks = (_known, _front, _pages, _tables, _tests, _mutations, _equations, _letters, _displays,
              _studies, _in_short, _methods)
    return [sentence for check in checks for sentence in check(paper, folder, root)]


def asked(arguments):
    """The paper that the command names, read; one that is not known yet is told where to begin."""
    try:
        (name,) = arguments
        paper = REGISTRY.key(name)
    except ValueError as error:
        sys.exit(f"{error if len(arguments) == 1 else __doc__}\n"
                 "A new paper begins with its key and the module of its equations, in PAPERS of "
                 "secondorder/ledger/registry.py.")
    try:
        REGISTRY.select(paper)
    except ValueError as error:  # a registration that is refused
        sys.exit(f"The equations of {paper} cannot be registered: {error}")
    return paper


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


def _front(paper, folder, root):
    """What README and CHANGELOG say of a paper and of its methods."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    papers = len(symbols.papers())
    if f"edition of {NUMBERS[papers]} papers" not in readme:
        yield f"README.md: its first sentence does not speak of {NUMBERS[papers]} papers"
    for link in (f"(secondorder/papers/{folder})", f"(secondorder/papers/{folder}/EQUATIONS.md)"):
        if link not in readme:
            yield f"README.md: the table of papers has no link {link}"
    for name in methods(folder):
        if name not in readme:
            yield f"README.md: the table of curvatures does not name {name}"
    if paper not in (root / "CHANGELOG.md").read_text(encoding="utf-8"):
        yield f"CHANGELOG.md: no line names {paper}"


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
    """Every file with a function that computes has an entry: checks, studies and options aside."""
    room = ROOT / "secondorder" / "papers" / folder
    formulas = {path.relative_to(ROOT).as_posix() for path in room.rglob("*.py")
                if not {"equations", "equations.py", "studies", "options.py"}
                & set(path.relative_to(room).parts) and _computes(path)}
    changed = {entry["file"] for path in (root / "tests" / "mutations").glob("*.toml")
               for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]}
    for file in sorted(formulas - changed):
        yield f"tests/mutations/{folder}.toml: no entry for {file}, which holds formulas"


def _computes(path):
    """Whether a function of a file has a sum, a product, or another formula of two operands."""
    return any(isinstance(part, ast.BinOp)
               for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
               if isinstance(node, ast.FunctionDef) for part in ast.walk(node))


def _equations(paper, folder, root):
    """A correction says something else than what it corrects, and a condition is a sentence."""
    for entry in REGISTRY.select(paper):
        label = entry.labels[0]
        for condition in entry.conditions:
            if not str(condition).endswith((".", ".)")):
                yield f"the condition of {label} ends without a full stop: {str(condition)!r}"
        if entry.corrected and displays.normal(entry.corrected) == displays.normal(entry.formula):
            yield f"the corrected form of {label} says what its formula says"


#: What needs no row in a table of symbols: words, E[.], O(.), e^., I(.), transposes.
GENERAL = re.compile(r"\\(begin|end)\{\w+\}(\{[lcr| ]+\})?|\\(text|operatorname|tag)\{[^}]*\}|"
                     r"\\mathbb\{?\s?[EI]\}?|\bE(?=[\[_])|\bO(?=\()|\be(?=\^)|\^T|T\+?(?=\})")


def _letters(paper, folder, root):
    """Every letter of the paper's formulas stands in the table of symbols."""
    rows = symbols.table(paper)
    known = {letter for printed, _, _ in rows for letter in symbols.letters_in(printed)}
    for entry in REGISTRY.select(paper):
        shown = symbols.letters_in(GENERAL.sub(" ", f"{entry.formula} {entry.corrected or ''}"))
        if rows and not entry.ours and shown - known:
            yield (f"secondorder/papers/{folder}/__init__.py: the table of symbols has no row for "
                   f"{', '.join(sorted(shown - known))} of {entry.labels[0]}")


def _displays(paper, folder, root):
    """Every formula that is the paper's is compared with the paper's text; of those that are
    said to be ours none bears a number of the paper.
    """
    kept = tomllib.loads((root / "tests" / "papers" / "displays.toml").read_text(encoding="utf-8"))
    known = {*kept["digests"].get(paper, {}), *kept["explained"].get(paper, {})}
    for entry in REGISTRY.select(paper):
        label = entry.labels[0]
        numbers = [one for one in entry.labels if is_number(one)]
        if entry.ours and numbers:
            yield f"the formula of {numbers[0]} is said to be ours, and bears the paper's number"
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
        parts = [part for paragraph in plain_words.paragraphs(text)
                 for part in plain_words.records(paragraph)]
        for fault in plain_words.faults(parts):
            yield f"{criteria.relative_to(root)}: not in plain words: {fault}"
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
    """Every method stands among those that the checker of methods finds right."""
    file = "tests/verify/test_verify_optimizers.py"
    text = (root / file).read_text(encoding="utf-8").partition("\ndef test_")[0]
    for name in methods(folder):
        if name not in text:
            yield f"{file}: RIGHT, the table of methods that the checker passes, lacks {name}"


def folders():
    """The folders of the rooms, without the bridges'."""
    return [REGISTRY.papers[paper].split(".")[2] for paper in symbols.papers()]


def methods(folder):
    """Names of the classes of methods that the `optimizer.py` of a room defines."""
    if not (ROOT / "secondorder" / "papers" / folder / "optimizer.py").is_file():
        return []
    module = importlib.import_module(f"secondorder.papers.{folder}.optimizer")
    return [name for name, value in vars(module).items() if inspect.isclass(value)
            and value.__module__ == module.__name__ and issubclass(value, Optimizer)]


def _tables(paper, folder, root):
    """The tables that all rooms make together are those of today."""
    from secondorder.cli import layer_table

    for page, table, what in (
            (symbols.PAGE, symbols.markdown(), "the list of letters"),
            ("CONTRIBUTING.md", layer_table.table(), "which method takes which layer")):
        path = root / page
        if not path.is_file() or table not in path.read_text(encoding="utf-8"):
            yield f"{page}: {what}; run `secondorder verify {paper} --markdown --write`"


def tests(paper):
    """The commands that run what reads the room of a paper, as lists of words."""
    room = REGISTRY.papers[paper].split(".")[2]
    return [[sys.executable, "-m", "pytest", "-q", *shlex.split(one.format(paper=paper, room=room))]
            for one in COMMANDS]


def main(arguments):
    """Say what the room lacks, and run its tests where asked; 1 if there is something to mend."""
    run = arguments[1:] == ["--test"]
    paper = asked(arguments[:1] if run else arguments)
    missing = lacks(paper)
    print("\n".join(missing) or f"{paper} lacks no file.")
    failed = False
    for command in tests(paper) if run else []:
        print("\n" + shlex.join(["python", *command[1:]]), flush=True)
        failed |= subprocess.run(command, cwd=ROOT).returncode not in (0, 5)  # 5: there is none
    return int(failed or bool(missing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
