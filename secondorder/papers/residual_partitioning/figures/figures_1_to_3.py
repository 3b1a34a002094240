"""Figures 1 to 3: losses of the autoencoder and of the classifier, and the classifier's accuracy.

On the same runs: the abstract's "competitive or better". Rates are those with the least mean
validation loss over the records of their trials.
"""

import numpy as np

from secondorder.studies import (DID_NOT_HOLD, HELD, Run, alike, both, diverged, finished, images,
                                 legend_below, lowest_common, mean_and_range, over_seeds, paired,
                                 readings, study, undecided)

from .. import PAPER
from . import networks
from .networks import BATCH, L2, LOOKS, METHODS, NAMES, SETS
from .tuning import Tuned

FULL = {"sets": ("mnist", "cifar-10"), "trial": 6000, "steps": 20000, "every": 1000,
        "seeds": (1, 2, 3, 4)}
QUICK = {"sets": ("digits",), "trial": 0, "steps": 280, "every": 70, "seeds": (1,)}
EARLY = 6000  # a step at which losses are read as well
SMALLER = "10,000 images, 20,000 steps, no Fashion-MNIST"
DEVIATION = ("8000 images of MNIST and 10,000 of CIFAR-10; no Fashion-MNIST; 20,000 steps, where "
             "the first mark of the paper's axis is at 60,000; the paper has 10 seeds. Its rates "
             "stand in the pictures alone and no code was found: the best of a grid is taken")


def train(seed, kind, data, method, rate, steps, every):
    """Train once, and look at the losses every `every` steps, from 0.

    Returns ``train`` and ``validation``, mean losses without the penalty, and for a classifier
    ``accuracy`` on the validation part, as far as they are finite.
    """
    (x, y), held_out = (networks.data_of(kind, data, part) for part in ("train", "test"))
    network, loss = networks.network_of(kind, x.shape[1], seed)
    optimizer = METHODS[method](network, loss, learning_rate=rate, l2=L2)
    records = {"train": [], "validation": []} | ({"accuracy": []} if kind == "classifier" else {})

    def look(step):
        if step % every == 0:
            evaluation = network.evaluate(loss, *held_out)
            for name, value in (("train", network.evaluate(loss, x, y).loss),
                                ("validation", evaluation.loss)):
                records[name].append(float(f"{value:.6g}"))
            if kind == "classifier":
                records["accuracy"].append(
                    float(np.mean(evaluation.outputs.argmax(axis=1) == held_out[1])))

    return networks.trained(records, look, optimizer.step, x, y, seed, steps)


class Curves(Tuned):
    """The trainings of one network on the sets, and their figure."""

    kind = title = None
    drawn = "train", "validation"  # the first with filled marks, a second with hollow ones

    def run_of(self, case, seed, rate, settings, trial):
        return Run(train, {"seed": seed, "kind": self.kind, "data": case[0], "method": case[1],
                           "rate": rate, "steps": settings["trial" if trial else "steps"],
                           "every": settings["every"]})

    def number(self, result, settings):
        return np.mean(result["validation"])

    def by_set(self, settings, results):
        """Set -> method -> the runs that are judged."""
        return {data: {method: self.judged((data, method), settings, results)
                       for method in METHODS} for data in settings["sets"]}

    def panels(self, settings):
        """The settings of every panel, with one set in each."""
        return [settings | {"sets": (data,)} for data in settings["sets"]]

    def draw(self, results, figure, settings):
        """The one seed, or mean and range of several. The start, before any step, would hide what
        comes after, and is left out.
        """
        panels = self.panels(settings)
        axes_of = np.atleast_1d(figure.subplots(1, len(panels)))
        most = max((one["seeds"] for one in panels), key=len)
        for axes, one in zip(axes_of, panels):
            every, rates = one["every"], []
            for data, method in self.cases(one):
                colour, marker = LOOKS[method]
                runs = finished(self.judged((data, method), one, results))
                label = NAMES[method]
                rates.append(f"{self.tuned((data, method), one, results)[1]:g}"
                             + ("" if runs else " (diverged)"))
                for name, fill in zip(self.drawn, (colour, "white")):
                    mean_and_range(axes, [run[name][1:] for run in runs], colour, every, every,
                                   markerfacecolor=fill, marker=marker, markersize=4, linewidth=1,
                                   label=label)
                    label = None
            fewer = f"; {len(one['seeds'])} seeds" * (len(one["seeds"]) < len(most))
            axes.set_title(f"{images(data).name}{fewer}\nrates {', '.join(rates)}", fontsize=8)
            axes.set_xlabel(f"step (batches of {BATCH})")
            axes.set_yscale("linear" if "accuracy" in self.drawn else "log")
            axes.locator_params(axis="x", nbins=5)
            axes.set_xlim(left=0)
        axes_of[0].set_ylabel("validation accuracy" if "accuracy" in self.drawn else
                              "loss without penalty; filled: training, hollow: validation")
        legend_below(figure, axes_of[0])
        figure.suptitle(f"{self.title}; {over_seeds(most)}", fontsize=10)


# -- what is read off ------------------------------------------------------------------------------

def until(result, name, looks):
    """The first records of a curve; infinite where the run ended before."""
    short = diverged(result) and len(result[name]) < looks
    return [np.inf] if short else result[name][:looks]


def lowest(name, steps, settings):
    """A function: the lowest value of a record up to some step."""
    return lambda run: np.min(until(run, name, steps // settings["every"] + 1))


def gap(settings):
    """A function: validation less training loss at the end."""
    looks = settings["steps"] // settings["every"] + 1
    return lambda run: until(run, "validation", looks)[-1] - until(run, "train", looks)[-1]


def ahead(by_method, number):
    """By seed: the smallest number of the other methods less residual partitioning's."""
    numbers = {method: [number(run) for run in runs] for method, runs in by_method.items()}
    ours = numbers.pop("partitioning")
    return [min(others) - own for own, *others in zip(ours, *numbers.values())]


def log_lowest(by_method, steps, settings):
    """By seed: log of the best other's lowest validation loss over ours."""
    number = lowest("validation", steps, settings)
    return np.array(ahead(by_method, lambda run: np.log(number(run))))


def competitive(by_set, settings):
    """One verdict a set: is our lowest validation loss at most 1.05 times the best other's?"""
    return [paired(log_lowest(runs, settings["steps"], settings), "log of the best other's lowest "
                   f"validation loss over ours, {SETS[data]}", -np.log(1.05))
            for data, runs in by_set.items()]


def one_of_them(*verdicts):
    """Held if one of the verdicts is, did not hold if none does, else undecided."""
    for one in verdicts:
        if one.verdict == HELD:
            return one.with_note(f"one of {len(verdicts)} sets is enough")
    if {one.verdict for one in verdicts} == {DID_NOT_HOLD}:
        return verdicts[0]
    return undecided("more seeds: no set decides it", min(one.seeds for one in verdicts))


@study(PAPER, "figure-1",
       shows="Autoencoder D-64-2-64-D: squared error of residual partitioning, SGD and Adam over "
             "steps",
       claims={"a": "residual partitioning has the lowest validation loss of the autoencoder on "
                    "all sets",
               "b": "it does not always have the lowest training loss",
               "c": "it generally overfits less than SGD and Adam (gap: validation less training "
                    "loss)",
               "competitive": "on the autoencoder it is competitive or better: lowest validation "
                              "loss at most 5 % above the best other's"},
       full=FULL | {"seeds": tuple(range(1, 12)),
                    "long": {"sets": ("mnist",), "steps": 60000, "seeds": (1, 2, 3, 4, 5)}},
       quick=QUICK | {"long": {}}, seconds=(12000, 6), needs=("mnist", "cifar-10"),
       smaller=SMALLER, deviation=DEVIATION + ". MNIST runs to 60,000 steps as well, at the same "
       "rates: that decides (a)", also={"competitive": "abstract"})
class Figure1(Curves):
    kind, title = "autoencoder", "Autoencoder D-64-2-64-D, tanh: each method at its best rate"

    def runs(self, settings, results):
        return [run for one in (settings, settings | settings["long"])
                for run in super(Figure1, self).runs(one, results)]

    def panels(self, settings):
        first, *others = super().panels(settings)
        return [first | settings["long"], *others]

    def judge(self, results, settings):
        steps, long = settings["steps"], settings | settings["long"]
        by_set = self.by_set(settings, results)

        def all_sets(number, measure, by_set=by_set):
            return both(*(paired(ahead(runs, number), f"{measure}, {SETS[data]}")
                          for data, runs in by_set.items()))

        def below(by_set, end):
            return all_sets(lowest("validation", end, settings),
                            "best other's lowest loss less ours", by_set)

        return {
            "a": readings({
                f"to step {long['steps']:,}, {SETS[long['sets'][0]]} alone": below(
                    self.by_set(long, results), long["steps"]),
                f"to step {steps:,}": below(by_set, steps),
                f"to step {EARLY:,}": below(by_set, EARLY)},
                decides=f"to step {long['steps']:,}, {SETS[long['sets'][0]]} alone"),
            "b": one_of_them(*(paired(
                np.negative(ahead(runs, lowest("train", steps, settings))),
                f"lowest training loss, ours less best other, {SETS[data]}")
                for data, runs in by_set.items())),
            "c": readings({
                "at the end": all_sets(gap(settings), "smallest other gap less ours"),
                "at equal training loss": both(*(paired(
                    at_equal_training_loss(runs), f"best other's loss less ours, {SETS[data]}")
                    for data, runs in by_set.items()))}, decides="at the end"),
            "competitive": both(*competitive(by_set, settings))}


def at_equal_training_loss(by_method):
    """By seed: the smaller validation loss of the others less ours, all at the lowest training
    loss that all three reach.
    """
    differences = []
    for ours, *others in zip(*by_method.values()):
        level = lowest_common(*(run["train"] for run in (ours, *others)))
        own, *rest = (validation_at(run, level) for run in (ours, *others))
        differences.append(min(rest) - own)
    return differences


def validation_at(run, level):
    """Validation loss where the training loss first comes down to a level, between two looks by a
    straight line of one loss over the other.
    """
    k = int(np.flatnonzero(np.less_equal(run["train"], level))[0])
    places = [k, max(k - 1, 0)]
    return float(np.interp(level, *np.take([run["train"], run["validation"]], places, axis=1)))


@study(PAPER, "figure-2",
       shows="Classifier D-400-100-36-10: cross-entropy of residual partitioning, SGD and Adam "
             "over steps",
       claims={"a": "residual partitioning's loss of the classifier is noticeably worse on all "
                    "sets: lowest validation loss at least 1.1 times the best other's",
               "b": "on CIFAR-10 it overfits much worse: validation less training loss at the end "
                    "more than 1.5 times SGD's and Adam's",
               "competitive": "on the classifier it is competitive or better, on at least half of "
                              "the sets: lowest validation loss at most 5 % above the best "
                              "other's"},
       full=FULL, quick=QUICK, seconds=(7000, 6), needs=("mnist", "cifar-10"), smaller=SMALLER,
       deviation=DEVIATION + ". (b) is about 50,000 images in the paper",
       also={"competitive": "abstract"})
class Figure2(Curves):
    kind = "classifier"
    title = "Classifier D-400-100-36-10, softplus: each method at its best rate"

    def judge(self, results, settings):
        by_set = self.by_set(settings, results)

        def worse(steps):
            return both(*(paired(-log_lowest(runs, steps, settings), "log of our lowest validation "
                                 f"loss over the best other's, {SETS[data]}", np.log(1.1))
                          for data, runs in by_set.items()))

        last = f"to step {settings['steps']:,}"
        gaps = {method: np.array(list(map(gap(settings), runs)))
                for method, runs in by_set[settings["sets"][-1]].items()}
        return {"a": readings({last: worse(settings["steps"]), f"to step {EARLY:,}": worse(EARLY)},
                              decides=last),
                "b": both(*(paired(gaps["partitioning"] - 1.5 * gaps[other],
                                   f"gap less 1.5 times {NAMES[other]}'s")
                            for other in ("sgd", "adam"))),
                "competitive": one_of_them(*competitive(by_set, settings))}


@study(PAPER, "figure-3",
       shows="Validation accuracy of the classifiers of Figure 2, at the same rates",
       claims={"maximum": "residual partitioning's highest accuracy is similar to the best of SGD "
                          "and Adam on all sets: within 0.02",
               "end": "the same for the accuracy at the end"},
       full=FULL, quick=QUICK, seconds=(7000, 6), needs=("mnist", "cifar-10"), smaller=SMALLER,
       deviation=DEVIATION + ", by the lowest loss")
class Figure3(Curves):
    kind, drawn = "classifier", ("accuracy",)
    title = "Classifier D-400-100-36-10: validation accuracy at the rates of Figure 2"

    def judge(self, results, settings):
        by_set = self.by_set(settings, results)
        return {letter: both(*(alike(ahead(runs, lambda run: -number(run["accuracy"])), 0.02,
                                     f"accuracy less the best other's, {SETS[data]}")
                               for data, runs in by_set.items()))
                for letter, number in (("maximum", max), ("end", lambda values: values[-1]))}
