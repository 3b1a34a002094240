"""Claim: the weight of the cubic term needs to be right in its order of magnitude only."""

import numpy as np

from secondorder.studies import counted, diverged, marks, readings

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
        told["rate"] = plateau.three_digits(result["rate"])
    return told


@plateau.on_plateau(
    "claim-sigma", ". (b) and (c) are read off without a plateau, on five seeds. So is what has "
    "(39) as printed; (a-plateau) then has 300 iterations, a bound from below", kept,
    shows="Gradient descent and Adagrad with cubic steps, sigma from 1 to 10,000",
    claims={"a-plateau": "the order of sigma suffices: from 10 to 1000 the iteration of leaving "
                         "varies less than 1.5 times",
            "a-usual": "the order of sigma suffices: from 10 to 1000 the final loss varies less "
                       "than 1.5 times (no plateau)",
            "b": "from sigma 10 to 1000 the rate's variability changes more than its mean",
            "c": "Adagrad's rate varies more at sigma 100 than at 1000"},
    full=plateau.TEN, seconds=(1800, 10))
class Sigma:
    def runs(self, settings, results):
        few = settings | {"seeds": settings["seeds"][:5]}
        short = few | {"iterations": min(SHORT, few["iterations"])}
        sweep = [run for sigma in SIGMAS for half in (0.1, 0.2)
                 for run in plateau.compared(settings, "sgd", sigma, half, ("exact",))]
        return sweep + [run for sigma in COMPARED for asked, base, half, form in (
            (short, "sgd", 0.1, "printed"), (few, "sgd", 0.2, "printed"),
            (few, "adagrad", 0.2, "exact")) if base == "sgd" or sigma > 10
            for run in plateau.compared(asked, base, sigma, half, (form,))]

    def judge(self, results, settings):
        few = settings["seeds"][:5]

        def over(half, number, form="exact", base="sgd", sigmas=COMPARED, seeds=few):
            """The number at each sigma, (seeds, sigmas)."""
            rows = [results.by_seed(base=base, sigma=sigma, half_width=half, curvature=form)
                    for sigma in sigmas]
            return np.array([[number(row[seed]) for row in rows] for seed in seeds])

        def spread(half, number, form):
            seeds = settings["seeds"] if form == "exact" else few
            values = over(half, number, form, seeds=seeds)
            return plateau.within(values.max(axis=1) / values.min(axis=1), "largest over smallest",
                                  high=1.5)

        def leaves(form):
            last = 2001 if form == "exact" else SHORT
            return lambda one: min(plateau.leave(one), last)

        def changes(number, form):
            logs = [np.abs(np.log(values[:, 2] / values[:, 0])) for values in (
                over(0.2, number, form), over(0.2, mean, form))]
            more = logs[0] - logs[1]
            return counted(more > 0, more, "log change of the variability less the mean's")

        adagrad = over(0.2, variation, base="adagrad", sigmas=COMPARED[1:])
        ratio = adagrad[:, 0] / adagrad[:, 1]
        return {"a-plateau": plateau.both_forms(lambda form: spread(0.1, leaves(form), form)),
                "a-usual": plateau.both_forms(lambda form: spread(0.2, plateau.end, form)),
                "b": readings({f"{name}, {reading}": changes(number, form)
                               for name, number in (("standard deviation over mean", variation),
                                                    ("standard deviation", deviation))
                               for reading, form in plateau.FORMS.items()},
                              because="it hangs on what variability means"),
                "c": plateau.corrected_only(counted(ratio > 1, ratio,
                                                    "variation at 100 over that at 1000"))}

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
        for panel, name, half in ((leaves, "iterations to leave", 0.1), (ends, "final loss", 0.2),
                                  (rates, "later rate", 0.2),
                                  (shares, "deviation over mean", 0.2)):
            panel.set(xscale="log", yscale="log", xlabel="sigma", ylabel=name,
                      title=f"weights within ±{half:g}")
            panel.legend(fontsize=7)
        figure.suptitle(f"How much sigma matters: {plateau.title_of(settings)}; a mark a seed",
                        fontsize=10)
