"""Random mutations of the compiled form: are all that anybody could observe noticed?

    cd tests
    python -m harness.compiled_mutations --count 100 --seed 1 --folder /tmp/mutations

draws changes of `secondorder/compiled` and of the rooms' compiled files, and tries each on a copy
of the package: first the tests of that file, then those of the compiled form, then all that use it.
What each came to is kept in the folder, so that a run that was stopped goes on. Survivors are
printed as entries for `tests/mutations/*.toml`; those that nobody can observe are listed with their
reasons in `unobservable.toml`.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from harness import kept_compiled
from harness.fastest_first import DURATIONS
from harness.mutation_points import put
from harness.mutations import COMPILED, ROOT, apply, copy_package, run
from harness.random_mutations import draw, entry, sources

FILES = ["secondorder/compiled", "secondorder/nets/programs.py",
         "secondorder/papers/eacg/compiled.py",
         "secondorder/papers/residual_partitioning/compiled.py",
         "secondorder/papers/reversible_gauss_newton/programs.py"]
ROOMS = "tests/papers"
RESIDUAL = f"{ROOMS}/residual_partitioning/test_residual_compiled.py"
REVERSIBLE = f"{ROOMS}/reversible_gauss_newton/test_reversible_compiled.py"
LOW_RANK = f"{ROOMS}/low_rank/test_low_rank_compiled.py"
PROGRAMS, WINDOWED = "tests/compiled/test_programs.py", "tests/compiled/test_windowed.py"
RECURRENT = "tests/compiled/test_recurrent_program.py"

# by the file's name, what notices most mutations soonest
SOONEST = {
    "updates.py": ["tests/compiled/test_updates.py"],
    "windows.py": [WINDOWED], "windowed.py": [WINDOWED], "convolution.py": [WINDOWED],
    "pooling.py": [WINDOWED], "recurrent.py": [RECURRENT], "second_order.py": [LOW_RANK, WINDOWED],
    "activations.py": ["tests/compiled/test_compiled_activations.py"],
    "exponential.py": ["tests/compiled/test_compiled_activations.py"],
    "normalisation.py": [PROGRAMS, "tests/compiled/test_frozen.py"],
    "forms.py": ["tests/compiled/test_literal.py"], "beside.py": ["tests/compiled/test_beside.py"],
    "compiling.py": ["tests/project/test_compiled.py"],
    "nets/programs.py": ["tests/nets/test_entries.py", "tests/nets/test_settled.py", PROGRAMS],
    "reversible_gauss_newton/programs.py": [REVERSIBLE],
    "residual_partitioning/compiled.py": [RESIDUAL],
    "eacg/compiled.py": [f"{ROOMS}/eacg/test_eacg_compiled.py"]}
NEAR = ["tests/compiled", "tests/project/test_compiled.py", RESIDUAL, REVERSIBLE, LOW_RANK,
        f"{ROOMS}/eacg/test_eacg_compiled.py"]
ALL = ["tests/nets", "tests/optimizers", "tests/exact", "tests/training",
       *(f"{ROOMS}/{room}" for room in ("bridges", "eacg", "low_rank", "residual_partitioning",
                                        "reversible_gauss_newton"))]
SECONDS = 420  # one run may take; no loop is meant to be that long


def soonest(file):
    """The tests of a file."""
    for name in (file.name, "/".join(file.parts[-2:])):
        if name in SOONEST:
            return SOONEST[name]
    return [PROGRAMS]


def unobservable(file, point):
    """Why nobody can observe a mutation, or None if somebody could."""
    listed = tomllib.loads((ROOT / "tests/harness/unobservable.toml").read_text(encoding="utf-8"))
    source = (ROOT / file).read_text(encoding="utf-8")
    for one in listed["mutation"]:
        if one["file"] == file.as_posix() and one["text"] in source \
                and apply(one, source) == put(source, point):
            return one["why"]
    return None


class Bench:
    """A copy of the package in a folder that stays, with what is compiled of it."""

    def __init__(self, folder):
        self.folder, self.copy, self.pristine = folder, folder / "copy", folder / "pristine"
        if not self.copy.exists():
            folder.mkdir(parents=True, exist_ok=True)
            copy_package(self.copy)
        self.functions = kept_compiled.Functions(self.copy / "secondorder")

    def run(self, tests, seconds=SECONDS):
        """Whether the tests pass."""
        extra = {DURATIONS: str(self.folder / "durations.json"),
                 "PYTHONPATH": os.pathsep.join([str(self.copy), str(self.copy / "tests")])}
        plugins = ["-p", "harness.fastest_first", "-p", "harness.kept_compiled"]
        return run(self.copy, "pytest", [*plugins, *tests], extra=extra, timeout=seconds)

    def prepare(self):
        """Everything near compiled, and the tests seen to pass."""
        if self.pristine.exists():
            return
        code, output = self.run(NEAR, None)
        if code != 0:
            raise SystemExit(f"the tests do not pass without any mutation:\n{output}")
        self.keep()

    def keep(self):
        """What is compiled now stays for all mutations."""
        shutil.rmtree(self.pristine, ignore_errors=True)
        shutil.copytree(self.copy / COMPILED, self.pristine, copy_function=os.link)

    def survives(self, file, point, rounds):
        """(whether all tests pass with the mutation, what was said where one did not)"""
        path = self.copy / file
        original = path.read_text(encoding="utf-8")
        mutated = put(original, point)
        line = original.count("\n", 0, point.start) + 1
        names = self.functions.reached(file, line)
        if mutated.count("\n") != original.count("\n"):  # lines move: names of kept files, too
            names = set(self.functions.named)
        kept = self.copy / COMPILED
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.pristine, kept, copy_function=os.link)
        kept_compiled.forget(kept, names)
        try:
            path.write_text(mutated, encoding="utf-8")
            for tests in rounds:
                code, output = self.run(tests)
                if code != 0:
                    said = [one for one in output.splitlines() if one.startswith("FAILED")]
                    return False, said[0] if said else f"exit code {code}: {output[-200:]}"
            return True, ""
        except subprocess.TimeoutExpired:
            return False, f"took more than {SECONDS} s"
        finally:
            path.write_text(original, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, required=True, help="is made, and kept")
    parser.add_argument("--near", action="store_true",
                        help="leave out the last round, all tests that use the compiled form")
    options = parser.parse_args()
    drawn, places = draw(sources(FILES), options.count, options.seed)
    bench = Bench(options.folder.resolve())
    bench.prepare()
    results = options.folder / f"seed-{options.seed}.jsonl"
    lines = results.read_text().splitlines() if results.exists() else []
    known = {one["entry"]: one for one in map(json.loads, lines)}
    print(f"{places} places; {len(drawn)} drawn with seed {options.seed}", flush=True)
    rounds = [NEAR] if options.near else [NEAR, ALL]
    for file, point in drawn:
        text = entry(file, point)
        if text in known:
            continue
        began = time.monotonic()
        lives, said = bench.survives(file, point, [soonest(file), *rounds])
        known[text] = {"entry": text, "lives": lives, "said": said,
                       "seconds": round(time.monotonic() - began)}
        with results.open("a", encoding="utf-8") as out:
            print(json.dumps(known[text]), file=out)
    alive = [(file, point) for file, point in drawn if known[entry(file, point)]["lives"]]
    reasons = [unobservable(*one) for one in alive]
    for one, reason in zip(alive, reasons):
        print("\n" + (f"# nobody can observe it: {reason}\n" if reason else "") + entry(*one))
    observable = len(drawn) - sum(reason is not None for reason in reasons)
    print(f"\n{len(drawn)} drawn, {observable} observable, {len(drawn) - len(alive)} noticed")


if __name__ == "__main__":
    sys.exit(main())
