"""Figure 14: other pseudo-inverses than the truncated one."""

from secondorder.studies import (LINE_STYLES, alike, both, chosen, finished, headline, legend_below,
                                 paired, study)

from .. import PAPER
from . import compared

FORMS = {"truncate": "truncated", "damp": "damped: s + strength", "tikhonov": "damped: Tikhonov",
         "noise": "noise"}
STRENGTHS = (0.001, 0.01, 0.1)


def regularised(settings, seed, rate, form, strength, **more):
    """A run of Gauss-Newton by one form; the truncation at 1 % is Figure 2's."""
    if (form, strength) == ("truncate", 0.01) and not more:
        return compared.one(settings, "cifar", seed, "gn", rate)
    return compared.one(settings, "cifar", seed, "gn", rate, looks=0, **more,
                        options={"pseudo_inverse": form, "strength": strength})


def strength_of(results, form):
    """The strength with the least training loss on the seed for choosing; None before that."""
    options = [{"options": {"pseudo_inverse": form, "strength": value}} for value in STRENGTHS]
    choice = chosen(results, options, compared.final, (compared.CHOOSING,))
    return choice and choice["options"]["strength"]


@study(PAPER, "figure-14",
       shows="Gauss-Newton with truncation, damping and noise in the pseudo-inverse, "
             "and Adam, CIFAR-10",
       claims={"a": "damping (s + strength) ends below truncation, by less than 5 %",
               "a-tikhonov": "the same for the public code's damping (Tikhonov)",
               "b": "noise ends above truncation and damping",
               "c": "all of them end above Adam"},
       full=compared.FULL, quick=compared.QUICK, seconds=(4300, 7), needs=("cifar-10",),
       deviation=compared.DEVIATION + "; strengths 0.1, 1 and 10 %, chosen on seed 100 by training "
       "loss; the rate by rule P of truncation at 1 %")
class Figure14:
    packed = staticmethod(compared.packed)

    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=("gn", "adam"), rules=("P",))
        rates = compared.rates(results, settings, "cifar", "gn")
        if rates is None:
            return wanted
        for form in FORMS:
            wanted += [regularised(settings, compared.CHOOSING, rates["P"], form, strength,
                                   epochs=settings["choosing"]["cifar"]) for strength in STRENGTHS]
            strength = strength_of(results, form)
            wanted += [regularised(settings, seed, rates["P"], form, strength)
                       for seed in settings["seeds"] if strength]
        return list({run.name: run for run in wanted}.values())

    def _told(self, results, settings):
        rate = compared.rates(results, settings, "cifar", "gn")["P"]
        told = {form: [results.of(**regularised(settings, seed, rate, form,
                                                strength_of(results, form)).arguments)[0]
                       for seed in settings["seeds"]] for form in FORMS}
        return told | {"adam": compared.by_rule(results, settings, methods=("adam",),
                                                rules=("P",))["P"]["adam"]}

    def judge(self, results, settings):
        told, verdicts = self._told(results, settings), {}
        for letter, form in (("a", "damp"), ("a-tikhonov", "tikhonov")):
            logs = compared.logs(told["truncate"], told[form])
            verdicts[letter] = both(paired(logs, "log ratio"), alike(logs, 0.05, "log ratio"))
        verdicts["b"] = both(*(paired(compared.logs(told["noise"], told[form]), "log ratio")
                               for form in ("truncate", "damp")))
        verdicts["c"] = both(*(paired(compared.logs(told[form], told["adam"]), f"log ratio, {form}")
                               for form in FORMS))
        note = ", ".join(f"{form} {strength_of(results, form):g}" for form in FORMS)
        return {letter: one.with_note(note) for letter, one in verdicts.items()}

    def draw(self, results, figure, settings):
        left, right = figure.subplots(1, 2)
        for k, (form, runs) in enumerate(self._told(results, settings).items()):
            for panel, name in ((left, "loss"), (right, "test")):
                label = (f"{FORMS[form]}, {strength_of(results, form):g}" if form in FORMS
                         else "Adam")
                compared.draw_curves(panel, [run[name] for run in finished(runs)], f"C{k}",
                                     LINE_STYLES[k], label)
                panel.set(xlabel="epoch", yscale="log")
        left.set_ylabel("training loss")
        right.set_ylabel("test loss")
        legend_below(figure, left)
        headline(figure, f"Pseudo-inverses: {compared.title_of(settings)}", settings)
