"""All sections of the tour, one after the other, and what they leave behind."""

import textwrap
import time

from secondorder import datasets, files

from . import sections

#: Everything that `run` writes.
WRITTEN = ("tour.json", *(section.picture for section in sections.SECTIONS))
NEXT = """\
What next?
  secondorder show residual-partitioning 22    a misprint of a paper, its correction, both numbers
  secondorder train --data csv:table.csv --target NAME --classify    a table of your own
  secondorder compare                          every curvature of one network, and its step
  secondorder notebook lessons                 tutorials and exercises; begin with 00_pencil"""


def run(out, seed, say):
    """Run the tour and return what ``tour.json`` holds; ``ok`` is whether every check passed.

    `out` is the folder for the figures and ``tour.json``, which is written after every section, so
    that what breaks the tour off leaves what was done. `say` is called with lines of text.
    """
    started = time.perf_counter()
    training, validation = digits(seed)
    results = {"command": "tour", "ok": False, "seed": seed, "environment": files.environment()}
    for section in sections.SECTIONS:
        say(f"\n== {section.title}")
        figure, results[section.key] = section.function(training, validation, seed, say)
        say(textwrap.fill(f"What you saw: {section.saw}", 100))
        files.write_figure(out / section.picture, figure)
        results["seconds"] = time.perf_counter() - started
        files.write_json(out / "tour.json", results)
    results["ok"] = all(results[key].get("ok", True) for key in results
                        if isinstance(results[key], dict))
    files.write_json(out / "tour.json", results)
    say(f"\nwritten to {out}, in {results['seconds']:.0f} s:")
    for section in sections.SECTIONS:
        say(f"  {section.picture:<28} {section.title}")
    say(f"  {'tour.json':<28} every number above, with seed and versions\n\n{NEXT}")
    return results


def digits(seed):
    """Training and validation digits, pixels from -1 to 1."""
    scaled = datasets.scale(datasets.load_digits(), (-1.0, 1.0))
    return datasets.split(scaled, validation=397, rng=seed)
