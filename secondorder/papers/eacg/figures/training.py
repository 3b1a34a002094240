"""Training over a grid of rates, alpha and batch sizes, and what is read off the curves.

The grid is the paper's, thinned: rates 0.1 and 0.2, alpha 0.01, 0.02 and 0.1. Every point is tried
on a seed of its own, with test images taken from the training part; (L) the point with the least
final training loss and (A) the one with the best held-out accuracy are then trained on the seeds
that vote. Where the corner is chosen, the largest rate with the smallest alpha, one step beyond it
is tried as well. A claim is decided by both selections; where they differ it is undecided. A
training counts only once it is off the plateau (see `networks.STARTED`).
"""

import time

import numpy as np

import secondorder as so
from secondorder.studies import (Run, diverged, least, legend_below, over_seeds, paired, readings,
                                 undecided)

from . import networks
from .networks import CRITERIA, STARTED, title_of

TRIAL_SEED = 100
SELECTIONS = ("L", "A")
CURVATURES = ("fisher", "gauss-newton", "pch-1", "pch-2")
MOMENTUM = 0.9
PRODUCTS = 20  # of conjugate gradients; the paper tries 5 to 50
PRINTED = {"ea-cg": "ea-cg-printed", "kfi": "kfi-printed"}  # the solvers as the paper has them
FULL = {"epochs": 40, "trial": 10, "samples": 10000, "batches": (100, 500), "rates": (0.1, 0.2),
        "alphas": (0.01, 0.02, 0.1), "seeds": (1, 2, 3)}
WIDE = {**FULL, "batches": (500,)}
QUICK = {"case": "Q", "epochs": 3, "trial": 0, "samples": 500, "batches": (100,), "rates": (0.2,),
         "alphas": (0.01,), "seeds": (1,)}
SMALLER = "10,000 images, smaller networks, 40 epochs"
DEVIATION = ("10,000 images and smaller networks, named in the titles; 40 epochs "
             "instead of 200. A thinned grid, tried for 10 epochs, and one step beyond its corner "
             "where that is chosen; (11b) in closed form instead of conjugate gradients")


def seeds_to(count):
    """Settings with the seeds 1 to `count`: as many as decide at the spread of the first three."""
    return {"seeds": tuple(range(1, count + 1))}


def train(seed, case, criterion, method, curvature, rate, alpha, batch, epochs, samples,
          hold_out=False, gain=1.0):
    """Train once and look after every epoch.

    `case` and `criterion` are keys of `networks.WIDTHS` and `networks.CRITERIA`; `method` is "sgd"
    (with momentum 0.9), "adam" or a solver; `hold_out` is as for :func:`.networks.split`.

    Returns
    -------
    dict
        ``loss`` on the training images and ``accuracy`` on the others, at the start and after every
        epoch; ``seconds``, CPU seconds of the steps alone; ``updates`` of an epoch. Of a training
        whose numbers stop being finite what came before, and ``diverged``.
    """
    (x, y), (test_x, test_y) = networks.split(case, seed, samples, hold_out)
    network, loss = networks.network_of(case, seed, gain), CRITERIA[criterion]()
    optimizer = optimizer_of(network, loss, method, curvature, rate, alpha)
    # loops are compiled in a first step, here of a copy: these seconds are not the method's
    optimizer_of(network.copy(), loss, method, curvature, 1e-3, alpha).step(x[:batch], y[:batch])
    rng, updates = np.random.default_rng([seed, 1]), len(x) // batch
    record = {"loss": [], "accuracy": [], "seconds": [], "updates": updates}
    spent = 0.0
    for epoch in range(epochs + 1):
        try:
            record["loss"].append(mean_loss(network, loss, x, y))
            record["accuracy"].append(float(np.mean(network(test_x).argmax(axis=1) == test_y)))
            record["seconds"].append(round(spent, 3))
            order = rng.permutation(len(x))
            for start in range(0, updates * batch if epoch < epochs else 0, batch):
                rows = order[start:start + batch]
                began = time.process_time()
                optimizer.step(x[rows], y[rows])
                spent += time.process_time() - began
        except FloatingPointError as error:
            return record | {"diverged": f"epoch {epoch}: {error}"}
    return record


def optimizer_of(network, loss, method, curvature, rate, alpha):
    if method == "sgd":
        return so.Momentum(network, loss, learning_rate=rate, momentum=MOMENTUM)
    if method == "adam":
        return so.Adam(network, loss, learning_rate=rate)
    solver = "ea-closed" if method == "ea-cg" else method
    return so.EACG(network, loss, learning_rate=rate, curvature=package_name(curvature),
                   solver=solver, alpha=alpha)


def package_name(curvature):
    """A curvature of the paper's figures as the package names it: their Fisher matrix has the given
    targets.
    """
    return "fisher-empirical" if curvature == "fisher" else curvature


def as_printed(network, loss, method, curvature, rate, alpha):
    """The same, with the solvers as the paper describes them: EA-CG by 20 products of conjugate
    gradients at most, and KFI with the matrices of Eq. (12).
    """
    if method in ("sgd", "adam"):
        return optimizer_of(network, loss, method, curvature, rate, alpha)
    return so.EACG(network, loss, learning_rate=rate, curvature=package_name(curvature),
                   solver=PRINTED.get(method, method), alpha=alpha, max_cg=PRODUCTS,
                   tolerance=1e-10)


def mean_loss(network, loss, x, y, part=2000):
    """Mean loss, in parts of the images so that wide inputs need little memory."""
    total = sum(network.evaluate(loss, x[k:k + part], y[k:k + part]).loss * len(x[k:k + part])
                for k in range(0, len(x), part))
    return float(f"{total / len(x):.6g}")


# -- which runs ------------------------------------------------------------------------------------


def points(method, settings):
    """The grid of a method: (rate, alpha, batch)."""
    alphas = (0.0,) if method == "sgd" else settings["alphas"]
    return [(rate, alpha, batch) for rate in settings["rates"] for alpha in alphas
            for batch in settings["batches"]]


def one(seed, method, curvature, point, criterion, settings, trial=False, epochs=None):
    rate, alpha, batch = point
    return Run(train, {"seed": seed, "case": settings["case"], "criterion": criterion,
                       "method": method, "curvature": curvature, "rate": rate, "alpha": alpha,
                       "batch": batch,
                       "epochs": epochs or settings["trial" if trial else "epochs"],
                       "samples": settings["samples"], "hold_out": trial})


def stages(methods, criterion, settings, results):
    """Trials of every point for (method, curvature) pairs and, once these are known, the runs of
    the two chosen ones.
    """
    runs = []
    for method, curvature in methods:
        runs += trials(method, curvature, criterion, settings, results)
        for point in chosen(method, curvature, criterion, settings, results).values():
            runs += [one(seed, method, curvature, point, criterion, settings, epochs=epochs)
                     for epochs in (settings["epochs"], trained_on(method, criterion, settings))
                     for seed in settings["seeds"]]
    return runs


def trained_on(method, criterion, settings):
    """Epochs of a method where seconds are compared: one that is quick is trained on, until its
    rivals have come as far.
    """
    return settings.get("longer", {}).get(criterion, {}).get(method, settings["epochs"])


def beyond(point, settings):
    """One step of the grid beyond its corner, the largest rate with the smallest alpha: twice the
    rate, or half the alpha. No points where the point is another.
    """
    rate, alpha, batch = point
    if alpha and (rate, alpha) == (max(settings["rates"]), min(settings["alphas"])):
        return [(2 * rate, alpha, batch), (rate, alpha / 2, batch)]
    return []


def trials(method, curvature, criterion, settings, results):
    """The trials of every point of the grid and, where a selection takes its corner, beyond it."""
    grid = points(method, settings)
    if len(grid) == 1:
        return []
    for point in best(grid, method, curvature, criterion, settings, results).values():
        grid += [more for more in beyond(point, settings) if more not in grid]
    return [one(TRIAL_SEED, method, curvature, point, criterion, settings, trial=True)
            for point in grid]


def chosen(method, curvature, criterion, settings, results):
    """Selection -> point, or nothing while a trial is missing."""
    grid = points(method, settings)
    if len(grid) == 1:
        return dict.fromkeys(SELECTIONS, grid[0])
    wider = [(run.arguments["rate"], run.arguments["alpha"], run.arguments["batch"])
             for run in trials(method, curvature, criterion, settings, results)]
    return best(wider, method, curvature, criterion, settings, results)


def best(grid, method, curvature, criterion, settings, results):
    """Selection -> the point of some that it takes, or nothing while a trial is missing."""
    tried = []
    for rate, alpha, batch in grid:
        trial = results.of(case=settings["case"], method=method, curvature=curvature,
                           criterion=criterion, rate=rate, alpha=alpha, batch=batch,
                           seed=TRIAL_SEED)
        if not trial:
            return {}
        tried.append(trial[0])
    lost = [diverged(result) for result in tried]
    losses = [np.inf if gone else result["loss"][-1] for gone, result in zip(lost, tried)]
    accuracies = [-1 if gone else result["accuracy"][-1] for gone, result in zip(lost, tried)]
    equal = [loss if accuracy == max(accuracies) else np.inf  # of equal accuracies the lower loss
             for accuracy, loss in zip(accuracies, losses)]
    return {"L": grid[least(losses, "point")], "A": grid[least(equal, "point")]}


class Chosen:
    """The runs of one selection, "L" or "A", by method and seed."""

    def __init__(self, selection, criterion, settings, results):
        self.selection, self.criterion = selection, criterion
        self.settings, self.results = settings, results

    def runs(self, method, curvature="none"):
        """Seed -> result, of the seeds that vote."""
        point = chosen(method, curvature, self.criterion, self.settings,
                       self.results).get(self.selection)
        if point is None:
            return {}
        rate, alpha, batch = point
        runs = self.results.by_seed(case=self.settings["case"], method=method, curvature=curvature,
                                    criterion=self.criterion, rate=rate, alpha=alpha, batch=batch,
                                    hold_out=False, epochs=self.epochs(method))
        return {seed: runs[seed] for seed in self.settings["seeds"] if seed in runs}

    def epochs(self, method):
        """How long the trainings are that are compared."""
        return self.settings["epochs"]

    def compared(self, ours, other, number, measure, margin=0.0, chosen=None):
        """Whether ``number(run of ours, run of other)``, paired by seed, is above the margin.

        Runs that never left the plateau are ignored. `chosen`, where given, holds the other's runs:
        those of another grid.
        """
        left, right = self.runs(*ours), (chosen or self).runs(*other)
        both = [seed for seed in left if seed in right]
        going = [seed for seed in both if started(left[seed], self.criterion)
                 and started(right[seed], self.criterion)]
        if len(going) < len(both):
            return undecided(f"{len(both) - len(going)} of {len(both)} runs stay on the plateau",
                             len(both))
        return paired([number(left[seed], right[seed]) for seed in going], measure, margin)


def by_selection(judge, criterion, settings, results, kind=Chosen):
    """A verdict that both selections share; ``judge`` takes a :class:`Chosen`, or another `kind`.

    The paper does not say how it selected. Where the selections differ the claim is undecided.
    """
    L, A = (judge(kind(selection, criterion, settings, results)) for selection in SELECTIONS)
    return L if L.verdict == A.verdict else readings(
        {"rates by least loss": L, "by best accuracy": A},
        because="the paper does not say how it chose its rates")


# -- what is read off a run ------------------------------------------------------------------------


def started(result, criterion):
    """Whether a training left the plateau."""
    return bool(result["loss"]) and min(result["loss"]) < STARTED[criterion]


def final(result, name="loss"):
    return np.nan if diverged(result) else result[name][-1]


def lower_loss(ours, other):
    """log of the other's final training loss over ours: positive where ours is lower."""
    return np.log(final(other) / final(ours))


def better_accuracy(ours, other):
    return final(ours, "accuracy") - final(other, "accuracy")


# -- pictures --------------------------------------------------------------------------------------

NAMES = {"fisher": "Fisher", "gauss-newton": "Gauss-Newton", "pch-1": "PCH-1", "pch-2": "PCH-2",
         "ea-cg": "EA-CG", "kfi": "KFI", "kfi-rank-one": "KFI with (13)",
         "cross-entropy": "cross-entropy", "bounded": "bounded criterion (14)"}
STYLES = {"sgd": ":", "ea-cg": "-", "kfi": "--", "kfi-rank-one": "--"}
MARKERS = {"none": "", "fisher": "o", "gauss-newton": "^", "pch-1": "s", "pch-2": "D"}
COLOURS = {"none": "0.2", "fisher": "C0", "gauss-newton": "C2", "pch-1": "C3", "pch-2": "C4"}


def draw_curves(methods, criterion, results, figure, over, settings, kind=Chosen):
    """Training loss and test accuracy of the runs that the least loss of the trials chose, which
    are those that judge, over epochs or seconds; the one seed, or the mean of several.

    Methods are (method, curvature), or with the settings of another grid and what the label says of
    it. Seconds end where the quickest method has ended: there the others are still under way.
    """
    panels = figure.subplots(1, 2)
    lines = []
    for method, curvature, *other in methods:
        grid, told = other or (settings, "")
        runs = {seed: run for seed, run in kind("L", criterion, grid, results).runs(
            method, curvature).items() if not diverged(run)}
        if runs:
            lines.append((method, curvature, told, runs))
    last = np.inf if over == "epochs" else 1.5 * np.median(
        [run["seconds"][-1] for *_, runs in lines for run in runs.values()])
    for method, curvature, told, runs in lines:
        shortest = min(len(run["loss"]) for run in runs.values())
        x = (np.arange(shortest) if over == "epochs" else
             np.mean([run["seconds"][:shortest] for run in runs.values()], axis=0))
        x = x[x <= last]
        label = ("SGD, momentum" if method == "sgd" else
                 f"{NAMES[curvature]}, {NAMES[method]}") + told
        for axes, name in zip(panels, ("loss", "accuracy")):
            axes.plot(x, np.mean([run[name][:len(x)] for run in runs.values()], axis=0),
                      STYLES[method], color=COLOURS[curvature], marker=MARKERS[curvature],
                      markerfacecolor=COLOURS[curvature] if method == "ea-cg" else "white",
                      markersize=4, markevery=max(1, len(x) // 8), label=label,
                      alpha=0.5 if told else 1.0)
    unit = "epoch" if over == "epochs" else "CPU seconds of the steps"
    for panel in panels:
        panel.locator_params(axis="x", nbins=6)
    panels[0].set(xlabel=unit, ylabel=f"training loss, {NAMES[criterion]}", yscale="log")
    panels[1].set(xlabel=unit, ylabel="accuracy on images held out")
    legend_below(figure, panels[1], rows=2)
    seeds = {seed for *_, runs in lines for seed in runs}
    figure.suptitle(f"Training over {over}: {title_of(settings['case'])}\nrate, alpha and batch of "
                    f"least loss in the trials, as judged; {over_seeds(seeds, 'mean')}",
                    fontsize=9)
