"""`.ci/run` runs what the default leaves out."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_gate_runs_what_every_marker_leaves_out():
    markers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    names = {line.partition(":")[0] for line in markers["markers"]}
    assert names == set(re.findall(r"not (\w+)", markers["addopts"][1]))
    script = (ROOT / ".ci" / "run").read_text()
    assert not [name for name in names if f"-m {name}" not in script]
