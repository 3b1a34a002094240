"""The paper's network on and off its plateau: one training run, and what is read off it.

Twelve hidden ReLU layers of 128 units, no biases, cross-entropy, batches of 32 drawn anew at every
iteration. Weights within +-0.1 give an objective that is nearly flat; within +-0.2 they do not.
Settings that the paper leaves open: pixels in [0, 1]; the rate decays smoothly by 0.95 per 100
iterations; float32. TensorFlow's defaults, which the paper used: Adagrad starts its accumulator at
0.1, Adadelta has rho 0.95 and epsilon 1e-8.
"""

import numpy as np

import secondorder as so
from secondorder.optimizers import ExponentialDecay
from secondorder.studies import (Run, counted, diverged, finished, images, legend_below,
                                 mean_and_range, over_seeds, readings, smoothed, study)

from secondorder.studies.numbers import number

from .. import PAPER

BATCH, EVERY = 32, 10  # samples an iteration; iterations between two looks at the watched samples
LEAVE, EXIT = 2.25, 2.0  # losses below which the plateau is left, and behind; log 10 = 2.303
BASES = {"sgd": (so.SGD, {}),
         "adagrad": (so.Adagrad, {"initial_accumulator": 0.1}),
         "adadelta": (so.Adadelta, {"rho": 0.95, "epsilon": 1e-8}),
         "adam": (so.Adam, {"epsilon": 1e-8})}
RATES = {"sgd": 0.02, "adagrad": 0.1, "adadelta": 1.0, "adam": 0.001}  # of the figures' captions

FULL = {"data": "mnist", "layers": 12, "width": 128, "iterations": 2000, "watched": 2000,
        "seeds": (2, 3, 4, 5, 6)}
FIRST = 20  # iterations whose rates are those of the start
MEAN = 100  # rates that a trailing mean takes
TEN = FULL | {"seeds": tuple(range(2, 12))}  # where five decide nothing
QUICK = {"data": "digits", "layers": 6, "width": 64, "iterations": 300, "watched": 100,
         "seeds": (2,)}
SMALLER = "8000 images of MNIST, 2000 iterations"
DEVIATION = ("8000 images of the MNIST test set instead of the training set, 2000 iterations. "
             "Iterations, seeds and the scale of the inputs are not in print. The curvature along "
             "the step, (39), lacks a part in print; *corrected* has it")
#: A reading of (39) -> what records of runs call it. The print lacks a part of the curvature.
FORMS = {"corrected": "exact", "as printed": "printed"}
OPEN = "the two forms of the misprinted (39) differ; which one the authors ran is not known"


def train(seed, data, base, rate, curvature, sigma, half_width, layers, width, iterations, watched,
          decay=0.95):
    """Train once and return what was recorded.

    The base's own rate decays by `decay` per 100 iterations. With the curvature ``"none"`` it is
    alone, else cubic regularisation stands around it, with (39) corrected or as printed. Weights
    are uniform within `half_width`; the loss is looked at on `watched` samples.

    Returns ``loss`` every `EVERY` iterations from 0; ``batch_loss``, ``rate``, ``slope``,
    ``curvature`` and ``norm`` (of the direction) at every iteration; ``ascents``. Of a run that
    ended with numbers that are not finite what came before, and ``diverged``.
    """
    return recorded(seed, data, half_width, layers, width, iterations, watched,
                    lambda network: optimizer_of(network, base, rate, curvature, sigma, decay))


def train_with(seed, data, base, rate, sigma, options, half_width, layers, width, iterations,
               watched):
    """Train with cubic regularisation with other options than the figures', by `train`'s record.

    `options` name one of `CHOICES`.
    """
    rates = next(name for given, name in CHOICES if given == options)
    return recorded(seed, data, half_width, layers, width, iterations, watched,
                    lambda network: so.CubicRegularization(
                        optimizer_of(network, base, rate, "none", sigma), sigma, rates))


#: The options that records of runs hold, and the `rates` of
#: :class:`~secondorder.CubicRegularization` that they stand for.
CHOICES = [({"averaging": "step"}, "option 1"), ({"averaging": "rate"}, "option 2"),
           ({"rates": "layer", "coupled": True}, "layer"),
           ({"rates": "layer printed", "coupled": True}, "layer printed"),
           ({"rates": "layer", "coupled": False}, "separate"), ({"rates": "variable"}, "variable")]


def start_of(seed, data, half_width, layers, width, dtype="float32"):
    """Network, images and labels of a run, and what draws its batches."""
    pictures = images(data)
    inputs, labels = pictures.inputs.astype(dtype), pictures.labels
    network = so.mlp([inputs.shape[1], *[width] * layers, 10], activation="relu", bias=False,
                     init=half_width, rng=seed, dtype=dtype)
    return network, inputs, labels, np.random.default_rng([seed, 1])


def recorded(seed, data, half_width, layers, width, iterations, watched, make):
    """Train with the optimizer that `make` builds for a network; what `train` returns."""
    network, inputs, labels, rng = start_of(seed, data, half_width, layers, width)
    optimizer = make(network)
    order = rng.permutation(len(inputs))[:watched]  # some files stand in the order of their labels
    x, y = inputs[order], labels[order]
    record = {name: [] for name in ("loss", "batch_loss", "rate", "slope", "curvature", "norm")}
    record["ascents"] = 0
    for iteration in range(iterations + 1):
        try:
            if iteration % EVERY == 0:
                record["loss"].append(rounded(network.evaluate(optimizer.loss, x, y).loss))
            if iteration == iterations:
                break
            batch = rng.choice(len(inputs), BATCH, replace=False)
            info = optimizer.step(inputs[batch], labels[batch])
        except FloatingPointError as error:
            return record | {"diverged": f"iteration {iteration}: {error}"}
        record["batch_loss"].append(rounded(info["loss"]))
        record["rate"].append(rounded(info.get("rate", info["learning_rate"])))
        if "slope" in info:
            record["slope"].append(rounded(info["slope"]))
            record["curvature"].append(rounded(info["curvature"]))
            record["norm"].append(rounded(info["direction_norm"]))
            record["ascents"] += not info["descent"]
    return record


def optimizer_of(network, base, rate, curvature, sigma, decay=0.95):
    """The base at its own decaying rate, or cubic regularisation around it."""
    method, options = BASES[base]
    alone = method(network, so.SoftmaxCrossEntropy(),
                   learning_rate=ExponentialDecay(rate, decay, 100), **options)
    if curvature == "none":
        return alone
    return so.CubicRegularization(alone, sigma, "single" if curvature == "exact" else curvature)


def rounded(value, digits=5):
    """So many digits: files stay small, and no claim hangs on more."""
    return float(f"{value:.{digits}g}")


def run(settings, seed, function=train, **arguments):
    """A :class:`Run` of `train`, or of another function, with the sizes of the settings."""
    sizes = {name: settings[name] for name in ("data", "layers", "width", "iterations", "watched")}
    return Run(function, {"seed": seed, **sizes, **arguments})


def compared(settings, base, sigma, half_width, curvatures=("none", "exact", "printed"),
             rate=None):
    """The base alone, and with cubic step lengths by both forms of (39), for every seed."""
    rate = RATES[base] if rate is None else rate
    return [run(settings, seed, base=base, rate=rate, curvature=curvature,
                sigma=0.0 if curvature == "none" else float(sigma), half_width=half_width)
            for seed in settings["seeds"] for curvature in curvatures]


# -- verdicts --------------------------------------------------------------------------------------


def both_forms(judge):
    """One claim by both forms of (39): `judge` takes a form's name in the records."""
    return readings({reading: judge(form) for reading, form in FORMS.items()}, because=OPEN)


def ratios(ours, theirs, number):
    """A number of each of our runs over that of theirs with the same seed."""
    return [number(one) / number(theirs[seed]) for seed, one in ours.items()]


def within(values, measure, low=-np.inf, high=np.inf):
    """Whether a number lies between two limits, in nearly every seed."""
    return counted([low <= value <= high for value in values], values, measure)


def cubic_within(results, number, measure, low=-np.inf, high=np.inf, alone=None, **wanted):
    """The same of a number of the cubic runs, by both forms; where `alone` has the runs of another
    method by seed, of its ratio to theirs.
    """
    def judge(form):
        runs = results.by_seed(curvature=form, **wanted)
        values = ratios(runs, alone, number) if alone else list(map(number, runs.values()))
        return within(values, measure, low, high)

    return both_forms(judge)


def leaves_first(results, thresholds=(LEAVE,), **base):
    """Whether cubic steps come below all thresholds before the base alone does, by both forms."""
    alone = results.by_seed(curvature="none", **base)

    def judge(form):
        cubic = results.by_seed(curvature=form, **base)
        met = [all(first_below(one, loss) < first_below(alone[seed], loss) for loss in thresholds)
               for seed, one in cubic.items()]
        return counted(met, [leave(one) for one in cubic.values()], "iterations to leave")

    return both_forms(judge).with_note(f"the base alone: {middle(map(leave, alone.values()))}")


# -- what is read off a run ------------------------------------------------------------------------


NEVER = 2001  # where a run does not come so far: one more than all iterations


def first_below(result, threshold, never=NEVER):
    """First iteration at which the loss on the watched samples was below a threshold."""
    below = np.flatnonzero(np.array(result["loss"]) < threshold)
    return int(below[0]) * EVERY if below.size else never


def leave(result):
    return first_below(result, LEAVE)


def middle(iterations):
    """The median of some iterations of leaving, in words."""
    value = float(np.median(list(iterations)))
    return "never" if value > NEVER - 1 else number(value)


def end(result):
    """Mean of the last eleven looks at the loss; infinite where the run diverged."""
    return float("inf") if diverged(result) else float(np.mean(result["loss"][-11:]))


def start_rate(result):
    """Median rate of iterations 0 to 19; NaN where the run diverged within them."""
    first = result["rate"][:FIRST]
    return float(np.median(first)) if len(first) == FIRST else float("nan")


def later_rate(result, since=None):
    """Mean rate from 100 iterations after the plateau was left (or from `since`); NaN without."""
    since = leave(result) + 100 if since is None else since
    later = result["rate"][since:]
    return float(np.mean(later)) if later else float("nan")


def jump(result):
    """How many times the rate on the plateau is that behind it."""
    return start_rate(result) / later_rate(result)


def fall(result):
    """How many times the median of 20 rates falls from 100 before leaving to 100 after."""
    left, rate = leave(result), result["rate"]
    if left + 90 >= len(rate):
        return float("nan")
    before = np.median(rate[max(0, left - 110):max(20, left - 90)])
    return float(before / np.median(rate[left + 90:left + 110]))


def packed(result, arguments):
    """A record without what figures and verdicts of losses and rates do not need: the model's
    numbers, and the batches of all seeds but the first that judges.
    """
    first = arguments["seed"] == FULL["seeds"][0]
    return {name: values for name, values in result.items()
            if name not in ("slope", "curvature", "norm") and (first or name != "batch_loss")}


def losses(result, arguments):
    """A record for figures and verdicts that look at losses alone."""
    return {name: result[name] for name in ("loss", "diverged") if name in result}


# -- a study of this network -----------------------------------------------------------------------


def on_plateau(key, beyond="", keep=packed, **about):
    """:func:`secondorder.studies.study` with what the studies of this network share; `beyond` is
    added to `DEVIATION`, and `keep` is what is kept of a run (None: all).
    """
    shared = {"full": FULL, "quick": QUICK, "needs": ("mnist",), "smaller": SMALLER,
              "deviation": DEVIATION + beyond}

    def register(implementation):
        if keep is not None:
            implementation.packed = staticmethod(keep)
        return study(PAPER, key, **shared | about)(implementation)

    return register


# -- pictures --------------------------------------------------------------------------------------

LOSS = "cross-entropy, mean of the watched samples"
#: Of a figure: label, arguments of the runs, colour, style.
LINES = [("base alone", {"curvature": "none"}, "C0", "-."),
         ("cubic, (39) corrected", {"curvature": "exact"}, "C3", "-"),
         ("cubic, (39) as printed", {"curvature": "printed"}, "C1", "--")]
#: Panels by the half-width of the initial weights: title -> arguments of the runs.
HALVES = {f"weights within ±{half:g}": {"half_width": half} for half in (0.1, 0.2)}


def draw_errors_and_rates(results, figure, title, lines=LINES, **wanted):
    """Loss on the watched samples and rates (trailing mean of 100): the one seed, or mean and range
    of several. Pale behind them: the first seed's, raw as the paper draws them. `wanted` are
    arguments of all runs.
    """
    left, right = figure.subplots(1, 2)
    seeds = set()
    for label, own, colour, style in lines:
        runs = finished(results.of(**own, **wanted))
        if not runs:
            continue
        seeds |= {one["seed"] for one in results.arguments(**own, **wanted)}
        for panel, raw in ((left, runs[0].get("batch_loss", ())), (right, runs[0]["rate"])):
            panel.plot(raw, color=colour, linewidth=0.4, alpha=0.25)
        mean_and_range(right, [smoothed(run["rate"], MEAN) for run in runs], colour,
                       linestyle=style)
    draw_losses(figure, [left], results, lines, {"training error (grey line: log 10)": wanted})
    left.axhline(np.log(10), color="0.7", linewidth=0.8)
    right.set(xlabel="iteration", ylabel="rate, mean of the last 100", yscale="log", title="rate")
    figure.suptitle(f"{title}\n{over_seeds(seeds)}; pale: one seed, batch by batch", fontsize=10)


def draw_losses(figure, panels, results, lines, parts):
    """Losses on the watched samples, mean and range of the runs that are finite: a panel for each
    of `parts`, title -> arguments of its runs, and a line for each of `lines`, as in `LINES`.
    """
    for panel, (title, wanted) in zip(panels, parts.items()):
        for label, own, colour, style in lines:
            runs = finished(results.of(**own, **wanted))
            mean_and_range(panel, [run["loss"] for run in runs], colour, step=EVERY,
                           linestyle=style, label=label)
        panel.set(xlabel="iteration", title=title)
    panels[0].set_ylabel(LOSS)
    legend_below(figure, panels[0])


def title_of(settings):
    """Data and network, as a title says them."""
    return (f"{images(settings['data']).name}; {settings['layers']} hidden layers of "
            f"{settings['width']}")
