"""Tables of EA-CG's experiments from the files that they wrote.

    python -m secondorder.experiments.eacg_report DIR
"""

import argparse
import json
import statistics
from pathlib import Path

COLUMNS = ("fisher", "gauss-newton", "pch-1", "pch-2", "clipped", "expectation")


def results(folder, experiment):
    """What the runs of an experiment found: run (without its seed) -> list of dict.

    Parameters
    ----------
    folder : Path
    experiment : {"training", "errors", "cifar", "memory"}
    """
    found = {}
    for path in sorted(folder.glob(f"{experiment}-*.json")):
        made = json.loads(path.read_text(encoding="utf-8"))
        name = made["name"].removeprefix(f"{experiment}-").rpartition("-seed")
        found.setdefault(name[0] or name[2], []).append(made)
    return found


def spread(values, form):
    """Mean and standard deviation over seeds, as text."""
    deviation = statistics.stdev(values) if len(values) > 1 else float("nan")
    return f"{statistics.mean(values):{form}} ({deviation:{form}})"


def training(runs):
    """Training loss and test accuracy of every method."""
    yield f"{'training':<38}{'seeds':>6}{'loss':>18}{'accuracy':>16}"
    for name, made in runs.items():
        losses, right = ([one[key] for one in made] for key in ("loss", "accuracy"))
        yield f"{name:<38}{len(made):>6}{spread(losses, '.4f'):>18}{spread(right, '.3f'):>16}"


def errors(runs):
    """Totals of the metric of Tables 2-5, means over seeds."""
    yield f"{'errors':<38}{'seeds':>6}" + "".join(f"{name:>14}" for name in COLUMNS)
    for name, made in runs.items():
        totals = [statistics.mean(one["totals"][column] for one in made) for column in COLUMNS]
        yield f"{name:<38}{len(made):>6}" + "".join(f"{total:>14.4f}" for total in totals)


def cifar(runs):
    """Seconds and memory of a step of every pair, beside SGD."""
    yield f"{'cifar':<44}{'steps of SGD':>14}{'peak MiB':>10}{'loss':>18}"
    for name, (made, *_) in runs.items():
        losses = f"{made['first']:.4f} -> {made['last']:.4f}"
        yield (f"{name:<44}{made['steps_of_sgd']:>14.2f}{made['peak_bytes'] / 2**20:>10.0f}"
               f"{losses:>18}")


def memory(runs):
    """Memory at the width of ImageNet-10."""
    yield f"{'memory':<20}{'parameters GiB':>16}{'peak GiB':>10}{'seconds a step':>16}"
    for name, (made, *_) in runs.items():
        parameters, peak = (made[key] / 2**30 for key in ("parameter_bytes", "peak_bytes"))
        yield f"{name:<20}{parameters:>16.2f}{peak:>10.2f}{made['seconds'][-1]:>16.1f}"


def report(folder):
    """All tables for which there are files, as text."""
    tables = []
    for make in (training, errors, cifar, memory):
        runs = results(folder, make.__name__)
        if runs:
            tables.append("\n".join(make(runs)))
    return "\n\n".join(tables)


def main(arguments=None):
    """The command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m secondorder.experiments.eacg_report")
    parser.add_argument("folder", metavar="DIR", type=Path)
    print(report(parser.parse_args(arguments).folder))


if __name__ == "__main__":
    main()
