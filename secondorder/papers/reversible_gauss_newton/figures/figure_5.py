"""Figure 5: without the bottleneck, where the assumptions of the theorem do not hold."""

from secondorder.studies import Chosen, diverged, exactly, headline, legend_below, study, undecided

from .. import PAPER
from . import compared
from .figure_1 import boldest, faster, lowest
from .figure_2 import saturation_of
from .training import train

PLAIN = {"width": None, "looks": 0}
# the rates as in Figure 1
ONE_BATCH = Chosen(train, compared.RATES, {"P": boldest, "B": lowest}, compared.WORDS)


def of_one_batch(settings):
    """The settings as `Chosen` asks for them: one batch of the same images, as many steps."""
    about = settings["cifar"]
    return {"batch": {"task": about["task"], "samples": about["batch"], "batch": about["batch"],
                      "width": None, "epochs": settings["steps"]},
            "choosing": settings["tried"], "rates": settings["rates"], "seeds": settings["seeds"]}


@study(PAPER, "figure-5",
       shows="CIFAR-10 without bottleneck: one batch, and mini-batches",
       claims={"a": "one batch: Gauss-Newton reaches loss 0.1 within half the steps of the better "
                    "of Adam and SGD",
               "b": "mini-batches: Gauss-Newton saturates, Adam and SGD do not",
               "c": "the assumptions do not hold: the features of a half layer have a rank "
                    "below n"},
       full=compared.FULL | {"steps": 61, "tried": 15},
       quick=compared.QUICK | {"steps": 10, "tried": 4},
       seconds=(1300, 6), needs=("cifar-10",),
       smaller=compared.SMALLER,
       deviation=compared.DEVIATION + "; here half of the units, 96, are fewer than the n = 102 of "
       "a batch; in print 1536 are more than 1024. 'Removed' is read as W on sigma(x)")
class Figure5:
    def runs(self, settings, results):
        return (compared.wanted(settings, results, **PLAIN)
                + ONE_BATCH.wanted(of_one_batch(settings), results, ("batch",)))

    def judge(self, results, settings):
        full = ONE_BATCH.by_rule(results, of_one_batch(settings), "batch")
        runs = [run for run in full["P"]["gn"] if not diverged(run)]
        samples = settings["cifar"]["batch"]
        ranks = [max(run["rank"]) for run in runs]
        count = (exactly(max(ranks) < samples, max(ranks), "largest of the least ranks of a step",
                         f"n = {samples}", len(ranks)) if ranks
                 else undecided("every run diverged"))
        return {"a": compared.decided({rule: faster(told) for rule, told in full.items()}),
                "b": compared.under_rules(results, settings, "cifar", lambda runs: saturation_of(
                    runs, ("gn",), ("adam", "sgd")), **PLAIN),
                "c": count}

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, 3)
        full = ONE_BATCH.by_rule(results, of_one_batch(settings), "batch")
        compared.draw_by_rule(panels[0], full, "loss")
        told = compared.by_rule(results, settings, **PLAIN)
        compared.draw_by_rule(panels[1], told, "loss")
        compared.draw_by_rule(panels[2], told, "test")
        for panel, label in zip(panels, ("one batch: training loss", "mini-batches: training loss",
                                         "mini-batches: test loss")):
            panel.set(ylabel=label)
        panels[0].set_xlabel("step")
        legend_below(figure, panels[0])
        headline(figure, "Without bottleneck (thick: rate by epoch 1, thin: best later): "
                        f"{settings['cifar']['samples']} images of CIFAR-10 at 8 x 8", settings)
