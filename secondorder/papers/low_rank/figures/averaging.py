"""Claim: of three ways from samples to a batch, the mean model with one rate is the best."""

import numpy as np

from secondorder import exact
from secondorder.studies import Run, finished, headline, legend_under, marks, readings

from ..eq_37_43_step_length import eq_38_39, step_length
from ..eq_43_table_2_rates import eq_38_39_of_samples
from ..layers import fcnn
from . import plateau

SIGMA = 100.0
OTHERS = {"step": "E[α g]", "rate": "E[α] E[g]"}
END = -1
#: Name -> half-width, and how many iterations after the plateau was left; `END`: of training.
POINTS = {"plateau": (0.1, 0), "left": (0.1, 100), "start": (0.2, 0), "trained": (0.2, END)}


def noise(seed, data, half_width, after, layers, width, iterations, batches):
    """How much rates and steps of the three options vary over batches at one point.

    The point: the start (`after` 0), so many iterations after the plateau was left, or the end of
    training (`END`), always with the third option. By option: the mean ``rate``, its ``variation``,
    and that of the step, ``projected`` on the mean step of the option.
    """
    network, inputs, labels, rng = plateau.start_of(seed, data, half_width, layers, width)
    optimizer = plateau.optimizer_of(network, "sgd", 0.02, "exact", SIGMA)
    look = rng.permutation(len(inputs))[:500]
    left = None
    for iteration in range(iterations if after else 0):
        if after > 0 and left is None and iteration % plateau.EVERY == 0 and network.evaluate(
                optimizer.loss, inputs[look], labels[look]).loss < plateau.LEAVE:
            left = iteration
        if left is not None and iteration >= left + after:
            break
        batch = rng.choice(len(inputs), plateau.BATCH, replace=False)
        optimizer.step(inputs[batch], labels[batch])
    rates, steps = {name: [] for name in (*OTHERS, "direction")}, {}
    for _ in range(batches):
        batch = rng.choice(len(inputs), plateau.BATCH, replace=False)
        for name, (rate, step) in options_at(network, optimizer.loss, inputs[batch],
                                             labels[batch]).items():
            rates[name].append(rate)
            steps.setdefault(name, []).append(step)
    return {name: {"rate": float(np.mean(rates[name])), "variation": variation(rates[name]),
                   "projected": variation(projected(steps[name]))} for name in rates}


def options_at(network, loss, x, y):
    """Rate and step by the three options: E[α g], E[α] E[g], and α(E[a], E[h]) E[g]."""
    evaluation = network.evaluate(loss, x, y)
    gradient = np.asarray(evaluation.gradient, dtype=np.float64)
    a, h, lengths = eq_38_39_of_samples(*fcnn(evaluation))
    s = step_length(a, h, lengths, SIGMA)
    each = exact.sample_gradients(network, loss, x, y)
    slope, curvature = eq_38_39(evaluation, -evaluation.gradient)
    one = step_length(slope, curvature, float(np.linalg.norm(gradient)), SIGMA)
    return {"step": (s.mean(), -(s @ each) / len(x)), "rate": (s.mean(), -s.mean() * gradient),
            "direction": (one, -one * gradient)}


def projected(steps):
    """Lengths of vectors along their mean."""
    mean = np.mean(steps, axis=0)
    return np.array(steps) @ (mean / np.linalg.norm(mean))


def variation(values):
    """Standard deviation over the mean's size."""
    return float(np.std(values) / np.abs(np.mean(values)))


@plateau.on_plateau(
    "claim-averaging", ". It was run corrected. Noise is the variation over 60 batches, as a "
    "geometric mean over four points of training; of a step it is taken along the mean step",
    shows="Three ways to a rate for a batch: how noisy they are, and how training goes by them",
    claims={"a-step": "the mean of the samples' own steps, E[α g], is noisier than the step of the "
                      "batch-mean model",
            "a-rate": "the samples' mean rate, E[α] E[g], is noisier than the batch-mean model",
            "b-leave": "with the rate of the batch-mean model the plateau is left first of the "
                       "three",
            "b-end": "without a plateau the batch-mean model ends with the lowest loss of the "
                     "three"},
    full=plateau.FULL | {"batches": 60}, quick=plateau.QUICK | {"batches": 5}, seconds=(600, 6))
class Averaging:
    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("data", "layers", "width", "iterations",
                                                   "batches")}
        points = [Run(noise, {"seed": seed, "half_width": half, "after": after, **sizes})
                  for seed in settings["seeds"] for half, after in POINTS.values()]
        trained = [plateau.run(settings, seed, plateau.train_with, base="sgd", rate=0.02,
                               sigma=SIGMA, options={"averaging": name}, half_width=half)
                   for seed in settings["seeds"] for name in OTHERS for half in (0.1, 0.2)]
        return points + trained + [run for half in (0.1, 0.2) for run in plateau.compared(
            settings, "sgd", SIGMA, half, ("exact",))]

    def judge(self, results, settings):
        def noisier(name, number):
            return plateau.within([over_points(results, seed, name, number)
                                   for seed in settings["seeds"]],
                                  "noise over the batch-mean model's", 1)

        def better(half, number, measure):
            third = results.by_seed(curvature="exact", half_width=half)
            others = [results.by_seed(options={"averaging": name}, half_width=half)
                      for name in OTHERS]
            return plateau.within([number(one) / min(number(other[seed]) for other in others)
                                   for seed, one in third.items()],
                                  measure, high=1)

        return {"a-step": noisier("step", "projected"),
                "a-rate": readings({"noise of the rate": noisier("rate", "variation"),
                                    "noise of the step": noisier("rate", "projected")},
                                   because="it hangs on what is called noisy"),
                "b-leave": better(0.1, plateau.leave,
                                  "iterations to leave over the better of the two others'"),
                "b-end": better(0.2, plateau.end, "final loss over the better of the two others'")}

    def draw(self, results, figure, settings):
        left, *right = figure.subplots(1, 3)
        for k, (name, label) in enumerate((OTHERS | {"direction": "batch mean"}).items()):
            marks(left, [(place + 0.2 * k, one[name]["projected"])
                         for place, (half, after) in enumerate(POINTS.values())
                         for one in finished(results.of(half_width=half, after=after))], k,
                  label=label)
        legend_under(left)
        left.set_xticks(range(len(POINTS)), POINTS)
        left.set(yscale="log", xlabel="point of the training",
                 ylabel="variation of the step along its mean, over batches")
        lines = [(label, {"options": {"averaging": name}}, f"C{k}", ("-", "--")[k])
                 for k, (name, label) in enumerate(OTHERS.items())]
        plateau.draw_losses(figure, right, results,
                            [*lines, ("batch mean", {"curvature": "exact"}, "C2", "-.")],
                            plateau.HALVES)
        headline(figure, f"Three ways to a batch: {plateau.title_of(settings)}, sigma 100",
                 settings)


def over_points(results, seed, name, number):
    """Geometric mean over the points of an option's variation over the third option's; NaN where
    a run diverged.
    """
    ratios = []
    for half, after in POINTS.values():
        one = results.by_seed(half_width=half, after=after)[seed]
        ratios.append(one[name][number] / one["direction"][number] if name in one else np.nan)
    return float(np.exp(np.mean(np.log(ratios))))
