"""Copies of the package with one formula changed, and what is run on them."""

import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from conftest import COPY

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = [entry for path in sorted((ROOT / "tests" / "mutations").glob("*.toml"))
           for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]]
WORKERS, TIMEOUT = 2, 300
COMPILED = "compiled-loops"  # where a copy keeps them
EVERYDAY = "not thorough and not slow"  # what is run on a copy

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
    """Number and place of an entry, by which `pytest -k` finds it: 1039-papers-eacg-optimizer."""
    place = Path(ENTRIES[index]["file"]).relative_to("secondorder").with_suffix("")
    return "-".join([f"{index + 1:03d}", *place.parts])


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


def copy_package(folder):
    """The package, its tests, tutorials and data, without caches."""
    for name in ("secondorder", "tests", "tutorials", "data"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name,
                            ignore=shutil.ignore_patterns("__pycache__"))
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    markers = settings["tool"]["pytest"]["ini_options"]["markers"]
    (folder / "pytest.ini").write_text("\n    ".join(["[pytest]\nmarkers =", *markers]) + "\n",
                                       encoding="utf-8")
    return folder


def run(folder, kind, arguments, stop=True, timeout=TIMEOUT):
    """Run everyday tests or equations in a copy; return the exit code and what was printed."""
    if kind == "pytest":
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *["-x"] * stop,
                   "-m", EVERYDAY, *arguments]
    else:
        command = [sys.executable, "-c", RUN_EQUATIONS, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(folder), COPY: str(folder),
                   "PYTHONDONTWRITEBYTECODE": "1",
                   "NUMBA_CACHE_DIR": str(folder / COMPILED),
                   "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=timeout)
    return done.returncode, done.stdout + done.stderr
