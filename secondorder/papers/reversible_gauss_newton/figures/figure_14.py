"""Figure 14: other pseudo-inverses than the truncated one."""

import itertools

from secondorder.studies import LINE_STYLES, alike, both, chosen, headline, paired, study

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


def strength_of(results, form, rate):
    """The strength with the least training loss on the seed for choosing; None before that."""
    options = [{"options": {"pseudo_inverse": form, "strength": value}, "rate": rate}
               for value in STRENGTHS]
    choice = chosen(results, options, compared.final, (compared.CHOOSING,))
    return choice and choice["options"]["strength"]


@study(PAPER, "figure-14", **compared.ON_CIFAR | {"full": compared.FIVE_SEEDS},
       seconds=(4300, 7),
       shows="Gauss-Newton with truncation, damping and noise in the pseudo-inverse, "
             "and Adam, CIFAR-10",
       claims={"a": "damping the singular values (s + strength) ends below truncating them, by "
                    "less than 5 %",
               "a-tikhonov": "the public code's damping (Tikhonov) ends below truncating, by less "
                             "than 5 %",
               "b": "adding noise ends above truncating and damping",
               "c": "truncating, damping and noise all end above Adam"},
       deviation=compared.BY_RULE + "; strengths 0.1, 1 and 10 %, chosen on seed 100 by training "
       "loss; the rates are those of truncation at 1 %")
class Figure14(compared.OfFigure2):
    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=("gn", "adam"))
        rates = compared.rates(results, settings, "cifar", "gn") or {}
        for rate, form in itertools.product(rates.values(), FORMS):
            wanted += [regularised(settings, compared.CHOOSING, rate, form, strength,
                                   epochs=settings["choosing"]["cifar"]) for strength in STRENGTHS]
            strength = strength_of(results, form, rate)
            wanted += [regularised(settings, seed, rate, form, strength)
                       for seed in settings["seeds"] if strength]
        return wanted

    def _told(self, results, settings):
        """Rule -> form -> its runs, Adam's among them; rule -> form -> its strength."""
        rates = compared.rates(results, settings, "cifar", "gn")
        strengths = {rule: {form: strength_of(results, form, rate) for form in FORMS}
                     for rule, rate in rates.items()}
        adam = compared.by_rule(results, settings, methods=("adam",))
        return {rule: {form: [
            results.returned(regularised(settings, seed, rate, form, strengths[rule][form]))
            for seed in settings["seeds"]] for form in FORMS}
            | adam[rule] for rule, rate in rates.items()}, strengths

    def judge(self, results, settings):
        told, strengths = self._told(results, settings)
        return compared.by_letter({rule: self._judged(runs, strengths[rule])
                                          for rule, runs in told.items()})

    def _judged(self, told, strengths):
        """The verdicts on the runs by one rule: form -> runs, and form -> strength."""
        verdicts = {}
        for letter, form in (("a", "damp"), ("a-tikhonov", "tikhonov")):
            logs = compared.logs(told["truncate"], told[form])
            verdicts[letter] = both(paired(logs, "log ratio"), alike(logs, 0.05, "log ratio"))
        verdicts["b"] = both(*(paired(compared.logs(told["noise"], told[form]), "log ratio")
                               for form in ("truncate", "damp")))
        verdicts["c"] = both(*(paired(compared.logs(told[form], told["adam"]), f"log ratio, {form}")
                               for form in FORMS))
        note = ", ".join(f"{form} {strength:g}" for form, strength in strengths.items())
        return {letter: one.with_note(note) for letter, one in verdicts.items()}

    def draw(self, results, figure, settings):
        told, strengths = self._told(results, settings)
        for rule, row in compared.panels_by_rule(figure, told, compared.LOSSES).items():
            for k, (form, runs) in enumerate(told[rule].items()):
                label = (f"{FORMS[form]}, {strengths[rule][form]:g}" if form in FORMS else "Adam")
                for panel, name in zip(row, ("loss", "test")):
                    compared.draw_curves(panel, runs, name, f"C{k}", LINE_STYLES[k], label)
            row[1].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=7)
        headline(figure, f"Pseudo-inverses: {compared.title_of(settings)}", settings)
