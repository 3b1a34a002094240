"""Table and figure of the runs that :mod:`secondorder.experiments.reversible` has left in a
directory.
"""

import json

import numpy as np

from ..plots.style import legend, style

WORST = 5.0  # of training losses that are drawn; what has diverged would hide the rest
TITLES = {"full": "one batch, full-batch steps", "mini": "mini-batches, ten epochs"}


def read_runs(directory):
    """The runs of a directory, in order of their names: dicts with settings, records and peak
    memory.
    """
    return [json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(directory.glob("*-n*-s*.json"))]


def last_quality(run):
    """The last record that was measured on both sets; {} if there is none."""
    return next((record for record in reversed(run["records"]) if "test_accuracy" in record), {})


def table(runs):
    """Lines of text: a run each, with its last losses, accuracies, median seconds and peak
    memory.
    """
    lines = [f"{'batch':5} {'samples':>7} {'method':14} {'rate':>6} {'steps':>8} {'loss':>9} "
             f"{'accuracy':>8} {'test loss':>9} {'accuracy':>8} {'s/step':>7} {'peak MiB':>8}"]
    for run in runs:
        settings, quality = run["settings"], last_quality(run)
        seconds = np.median([record["seconds"] for record in run["records"]
                             if "seconds" in record] or [np.nan])
        numbers = [quality.get(name, np.nan) for name in
                   ("train_loss", "train_accuracy", "test_loss", "test_accuracy")]
        loss, accuracy, test_loss, test_accuracy = numbers
        lines.append(
            f"{'full' if settings['full'] else 'mini':5} {settings['samples']:7} "
            f"{settings['method']:14} {settings['rate']:6g} "
            f"{len(run['records']):3} of {settings['steps']:2} {loss:9.3g} {accuracy:8.3f} "
            f"{test_loss:9.3g} {test_accuracy:8.3f} {seconds:7.2f} "
            f"{run['peak_memory_bytes'] / 2**20:8.0f}")
    return lines


def figure(runs, path):
    """Test accuracy against training loss, one panel a kind of batch, one line a run: at equal
    training loss the higher line has learnt what carries over.
    """
    from matplotlib.figure import Figure

    methods = sorted({run["settings"]["method"] for run in runs})
    kinds = sorted({_kind(run) for run in runs}, reverse=True)
    drawing = Figure(figsize=(6.4 * len(kinds), 4.8), layout="constrained")
    for ax, kind in zip(drawing.subplots(1, len(kinds), squeeze=False)[0], kinds):
        here = [run for run in runs if _kind(run) == kind]
        for run in here:
            settings = run["settings"]
            measured = [record for record in run["records"]
                        if "test_accuracy" in record and record["train_loss"] <= WORST]
            if not measured:
                continue
            colour, marker = style(methods.index(settings["method"]))
            same = sorted(r["settings"]["rate"] for r in here
                          if r["settings"]["method"] == settings["method"])
            ax.plot([record["train_loss"] for record in measured],
                    [record["test_accuracy"] for record in measured],
                    ("-", "--", ":")[same.index(settings["rate"]) % 3], color=colour,
                    marker=marker, markersize=4,
                    label=f"{settings['method']}, rate {settings['rate']:g}")
        ax.set(xscale="log", xlabel="training loss (falls to the left)", ylabel="test accuracy",
               title=f"{TITLES['full' if kind[0] else 'mini']}, {kind[1]} samples")
        ax.grid(alpha=0.3)
        legend(ax, fontsize=7, handlelength=4)
    drawing.savefig(path, dpi=130)


def _kind(run):
    """Whether it repeats one batch, and the samples of a batch."""
    return run["settings"]["full"], run["settings"]["samples"]
