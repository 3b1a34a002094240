"""Mutations: one formula of the package is changed at a time; the named test must notice.

`mutations/` holds the lists, one for the ground floor and one for each room. An entry has

    file        source file, from the project's root
    text        what stands there; exactly once, or the `occurrence`-th time (counted from 1)
    mutated     what is put in its place
    test        what must fail: arguments of pytest, `tests/test_x.py::test_y` or
                `tests/test_x.py -k words` (or a list)
    equation    or, instead of `test`: `PAPER LABEL`, an executable equation (or a list of them)

Every day it is checked that all entries still apply. The slow test applies each one to a copy of
the package:

    pytest -m slow tests/test_mutations.py
"""

import ast
import functools
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import COPY

ROOT = Path(__file__).resolve().parent.parent
ENTRIES = [entry for path in sorted((ROOT / "tests" / "mutations").glob("*.toml"))
           for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]]
WORKERS, TIMEOUT = 2, 300

# Exit codes that mean "a check failed"; all others, such as 2, mean that it did not run.
FAILED = {"pytest": 1, "equation": 7}
RUN_EQUATIONS = """
import os, sys
from pathlib import Path
import secondorder
if not Path(secondorder.__file__).resolve().is_relative_to(Path(os.environ["{copy}"]).resolve()):
    sys.exit("another secondorder was found: " + secondorder.__file__)
from secondorder import verify
results = [result for name in sys.argv[1:] for result in verify.run(*name.split(maxsplit=1))]
for result in results:
    if not result.ok:
        print(result.paper, result.labels, result.message)
sys.exit(0 if all(result.ok for result in results) else {failed})
""".format(copy=COPY, failed=FAILED["equation"])


def as_list(value):
    return [value] if isinstance(value, str) else list(value)


def name_of(index):
    return f"{index + 1:03d}-{Path(ENTRIES[index]['file']).stem}"


def apply(entry, source):
    """The source with the mutation; ValueError if the entry does not say where to put it."""
    text, count = entry["text"], source.count(entry["text"])
    place = entry.get("occurrence")
    if count == 0:
        raise ValueError(f"{entry['file']} does not hold {text!r}")
    if place is None and count > 1:
        raise ValueError(f"{entry['file']} holds {text!r} {count} times; say which by `occurrence`")
    if place is not None and not 1 <= place <= count:
        raise ValueError(f"{entry['file']} holds {text!r} {count} times, not {place}")
    start = -1
    for _ in range(place or 1):
        start = source.index(text, start + 1)
    return source[:start] + entry["mutated"] + source[start + len(text):]


def catchers(entry):
    """(kind, arguments) of what must fail."""
    if ("test" in entry) == ("equation" in entry):
        raise ValueError(f"{entry['file']}, {entry['text']!r}: give either `test` or `equation`")
    if "equation" in entry:
        return "equation", as_list(entry["equation"])
    return "pytest", [argument for test in as_list(entry["test"]) for argument in shlex.split(test)]


# -- every day ----------------------------------------------------------------


@functools.cache
def code_of(source):
    """The source as a syntax tree, in which comments and line breaks do not count."""
    return ast.dump(ast.parse(source))


@functools.cache
def functions_in(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("index", range(len(ENTRIES)), ids=name_of)
def test_every_entry_applies(index):
    entry = ENTRIES[index]
    assert set(entry) <= {"file", "text", "mutated", "test", "equation", "occurrence"}
    source = (ROOT / entry["file"]).read_text(encoding="utf-8")
    assert code_of(apply(entry, source)) != code_of(source), "the mutation changes no code"
    kind, arguments = catchers(entry)
    assert arguments
    if kind == "equation":
        from secondorder.ledger.registry import REGISTRY

        for equation in arguments:
            paper, label = equation.split(maxsplit=1)
            assert REGISTRY.select(paper, label)
    else:
        files = [argument for argument in arguments if argument.startswith("tests/")]
        assert files and not [a for a in arguments if a.startswith("-") and a != "-k"]
        for node in files:
            path, _, function = node.partition("::")
            assert (ROOT / path).is_file(), path
            assert not function or function.partition("[")[0] in functions_in(ROOT / path), node


def test_there_are_enough_and_no_two_alike():
    ground = [e for e in ENTRIES
              if e["file"].startswith(("secondorder/nets/", "secondorder/exact/"))]
    assert len(ground) >= 50
    keys = [(e["file"], e["text"], e["mutated"], e.get("occurrence")) for e in ENTRIES]
    assert len(set(keys)) == len(keys)


def test_every_file_of_formulas_is_mutated():
    mutated = {Path(e["file"]).relative_to("secondorder").as_posix() for e in ENTRIES}
    for folder in ("nets", "exact"):
        for path in (ROOT / "secondorder" / folder).glob("*.py"):
            assert path.name == "__init__.py" or f"{folder}/{path.name}" in mutated, path.name


def test_an_entry_that_does_not_apply_is_told_so():
    source = "a = 1\nb = 1\n"
    assert apply({"file": "x", "text": "= 1", "mutated": "= 2", "occurrence": 2},
                 source) == "a = 1\nb = 2\n"
    assert apply({"file": "x", "text": "a", "mutated": "c"}, source) == "c = 1\nb = 1\n"
    for entry, message in (({"text": "= 3"}, "does not hold"),
                           ({"text": "= 1"}, "2 times; say which"),
                           ({"text": "= 1", "occurrence": 3}, "2 times, not 3")):
        with pytest.raises(ValueError, match=message):
            apply({"file": "x", "mutated": "", **entry}, source)


# -- slow: apply each one ----------------------------------------------------------------


def copy_package(folder):
    """The package, its tests and its data, without caches."""
    for name in ("secondorder", "tests", "data"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name,
                            ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow: long checks\n", encoding="utf-8")
    return folder


def run(folder, kind, arguments, stop=True, timeout=TIMEOUT, extra=None):
    """Run tests or equations in a copy; return the exit code and what was printed.

    `extra` holds further environment variables.
    """
    if kind == "pytest":
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *["-x"] * stop,
                   *arguments]
    else:
        command = [sys.executable, "-c", RUN_EQUATIONS, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(folder), COPY: str(folder),
                   "PYTHONDONTWRITEBYTECODE": "1",
                   "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    environment.pop("PYTEST_ADDOPTS", None)
    environment |= extra or {}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=timeout)
    return done.returncode, done.stdout + done.stderr


def run_mutated(entry, folder):
    copy_package(folder)
    path = folder / entry["file"]
    path.write_text(apply(entry, path.read_text(encoding="utf-8")), encoding="utf-8")
    try:
        return run(folder, *catchers(entry))
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def outcomes(request, tmp_path_factory):
    """Index of an entry -> future (exit code, output): all the entries that were asked for, two at
    a time."""
    wanted = [item.callspec.params["index"] for item in request.session.items
              if item.originalname == "test_mutation_is_caught"]
    with ThreadPoolExecutor(WORKERS) as pool:
        yield {i: pool.submit(run_mutated, ENTRIES[i], tmp_path_factory.mktemp("mutated") / "copy")
               for i in wanted}
        pool.shutdown(cancel_futures=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pytest", "equation"])
def test_the_unmutated_copy_passes(kind, tmp_path):
    """What must fail on a mutated copy passes on a faithful one: it fails because of the
    mutation."""
    arguments = {}
    for entry in ENTRIES:
        found, what = catchers(entry)
        if found == kind:
            arguments.setdefault(tuple(what) if "-k" in what else (), []).extend(what)
    for what in arguments.values():
        what = what if "-k" in what else sorted(set(what))
        code, output = run(copy_package(tmp_path / str(len(list(tmp_path.iterdir())))), kind, what,
                           stop=False)
        assert code == 0, output


@pytest.mark.slow
@pytest.mark.parametrize("index", range(len(ENTRIES)), ids=name_of)
def test_mutation_is_caught(index, outcomes):
    entry = ENTRIES[index]
    code, output = outcomes[index].result()
    assert code != 0, (
        f"nothing noticed {entry['text']!r} -> {entry['mutated']!r} in {entry['file']}"
    )
    assert code == FAILED[catchers(entry)[0]], f"exit code {code}: the check did not run\n{output}"
