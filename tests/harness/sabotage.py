"""Sabotage of the package's own rooms, with the exceptions that a file explains.

The machinery is the package's: `secondorder.ledger.sabotage`. From the command line in ``tests/``,
while one writes a room::

    python -m harness.sabotage low-rank
    python -m harness.sabotage low-rank 12 --all
"""

import argparse
import sys
import tomllib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from secondorder.ledger import registry
from secondorder.ledger.registry import short_name  # noqa: F401
from secondorder.ledger.sabotage import (  # noqa: F401
    Unnoticed, by_label, fails, functions_of, replaced, unnoticed)
from secondorder.ledger.spoiling import (  # noqa: F401
    LARGEST, NEGATED, NEXT, NOTHING, PERCENT, SIGN, made_wrong, modes_of)


def explained(path, found):
    """Findings that a file explains, the others, and entries of it that explain nothing.

    The file is TOML: tables `[[explained]]` with `label`, `implementation`, `reason`, and
    optionally `output` and `mode` (default: all).
    """
    entries = tomllib.loads(Path(path).read_text(encoding="utf-8")).get("explained", [])
    used, open_ones = set(), []
    for one in found:
        matching = [k for k, entry in enumerate(entries) if _explains(entry, one)]
        used.update(matching)
        if not matching:
            open_ones.append(one)
    return open_ones, [entry for k, entry in enumerate(entries) if k not in used]


def _explains(entry, one):
    keys = ("label", "implementation", "output", "mode")
    return bool(entry.get("reason")) and all(entry.get(key, getattr(one, key)) == getattr(one, key)
                                             for key in keys)


def main(arguments=None):
    """The command line; status 1 if something goes unnoticed."""
    parser = argparse.ArgumentParser(prog="python -m harness.sabotage",
                                     description="Make implementations wrong and see whether "
                                                 "checks notice.")
    parser.add_argument("paper")
    parser.add_argument("label", nargs="*", help="one label, in any spelling (default: all)")
    parser.add_argument("--all", action="store_true",
                        help="tell about outputs that a label does not state, too")
    parser.add_argument("--explained", metavar="FILE", help="a TOML file with explained exceptions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    entries = registry.REGISTRY.select(options.paper, " ".join(options.label) or None)
    with ProcessPoolExecutor(min(options.processes, len(entries))) as pool:
        runs = [pool.submit(by_label, entry.paper, entry.labels[0], options.seed, options.all)
                for entry in entries]
        found = [one for run in runs for one in run.result()]
    stale = []
    if options.explained:
        found, stale = explained(options.explained, found)
    for line in found:
        print(f"unnoticed: {line}")
    if not options.label:
        for entry in stale:
            print(f"explains nothing: {entry}")
    print(f"{len(entries)} checks, {len(found)} ways of being wrong go unnoticed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
