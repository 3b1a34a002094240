"""Claims on sigma, the weight of the cubic term: its order of magnitude suffices, and it bounds the
step where the objective is flat.
"""

import numpy as np

from secondorder.studies import counted, diverged, finished, marks, readings

from . import plateau

SIGMAS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
COMPARED = SIGMAS[1:-1]
SHORT = 300  # iterations with (39) as printed on the plateau: who leaves later leaves after 300


def deviation(result):
    """Standard deviation of the rate from iteration 100 on; NaN without."""
    rate = np.array(result["rate"][100:])
    return float("nan") if diverged(result) or not len(rate) else float(rate.std())


def mean(result):
    return plateau.later_rate(result, 100)


def variation(result):
    """The standard deviation over the mean."""
    return deviation(result) / mean(result)


def kept(result, arguments):
    """The losses and, where they are compared, three digits of the rates."""
    told = plateau.losses(result, arguments)
    if arguments["half_width"] == 0.2 and arguments["sigma"] in COMPARED and (
            arguments["seed"] in plateau.FULL["seeds"]):
        told["rate"] = [plateau.rounded(rate, 3) for rate in result["rate"]]
    return told


@plateau.on_plateau(
    "claim-sigma", ". (b) and (c) are read off without a plateau, on five seeds. So is what has "
    "(39) as printed; (a-plateau) then has 300 iterations, a bound from below", kept,
    shows="Gradient descent and Adagrad with cubic steps, sigma from 1 to 10,000",
    claims={"a-plateau": "the order of sigma suffices: from 10 to 1000 the iteration of "
                         "leaving the plateau varies less than 1.5 times",
            "a-usual": "the order of sigma suffices: from 10 to 1000 the final loss varies less "
                       "than 1.5 times (no plateau)",
            "b": "from sigma 10 to 1000 the rate's variability changes more than its mean",
            "c": "the rate of cubic steps on Adagrad varies more at sigma 100 than at 1000"},
    full=plateau.TEN, seconds=(1800, 10))
class Sigma:
    def runs(self, settings, results):
        few = settings | {"seeds": settings["seeds"][:5]}
        short = few | {"iterations": min(SHORT, few["iterations"])}
        sweep = [run for sigma in SIGMAS for half in (0.1, 0.2)
                 for run in plateau.compared(settings, "sgd", sigma, half, ("exact",))]
        return sweep + [run for sigma in COMPARED for asked, base, half, form in (
            (short, "sgd", 0.1, "printed"), (few, "sgd", 0.2, "printed"),
            (few, "adagrad", 0.2, "exact"), (few, "adagrad", 0.2, "printed"))
            if base == "sgd" or sigma > 10
            for run in plateau.compared(asked, base, sigma, half, (form,))]

    def judge(self, results, settings):
        few = settings["seeds"][:5]

        def over(half, number, form="exact", base="sgd", sigmas=COMPARED, seeds=few):
            """The number at each sigma, (seeds, sigmas)."""
            rows = [results.by_seed(base=base, sigma=sigma, half_width=half, curvature=form)
                    for sigma in sigmas]
            return np.array([[number(row[seed]) for row in rows] for seed in seeds])

        def spread(half, number, form, name="largest over smallest"):
            seeds = settings["seeds"] if form == "exact" else few
            values = over(half, number, form, seeds=seeds)
            return plateau.within(values.max(axis=1) / values.min(axis=1), name,
                                  high=1.5)

        def leaves(form):
            last = plateau.NEVER if form == "exact" else SHORT
            return lambda one: min(plateau.leave(one), last)

        def changes(number, form):
            logs = [np.abs(np.log(values[:, 2] / values[:, 0])) for values in (
                over(0.2, number, form), over(0.2, mean, form))]
            more = logs[0] - logs[1]
            return counted(more > 0, more, "the log by which variability changes minus the mean's")

        def adagrads(form):
            values = over(0.2, variation, form, base="adagrad", sigmas=COMPARED[1:])
            ratio = values[:, 0] / values[:, 1]
            return counted(ratio > 1, ratio, "variation at 100 over that at 1000")

        return {"a-plateau": plateau.both_forms(lambda form: spread(
                    0.1, leaves(form), form, "largest over smallest" + ", at least" * (
                        form == "printed"))),
                "a-usual": plateau.both_forms(lambda form: spread(0.2, plateau.end, form)),
                "b": readings({f"{name}, {reading}": changes(number, form)
                               for name, number in (("standard deviation over mean", variation),
                                                    ("standard deviation", deviation))
                               for reading, form in plateau.FORMS.items()},
                              because="it hangs on what variability means"),
                "c": plateau.both_forms(adagrads)}

    def draw(self, results, figure, settings):
        (leaves, ends), (rates, shares) = figure.subplots(2, 2)
        for panel, half, number in ((leaves, 0.1, plateau.leave), (ends, 0.2, plateau.end)):
            for k, (name, form) in enumerate(plateau.FORMS.items()):
                marks(panel, results.points("sigma", number, base="sgd", curvature=form,
                                            half_width=half, iterations=settings["iterations"]), k,
                      label=f"(39) {name}")
        for panel, k, label, number, base in (
                (rates, 0, "mean", mean, "sgd"), (rates, 1, "standard deviation", deviation, "sgd"),
                (shares, 0, "gradient descent", variation, "sgd"),
                (shares, 1, "Adagrad", variation, "adagrad")):
            marks(panel, [point for sigma in COMPARED for point in results.points(
                "sigma", lambda run: number(run) if "rate" in run else None, base=base,
                curvature="exact", half_width=0.2, sigma=sigma)], k, label=label)
        for panel, name, title in (
                (leaves, "iterations to leave", "weights within ±0.1"),
                (ends, "final loss", "weights within ±0.2"),
                (rates, "later rate", "weights within ±0.2, (39) corrected"),
                (shares, "deviation over mean", "weights within ±0.2, (39) corrected")):
            panel.set(xscale="log", yscale="log", xlabel="sigma", ylabel=name, title=title)
            panel.legend(fontsize=7)
        figure.suptitle(f"How much sigma matters: {plateau.title_of(settings)}; one mark per seed",
                        fontsize=10)


SIGMA = 100.0


def balance(result, sigma=SIGMA):
    """h^2 / (2 |a| c) at every iteration, c = sigma |g|^3: what (37) adds under its root. Far below
    1 the curvature h plays no part, far above 1 sigma plays none.
    """
    slope, h, norm = (np.array(result[name]) for name in ("slope", "curvature", "norm"))
    with np.errstate(divide="ignore", invalid="ignore"):
        return h**2 / (2 * np.abs(slope) * sigma * norm**3)


def flat_share(result, sigma=SIGMA):
    """Share of the iterations 0 to 99 in which the balance is below 0.01 and the rate within 2 % of
    the one without curvature, sqrt(2 |a| / (sigma |g|^3)); 0 where a run did not come so far.
    """
    slope, norm, rate = (np.array(result[name])[:100] for name in ("slope", "norm", "rate"))
    if len(rate) < 100:
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.sqrt(2 * np.abs(slope) / (sigma * norm**3))
        near = np.abs(rate / bound - 1) < 0.02
    return float(np.mean((balance(result, sigma)[:100] < 0.01) & near))


def curved_share(result, sigma=SIGMA, most=1.0):
    """Share of the iterations from 100 after leaving on in which the balance is above 1; 0 for a
    run that never left. Of these the share `most` with the largest curvature h / |g|^2 counts.
    """
    since = plateau.leave(result) + 100
    later = balance(result, sigma)[since:]
    if not len(later):
        return 0.0
    curvature = (np.array(result["curvature"]) / np.array(result["norm"])**2)[since:]
    counting = np.argsort(curvature)[len(later) - max(1, round(most * len(later))):]
    return float(np.mean(later[counting] > 1))


@plateau.on_plateau(
    "claim-sigma-mechanism", ". It was run corrected. (flat) and (curved) are judged by 95 % of "
    "the iterations", None,
    shows="The balance of curvature and sigma along the runs of Figure 2",
    claims={"flat": "on the plateau (iterations 0 to 99) sigma alone sets the step, to 2 %",
            "curved": "where the objective is curved, the curvature has a larger part in the step "
                      "than sigma"},
    seconds=(70, 1))
class SigmaMechanism:
    def runs(self, settings, results):
        return plateau.compared(settings, "sgd", SIGMA, 0.1, ("exact",))

    def judge(self, results, settings):
        def nearly_always(share, **part):
            return plateau.within([share(one, **part) for one in results.of(curvature="exact")],
                                  "share of the iterations", 0.95)

        return {"flat": nearly_always(flat_share),
                "curved": readings({
                    "everywhere behind the plateau": nearly_always(curved_share),
                    "in the most curved quarter": nearly_always(curved_share, most=0.25)},
                    because="it hangs on what counts as curved")}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        for k, one in enumerate(finished(results.of(curvature="exact"))):
            axes.semilogy(balance(one), ".", color=f"C{k}", markersize=2, alpha=0.5)
            axes.axvline(plateau.leave(one), color=f"C{k}", linestyle=":", linewidth=1)
        axes.axhline(1, color="0.3", linewidth=0.8)
        axes.axhline(0.01, color="0.3", linewidth=0.8, linestyle="--")
        axes.set(xlabel="iteration (dotted: the plateau is left; one colour per seed)",
                 ylabel="h² / (2 |a| c), with (39) corrected",
                 title="below 0.01 sigma decides, above 1 the curvature")
        figure.suptitle(f"What sets the step: {plateau.title_of(settings)}, weights within ±0.1",
                        fontsize=10)
