"""Figure 5: without the bottleneck, where the assumptions of the theorem do not hold."""

from secondorder.studies import Chosen, headline, legend_below, study

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


@study(PAPER, "figure-5", **compared.ON_CIFAR | {
           "full": compared.FULL | {"steps": 61, "tried": 15},
           "quick": compared.QUICK | {"steps": 10, "tried": 4}}, seconds=(1300, 6),
       shows="CIFAR-10 without bottleneck: one batch, and mini-batches",
       claims={"a": "without bottleneck, one batch: Gauss-Newton reaches loss 0.1 within half the "
                    "steps of the better of Adam and SGD",
               "b": "without bottleneck, mini-batches: Gauss-Newton saturates, Adam and SGD do "
                    "not"},
       deviation=compared.BY_RULE + "; 'removed' is read as W on sigma(x). So a half layer has 96 "
       "features, fewer than the n = 102 of a batch, and the assumptions cannot hold")
class Figure5(compared.OfFigure2):
    def runs(self, settings, results):
        return (compared.wanted(settings, results, **PLAIN)
                + ONE_BATCH.wanted(of_one_batch(settings), results, ("batch",)))

    def judge(self, results, settings):
        return {"a": ONE_BATCH.under_rules(results, of_one_batch(settings), "batch", faster),
                "b": compared.OWN_RULE.under_rules(
                    results, settings, "cifar",
                    lambda runs: saturation_of(runs, ("gn",), ("adam", "sgd")), **PLAIN)}

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, 3)
        full = ONE_BATCH.by_rule(results, of_one_batch(settings), "batch")
        told = compared.by_rule(results, settings, **PLAIN)
        compared.draw_by_rule(panels[0], full, "loss", start=0)
        compared.draw_by_rule(panels[1], told, "loss")
        compared.draw_by_rule(panels[2], told, "test")
        for panel, label in zip(panels, ("one batch: training loss", "mini-batches: training loss",
                                         "mini-batches: test loss")):
            panel.set(ylabel=label)
        legend_below(figure, panels[0])
        headline(figure, f"Without bottleneck ({compared.thick_and_thin(told)})\n"
                 f"{settings['cifar']['samples']} images of CIFAR-10 at 8 x 8", settings)
