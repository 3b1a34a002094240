"""Claim (a speculation): Jensen's inequality is too loose where many parameters share a residual,
and that explains why classifiers do worse than autoencoders.
"""

import numpy as np

from secondorder.studies import (Run, both, diverged, finished, headline, legend_under, paired,
                                 readings, study)

from .. import PAPER, ResidualPartitioning, bound
from ..section_3_what_is_bounded import bounded_product
from . import networks
from .networks import BATCH, HIDDEN, KINDS, SETS

RATES = {"autoencoder": 300.0, "classifier": 100.0}  # of training, output rule jensen
WIDTHS, DEPTHS = (8, 16, 32, 64), (1, 2, 3, 4)
GROWING = {"width": (WIDTHS, [[n, n] for n in WIDTHS]),
           "depth": (DEPTHS, [[16] * n for n in DEPTHS])}
OUTPUTS = {"jensen": "Jensen's inequality at both outputs", "pairwise": "pairwise at both"}


def looseness(seed, kind, data, output, hidden, after):
    """The ratio r = d^T diag(W_ddot) d / d^T H~ d along the method's direction d.

    Returns ``ratios``: one after each number of steps in `after`; negative where d^T H~ d is.
    """
    x, y = networks.data_of(kind, data, dtype="float64")
    network, loss = networks.network_of(kind, x.shape[1], seed, "float64", tuple(hidden))
    optimizer = ResidualPartitioning(network, loss, learning_rate=RATES[kind], output=output,
                                     l2=networks.L2)
    rows, ratios = networks.batches(len(x), seed), []
    watched = x[:BATCH], y[:BATCH]
    for step in range(max(after) + 1):
        if step in after:
            quadratic = bound(network, loss, *watched, output=output)
            d = np.divide(-quadratic.gradient, quadratic.curvature, where=quadratic.curvature > 0,
                          out=np.zeros_like(quadratic.gradient))
            at = network.evaluate(loss, *watched)
            ratios.append(float(d @ (quadratic.curvature * d)
                                / (d @ bounded_product(at, d))))
        batch = next(rows)
        optimizer.step(x[batch], y[batch])
    return {"ratios": ratios}


@study(PAPER, "claim-loose-bound",
       shows="The bound's curvature over the curvature that it bounds, along its own step",
       claims={"kind": "Jensen's bound is too loose for the classifier: looser than for the "
                       "autoencoder, early and late",
               "width": "it is looser where more parameters share the residual: looser with the "
                        "hidden width",
               "depth": "the same with the depth"},
       full={"sets": ("digits", "mnist"), "after": (0, 200, 2000), "seeds": (1, 2, 3, 4, 5)},
       quick={"sets": ("digits",), "after": (0, 10), "seeds": (1,)},
       seconds=(3000, 10), needs=("mnist",),
       smaller="digits and 8000 images of MNIST; width and depth on small classifiers",
       deviation="a speculation in print, without a number")
class LooseBound:
    def runs(self, settings, results):
        papers = [(kind, data, output, list(HIDDEN[kind]), list(settings["after"]))
                  for data in settings["sets"] for output in OUTPUTS for kind in KINDS]
        small = [("classifier", "digits", "jensen", hidden, [0])
                 for _, hiddens in GROWING.values() for hidden in hiddens]
        return [Run(looseness, {"seed": seed, "kind": kind, "data": data, "output": output,
                                "hidden": hidden, "after": after})
                for seed in settings["seeds"]
                for kind, data, output, hidden, after in papers + small]

    def growing(self, results, letter):
        """Sizes, and ratios (sizes, seeds) at the start."""
        sizes, hiddens = GROWING[letter]
        return sizes, np.array([[one["ratios"][0] for one in results.of(hidden=hidden, after=[0])]
                                for hidden in hiddens])

    def judge(self, results, settings):
        def log_r(kind, data, output):
            """log |r| (seeds, looks); NaN where a run diverged."""
            runs = results.of(kind=kind, data=data, output=output, after=settings["after"])
            return np.array([np.log(np.abs(one["ratios"])) if not diverged(one)
                             else [np.nan] * len(settings["after"]) for one in runs])

        def looser(output):
            return both(*(paired(column, f"log of the classifier's looseness over the "
                          f"autoencoder's, {SETS[data]}")
                          for data in settings["sets"]
                          for column in (log_r("classifier", data, output)
                                         - log_r("autoencoder", data, output)).T))

        verdicts = {"kind": readings({title: looser(output) for output, title in OUTPUTS.items()},
                                     decides=OUTPUTS["jensen"])}
        for letter in GROWING:
            sizes, ratios = self.growing(results, letter)
            slopes = np.polyfit(np.log(sizes), np.log(np.abs(ratios)), 1)[0]
            verdicts[letter] = paired(slopes, f"power of the {letter} with which it grows")
        return verdicts

    def draw(self, results, figure, settings):
        *panels, last = figure.subplots(1, 3, width_ratios=(1, 1, 2))
        for axes, letter, name in zip(panels, GROWING, ("hidden width, two layers",
                                                        "hidden layers of 16")):
            sizes, ratios = self.growing(results, letter)
            axes.plot(sizes, ratios, "-", color="0.6", linewidth=0.8)
            axes.plot(sizes, ratios.mean(axis=1), "ko-", label="mean")
            axes.set(xlabel=name, ylim=(0, None))
            axes.set_title("r at the start, classifiers, digits", fontsize=8)
            axes.set_xticks(sizes, map(str, sizes))
        cases = [(data, output) for data in settings["sets"] for output in OUTPUTS]
        for k, kind in enumerate(KINDS):
            line = {"marker": "os"[k], "linestyle": ("-", "--")[k], "color": f"C{k}",
                    "markersize": 4, "linewidth": 1}
            last.plot([], [], label=kind, **line)
            for place, (data, output) in enumerate(cases):
                at = place + 0.4 * k + 0.13 * np.arange(len(settings["after"]))
                for one in finished(results.of(kind=kind, data=data, output=output,
                                               after=settings["after"])):
                    last.plot(at, np.abs(one["ratios"]), **line)
        last.set_xticks(np.arange(len(cases)) + 0.3, [f"{SETS[data]}\n{output}" for data, output in
                                                      cases], fontsize=8)
        last.set(yscale="log", ylabel="|r|")
        last.set_title("the paper's networks after "
                       f"{', '.join(map(str, settings['after']))} steps", fontsize=8)
        for axes in figure.axes:
            legend_under(axes)
        headline(figure, "How loose the bound is: r, its curvature over what it bounds", settings,
                 "a line for each")
