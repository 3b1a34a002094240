"""The recorded race: its files, and the page that tells it."""

import gzip
import json
import textwrap

import numpy as np

from secondorder import files, plots
from secondorder.studies import records
from secondorder.studies.pictures import legend_below

from .full import ADAM, JUDGED_ON, RULES, TUNED_ON, marks_of
from .methods import METHODS
from .outcome import outcome, summary
from .problems import PROBLEMS, TRAINED
from .tuning import MOST

PAGE = "RACE.md"
PICTURES = "../../data/results/race/"  # where the pictures are, seen from the page
HEAD = """\
# The race

With the same tuning for everyone, which method has the lowest training loss after equal CPU
seconds, and after equal work? Nothing else is asked, and no paper says anything about it.

{summary}

**How.** {trained} images of MNIST, float32, one CPU thread. Every run lasts {seconds:g} CPU seconds
of steps; evaluation is not counted. A run whose loss is not finite, or above 1000 times the
start's, has diverged. Every method is tuned at the full time on seeds {tuned}, by the
median of the losses, with twelve to {most} points half decades apart; a number that wins at an end
of its grid extends that grid. A second choice is made from the same runs, by the loss after the
work that Adam's best makes in that time. A loss is read at the first step that reaches the limit.
Work counts the multiplications of matrix products, in
gradients of the problem's batch. Both choices then run on {judged} other seeds. SGD, EA-CG and KFI
have momentum 0.9. KFI takes both its factors from one batch, without the running averages and the
adapted damping of KFAC. EA-CG takes the eigenvectors of the loss's Hessian in the outputs: on the
autoencoder, with 784 of them, that is most of its step. Truncated Newton works on Gauss-Newton with
batches of 1000.

A row tells the logarithm of the ratio of losses, method against Adam: median and range over the
seeds; below 0 the method is lower, and -0.69 is half of Adam's loss. *Ahead* or *behind*: nine of
ten seeds agree by more than 5 %; else *level*. Runs that diverge are counted
apart, and are in no median.

`secondorder race --recorded` makes this page again, `secondorder race --full` the runs.
"""
LOWEST = 1e-6  # a loss that a picture shows
LOOKS = dict(zip(METHODS, zip((plots.BLACK, plots.ORANGE, plots.BLUE, plots.VERMILION, plots.GREEN,
                               plots.SKY, plots.PURPLE), (":", "--", "-", "-", "-", "-", "-."))))
LABELS = {"seconds": "CPU seconds of steps", "work": "work, in gradients of the batch"}


def folder():
    """Where the records are."""
    return records.folder() / "race"


def recorded(place=None):
    """The records of all problems that are there, in order."""
    paths = [(place or folder()) / f"{key}.json.gz" for key in PROBLEMS]
    return [json.loads(gzip.decompress(path.read_bytes())) for path in paths if path.is_file()]


def write(record, place):
    """Write record and picture of a problem into a folder."""
    files.write_packed(place / f"{record['problem']}.json.gz", files.to_json(record).encode())
    write_picture(record, place / f"{record['problem']}.png")


def write_picture(record, path):
    """Training loss over CPU seconds and over work, the median over the seeds of every method; a
    curve ends where a run diverged.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.6), layout="constrained")
    panels, seeds = figure.subplots(1, 2, sharey=True), 0
    for panel, rule in zip(panels, LABELS):
        for key, entry in record["methods"].items():
            runs = entry[rule]["runs"]
            if runs:  # a run that diverged is null in a file, and infinite here
                curves = np.array([run["curve"] for run in runs], float)
                losses = np.median(np.where(np.isnan(curves), np.inf, curves), axis=0)
                colour, style = LOOKS.get(key, (plots.BLACK, "-"))
                panel.plot(marks_of(runs[0]["limit"]), np.where(
                    np.isfinite(losses), np.maximum(losses, LOWEST), np.nan), color=colour,
                    linestyle=style, label=entry["title"])
                seeds = len(runs)
        panel.set(xscale="log", yscale="log", xlabel=LABELS[rule])
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("training loss")
    if seeds:
        legend_below(figure, panels[0], rows=2)
    figure.suptitle(f"{record['title']}; {TRAINED} images" +
                    (f", median of {seeds} seeds" if seeds > 1 else ""), fontsize=9)
    files.write_figure(path, figure, colours=64)


def markdown(records, pictures=""):
    """The page, with the pictures in a folder of that name."""
    if not records:
        return "# The race\n\nNothing is recorded yet.\n"
    text = HEAD.format(summary=summary(records), trained=TRAINED, most=MOST,
                       seconds=records[0]["seconds"], judged=len(JUDGED_ON),
                       tuned=", ".join(map(str, TUNED_ON)))
    text = "\n\n".join(part if part.startswith("|") else
                       textwrap.fill(part, 100, break_on_hyphens=False)
                       for part in text.split("\n\n"))
    return f"{text}\n" + "".join(map(section, records, [pictures] * len(records)))


def section(record, pictures=""):
    """The part of the page on one problem."""
    key = record["problem"]
    text = (f"\n## {record['title'][0].upper()}{record['title'][1:]}\n\n"
            f"![Training loss over seconds and over work]({pictures}{key}.png)\n")
    for rule, name in RULES.items():
        limit = f"{float(record[rule]):.5g} {'s' if rule == 'seconds' else 'gradients'}"
        rows = outcome(record, rule)
        text += (f"\nAfter {name}, {limit}:\n\n"
                 "| method | numbers | steps | loss | log ratio | leads | |\n"
                 "|---|---|---:|---:|---:|---:|---|\n"
                 + "".join(line(row) for row in rows))
    return f"{text}\nVersion {record['version']}.\n"


def line(row):
    """A row of a table: of Adam without ratios, of others with what there is to say apart."""
    numbers = row["numbers"] or "diverges at every point"
    if row["at_end"]:
        numbers += f" ({' and '.join(row['at_end'])} at an end: no points left)"
    if row["diverged"] == row["seeds"]:  # no run came to the limit
        lost = f" ({row['diverged']} diverged)" if row["seeds"] else ""
        return f"| {row['method']} | {numbers} | | | | | {row['verdict']}{lost} |\n"
    cells = [row["method"], numbers, f"{row['steps']:.0f}", f"{row['loss']:.4g}"]
    cells += ["", "", ""] if row["key"] == ADAM else [
        f"{row['median']:+.2f} ({row['least']:+.2f} to {row['most']:+.2f})",
        f"{row['leads']} of {row['seeds']}", row["verdict"]]
    if row["diverged"]:
        cells[-1] += f" ({row['diverged']} diverged)"
    return f"| {' | '.join(cells)} |\n"
