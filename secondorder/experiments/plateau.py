"""Escaping a plateau: the experiments of the low-rank paper, with and without cubic regularisation.

    python -m secondorder.experiments.plateau --out DIR                     digits, three seeds
    python -m secondorder.experiments.plateau --data idx:mnist-subset --out DIR
    python -m secondorder.experiments.plateau --sweep sigma --out DIR       how much sigma matters

A deep ReLU network whose weights start within +-0.1 has almost no gradient. Every method is run
alone, with a step length from the cubic model on the exact curvature, and with the curvature as
(39) prints it. One file a run, so that a sweep that was stopped goes on where it stood;
``summary.json`` and a figure at the end.
"""

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import secondorder as so
from secondorder import files
from secondorder.experiments import environment
from secondorder.optimizers import ExponentialDecay
from secondorder.plots import BLACK, COLOURS
from secondorder.plots.style import legend

LEFT = 2.0  # the plateau is left where the loss on the fixed samples falls below this
EVERY = 10  # iterations between two looks at it
BATCH = 32
AROUND = 21  # iterations that a line of the figure takes the median of

# The rates of the paper's figures, its decay, and the defaults of the framework that it used.
BASES = {"sgd": (so.SGD, 0.02, {}),
         "adagrad": (so.Adagrad, 0.1, {"initial_accumulator": 0.1}),
         "adadelta": (so.Adadelta, 1.0, {"rho": 0.95, "epsilon": 1e-8}),
         "adam": (so.Adam, 0.001, {"epsilon": 1e-8})}
CURVATURES = ("none", "exact", "printed")
SIGMA = {"sgd": 100.0, "adagrad": 1000.0, "adadelta": 1000.0, "adam": 1000.0}


@dataclass(frozen=True)
class Run:
    """One training run.

    base : a name in `BASES`; curvature : "none" (the base alone), "exact" or "printed"; half_width
    : of the uniform initial weights.
    """

    data: str
    base: str
    curvature: str
    seed: int
    sigma: float
    iterations: int
    half_width: float = 0.1
    hidden: tuple = (128,) * 12
    dtype: str = "float64"

    @property
    def name(self):
        how = "alone" if self.curvature == "none" else f"{self.curvature}-sigma{self.sigma:g}"
        data = self.data.rpartition(":")[2]
        return f"{data}-{self.base}-{how}-init{self.half_width:g}-seed{self.seed}"


def optimizer_of(run, network):
    """The base at its own decaying rate, or cubic regularisation around it."""
    method, rate, options = BASES[run.base]
    base = method(network, so.SoftmaxCrossEntropy(),
                  learning_rate=ExponentialDecay(rate, 0.95, 100), **options)
    if run.curvature == "none":
        return base
    return so.CubicRegularization(base, sigma=run.sigma, curvature=run.curvature)


def train(run, inputs, labels, watched=2000):
    """Train and return what is recorded, as plain lists.

    Parameters
    ----------
    run : Run
    inputs, labels : arrays of N samples
    watched : int
        The loss is looked at on so many samples at most.

    Returns
    -------
    dict
        ``loss`` (on the watched samples, every `EVERY` iterations from 0), ``batch_loss``, ``rate``
        and ``curvature`` (every iteration), ``seconds``.
    """
    network = so.mlp([inputs.shape[1], *run.hidden, int(labels.max()) + 1], activation="relu",
                     bias=False, init=run.half_width, rng=run.seed, dtype=run.dtype)
    optimizer, rng = optimizer_of(run, network), np.random.default_rng([run.seed, 1])
    inputs = inputs.astype(run.dtype)
    x, y = inputs[:watched], labels[:watched]
    found = {"loss": [], "batch_loss": [], "rate": [], "curvature": []}
    began = time.perf_counter()
    for iteration in range(run.iterations + 1):
        if iteration % EVERY == 0:
            found["loss"].append(network.evaluate(optimizer.loss, x, y).loss)
        if iteration == run.iterations:
            break
        chosen = rng.choice(len(inputs), BATCH, replace=False)
        info = optimizer.step(inputs[chosen], labels[chosen])
        found["batch_loss"].append(info["loss"])
        found["rate"].append(info.get("rate", info["learning_rate"]))
        if "curvature" in info:
            found["curvature"].append(info["curvature"])
    found["seconds"] = time.perf_counter() - began
    if run.curvature != "none":
        found |= {"ascents": optimizer.ascents, "skipped": optimizer.skipped}
    return found


def summary(found):
    """The numbers that the claim is about.

    Returns
    -------
    dict
        ``exit``: first iteration at which the loss was below `LEFT`, or None. ``final_loss``.
        Medians of the rate over the first 20 iterations and from 100 after the exit (None without
        one), and their ratio ``jump``.
    """
    loss, rate = np.array(found["loss"]), np.array(found["rate"])
    below = np.flatnonzero(loss < LEFT)
    left = int(below[0]) * EVERY if below.size else None
    start = float(np.median(rate[:20]))
    after = rate[left + 100:] if left is not None else rate[:0]
    later = float(np.median(after)) if after.size else None
    return {"exit": left,
            "final_loss": float(loss[-1]),
            "rate_on_plateau": start,
            "rate_after": later,
            "jump": start / later if later else None}


def planned(data, sweep, bases, curvatures, seeds, iterations, dtype, half_width):
    """The runs of a sweep: ``"methods"`` or ``"sigma"`` (of the first base)."""
    def run(base, curvature, seed, sigma=None):
        return Run(data, base, curvature, seed, SIGMA[base] if sigma is None else sigma, iterations,
                   half_width=half_width, dtype=dtype)

    if sweep == "sigma":
        return [run(bases[0], "exact", seed, sigma)
                for sigma in (1.0, 10.0, 100.0, 1e3, 1e4) for seed in seeds]
    return [run(base, curvature, seed) for base in bases for seed in seeds
            for curvature in curvatures]


def load(data):
    """Inputs scaled to [0, 1] and labels."""
    loaded = so.datasets.scale(so.datasets.load(data), (0.0, 1.0))
    # some files stand in the order of their labels
    order = np.random.default_rng(0).permutation(len(loaded))
    return loaded.inputs[order], loaded.targets[order]


def run_all(runs, out, say=print):
    """Train every run that has no file in `out` yet; return name -> (Run, summary), in order."""
    found, data = {}, {}
    for run in runs:
        path = out / f"{run.name}.json"
        if not path.exists():
            if run.data not in data:
                data[run.data] = load(run.data)
            made = train(run, *data[run.data])
            files.write_json(path, {"run": asdict(run), "environment": environment(),
                                    "summary": summary(made), **made})
        kept = json.loads(path.read_text(encoding="utf-8"))
        found[run.name] = run, kept
        text = "  ".join(f"{name} {_short(value)}" for name, value in kept["summary"].items())
        say(f"{run.name:<55} {text}  ({kept['seconds']:.0f} s)")
    return found


def _short(value):
    return "never" if value is None else f"{value:.4g}"


def draw(found, path):
    """Loss and rate of the first seed of every base, alone and with cubic regularisation."""
    bases = list(dict.fromkeys(run.base for run, _ in found.values()))
    figure = Figure(figsize=(4.2 * len(bases), 7), layout="constrained")
    axes = figure.subplots(2, len(bases), squeeze=False, sharex=True)
    first = min(run.seed for run, _ in found.values())
    for column, base in enumerate(bases):
        for run, kept in found.values():
            if (run.base, run.seed) != (base, first):
                continue
            label = ("alone" if run.curvature == "none"
                     else f"{run.curvature} curvature, sigma {run.sigma:g}")
            draw_run(kept, label, *axes[:, column])
        axes[0, column].set_title(base)
        finish(*axes[:, column])
    files.write_figure(path, figure)


def draw_run(kept, label, above, below):
    """Draw loss (above) and rate (below) of one run, the rate with its median over `AROUND`
    iterations, half of them before and half after, so that it does not lag; a dotted line stands
    where the loss leaves the plateau, as `summary` says.
    """
    colour = COLOURS[len([line for line in above.lines if line.get_gid() == "loss"])
                     % len(COLOURS)]
    above.plot(EVERY * np.arange(len(kept["loss"])), kept["loss"], color=colour, label=label,
               gid="loss")
    left = summary(kept)["exit"]
    if left is not None:
        above.axvline(left, color=colour, linestyle=":", label=f"below {LEFT:g} from {left} on")
    rate = np.array(kept["rate"])
    below.semilogy(rate, ".", markersize=2, alpha=0.4, color=colour)
    middle = rate
    if len(rate) >= AROUND:
        middle = np.median(np.lib.stride_tricks.sliding_window_view(rate, AROUND), axis=1)
    start = (len(rate) - len(middle)) // 2
    below.semilogy(start + np.arange(len(middle)), middle, color=colour)


def finish(above, below):
    """Labels, the loss at which the plateau ends, and the legend."""
    above.axhline(LEFT, color=BLACK, linewidth=0.6)
    above.set_ylabel("cross-entropy")
    below.set(xlabel="iteration", ylabel=f"rate (dots), median of {AROUND} (line)")
    legend(above)


def main(arguments=None):
    """Run a sweep from the command line; see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m secondorder.experiments.plateau",
                                     description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="digits",
                        help="as for secondorder train (default: digits)")
    parser.add_argument("--sweep", choices=("methods", "sigma"), default="methods")
    parser.add_argument("--bases", nargs="+", choices=tuple(BASES), default=list(BASES))
    parser.add_argument("--curvatures", nargs="+", choices=CURVATURES, default=CURVATURES,
                        help="none is the base alone (default: all)")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds (default: 3)")
    parser.add_argument("--iterations", type=int, default=1500)
    parser.add_argument("--init", type=float, default=0.1,
                        help="half-width of the initial weights (default: 0.1)")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    parser.add_argument("--out", required=True, metavar="DIR")
    options = parser.parse_args(arguments)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    runs = planned(options.data, options.sweep, options.bases, options.curvatures,
                   range(options.seeds), options.iterations, options.dtype, options.init)
    found = run_all(runs, out)
    name = f"{options.sweep}-{options.data.rpartition(':')[2]}-init{options.init:g}"
    files.write_json(out / f"{name}.json",
                     {key: kept["summary"] for key, (_, kept) in found.items()})
    draw(found, out / f"{name}.png")


if __name__ == "__main__":
    main()
