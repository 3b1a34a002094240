"""Claim: with d' as large as the batch the assumptions hold and the step is exact."""

import warnings

import numpy as np

import secondorder as so
from secondorder.studies import Run, counted, diverged, finished, study

from .. import PAPER, RevMLP
from .training import LOSS, TASKS, TITLES, rounded, shown, split

#: As printed, with the tolerance of the experiments, and the public code's first block: linear,
#: with a bias, so that its features have the rank d/2 + 1 at most.
KINDS = {kind: {"pseudo_inverse": form}
         for kind, form in (("exact", "exact"), ("gn", "truncate"), ("code", "exact"))}


def steps(seed, task, kind, samples, width, batch, rate, count):
    """Defect |J d + eps| / |eps|, least rank and full rank of the first and the last of some steps
    on batches that are not augmented.
    """
    x, y, *_ = split(task, samples, seed)
    x, rng = shown(TASKS[task], x), np.random.default_rng([seed, 2])
    authors = {"first_activation": "identity", "bias": True} if kind == "code" else {}
    network = RevMLP(x.shape[1], TASKS[task].blocks, width, outputs=10, init=1e-3, rng=seed,
                     dtype="float32", **authors)
    optimizer = so.GaussNewton(network, LOSS, rate, **KINDS[kind])
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for _ in range(count):
                part = rng.choice(len(x), batch, replace=False)
                info = optimizer.step(x[part], y[part])
                told.append([rounded(info["defect"]), int(info["rank"]), int(info["full_rank"])])
        except FloatingPointError as error:
            return {"first": told[:1], "last": told[-1:], "diverged": str(error)[:200]}
    return {"first": told[0], "last": told[-1]}


def residual(result):
    """The larger of both residuals; infinite where the run diverged."""
    return float("inf") if diverged(result) else max(result["first"][0], result["last"][0])


@study(PAPER, "claim-exact",
       shows="What a step leaves of the error to first order, |J d + eps| / |eps|, MNIST",
       claims={"exact": "without a tolerance the step leaves less than 1e-3 of the error, at the "
                        "first and at the last of 290 steps",
               "gn": "with the experiments' tolerance of 1 % the step also leaves less than "
                     "1e-3 of the error",
               "code": "in the network of the public code the features have full rank"},
       full={"task": "mnist", "samples": 8000, "width": 1064, "batch": 136, "rate": 0.5,
             "count": 290, "wide": 1024, "seeds": tuple(range(2, 12))},
       quick={"task": "digits", "samples": 300, "width": 64, "batch": 24, "rate": 0.5, "count": 3,
              "wide": 48, "seeds": (2,)}, seconds=(300, 1), needs=("mnist",), ours=("gn", "code"),
       smaller="MNIST with d' = 1064, 290 steps; the public code's network, three steps",
       deviation="MNIST with n = 136, d' = 1064, 290 steps at rate 0.5; the public code's "
       "network with its n = 1024, three steps; batches are not augmented")
class Exact:
    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("task", "samples", "width", "rate")}
        usual = settings["batch"], settings["count"]
        return [Run(steps, {"seed": seed, "kind": kind, "batch": batch, "count": count, **sizes})
                for seed in settings["seeds"] for kind, (batch, count) in (
                    ("exact", usual), ("gn", usual), ("code", (settings["wide"], 3)))]

    def judge(self, results, settings):
        def small(kind):
            misses = [residual(one) for one in results.of(kind=kind)]
            return counted([value < 1e-3 for value in misses], misses,
                           "what is left, the larger of first and last step", 3)

        ranks = [(0, 1) if diverged(one) else one["last"][1:] for one in results.of(kind="code")]
        full = counted([rank == most for rank, most in ranks], [rank for rank, _ in ranks],
                       "least rank of a half layer", 3)
        return {"exact": small("exact"), "gn": small("gn"),
                "code": full.with_note(f"full rank is {max(most for _, most in ranks)}")}

    def draw(self, results, figure, settings):
        panel = figure.subplots()
        for k, kind in enumerate(KINDS):
            for one in finished(results.of(kind=kind)):
                panel.plot([2 * k, 2 * k + 1], [max(one[when][0], 1e-9) for when in
                                                ("first", "last")], "os^"[k] + "-", color=f"C{k}")
        panel.set_xticks(range(6), [f"{name}\n{when} step" for name in
                                    ("no tolerance", "1 %", "public code's net")
                                    for when in ("first", "last")], fontsize=8)
        panel.axhline(1e-3, color="0.6", linewidth=0.8)
        panel.set(yscale="log", ylabel="|J d + eps| / |eps| (line: the limit)")
        figure.suptitle(f"How exact a step is: {TITLES[settings['task']]}, n = "
                        f"{settings['batch']}, d' = {settings['width']}; one line per seed",
                        fontsize=10)
