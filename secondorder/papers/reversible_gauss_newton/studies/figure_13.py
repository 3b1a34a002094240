"""Figure 13: does weight decay help Gauss-Newton generalise?"""

from secondorder.studies import (alike, chosen, diverged, finished, headline, legend_below, study,
                                 undecided)

from .. import PAPER
from . import compared

DECAYS = (1e-5, 1e-4, 1e-3, 1e-2)


@study(PAPER, "figure-13", shows="Gauss-Newton with and without weight decay, CIFAR-10",
       claims={"a": "with the best weight decay the test loss ends within 5 % of that without"},
       full=compared.FULL, quick=compared.QUICK, seconds=(2200, 4), needs=("cifar-10",),
       deviation=compared.DEVIATION + ". The decay, l2 theta, stands beside the step as in the "
                                      "public code. In the loss, as in the text, the step would "
                                      "not see it. One of four decays is chosen by test loss on "
                                      "seed 100; the rate by rule P without decay")
class Figure13:
    packed = staticmethod(compared.packed)

    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=("gn",), rules=("P",))
        rates = compared.rates(results, settings, "cifar", "gn")
        if rates is None:
            return wanted
        wanted += [self._run(settings, compared.CHOOSING, rates["P"], l2, True) for l2 in DECAYS]
        l2 = self._best(results)
        return wanted + [self._run(settings, seed, rates["P"], l2) for seed in settings["seeds"]
                         if l2]

    def _run(self, settings, seed, rate, l2, short=False):
        more = {"epochs": settings["choosing"]["cifar"]} if short else {}
        return compared.one(settings, "cifar", seed, "gn", rate, l2=l2, looks=0, **more)

    def _best(self, results):
        choice = chosen(results, [{"l2": l2} for l2 in DECAYS],
                        lambda run: compared.final(run, "test"), (compared.CHOOSING,))
        return choice and choice["l2"]

    def judge(self, results, settings):
        without = compared.by_rule(results, settings, methods=("gn",), rules=("P",))["P"]["gn"]
        l2 = self._best(results)
        if l2 is None:
            return {"a": undecided("runs that choose the decay are missing")}
        runs = results.by_seed(l2=l2)
        told = [runs[seed] for seed in settings["seeds"]]
        logs = compared.logs(told, without, lambda run: compared.final(run, "test"))
        lost = sum(map(diverged, told)) + sum(map(diverged, without))
        note = f"decay {l2:g}" + (f"; {lost} runs diverged" if lost else "")
        return {"a": alike(logs, 0.05, "log ratio of test losses").with_note(
            f"{note}; {compared.P_ALONE}")}

    def draw(self, results, figure, settings):
        left, right = figure.subplots(1, 2)
        runs = compared.by_rule(results, settings, methods=("gn",), rules=("P",))["P"]["gn"]
        l2 = self._best(results)
        decayed = results.by_seed(l2=l2)
        for panel, name in ((left, "loss"), (right, "test")):
            compared.draw_curves(panel, [run[name] for run in finished(runs)], "C3", "-",
                                 "without")
            compared.draw_curves(panel, [run[name] for run in finished(
                decayed[seed] for seed in settings["seeds"])], "C0", "--", f"decay {l2:g}")
            panel.set(xlabel="epoch", yscale="log")
        left.set_ylabel("training loss")
        right.set_ylabel("test loss")
        legend_below(figure, left)
        headline(figure, f"Weight decay: {compared.title_of(settings)}", settings)
