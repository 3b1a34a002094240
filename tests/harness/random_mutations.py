"""Random mutations: change one formula at a time and list the changes that no test notices.

    cd tests
    python -m harness.random_mutations --files secondorder/nets --tests tests/nets --seed 1

draws mutations (see `mutation_points`) from files or folders, runs the everyday tests among those
named with `-x`, in their order, on a copy of the package for each, two at a time, and prints the
survivors as entries for `tests/mutations/*.toml`, where `test` remains to be filled in. A survivor
is a missing test, or code that changes nothing anyone could observe: `unobservable.toml` lists
these, with reasons.
"""

import argparse
import json
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.mutation_points import changes, points, put
from harness.mutations import COMPILED, ROOT, WORKERS, apply, copy_package, run

SHORTEST_TIMEOUT = 60


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", nargs="+", required=True, metavar="PATH", help="files or folders"
                        ", from the project's root; of a folder all but its equations/")
    parser.add_argument("--tests", nargs="+", required=True, metavar="TEST",
                        help="arguments of pytest; best with what notices most at the beginning")
    parser.add_argument("--count", type=int, default=100, help="mutations to draw (default: 100)")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def sources(paths):
    """The files, from the project's root, that are meant by files and folders."""
    found = []
    for path in map(Path, paths):
        if (ROOT / path).is_dir():
            inside = sorted((ROOT / path).rglob("*.py"))
            found += [file.relative_to(ROOT) for file in inside
                      if "equations" not in file.relative_to(ROOT / path).parts[:-1]]
        elif (ROOT / path).is_file():
            found.append(path)
        else:
            raise SystemExit(f"there is no {path} in {ROOT}")
    return found


def draw(files, count, seed):
    """`count` mutations (file, Point), at most one at a place; all places alike. And how many
    places there are."""
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file in files}
    places = [(file, group) for file, text in texts.items() for group in points(text)]
    rng = random.Random(seed)
    rng.shuffle(places)
    drawn = []
    for file, group in places:
        if len(drawn) == count:
            break
        point = rng.choice(group)
        if changes(texts[file], point):
            drawn.append((file, point))
    return drawn, len(places)


def entry(file, point):
    """The mutation as an entry of `tests/mutations/*.toml`: the lines that it touches, made
    unique."""
    source = (ROOT / file).read_text(encoding="utf-8")
    start = source.rfind("\n", 0, point.start) + 1
    start += len(source[start:]) - len(source[start:].lstrip(" "))
    end = source.find("\n", point.stop)
    stop = end if end >= 0 else len(source)
    text = source[start:stop]
    mutated = source[start:point.start] + point.mutated + source[point.stop:stop]
    lines = [f"# line {source.count(chr(10), 0, start) + 1}: {point.kind}", "[[mutation]]",
             f'file = "{file.as_posix()}"',
             f"text = {json.dumps(text, ensure_ascii=False)}"]
    if source.count(text) > 1:
        lines.append(f"occurrence = {source.count(text, 0, start) + 1}")
    return "\n".join([*lines, f"mutated = {json.dumps(mutated, ensure_ascii=False)}", 'test = ""'])


def unobservable(file, point):
    """Why nobody can observe a mutation, or None if somebody could."""
    listed = tomllib.loads((ROOT / "tests/harness/unobservable.toml").read_text(encoding="utf-8"))
    source = (ROOT / file).read_text(encoding="utf-8")
    return next((one["why"] for one in listed["mutation"] if one["file"] == file.as_posix()
                 and apply(one, source) == put(source, point)), None)


class Bench:
    """Copies of the package, one for each worker, on which mutations are tried."""

    def __init__(self, folder, tests):
        self.tests, self.copies = tests, queue.SimpleQueue()
        for k in range(WORKERS):
            self.copies.put(copy_package(folder / f"copy{k}"))

    def baseline(self):
        """The unmutated tests, which must pass; how long they take sets the time limit."""
        copy, began = self.copies.get(), time.monotonic()
        code, output = run(copy, "pytest", self.tests, timeout=None)
        if code != 0:
            raise SystemExit(f"the tests do not pass without any mutation:\n{output}")
        self.copies.put(copy)
        self.timeout = max(SHORTEST_TIMEOUT, 4 * (time.monotonic() - began))

    def survives(self, file, point):
        """Whether all tests pass with the mutation."""
        copy = self.copies.get()
        path = copy / file
        original = path.read_text(encoding="utf-8")
        try:
            path.write_text(put(original, point), encoding="utf-8")
            forget_compiled(copy, file)
            return run(copy, "pytest", self.tests, timeout=self.timeout)[0] == 0
        except subprocess.TimeoutExpired:
            print(f"\n# took more than {self.timeout:.0f} s, which counts as noticed:\n"
                  + entry(file, point), flush=True)
            return False
        finally:
            path.write_text(original, encoding="utf-8")
            forget_compiled(copy, file)
            self.copies.put(copy)


def forget_compiled(copy, file):
    """Compiled code may hold an older version of a function of this file."""
    if "compiled" in file.parts or file.name in ("loops.py", "compiled.py"):
        shutil.rmtree(copy / COMPILED, ignore_errors=True)


def main():
    options = parse()
    files = sources(options.files)
    drawn, places = draw(files, options.count, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.tests)
        bench.baseline()
        print(f"{places} places in {len(files)} files", flush=True)

        def attempt(one):
            lives = bench.survives(*one)
            reason = unobservable(*one) if lives else None
            if lives:
                said = f"# nobody can observe it: {reason}\n" if reason else ""
                print(f"\n{said}{entry(*one)}", flush=True)
            return lives, reason is not None

        with ThreadPoolExecutor(WORKERS) as pool:
            outcomes = list(pool.map(attempt, drawn))
    alive, hidden = (sum(column) for column in zip(*outcomes))
    print(f"\n{len(drawn)} mutations with seed {options.seed}: {len(drawn) - hidden} observable, "
          f"{len(drawn) - alive} noticed")


if __name__ == "__main__":
    sys.exit(main())
