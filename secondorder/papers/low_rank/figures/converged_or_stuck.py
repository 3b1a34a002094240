"""Claim: the rate of cubic steps tells convergence from a flat region."""

import numpy as np

from secondorder.studies import diverged, exactly, finished, legend_below, smoothed, undecided

from . import plateau

FLAT, LOW = 2.29, 0.2  # losses: above the first a point is stuck, a run that ends below the second
MIDDLE = (1.7, 2.1)    # converged; between: where many runs rest for a while, reported beside


def rates_by_group(result):
    """Group -> trailing means of the rate where the run is stuck, converged, or near loss 1.9."""
    mean, loss = smoothed(result["rate"], plateau.MEAN), np.array(result["loss"])
    looks = np.arange(len(loss)) * plateau.EVERY
    loss, looks = loss[looks < len(mean)], looks[looks < len(mean)]
    groups = {"stuck": mean[looks[loss > FLAT]], "converged": mean[:0],
              "middle": mean[looks[(loss > MIDDLE[0]) & (loss < MIDDLE[1])]]}
    if plateau.end(result) < LOW:
        groups["converged"] = mean[-200:]
    return groups


@plateau.on_plateau(
    "claim-converged-or-stuck", ". The rate is the mean of 100 iterations. Stuck: the loss is "
    "above 2.29. Converged: last 200 iterations of runs that end below 0.2 (Figures 1 and 2)",
    shows="Rates of cubic steps where a run is stuck and where it has converged",
    claims={"a": "the rate tells convergence from a flat region: one threshold separates them "
                 "without error"},
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
            for (name, values), hatch, label in zip(groups.items(), ("", "//", ".."), (
                    f"stuck: loss above {FLAT}",
                    f"converged: last 200 of runs that end below {LOW}", "loss near 1.9")):
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
            for name in ("stuck", "converged", "middle")}


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
