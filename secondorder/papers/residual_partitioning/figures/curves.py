"""Training curves of the three methods on one network, and what is read off them.

Every method has a grid of rates. (A) All rates are tried on seeds of their own, for `trial` steps;
the rate with the lowest mean validation loss over the records is taken, and a best one at the end
of its grid extends the grid by one factor. (C) That rate trains on the seeds that are judged.
"""

import textwrap

import numpy as np

from secondorder.studies import (DID_NOT_HOLD, HELD, Run, Verdict, diverged, finished,
                                 legend_below, mean_and_range, over_seeds, selection)

from . import networks
from .networks import BATCH, L2, METHODS, NAMES

TRIAL_SEEDS = (101, 102)
GRIDS = {"autoencoder": {"partitioning": (1, 3, 10, 30, 100), "sgd": (0.003, 0.01, 0.03, 0.1, 0.3),
                         "adam": (3e-4, 1e-3, 3e-3, 0.01, 0.03)},
         "classifier": {"partitioning": (30, 100, 300, 1000), "sgd": (0.01, 0.03, 0.1, 0.3, 1),
                        "adam": (1e-4, 3e-4, 1e-3, 3e-3, 0.01)}}
ONE_RATE = {"autoencoder": {"partitioning": (10,), "sgd": (0.1,), "adam": (3e-3,)},
            "classifier": {"partitioning": (100,), "sgd": (0.1,), "adam": (1e-3,)}}
HORIZONS = (6000, 20000)
FULL = {"sets": ("mnist", "cifar-10", "cifar-10-grey"), "trial": 6000, "steps": 20000,
        "every": 1000, "seeds": (1, 2, 3)}
QUICK = {"sets": ("digits",), "trial": 0, "steps": 280, "every": 70, "seeds": (1,)}
SMALLER = "8000 and 10,000 images, 20,000 steps"
DEVIATION = ("subsets of 8000 and 10,000 images; 20,000 steps, a third of the paper's first "
             "mark; the paper has 10 seeds; rates from two others. Fashion-MNIST is absent: grey "
             "centres of CIFAR-10 are drawn in its place and not counted")


def train(seed, kind, data, method, rate, steps, every):
    """Train once, and look at the losses every `every` steps, from 0.

    Returns ``train`` and ``validation``, mean losses without the penalty, and for a classifier
    ``accuracy`` on the validation part. Of a run whose numbers stop being finite what came before,
    and ``diverged``.
    """
    (x, y), held_out = (networks.data_of(kind, data, part) for part in ("train", "test"))
    network, loss = networks.network_of(kind, x.shape[1], seed)
    optimizer_class, options = METHODS[method]
    optimizer = optimizer_class(network, loss, learning_rate=rate, l2=L2, **options)
    records = {"train": [], "validation": []} | ({"accuracy": []} if kind == "classifier" else {})
    rows = networks.batches(len(x), seed)
    for step in range(steps + 1):
        try:
            if step % every == 0:
                look(network, loss, (x, y), held_out, records)
            if step < steps:
                batch = next(rows)
                optimizer.step(x[batch], y[batch])
        except FloatingPointError as error:
            return records | {"diverged": f"step {step}: {error}"}
    return records


def look(network, loss, training, held_out, records):
    """Add the losses of the two parts, and the accuracy, to the records."""
    records["train"].append(rounded(network.evaluate(loss, *training).loss))
    evaluation = network.evaluate(loss, *held_out)
    records["validation"].append(rounded(evaluation.loss))
    if "accuracy" in records:
        records["accuracy"].append(float(np.mean(evaluation.outputs.argmax(axis=1) == held_out[1])))


def rounded(value):
    return float(f"{value:.6g}")


# -- which runs ------------------------------------------------------------------------------------


def stages(kind, settings, results):
    """The trials of all rates and, once these are known, the runs with the best."""
    runs = []
    for data in settings["sets"]:
        for method in METHODS:
            runs += trials(kind, data, method, settings, results)
            rate = chosen(kind, data, method, settings, results)
            if rate is not None:
                runs += [run_of(seed, kind, data, method, rate, settings["steps"], settings)
                         for seed in settings["seeds"]]
    return runs


def run_of(seed, kind, data, method, rate, steps, settings):
    return Run(train, {"seed": seed, "kind": kind, "data": data, "method": method, "rate": rate,
                       "steps": steps, "every": settings["every"]})


def trials(kind, data, method, settings, results):
    """A run for every rate and trial seed; none where there is nothing to choose."""
    rates = grid(kind, method, settings)
    if len(rates) == 1:
        return []
    best = best_of(rates, kind, data, method, settings, results)
    return [run_of(seed, kind, data, method, rate, settings["trial"], settings)
            for rate in extended(rates, best) for seed in TRIAL_SEEDS]


def grid(kind, method, settings):
    rates = (GRIDS if settings["trial"] else ONE_RATE)[kind][method]
    return tuple(map(float, rates))


def chosen(kind, data, method, settings, results):
    """The rate to judge a method at, or None while trials are missing."""
    rates = grid(kind, method, settings)
    if len(rates) == 1:
        return rates[0]
    best = best_of(rates, kind, data, method, settings, results)
    return best and best_of(extended(rates, best), kind, data, method, settings, results)


def extended(rates, best):
    """The grid, and one factor beyond it where the best rate stands at its end."""
    if best == rates[0]:
        return (float(f"{rates[0] ** 2 / rates[1]:.1g}"), *rates)
    if best == rates[-1]:
        return (*rates, float(f"{rates[-1] ** 2 / rates[-2]:.1g}"))
    return rates


def best_of(rates, kind, data, method, settings, results):
    """The rate whose trials have the lowest validation loss, mean over records and seeds; None
    while one of them is missing. A trial that diverged counts as infinite.
    """
    candidates = [{"kind": kind, "data": data, "method": method, "rate": rate,
                   "steps": settings["trial"]} for rate in rates]
    best = selection.chosen(results, candidates, lambda run: np.inf if diverged(run) else
                            np.mean(run["validation"]), TRIAL_SEEDS)
    return best and best["rate"]


def judged(kind, data, settings, results):
    """Method -> seed -> result of the runs with the chosen rates."""
    by_method = {}
    for method in METHODS:
        rate = chosen(kind, data, method, settings, results)
        runs = results.by_seed(kind=kind, data=data, method=method, rate=rate,
                               steps=settings["steps"])
        by_method[method] = {seed: runs[seed] for seed in settings["seeds"] if seed in runs}
    return by_method


# -- what is read off a run ------------------------------------------------------------------------


def until(result, name, horizon, every):
    """The records of a curve up to some step; infinite where the run ended before."""
    records = result[name]
    if diverged(result) and len(records) <= horizon // every:
        return [np.inf]
    return records[:horizon // every + 1]


def lowest(result, name, horizon, every):
    return float(np.min(until(result, name, horizon, every)))


def gap(result, horizon, every):
    """Validation loss less training loss at the horizon."""
    return (until(result, "validation", horizon, every)[-1]
            - until(result, "train", horizon, every)[-1])


def validation_at(result, level):
    """Validation loss where the training loss first comes down to a level, between two records by
    a straight line; NaN where it never does.
    """
    training, validation = result["train"], result["validation"]
    k = next((k for k, loss in enumerate(training) if loss <= level), None)
    if k is None:
        return float("nan")
    if k == 0:
        return validation[0]
    share = (training[k - 1] - level) / (training[k - 1] - training[k])
    return (1 - share) * validation[k - 1] + share * validation[k]


def per_seed(by_method, number):
    """Seed -> (residual partitioning's number, the smallest of the others)."""
    ours = by_method["partitioning"]
    return {seed: (number(ours[seed]), min(number(by_method[other][seed]) for other in by_method
                                           if other != "partitioning"))
            for seed in ours if all(seed in runs for runs in by_method.values())}


def one_of_them(*verdicts):
    """Held if one of the verdicts is, did not hold if none does, else undecided."""
    kinds = [one.verdict for one in verdicts]
    if HELD in kinds:
        return verdicts[kinds.index(HELD)]
    if set(kinds) == {DID_NOT_HOLD}:
        return verdicts[0]
    return Verdict("undecided", seeds=min(one.seeds for one in verdicts),
                   because="more seeds: no set decides it")


def counted_sets(settings):
    """The sets that have a say: no stand-in."""
    return [name for name in settings["sets"] if name != "cifar-10-grey"]


# -- pictures --------------------------------------------------------------------------------------

LOOKS = {"partitioning": ("C3", "o"), "sgd": ("C0", "s"), "adam": ("C2", "^")}


def draw(kind, name, results, figure, title):
    """A panel for every data set: the one seed, or mean and range of several; training filled,
    validation hollow. The start, before any step, would hide what comes after, and is left out.
    """
    sets = list(dict.fromkeys(one["data"] for one in results.arguments(kind=kind)))
    seeds = {}  # set -> seeds
    panels = np.atleast_1d(figure.subplots(1, len(sets)))
    for axes, data in zip(panels, sets):
        rates = []
        for method, (colour, marker) in LOOKS.items():
            arguments = [one for one in results.arguments(kind=kind, data=data, method=method)
                         if one["seed"] not in TRIAL_SEEDS]
            if not arguments:
                continue
            one = max(arguments, key=lambda told: told["steps"])
            wanted = {key: one[key] for key in ("rate", "steps", "every")}
            runs = [run for run, told in zip(
                results.of(kind=kind, data=data, method=method, **wanted),
                results.arguments(kind=kind, data=data, method=method, **wanted))
                if told["seed"] not in TRIAL_SEEDS]
            seeds[data] = {told["seed"] for told in arguments if told["steps"] == one["steps"]}
            axes.plot([], [], color=colour, marker=marker, markersize=4, linewidth=1,
                      label=NAMES[method])
            rates.append(f"{one['rate']:g}" + ("" if finished(runs) else " (diverged)"))
            for part, fill in (("train", colour), ("validation", "white")):
                if name == "accuracy" and part == "train":
                    continue
                key = name if name == "accuracy" else part
                mean_and_range(axes, [run[key][1:] for run in finished(runs)], colour,
                               one["every"], one["every"], marker=marker, markerfacecolor=fill,
                               markersize=4, linewidth=1)
        axes.set(xlabel=f"step (batches of {BATCH})", yscale="linear" if name == "accuracy"
                 else "log", title=textwrap.fill(networks.pictures(data).name, 32)
                 + "\nrates " + ", ".join(rates))
        axes.title.set_fontsize(8)
        axes.locator_params(axis="x", nbins=3)
        axes.set_xlim(left=0)
    panels[0].set_ylabel("validation accuracy" if name == "accuracy" else
                         "loss without penalty; filled: training, hollow: validation")
    legend_below(figure, panels[0])
    most = max(seeds.values(), key=len)
    for axes, data in zip(panels, sets):
        if len(seeds[data]) < len(most):
            axes.set_title(f"{axes.get_title()}; {len(seeds[data])} seeds", fontsize=8)
    figure.suptitle(f"{title}; {over_seeds(most)}", fontsize=10)
