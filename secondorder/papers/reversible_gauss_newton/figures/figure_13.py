"""Figure 13: does weight decay help Gauss-Newton generalise?"""

from secondorder.studies import alike, chosen, diverged, headline, study, undecided

from .. import PAPER
from . import compared

DECAYS = (1e-5, 1e-4, 1e-3, 1e-2)


@study(PAPER, "figure-13", **compared.ON_CIFAR, seconds=(2200, 4),
       shows="Gauss-Newton with and without weight decay, CIFAR-10",
       claims={"a": "with the best weight decay Gauss-Newton's test loss ends within 5 % of that "
                    "without"},
       deviation=compared.BY_RULE + ". The decay, l2 theta, stands beside the step as in the "
       "public code. In the loss, as in the text, the step would not see it. One of four "
       "decays is chosen by test loss on seed 100")
class Figure13(compared.OfFigure2):
    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=("gn",))
        rates = compared.rates(results, settings, "cifar", "gn") or {}
        for rate in rates.values():
            wanted += [self._run(settings, compared.CHOOSING, rate, l2, True) for l2 in DECAYS]
            l2 = self._best(results, rate)
            wanted += [self._run(settings, seed, rate, l2) for seed in settings["seeds"] if l2]
        return wanted

    def _run(self, settings, seed, rate, l2, short=False):
        more = {"epochs": settings["choosing"]["cifar"]} if short else {}
        return compared.one(settings, "cifar", seed, "gn", rate, l2=l2, looks=0, **more)

    def _best(self, results, rate):
        """The decay with the least test loss at a rate; None as long as runs are missing."""
        choice = chosen(results, [{"l2": l2, "rate": rate} for l2 in DECAYS],
                        lambda run: compared.final(run, "test"), (compared.CHOOSING,))
        return choice and choice["l2"]

    def _told(self, results, settings):
        """Rule -> decay, runs without it and runs with it."""
        told = {}
        for rule, runs in compared.by_rule(results, settings, methods=("gn",)).items():
            rate = compared.rates(results, settings, "cifar", "gn")[rule]
            l2 = self._best(results, rate)
            decayed = results.by_seed(l2=l2, rate=rate) if l2 else {}
            told[rule] = l2, runs["gn"], [decayed[seed] for seed in settings["seeds"]
                                          if seed in decayed]
        return told

    def judge(self, results, settings):
        told = self._told(results, settings)
        if any(l2 is None for l2, _, _ in told.values()):
            return {"a": undecided("runs that choose the decay are missing")}
        verdicts = {rule: alike(compared.logs(decayed, without, lambda run: compared.final(
                        run, "test")), 0.05, "log ratio of test losses")
                    for rule, (_, without, decayed) in told.items()}
        lost = sum(sum(map(diverged, runs)) for _, *both in told.values() for runs in both)
        note = ", ".join(f"decay {l2:g} {compared.WORDS[rule]}"
                         for rule, (l2, _, _) in told.items())
        note += f"; {lost} runs diverged" if lost else ""
        return {"a": compared.decided(verdicts).with_note(note)}

    def draw(self, results, figure, settings):
        told = self._told(results, settings)
        for rule, row in compared.panels_by_rule(figure, told, compared.LOSSES).items():
            l2, without, decayed = told[rule]
            for panel, name in zip(row, ("loss", "test")):
                compared.draw_curves(panel, without, name, "C3", "-", "without")
                compared.draw_curves(panel, decayed, name, "C0", "--", f"decay {l2:g}")
            row[0].legend(fontsize=8)
        headline(figure, f"Weight decay: {compared.title_of(settings)}", settings)
