"""Claims on the objective's shape: flat near the origin, huge far from it; and the rate tells a
flat region from convergence.
"""

import numpy as np

from secondorder.studies import (Run, both, counted, diverged, exactly, finished, legend_below,
                                 legend_under, marks, smoothed, undecided)

from ..eq_37_43_step_length import eq_38_39
from . import plateau

HALVES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 1.0)
NUMBERS = {"loss": "loss", "norm": "|g|", "bend": "|g^T H g| / |g|^2"}


def start(seed, data, half_width, curvature, layers, width, iterations, watched):
    """Loss, |g| and |g^T H g| / |g|^2 at the start in float64, and the loss after some iterations
    of gradient descent at 0.02 or cubic steps with sigma 100 (None: not finite any more).
    """
    network, inputs, labels, rng = plateau.start_of(seed, data, half_width, layers, width,
                                                    "float64")
    optimizer = plateau.optimizer_of(network, "sgd", 0.02, curvature, 100.0)
    order = rng.permutation(len(inputs))[:watched]
    x, y = inputs[order], labels[order]
    at = network.evaluate(optimizer.loss, x, y)
    square = float(at.gradient @ at.gradient)
    record = {"loss": float(at.loss), "norm": square**0.5,
              "bend": abs(eq_38_39(at, at.gradient)[1]) / square if square else 0.0}
    try:
        for _ in range(iterations):
            batch = rng.choice(len(inputs), plateau.BATCH, replace=False)
            optimizer.step(inputs[batch], labels[batch])
        record["after"] = float(network.evaluate(optimizer.loss, x, y).loss)
    except FloatingPointError:
        record["after"] = None
    return record


@plateau.on_plateau(
    "claim-start-scale", "; float64, (39) corrected", None,
    shows="Loss, gradient and curvature at the start, and the loss after 500 iterations, over the "
          "half-width of the initial weights",
    claims={"flat": "near the origin the objective is flat: with weights within 0.1 the gradient "
                    "is below 0.01, and gradient descent stuck for 1000 iterations",
            "far": "far from the origin loss and derivatives are huge (a thousandfold from weights "
                   "within 0.2 to 0.6) and cubic steps fail from weights within 1"},
    full=plateau.FULL | {"steps": 500}, quick=plateau.QUICK | {"steps": 20}, seconds=(800, 4))
class StartScale:
    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("data", "layers", "width", "watched")}
        starts = [Run(start, {"seed": seed, "half_width": half, "curvature": curvature,
                              "iterations": settings["steps"], **sizes})
                  for seed in settings["seeds"] for half in HALVES
                  for curvature in ("none", "exact")]
        return starts + plateau.compared(settings, "sgd", 0, 0.1, ("none",))

    def judge(self, results, settings):
        def at(half, curvature="none"):
            return results.by_seed(half_width=half, curvature=curvature, base=None)

        late = results.by_seed(base="sgd", half_width=0.1)
        looked = min(1000, settings["iterations"]) // plateau.EVERY
        near = at(0.1)
        flat = [one["norm"] < 1e-2 and len(late[seed]["loss"]) > looked
                and late[seed]["loss"][looked] > 2.29 for seed, one in near.items()]
        usual, far, lost = at(0.2), at(0.6), at(1.0, "exact")
        rises = [min((risen(far[seed], usual[seed], name)) for name in NUMBERS) for seed in usual]
        missed = [diverged(one) or one["after"] is None or one["after"] >= np.log(10)
                  for one in lost.values()]
        return {"flat": counted(flat, [one["norm"] for one in near.values()],
                                "|g| with weights within ±0.1"),
                "far": both(counted([rise > 1e3 for rise in rises], rises,
                                    "least rise of loss, gradient and curvature"),
                            counted(missed, [one.get("after") for one in lost.values()],
                                    "loss after 500 cubic steps with weights within ±1"))}

    def draw(self, results, figure, settings):
        left, right = figure.subplots(1, 2, sharex=True)
        for k, (name, label) in enumerate(NUMBERS.items()):
            marks(left, results.points("half_width", lambda run: run.get(name) or None,
                                       curvature="none", base=None), k, label=f"{label}, start")
        for k, (curvature, label) in enumerate((("none", "gradient descent at 0.02"),
                                                ("exact", "cubic steps, sigma 100"))):
            marks(right, results.points("half_width", lambda run: run.get("after"),
                                        curvature=curvature, base=None), k, label=label)
        right.axhline(np.log(10), color="0.5", linewidth=0.8)
        for panel, name in ((left, "on the watched samples, float64"),
                            (right, f"loss after {settings['steps']} iterations (no mark: not "
                             "finite)")):
            panel.set(xlabel="half-width of the weights", ylabel=name, xscale="log", yscale="log")
            legend_under(panel)
        figure.suptitle(f"Where a run starts: {plateau.title_of(settings)}; one mark per seed",
                        fontsize=10)


def risen(far, near, name):
    """How many times a number of the start rises; 0 where there is none."""
    return far[name] / near[name] if name in far and near.get(name) else 0.0


FLAT, LOW = 2.29, 0.2  # losses: above, a point is stuck; a run that ends below has converged


def rates_by_group(result):
    """Group -> trailing means of the rate where the run is stuck, or has converged."""
    mean, loss = smoothed(result["rate"], plateau.MEAN), np.array(result["loss"])
    looks = np.flatnonzero(loss > FLAT) * plateau.EVERY
    return {"stuck": mean[looks[looks < len(mean)]],
            "converged": mean[-200:] if plateau.end(result) < LOW else mean[:0]}


@plateau.on_plateau(
    "claim-converged-or-stuck", ". The rate is the mean of 100 iterations. Stuck: the loss is "
    "above 2.29. Converged: last 200 iterations of runs that end below 0.2, which are runs of "
    "Figure 1 alone. Points between the two are not judged",
    shows="Rates of cubic steps where a run is stuck and where it has converged",
    claims={"a": "the rate of cubic steps tells convergence from a flat region: one threshold "
                 "separates them without error"},
    seconds=(140, 2))
class ConvergedOrStuck:
    def runs(self, settings, results):
        return [run for half in (0.1, 0.2)
                for run in plateau.compared(settings, "sgd", 100, half, ("exact", "printed"))]

    def judge(self, results, settings):
        return {"a": plateau.both_forms(lambda form: separated(
            results.of(curvature=form), len(settings["seeds"])))}

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, 2, sharex=True, sharey=True)
        for panel, (reading, form) in zip(panels, plateau.FORMS.items()):
            groups = gathered(finished(results.of(curvature=form)))
            for values, hatch, label in zip(groups.values(), ("", "//"), (
                    f"stuck: loss above {FLAT}",
                    f"converged: last 200 of runs that end below {LOW}")):
                panel.hist(values, np.geomspace(1e-3, 20, 60), hatch=hatch, alpha=0.5, label=label,
                           weights=np.full(len(values), 1 / max(1, len(values))))
            panel.set(xscale="log", xlabel="rate, mean of the last 100", title=f"(39) {reading}")
        panels[0].set_ylabel("share of the group")
        legend_below(figure, panels[0])
        figure.suptitle(f"Stuck or converged? {plateau.title_of(settings)}, sigma 100", fontsize=10)


def gathered(runs):
    """The groups of all runs together."""
    groups = [rates_by_group(one) for one in runs]
    return {name: np.concatenate([np.zeros(0)] + [one[name] for one in groups])
            for name in ("stuck", "converged")}


def separated(runs, seeds):
    """Whether one threshold separates the stuck from the converged."""
    groups = gathered(finished(runs))
    empty = [name for name in ("stuck", "converged") if not len(groups[name])]
    if empty:
        return undecided(f"no run has points that are {' or '.join(empty)}", seeds)
    gap = groups["stuck"].min() / groups["converged"].max()
    lost = sum(map(diverged, runs))
    return exactly(gap > 1, gap, "least rate where stuck over largest where converged",
                   f"{lost} of {len(runs)} runs diverged and are left out" if lost else "", seeds,
                   least=3)
