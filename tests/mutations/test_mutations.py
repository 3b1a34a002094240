"""Mutations: one formula of the package is changed at a time; the named test must notice.

`mutations/` holds the lists, one for the ground floor and one for each room. An entry has

    file        source file, from the project's root
    text        what stands there; exactly once, or the `occurrence`-th time (counted from 1)
    mutated     what is put in its place
    test        what must fail: arguments of pytest, `tests/test_x.py::test_y` or
                `tests/test_x.py -k words` (or a list), of which the everyday tests count
    equation    or, instead of `test`: `PAPER LABEL`, an executable equation (or a list of them)

Every day it is checked that all entries still apply. The slow test applies each one to a copy of
the package:

    pytest -m slow tests/mutations/test_mutations.py
"""

import ast
import functools
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.mutations import (ENTRIES, FAILED, ROOT, TIMEOUT, WORKERS, apply, catchers,
                               copy_package, name_of, run)

# -- every day ----------------------------------------------------------------


@functools.cache
def source_of(file):
    return (ROOT / file).read_text(encoding="utf-8")


NOT_EVERYDAY = ("pytest.mark.thorough", "pytest.mark.slow")


@functools.cache
def functions_in(path):
    """Name of a function -> whether some of its cases run every day."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    whole = any(isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
                and any(name in ast.unparse(node.value) for name in NOT_EVERYDAY)
                for node in tree.body)
    return {node.name: not whole and not any(ast.unparse(decorator) in NOT_EVERYDAY
                                             for decorator in node.decorator_list)
            for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("index", range(len(ENTRIES)), ids=name_of)
def test_every_entry_applies(index):
    entry = ENTRIES[index]
    assert set(entry) <= {"file", "text", "mutated", "test", "equation", "occurrence"}
    assert apply(entry, source_of(entry["file"])) != source_of(entry["file"])
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
            functions = functions_in(ROOT / path)
            if function:
                assert function.partition("[")[0] in functions, node
                assert functions[function.partition("[")[0]], f"{node} does not run every day"
            else:
                assert any(daily for name, daily in functions.items() if name[:5] == "test_"), node


@functools.cache
def code_of(source):
    """The source as a syntax tree, in which comments and line breaks do not count."""
    return ast.dump(ast.parse(source))


@pytest.mark.thorough
def test_every_mutation_changes_code():
    """And can be read; comments and line breaks are no code."""
    for entry in ENTRIES:
        source = source_of(entry["file"])
        assert code_of(apply(entry, source)) != code_of(source), entry


def test_no_two_are_alike():
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
    copy = copy_package(tmp_path / "copy")
    for what in arguments.values():
        what = what if "-k" in what else sorted(set(what))
        code, output = run(copy, kind, what, stop=False, timeout=4 * TIMEOUT)  # most in one run
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
