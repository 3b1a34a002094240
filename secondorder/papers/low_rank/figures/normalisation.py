"""Control, ours: is it the second derivative that leaves a plateau, or the length of the step?

Where the curvature is small, a cubic step has the length sqrt(2 |grad F| / sigma): it grows with
the root of the gradient, not with the gradient. Steps that know no second derivative, and have a
length of that kind, stand beside the paper's here, each at the best of its own settings.
"""

import numpy as np

import secondorder as so
from secondorder.optimizers import ExponentialDecay, Wrapper
from secondorder.optimizers.norms import norm
from secondorder.studies import chosen, finished, headline, legend_under, marks, undecided

from ..eq_37_43_step_length import step_length
from . import plateau


class WithoutCurvature(Wrapper):
    """Cubic steps with h = 0: s g with s = sqrt(2 |a| / (sigma |g|^3)), a = g . grad F."""

    def __init__(self, base, sigma):
        super().__init__(base)
        self.sigma = sigma

    def change(self, evaluation, direction, rate):
        a = float(np.dot(self.gradient(evaluation).astype(float), direction))  # of 1e36 as well
        s = step_length(a, 0.0, norm(direction), self.sigma)
        self.details["rate"] = s
        return s * direction


class Normalised(Wrapper):
    """Steps of the length `rate`: rate g / |g|."""

    def change(self, evaluation, direction, rate):
        length = norm(direction)
        s = rate / length if length else 0.0  # every unit is dead
        self.details["rate"] = s
        return s * direction


METHODS = {"exact": lambda base, amount: so.CubicRegularization(base, sigma=amount),
           "printed": lambda base, amount: so.CubicRegularization(base, amount, "printed"),
           "none": WithoutCurvature,
           "normalised": lambda base, amount: Normalised(base)}
NAMES = {"exact": "cubic, (39) corrected", "printed": "cubic, (39) as printed",
         "none": "cubic with h = 0", "normalised": "steps of one length"}
SIGMAS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)
LENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # of a normalised step
GRIDS = {method: LENGTHS if method == "normalised" else SIGMAS for method in METHODS}


def train_without(seed, data, method, amount, limit, half_width, layers, width, iterations,
                  watched):
    """Train with a method of `METHODS` around gradient descent; the record of `plateau.train`.

    `amount` is sigma, or the length of a step, which decays by 0.95 per 100 iterations as rates do
    everywhere in these studies. `limit` is 0.
    """
    def make(network):
        rate = amount if method == "normalised" else 0.02
        base = so.SGD(network, so.SoftmaxCrossEntropy(),
                      learning_rate=ExponentialDecay(rate, 0.95, 100))
        return METHODS[method](base, amount)

    record = plateau.recorded(seed, data, half_width, layers, width, iterations, watched, make)
    return {name: record[name] for name in ("loss", "rate", "diverged") if name in record}


def left(run):
    """Iterations to leave the plateau, and the loss at the end where those are equal."""
    iterations = plateau.leave(run)
    return np.inf if iterations > 2000 else iterations + min(plateau.end(run), 9.0) / 10


def one(settings, seed, method, amount):
    return plateau.run(settings, seed, train_without, method=method, amount=amount, limit=0.0,
                       half_width=0.1)


def best(results, settings, method):
    """The setting that is best on the seeds for choosing, as arguments; None while runs miss."""
    candidates = [{"method": method, "amount": amount} for amount in settings["grids"][method]]
    return chosen(results, candidates, left, settings["choosing"])


@plateau.on_plateau(
    "claim-normalisation", "; settings are chosen on seeds 10 and 11", plateau.losses,
    shows="A plateau (weights within 0.1): cubic steps beside steps without a second derivative",
    claims={"h-0": "without curvature (h = 0) cubic steps leave the plateau as fast (1.1 times the "
                   "iterations), sigma 100 in both",
            "h-0-best": "where each has its best sigma, cubic steps leave the plateau as fast "
                        "without curvature",
            "normalised": "steps of one length along the gradient leave the plateau as fast as "
                          "cubic ones, at the best length"},
    full=plateau.FULL | {"choosing": (10, 11), "grids": GRIDS},
    quick=plateau.QUICK | {"choosing": (10,), "grids": {
        method: grid[1:3] for method, grid in GRIDS.items()}},
    seconds=(900, 8), ours=("h-0", "h-0-best", "normalised"))
class Normalisation:
    def runs(self, settings, results):
        runs = plateau.compared(settings, "sgd", 100, 0.1, ("exact", "printed"))
        runs += [one(settings, seed, "none", 100.0) for seed in settings["seeds"]]
        for method, grid in settings["grids"].items():
            runs += [one(settings, seed, method, amount)
                     for amount in grid for seed in settings["choosing"]]
            winner = best(results, settings, method)
            runs += [one(settings, seed, **winner) for seed in settings["seeds"]] if winner else []
        return runs

    def judge(self, results, settings):
        def voting(**wanted):
            runs = results.by_seed(**wanted)
            return {seed: runs[seed] for seed in settings["seeds"]}

        def as_fast(ours, theirs):
            return plateau.within(plateau.ratios(ours, theirs, plateau.leave),
                                  "iterations to leave over those with curvature", high=1.1)

        def at_best(method, form):
            winners = [best(results, settings, name) for name in (method, form)]
            if None in winners:
                return undecided("runs that choose the settings are missing")
            runs = [voting(**winner) for winner in winners]
            return as_fast(*runs).with_note("; ".join(map(told, winners, runs)))

        same = voting(method="none", amount=100.0)
        return {"h-0": plateau.both_forms(lambda form: as_fast(same, voting(curvature=form))),
                "h-0-best": plateau.both_forms(lambda form: at_best("none", form)),
                "normalised": plateau.both_forms(lambda form: at_best("normalised", form))}

    def draw(self, results, figure, settings):
        losses, sweep = figure.subplots(1, 2)
        for k, (method, name) in enumerate(NAMES.items()):
            style = ("-", "--", "-.", ":")[k]
            winner = best(results, settings, method)
            if winner:
                runs = finished(map(results.by_seed(**winner).get, settings["seeds"]))
                middle = np.median([run["loss"] for run in runs], axis=0)
                losses.plot(plateau.EVERY * np.arange(len(middle)), middle, color=f"C{k}",
                            linestyle=style, label=f"{name}: {said(winner)}")
            if method != "normalised":
                marks(sweep, [point for seed in settings["choosing"] for point in results.points(
                    "amount", plateau.leave, method=method, seed=seed)], k, label=name)
        losses.axhline(np.log(10), color="0.7", linewidth=0.8)
        losses.set(xlabel="iteration", ylabel=plateau.LOSS, title="each at its best setting",
                   ylim=(0, 3.5))  # bold ones leap higher
        sweep.set(xscale="log", yscale="log", xlabel="sigma", ylabel="iterations to leave",
                  title="the two seeds for choosing (2001: never)")
        legend_under(losses)
        legend_under(sweep)
        headline(figure, "With and without a second derivative\n"
                 f"{plateau.title_of(settings)}, weights within ±0.1", settings, "median")


def said(winner):
    """A chosen setting in words."""
    return f"{'length' if winner['method'] == 'normalised' else 'sigma'} {winner['amount']:g}"


def told(winner, runs):
    """The same, with the iterations to leave over the seeds."""
    leaves = [plateau.leave(run) for run in runs.values()]
    return f"{NAMES[winner['method']]}, {said(winner)}: {min(leaves)} to {max(leaves)} iterations"
