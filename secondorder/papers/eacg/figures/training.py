"""Training over a grid of rates, alpha and batch sizes, and what is read off the curves.

The grid is the paper's, thinned: rates 0.1 and 0.2, alpha 0.01, 0.02 and 0.1. Every point is tried
on a seed of its own, with test images taken from the training part; (L) the point with the least
final training loss and (A) the one with the best held-out accuracy are then trained on the seeds
that vote. Where the corner is chosen, the largest rate with the smallest alpha, one step beyond it
is tried as well.
"""

import time

import numpy as np

import secondorder as so
from secondorder.studies import Run, alike, diverged, least, paired, readings, undecided

from . import networks
from .networks import CRITERIA, STARTED

TRIAL_SEED = 100
SELECTIONS = ("L", "A")
CURVATURES = ("fisher", "gauss-newton", "pch-1", "pch-2")
NAMES = {"fisher": "Fisher", "gauss-newton": "Gauss-Newton", "pch-1": "PCH-1", "pch-2": "PCH-2",
         "sgd": "SGD", "ea-cg": "EA-CG", "kfi": "KFI", "kfi-rank-one": "KFI with (13)",
         "cg": "CG with (11a)", "cross-entropy": "cross-entropy",
         "bounded": "bounded criterion (14)"}
PRODUCTS = 20  # of conjugate gradients; the paper tries 5 to 50
PRINTED = {"ea-cg": "ea-cg-printed", "kfi": "kfi-printed"}  # the solvers as the paper has them
FULL = {"epochs": 40, "trial": 10, "samples": 10000, "batches": (100, 500), "rates": (0.1, 0.2),
        "alphas": (0.01, 0.02, 0.1), "case": "R5"}
QUICK = {"case": "Q", "epochs": 3, "trial": 0, "samples": 500, "batches": (100,), "rates": (0.2,),
         "alphas": (0.01,), "seeds": (1,)}
DEVIATION = ("10,000 images and smaller networks, named in the titles; 40 epochs instead of 200. A "
             "thinned grid, tried for 10 epochs, and one step beyond its corner where that is "
             "chosen; (11b) in closed form instead of conjugate gradients")
SHARED = {"quick": QUICK, "needs": ("cifar-10",),
          "smaller": "10,000 images, smaller networks, 40 epochs", "deviation": DEVIATION}


def seeds_to(count):
    """Settings with the seeds 1 to `count`: as many as decide at the spread of the first three."""
    return {"seeds": tuple(range(1, count + 1))}


def train(seed, case, criterion, method, curvature, rate, alpha, batch, epochs, samples,
          hold_out=False):
    """Train once and look after every epoch.

    `case` and `criterion` are keys of `networks.WIDTHS` and `networks.CRITERIA`; `method` is "sgd"
    (with momentum 0.9) or a solver; `hold_out` is as for :func:`.networks.split`.

    Returns
    -------
    dict
        ``loss`` on the training images and ``accuracy`` on the others, at the start and after every
        epoch; ``seconds``, CPU seconds of the steps alone; ``updates`` of an epoch. Of a training
        whose numbers stop being finite what came before, and ``diverged``.
    """
    (x, y), (test_x, test_y) = networks.split(case, seed, samples, hold_out)
    network, loss = networks.network_of(case, seed), CRITERIA[criterion]()
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
    """SGD with momentum 0.9, or a solver; EA-CG in closed form."""
    if method == "sgd":
        return so.Momentum(network, loss, learning_rate=rate, momentum=0.9)
    solver = "ea-closed" if method == "ea-cg" else method
    return so.EACG(network, loss, learning_rate=rate, curvature=package_name(curvature),
                   solver=solver, alpha=alpha)


def package_name(curvature):
    """A curvature of the paper's figures as the package names it: their Fisher matrix has the given
    targets.
    """
    return "fisher-empirical" if curvature == "fisher" else curvature


def as_printed(network, loss, method, curvature, rate, alpha, products=PRODUCTS):
    """The same, with the solvers as the paper describes them: EA-CG by some products of conjugate
    gradients at most, and KFI with the matrices of Eq. (12).
    """
    if method == "sgd":
        return optimizer_of(network, loss, method, curvature, rate, alpha)
    return so.EACG(network, loss, learning_rate=rate, curvature=package_name(curvature),
                   solver=PRINTED.get(method, method), alpha=alpha, max_cg=products,
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


def one(seed, method, curvature, point, criterion, settings, epochs, trial=False):
    """A training at one point of the grid."""
    rate, alpha, batch = point
    return Run(train, {"seed": seed, "case": settings["case"], "criterion": criterion,
                       "method": method, "curvature": curvature, "rate": rate, "alpha": alpha,
                       "batch": batch, "epochs": epochs, "samples": settings["samples"],
                       "hold_out": trial})


def stages(methods, criterion, settings, results):
    """Trials of every point for (method, curvature) pairs and, once these are known, the runs of
    the two chosen ones.
    """
    runs = []
    for method, curvature in methods:
        runs += trials(method, curvature, criterion, settings, results)
        for point in chosen(method, curvature, criterion, settings, results).values():
            runs += [one(seed, method, curvature, point, criterion, settings, epochs)
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
    return [one(TRIAL_SEED, method, curvature, point, criterion, settings, settings["trial"],
                trial=True) for point in grid]


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


# -- how they are compared -------------------------------------------------------------------------


class Chosen:
    """The runs of one selection, "L" or "A", by method and seed."""

    def __init__(self, selection, criterion, settings, results):
        self.selection, self.criterion = selection, criterion
        self.settings, self.results = settings, results

    def point(self, method, curvature):
        return chosen(method, curvature, self.criterion, self.settings,
                      self.results).get(self.selection)

    def runs(self, method, curvature):
        """Seed -> result, of the seeds that vote."""
        point = self.point(method, curvature)
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

    def compared(self, ours, other, number, measure, margin=0.0, within=None, other_chosen=None):
        """Whether ``number(run of ours, run of other)``, paired by seed, is above the margin; or,
        with `within`, whether it is smaller than that in size, where runs that diverged are left
        out.

        `measure` may name both methods, ``{ours}`` and ``{other}``. A run that never left the
        plateau leaves the comparison open. `other_chosen`, where given, holds the other's runs:
        those of another grid.
        """
        left, right = self.runs(*ours), (other_chosen or self).runs(*other)
        both = [seed for seed in left if seed in right]
        going = [seed for seed in both if started(left[seed], self.criterion)
                 and started(right[seed], self.criterion)]
        if len(going) < len(both):
            return undecided(f"{len(both) - len(going)} of {len(both)} runs stay on the plateau",
                             len(both))
        measure = measure.format(ours=named(*ours), other=named(*other))
        numbers = [number(left[seed], right[seed]) for seed in going]
        if within is None:
            return paired(numbers, measure, margin)
        return alike([value for value in numbers if not np.isnan(value)], within, measure)


def named(method, curvature):
    """A method as a reader calls it: "SGD", "EA-CG (Fisher)"."""
    return NAMES[method] + ("" if curvature == "none" else f" ({NAMES[curvature]})")


def by_selection(judge, criterion, settings, results, kind=Chosen):
    """A verdict that both selections share; ``judge`` takes a :class:`Chosen`, or another `kind`.

    Of two that agree the number nearer to the margin is told. The paper does not say how it
    selected; where the selections differ the claim is undecided.
    """
    L, A = (judge(kind(selection, criterion, settings, results)) for selection in SELECTIONS)
    if L.verdict == A.verdict:
        return max(L, A, key=lambda verdict: verdict.p or 0.0)
    return readings({"rates by least loss": L, "by best accuracy": A},
                    because="the paper does not say how it chose its rates")


def started(result, criterion):
    """Whether a training left the plateau."""
    return bool(result["loss"]) and min(result["loss"]) < STARTED[criterion]


def final(result, name="loss"):
    return np.nan if diverged(result) else result[name][-1]


LOWER_LOSS = "log of the final loss of {other} over that of {ours}"
BETTER_ACCURACY = "accuracy of {ours} less that of {other}"


def lower_loss(ours, other):
    """log of the other's final training loss over ours: positive where ours is lower."""
    return np.log(final(other) / final(ours))


def better_accuracy(ours, other):
    return final(ours, "accuracy") - final(other, "accuracy")
