"""Claim: cubic step lengths need less knowledge of the problem than a rate does."""

import numpy as np

from secondorder.studies import least, marks, paired

from . import plateau
from .optimal_rate import RATES

SIGMAS = (1.0, 10.0, 100.0, 1000.0)
NETWORKS = ((1.0, 0.1), (1.0, 0.2), (1 / 3, 0.2))  # share of the layers, half-width
CHOICES = {"rate": [{"curvature": "none", "sigma": 0.0, "rate": rate} for rate in RATES],
           "sigma": [{"curvature": "exact", "sigma": sigma, "rate": 0.02} for sigma in SIGMAS]}


def problems(settings):
    """Sets of images, layers and half-widths."""
    return [{"data": data, "layers": round(share * settings["layers"]), "half_width": half}
            for data in settings["sets"] for share, half in NETWORKS]


def regrets(results, settings, seed):
    """Kind -> log(end / best end of the problem), (problems, choices); infinite: diverged."""
    table = {kind: [] for kind in CHOICES}
    for problem in problems(settings):
        ends = {kind: [plateau.end(results.by_seed(**problem, **one)[seed]) for one in choices]
                for kind, choices in CHOICES.items()}
        least = min(min(row) for row in ends.values())
        for kind, row in ends.items():
            table[kind].append([float(np.log(end / least)) for end in row])
    return {kind: np.array(rows) for kind, rows in table.items()}


@plateau.on_plateau(
    "claim-less-tuning", keep=plateau.losses,
    shows="Nine problems: the end at each sigma and each rate over the best end of the problem",
    claims={"a": "one sigma for all nine problems does better than one rate for all (regret on the "
                 "worst problem)"},
    full=plateau.FULL | {"seeds": (2, 3, 4), "sets": ("digits", "mnist", "cifar-10")},
    quick=plateau.QUICK | {"iterations": 40, "sets": ("digits", "mnist")}, seconds=(4300, 4),
    needs=("mnist", "cifar-10"), smaller="up to 10,000 images, 2000 iterations",
    deviation="2000 iterations on 1400 digits, 8000 images of MNIST and 10,000 of CIFAR-10; the "
    "paper runs no such comparison. Both sides get their best single setting. Regret: log of the "
    "end over the best end of the problem. At +-0.1 it tells mainly who has left the plateau")
class LessTuning:
    def runs(self, settings, results):
        return [plateau.run(settings | {name: problem[name] for name in ("data", "layers")}, seed,
                            base="sgd", half_width=problem["half_width"], **one)
                for seed in settings["seeds"] for problem in problems(settings)
                for choices in CHOICES.values() for one in choices]

    def judge(self, results, settings):
        tables = [regrets(results, settings, seed) for seed in settings["seeds"]]
        worst, told = {}, []
        for kind, choices in CHOICES.items():
            by_seed = np.array([table[kind].max(axis=0) for table in tables])  # (seeds, choices)
            number = least(by_seed.mean(axis=0), kind)  # one setting for all problems and seeds
            worst[kind] = by_seed[:, number]
            told.append(f"best single {kind}: {choices[number][kind]:g}")
        corrected = paired(worst["rate"] - worst["sigma"], "worst regret at one rate less that at "
                           "one sigma").with_note(", ".join(told))
        return {"a": plateau.corrected_only(corrected)}

    def draw(self, results, figure, settings):
        axes, ticks = figure.subplots(), []
        tables = [regrets(results, settings, seed) for seed in settings["seeds"]]
        for kind, choices in CHOICES.items():
            for number, one in enumerate(choices):
                values = np.concatenate([table[kind][:, number] for table in tables])
                shown = values[np.isfinite(values)]
                marks(axes, [(len(ticks), value) for value in shown], 0 if kind == "rate" else 1)
                if len(shown) < len(values):
                    axes.annotate(f"{len(values) - len(shown)} diverged", (len(ticks), 1.0),
                                  xycoords=("data", "axes fraction"), ha="center", va="bottom",
                                  fontsize=7)
                ticks.append(f"{kind}\n{one[kind]:g}")
        axes.set_xticks(range(len(ticks)), ticks)
        axes.set(ylabel="log(end / best end of the problem); 0 is best")
        figure.suptitle("One setting for all problems: gradient descent's rate, cubic steps' sigma "
                        f"({', '.join(settings['sets'])}; a mark a problem and seed)", fontsize=10)
