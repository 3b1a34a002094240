"""`.ci/run` names files of the tests; a file that was renamed is named anew there."""

import re
from fnmatch import fnmatch
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def paths_in(script):
    """The files and folders of tests that a shell script names, its variables filled in."""
    for name, value in re.findall(r"^\s*(\w+)=(tests/\S*)", script, flags=re.M):
        script = script.replace(f"${name}/", f"{value}/")
    return re.findall(r"(?<![\w./])tests/[\w./]*\w", script)


def test_every_test_that_the_gate_names_exists():
    named = paths_in((ROOT / ".ci" / "run").read_text())
    assert len(named) >= 10
    assert not [path for path in named if not (ROOT / path).exists()]


def test_the_gate_runs_what_every_marker_leaves_out():
    markers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    names = {line.partition(":")[0] for line in markers["markers"]} - {"everyday(count)"}
    assert names == set(re.findall(r"not (\w+)", markers["addopts"][1]))
    script = (ROOT / ".ci" / "run").read_text()
    assert not [name for name in names if f"-m {name}" not in script]


def test_the_top_level_holds_what_it_should():
    known = {"pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE",
             "CITATION.cff", "secondorder", "tests", "tutorials", "data"}
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text().split()]
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")
             and not any(fnmatch(path.name, pattern) for pattern in ignored)}
    assert found == known


def test_no_folder_of_the_package_is_left_out_of_a_wheel_by_gitignore():
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    ignored = {line[:-1] for line in lines if line.endswith("/") and "/" not in line[:-1]}
    folders = {path.name for path in (ROOT / "secondorder").rglob("*") if path.is_dir()}
    assert folders & ignored <= {"__pycache__"}
