"""`.ci/run` runs what the default leaves out; the top level holds what it should."""

import re
from fnmatch import fnmatch
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_gate_runs_what_every_marker_leaves_out():
    markers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    names = {line.partition(":")[0] for line in markers["markers"]}
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
