"""All sections of the tour, one after the other, and what they leave behind."""

import textwrap
import time
from pathlib import Path

from secondorder import datasets, files
from secondorder.files import environment

from . import sections

#: Everything that `run` writes.
WRITTEN = ("tour.json", "exact-hessian.png", "learning-curves.png", "residual-partitioning.png",
           "diagonal-bound.png", "reversible-gauss-newton.png", "curvature-errors.png",
           "plateau.png")


NEXT = """\
What next?
  secondorder show residual-partitioning 22    a misprint of a paper, its correction, both numbers
  secondorder train --data csv:table.csv --target NAME --classify    a table of your own
  secondorder compare                          every curvature of one network, and its step
  secondorder notebook lessons                 tutorials and exercises; begin with 00_pencil"""


def run(out, seed=0, say=print):
    """Run the tour and return what ``tour.json`` holds; ``ok`` is whether every check passed.

    `out` is an existing directory for the figures and ``tour.json``. `seed` decides split, initial
    weights, order of the batches and directions. `say` is called with lines of text. ``tour.json``
    is written after every section, so that what breaks the tour off leaves what was done.
    """
    out, started = Path(out), time.perf_counter()
    training, validation = _digits(seed)
    results = {"command": "tour",
               "ok": False,
               "seed": seed,
               "environment": environment(),
               "data": {"name": "digits", "training": len(training), "validation": len(validation)},
               "figures": []}
    for title, section, saw in sections.SECTIONS:
        say(f"\n== {title}")
        before = time.perf_counter()
        name, outcome = section(out, training, validation, seed, say)
        say(textwrap.fill(f"What you saw: {saw}", 100))
        results[name] = outcome | {"seconds": time.perf_counter() - before}
        results["figures"] += outcome.get("figures", [])
        results["seconds"] = time.perf_counter() - started
        files.write_json(out / "tour.json", results)
    results["ok"] = all(results[name]["ok"] for name in ("derivatives", "bound"))
    files.write_json(out / "tour.json", results)
    say(f"\nwritten to {out}, in {results['seconds']:.0f} s:")
    for figure in results["figures"]:
        say(f"  {figure['file']:<28} {figure['shows']}")
    say(f"  {'tour.json':<28} every number above, with seeds, settings and versions\n\n{NEXT}")
    return results


def _digits(seed):
    digits = datasets.scale(datasets.load_digits(), (-1.0, 1.0))
    return datasets.split(digits, validation=397, rng=seed)
