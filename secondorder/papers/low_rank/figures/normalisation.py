"""Control (ours): is it the second derivative that leaves a plateau, or the gradient's norm?

Where the curvature is small, a cubic step has the length sqrt(2 |grad F| / sigma): it grows with
the root of the gradient, not with the gradient. Steps that know no second derivative, and have a
length of that kind, stand beside the paper's here, every one at the best of its own settings.
"""

import numpy as np

import secondorder as so
from secondorder.optimizers import ExponentialDecay, Wrapper
from secondorder.optimizers.norms import norm
from secondorder.studies import chosen, counted, study, undecided

from .. import PAPER
from ..eq_37_43_step_length import step_length
from . import plateau


class WithoutCurvature(Wrapper):
    """Cubic steps with h = 0: s g with s = sqrt(2 |a| / (sigma |g|^3)), a = g . grad F."""

    def __init__(self, base, sigma):
        super().__init__(base)
        self.sigma = sigma

    def change(self, evaluation, direction, rate):
        a = float(self.gradient(evaluation) @ direction)
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


class Clipped(Wrapper):
    """Gradient clipping by norm: rate g min(1, limit / |g|)."""

    def __init__(self, base, limit):
        super().__init__(base)
        self.limit = limit

    def change(self, evaluation, direction, rate):
        length = norm(direction)
        s = rate if length <= self.limit else rate * self.limit / length
        self.details["rate"] = s
        return s * direction


METHODS = {
    "exact": lambda base, amount, limit: so.CubicRegularization(base, sigma=amount),
    "printed": lambda base, amount, limit: so.CubicRegularization(base, amount, "printed"),
    "none": lambda base, amount, limit: WithoutCurvature(base, amount),
    "normalised": lambda base, amount, limit: Normalised(base),
    "clipped": lambda base, amount, limit: Clipped(base, limit)}
NAMES = {"exact": "cubic, exact curvature", "printed": "cubic, curvature as printed",
         "none": "cubic with h = 0", "normalised": "normalised gradient",
         "clipped": "clipped gradient"}

SIGMAS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)
LENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # of a normalised step
CLIPPED = (0.02, 0.1, 0.5, 2.0, 10.0, 50.0, 250.0)  # rates
LIMITS = (0.001, 0.01, 0.1, 1.0)
#: Method -> its settings: sigma or rate, and the norm at which a gradient is clipped (0: none).
GRIDS = {**{method: [(sigma, 0.0) for sigma in SIGMAS] for method in ("exact", "printed", "none")},
         "normalised": [(length, 0.0) for length in LENGTHS],
         "clipped": [(rate, limit) for rate in CLIPPED for limit in LIMITS]}


def train_without(seed, data, method, amount, limit, half_width, layers, width, iterations,
                  watched):
    """Train with a method of `METHODS` around gradient descent; the record of `plateau.train`.

    Rates decay by 0.95 per 100 iterations, as everywhere in these studies; sigma does not.
    """
    def make(network):
        rate = amount if method in ("normalised", "clipped") else 0.02
        base = so.SGD(network, so.SoftmaxCrossEntropy(),
                      learning_rate=ExponentialDecay(rate, 0.95, 100))
        return METHODS[method](base, amount, limit)

    record = plateau.recorded(seed, data, half_width, layers, width, iterations, watched, make)
    return {name: record[name] for name in ("loss", "rate", "diverged") if name in record}


def left(run):
    """Iterations to leave the plateau, and the loss at the end where those are equal."""
    iterations = plateau.leave(run)
    return np.inf if iterations > 2000 else iterations + min(plateau.end(run), 9.0) / 10


#: Place -> half-width of the weights, the number by which settings are chosen.
PLACES = {"plateau": (0.1, left), "usual": (0.2, plateau.end)}


def one(settings, seed, method, setting, half):
    amount, limit = setting
    return plateau.run(settings, seed, train_without, method=method, amount=amount, limit=limit,
                       half_width=half)


def best(results, settings, method, place):
    """The setting that is best on the seeds for choosing, as arguments; None while runs miss."""
    half, number = PLACES[place]
    candidates = [{"method": method, "amount": amount, "limit": limit, "half_width": half}
                  for amount, limit in settings["grids"][method]]
    return chosen(results, candidates, number, settings["choosing"])


@study(PAPER, "claim-normalisation",
       shows="Cubic steps beside steps without a second derivative, each at its best setting",
       claims={"h-0": "control, ours: with h = 0 in the curvature's place, sigma 100 in both, the "
                      "plateau is left within 1.1 times the iterations",
               "h-0-best": "control, ours: so it is where each has its best sigma",
               "normalised": "control, ours: so it is by steps of one length along the gradient, "
                             "at the best of seven",
               "clipped": "control, ours: so it is by gradient descent with clipped norm, at the "
                          "best of 28 settings",
               "usual": "control, ours: from a good start (weights within +-0.2) cubic steps with "
                        "exact curvature end below those with h = 0 / 1.1, each at its best sigma",
               "printed": "control, ours: there the exact curvature ends at most 1.1 times the "
                          "printed one, each at its best sigma"},
       full=plateau.FULL | {"choosing": (10, 11), "grids": GRIDS},
       quick=plateau.QUICK | {"choosing": (10,), "grids": {
           method: grid[1:3] for method, grid in GRIDS.items()}},
       seconds=(1900, 12), needs=("mnist",),
       ours=("h-0", "h-0-best", "normalised", "clipped", "usual", "printed"),
       smaller=plateau.SMALLER,
       deviation=plateau.DEVIATION + "; settings are chosen "
       "on seeds 10 and 11, apart for the plateau and for the good start")
class Normalisation:
    @staticmethod
    def packed(result, arguments):
        """The losses: neither verdicts nor figure need the rates."""
        return {name: values for name, values in result.items() if name != "rate"}

    def runs(self, settings, results):
        runs = []
        for place, (half, _) in PLACES.items():
            for method, grid in settings["grids"].items():
                runs += [one(settings, seed, method, setting, half)
                         for setting in grid for seed in settings["choosing"]]
                winner = best(results, settings, method, place)
                settings_run = [] if winner is None else [(winner["amount"], winner["limit"])]
                if method in ("exact", "none") and place == "plateau":
                    settings_run.append((100.0, 0.0))
                runs += [one(settings, seed, method, setting, half)
                         for setting in settings_run for seed in settings["seeds"]]
        return runs

    def judge(self, results, settings):
        verdicts = {}
        at_100 = {method: voting(results, settings, {"method": method, "amount": 100.0,
                                                     "half_width": 0.1})
                  for method in ("exact", "none")}
        verdicts["h-0"] = compared(at_100["none"], at_100["exact"], plateau.leave, 1.1,
                                   "iterations to leave over the exact curvature's")
        for letter, place, ours, theirs, factor in (
                ("h-0-best", "plateau", "none", "exact", 1.1),
                ("normalised", "plateau", "normalised", "exact", 1.1),
                ("clipped", "plateau", "clipped", "exact", 1.1),
                ("usual", "usual", "exact", "none", 1 / 1.1),
                ("printed", "usual", "exact", "printed", 1.1)):
            winners = {method: best(results, settings, method, place)
                       for method in (ours, theirs)}
            if None in winners.values():
                verdicts[letter] = undecided("runs that choose the settings are missing")
                continue
            runs = {method: voting(results, settings, winner)
                    for method, winner in winners.items()}
            number = plateau.leave if place == "plateau" else plateau.end
            what = "iterations to leave over" if place == "plateau" else "loss at the end over"
            verdicts[letter] = compared(
                runs[ours], runs[theirs], number, factor, f"{what} the other's").with_note(
                "; ".join(f"{NAMES[method]}: {said(winner)}"
                          for method, winner in winners.items()))
        return verdicts

    def draw(self, results, figure, settings):
        for panel, (place, (half, _)) in zip(figure.subplots(1, 2), PLACES.items()):
            for k, method in enumerate(NAMES):
                winner = best(results, settings, method, place)
                if winner is None:
                    continue
                runs = voting(results, settings, winner).values()
                losses = [run["loss"] for run in runs if "diverged" not in run]
                median = np.median([loss[:min(map(len, losses))] for loss in losses], axis=0)
                panel.plot(plateau.EVERY * np.arange(len(median))[::4], median[::4], color=f"C{k}",
                           linestyle=("-", "--", "-.", ":", (0, (5, 1)))[k],
                           label=f"{NAMES[method]}: {said(winner)}")
            panel.axhline(np.log(10), color="0.7", linewidth=0.8)
            panel.set(xlabel="iteration", ylabel="cross-entropy, mean of the watched samples",
                      title=f"weights within ±{half:g}", ylim=(0, 3.5))  # bold ones leap higher
            panel.legend(fontsize=7)
        figure.suptitle("With and without a second derivative: "
                        f"{plateau.title_of(settings)}; median of {len(settings['seeds'])} seeds",
                        fontsize=10)


def voting(results, settings, winner):
    """Seed -> run, of the seeds that judge."""
    runs = results.by_seed(**winner)
    return {seed: runs[seed] for seed in settings["seeds"] if seed in runs}


def compared(ours, theirs, number, factor, measure):
    """Whether our number is at most so many times theirs, seed by seed."""
    ratios = [number(ours[seed]) / number(theirs[seed]) for seed in ours if seed in theirs]
    return counted([ratio <= factor for ratio in ratios], ratios, measure)


def said(winner):
    """A chosen setting in words."""
    if winner["method"] in ("exact", "printed", "none"):
        return f"sigma {winner['amount']:g}"
    clip = f", clipped at {winner['limit']:g}" if winner["limit"] else ""
    return f"{'rate' if clip else 'length'} {winner['amount']:g}{clip}"
