"""Figures 10 to 14: representations block by block; rate, weight decay and pseudo-inverse."""

import numpy as np

from secondorder.studies import (LINE_STYLES, alike, both, chosen, counted, diverged, finished,
                                 headline, legend_below, mean_and_range, paired, saturation, study,
                                 undecided)

from .. import PAPER
from . import compared
from .compared import CHOOSING, FIGURE_2, OWN_RULE, final, logs
from .figures_1_to_4 import MANY, draw_looks, kept, last
from .training import NAMES

BLOCKS = range(6)

# -- Figure 10: CKA with the start, block by block -------------------------------------------------


def all_stay(method):
    """(c): every block's CKA with the start is 0.9 at least."""
    return lambda runs: paired([min(last(run, "cka", block) for block in BLOCKS) - MANY
                                for run in runs[method]], "least CKA minus 0.9")


def all_leave(runs):
    """(c): Adam's CKA is below 0.9 in every block."""
    return paired([MANY - max(last(run, "cka", block) for block in BLOCKS)
                   for run in runs["adam"]], "0.9 minus the largest CKA")


def like_sgd(runs):
    """(d): Gauss-Newton and SGD are alike in every block."""
    return both(*(alike([last(one, "cka", block) - last(other, "cka", block)
                         for one, other in zip(runs["gn"], runs["sgd"])], 0.05,
                        f"Gauss-Newton's CKA minus SGD's, block {block + 1}")
                  for block in BLOCKS))


@study(PAPER, "figure-10", **compared.ON_CIFAR | {"full": compared.FOURTEEN_SEEDS},
       seconds=(9000, 5), shows="CKA of all six blocks with their start, CIFAR-10",
       claims={"c-gn": "Gauss-Newton's representations have a CKA of 0.9 or more with their start "
                       "in every block, at the end",
               "c-sgd": "SGD's representations have a CKA of 0.9 or more with their start in every "
                        "block",
               "c-adam": "Adam's representations end below a CKA of 0.9 in every block",
               "d": "Gauss-Newton's and SGD's CKA are alike, within 0.05 in every block"},
       also={letter: "figure-4" for letter in ("c-gn", "c-sgd", "c-adam")},
       deviation=compared.AT_AUTHORS + "; on 500 test images, every 10 epochs")
class Figure10(compared.OfFigure2):
    judges = {"c-gn": all_stay("gn"), "c-sgd": all_stay("sgd"), "c-adam": all_leave, "d": like_sgd}
    packed = staticmethod(kept)

    def draw(self, results, figure, settings):
        draw_looks(figure, settings, self.told(results, settings), {
            f"block {block + 1}": lambda look, block=block: look["cka"][block] for block in BLOCKS},
            "Representations against their start", "CKA with the start", sharex=True, sharey=True)


# -- Figure 11: how alike the representations of two methods are -----------------------------------


def between(one, other):
    """CKA of every block between two runs of a seed, at the end; NaN where one diverged."""
    if diverged(one) or diverged(other):
        return np.full(len(BLOCKS), np.nan)
    return np.array([np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b))
                     for a, b in zip(one["grams"], other["grams"])])


def nearer(runs):
    """(f): CKA with SGD is above that with Adam in every block."""
    gaps = np.array([between(one, sgd) - between(one, adam) for one, adam, sgd in zip(
        runs["gn"], runs["adam"], runs["sgd"])])
    return both(*(paired(gaps[:, block], f"CKA with SGD minus with Adam, block {block + 1}")
                  for block in BLOCKS))


@study(PAPER, "figure-11", **compared.ON_CIFAR | {"full": compared.FIVE_SEEDS}, seconds=(3000, 5),
       shows="CKA of Gauss-Newton's representations with Adam's and with SGD's, CIFAR-10",
       claims={"f": "Gauss-Newton's representations have a higher CKA with SGD's than with Adam's, "
                    "in every block"},
       deviation=compared.AT_AUTHORS + "; at the end of training and on 60 test images")
class Figure11(compared.OfFigure2):
    judges = {"f": nearer}

    @staticmethod
    def packed(result, arguments):
        """The losses, by which rates are chosen, and the Gram matrices in whole numbers of length
        300: so CKA is right to 0.005. What is packed is packed as it is.
        """
        told = {name: value for name, value in result.items() if name in ("loss", "diverged")}
        if "grams" in result:
            told["grams"] = [np.rint(300 * (gram / np.linalg.norm(gram))).astype(int).tolist()
                             for gram in map(np.asarray, result["grams"])]
        return told

    def draw(self, results, figure, settings):
        told = self.told(results, settings)
        panels = figure.subplots(1, len(told), sharey=True)
        for panel, (rule, runs) in zip(panels, told.items()):
            for k, other in enumerate(("adam", "sgd")):
                rows = np.array([between(one, two) for one, two in zip(runs["gn"], runs[other])])
                at, (colour, style) = np.arange(1, 7) + 0.1 * k, compared.STYLES[other]
                panel.plot(at, rows.T, "os"[k], color=colour, alpha=0.7)
                panel.plot(at, rows.mean(axis=0), style, color=colour,
                           label=f"with {NAMES[other]}")
            panel.set_title(compared.WORDS[rule], fontsize=9)
            panel.set_xlabel("block")
        panels[0].set_ylabel("CKA of Gauss-Newton's representations, at the end")
        legend_below(figure, panels[0])
        headline(figure, f"Whose representations are alike: {compared.title_of(settings)}",
                 settings, "lines: mean")


# -- Figure 12: is it the rate? --------------------------------------------------------------------

HALVE = 10  # epochs
MARGIN = -np.log(0.95)  # of a log ratio: "more than 5 % below"
HEADROOM = 1.3  # the picture ends so far above the first loss; one rate would flatten all others


@study(PAPER, "figure-12", **compared.ON_CIFAR, seconds=(4400, 6), ours=("c",),
       shows="Gauss-Newton at seven rates, and at a falling one, CIFAR-10",
       claims={"a": "whatever its rate, Gauss-Newton ends above Adam",
               "b": "at no other rate does Gauss-Newton end more than 2 % below the authors' rate",
               "c": "Gauss-Newton with its rate halved every 10 epochs ends more than 5 % below "
                    "itself at the constant rate",
               "d": "at every rate below the authors' Gauss-Newton saturates"},
       deviation=compared.AT_AUTHORS + "; the rates of the figure are not in print: six of ours, "
       "0.1, 0.2, 0.5, 1, 2, 4, and the authors' 0.6. Halved are the rate of the paper's own rule "
       "and the best one")
class Figure12(compared.OfFigure2):
    methods = ("gn", "adam")

    def runs(self, settings, results):
        wanted = super().runs(settings, results)
        rates = OWN_RULE.rates(results, settings, "cifar", "gn") or {}
        tried = FIGURE_2.grid(settings, "gn") if rates else ()
        return wanted + [run for rate in tried for run in self._at(settings, rate)] + [
            run for rate in rates.values() for run in self._at(settings, rate, halve=HALVE)]

    def _at(self, settings, rate, seeds=None, **more):
        return [FIGURE_2.one(settings, "cifar", seed, "gn", rate, **more)
                for seed in seeds or settings["seeds"]]

    def _constant(self, results, settings):
        """Rate -> Gauss-Newton's runs on the seeds of the rate that decides; and that rate."""
        rule, rates = next(iter(self.rates(settings, results).items()))
        seeds = FIGURE_2.seeds(settings, "cifar", rule)
        return {rate: [*map(results.returned, self._at(settings, rate, seeds))]
                for rate in sorted({rates["gn"], *FIGURE_2.grid(settings, "gn")})}, rates["gn"]

    def _halved(self, results, settings):
        """Rule -> (rate, runs at it, runs that halve it)."""
        return {rule: (rate, *([*map(results.returned, self._at(settings, rate, **more))]
                               for more in ({}, {"halve": HALVE})))
                for rule, rate in OWN_RULE.rates(results, settings, "cifar", "gn").items()}

    def judge(self, results, settings):
        constant, usual = self._constant(results, settings)
        ends = np.array([[final(run) for run in runs] for runs in constant.values()]).min(axis=0)
        best = ends / [final(run) for run in constant[usual]]
        above = {rule: paired([float(np.log(end / final(run)))
                               for end, run in zip(ends, runs["adam"])],
                              "log of Gauss-Newton's least end over Adam's")
                 for rule, runs in self.told(results, settings).items()}
        lower = {rule: paired(logs(same, halved), "log of the end at the constant rate over halved",
                              MARGIN).with_note(f"rate {rate:g}")
                 for rule, (rate, same, halved) in self._halved(results, settings).items()}
        lost = [f"{value:g}" for value, runs in constant.items() if any(map(diverged, runs))]
        note = f"Gauss-Newton diverged at rate {', '.join(lost)}" if lost else ""
        return {"a": FIGURE_2.decided(above).with_note(note),
                "b": counted([value >= 0.98 for value in best], best,
                             f"Gauss-Newton's least end over its end at rate {usual:g}", 3)
                .with_note(note),
                "c": FIGURE_2.decided(lower),
                "d": all_saturate([runs for rate, runs in constant.items() if rate < usual])}

    def draw(self, results, figure, settings):
        panel, (constant, usual) = figure.subplots(), self._constant(results, settings)
        top = HEADROOM * max((run["loss"][0] for runs in constant.values()
                              for run in finished(runs)), default=1.0)
        for k, (rate, runs) in enumerate(constant.items()):
            name = f"rate {rate:g}" + " (the rate that decides)" * (rate == usual)
            name += (", diverges" if any(map(diverged, runs)) else ", leaves at the top"
                     if any(max(run["loss"]) > top for run in runs) else "")
            mean_and_range(panel, [run["loss"] for run in runs], f"C{k}", 1, label=name,
                           linestyle=LINE_STYLES[k % len(LINE_STYLES)])
        others = [(f"rate {rate:g}, halved every {HALVE} epochs", runs, {"linewidth": 2.2}) for
                  rate, _, runs in self._halved(results, settings).values()]
        others += [(f"Adam, {compared.WORDS[rule]}", runs["adam"], {})
                   for rule, runs in self.told(results, settings).items()]
        for (name, runs, line), colour, style in zip(others, ("k", "C8", "0.3", "0.3"), (
                "-", (0, (1, 2)), ":", "-.")):
            mean_and_range(panel, [run["loss"] for run in finished(runs)], colour, 1, label=name,
                           linestyle=style, **line)
        panel.set(xlabel="epoch", ylabel="training loss", yscale="log")
        panel.set_ylim(top=top)
        legend_below(figure, panel, rows=3)
        headline(figure, f"Gauss-Newton's rate: {compared.title_of(settings)}", settings)


def all_saturate(slower):
    """(d), of the runs at every lower rate."""
    lost = compared.cut_off(run for runs in slower for run in runs)
    if lost or not slower:
        return lost or undecided("no lower rate was tried")
    gains = [max(saturation(run["loss"]) for run in of_seed) for of_seed in zip(*slower)]
    return counted([gain < 1.02 for gain in gains], gains,
                   "loss half-way over the least after, the largest over the rates", 3)


# -- Figure 13: does weight decay help Gauss-Newton generalise? ------------------------------------

DECAYS = (1e-5, 1e-4, 1e-3, 1e-2)


def decay_of(results, rate):
    """The decay with the least test loss at a rate; None as long as runs are missing."""
    choice = chosen(results, [{"l2": l2, "rate": rate} for l2 in DECAYS],
                    lambda run: final(run, "test"), (CHOOSING,))
    return choice and choice["l2"]


@study(PAPER, "figure-13", **compared.ON_CIFAR, seconds=(2200, 4),
       shows="Gauss-Newton with and without weight decay, CIFAR-10",
       claims={"a": "with the best weight decay Gauss-Newton's test loss ends within 5 % of that "
                    "without"},
       deviation=compared.BY_RULE + ". The decay, l2 theta, stands beside the step as in the "
       "public code. In the loss, as in the text, the step would not see it. One of four "
       "decays is chosen by test loss on seed 100")
class Figure13(compared.OfFigure2):
    trainings, methods = OWN_RULE, ("gn",)
    judges = {"a": lambda runs: alike(logs(runs["decayed"], runs["gn"], "test"), 0.05,
                                      "log of the test loss with decay over without")}

    def beside(self, settings, results, name, rates):
        def run(seed, l2, **more):
            return OWN_RULE.one(settings, name, seed, "gn", rates["gn"], l2=l2, looks=0, **more)

        best = decay_of(results, rates["gn"])
        return {"tried": [run(CHOOSING, l2, epochs=settings["choosing"][name]) for l2 in DECAYS],
                "decayed": [run(seed, best) for seed in settings["seeds"] if best]}

    def _decays(self, results, settings):
        return [f"decay {decay_of(results, rates['gn']):g} {compared.WORDS[rule]}"
                for rule, rates in self.rates(settings, results).items()]

    def judge(self, results, settings):
        lost = sum(diverged(run) for told in self.told(results, settings).values()
                   for name in ("gn", "decayed") for run in told[name])
        note = ", ".join(self._decays(results, settings))
        note += f"; {lost} runs diverged" if lost else ""
        return {"a": super().judge(results, settings)["a"].with_note(note)}

    def draw(self, results, figure, settings):
        compared.draw_rules(figure, settings, "Weight decay", self.told(results, settings), {
            "gn": ("without", "C3", "-"),
            "decayed": ("; ".join(self._decays(results, settings)), "C0", "--")}, compared.LOSSES)


# -- Figure 14: other pseudo-inverses than the truncated one ---------------------------------------

FORMS = {"truncate": "truncated", "damp": "damped: s + strength", "tikhonov": "damped: Tikhonov",
         "noise": "noise"}
WAYS = {"truncate": "truncating", "damp": "damping", "tikhonov": "Tikhonov damping",
        "noise": "noise"}
COLOURS = ("C3", "C1", "C2", "C5")
STRENGTHS = (0.001, 0.01, 0.1)  # of the largest singular value


def strength_of(results, form, rate):
    """The strength with the least training loss on the seed for choosing; None before that."""
    options = [{"options": {"pseudo_inverse": form, "strength": value}, "rate": rate}
               for value in STRENGTHS]
    choice = chosen(results, options, final, (CHOOSING,))
    return choice and choice["options"]["strength"]


def a_little_below(form):
    """Whether a form ends below truncating, by less than 5 %."""
    def judge(runs):
        told, measure = logs(runs["truncate"], runs[form]), f"log of truncating over {WAYS[form]}"
        return both(paired(told, measure), alike(told, 0.05, measure))

    return judge


@study(PAPER, "figure-14", **compared.ON_CIFAR | {"full": compared.FIVE_SEEDS},
       seconds=(4300, 7),
       shows="Gauss-Newton with truncation, damping and noise in the pseudo-inverse, "
             "and Adam, CIFAR-10",
       claims={"a": "damping the singular values (s + strength) ends below truncating them, by "
                    "less than 5 %",
               "a-tikhonov": "the public code's damping (Tikhonov) ends below truncating, by less "
                             "than 5 %",
               "b": "adding noise ends above truncating and damping",
               "c": "truncating, both ways of damping, and noise all end above Adam"},
       deviation=compared.BY_RULE + "; strengths 0.001, 0.01 and 0.1 of the largest singular "
       "value, chosen on seed 100 by training loss; the rates are those of truncation at 1 %")
class Figure14(compared.OfFigure2):
    trainings, methods = OWN_RULE, ("gn", "adam")
    judges = {"a": a_little_below("damp"), "a-tikhonov": a_little_below("tikhonov"),
              "b": lambda runs: both(*(paired(logs(runs["noise"], runs[form]),
                                              f"log of noise over {WAYS[form]}")
                                       for form in ("truncate", "damp"))),
              "c": lambda runs: both(*(paired(logs(runs[form], runs["adam"]), f"log of {way} over "
                                              "Adam") for form, way in WAYS.items()))}

    def beside(self, settings, results, name, rates):
        def run(seed, form, strength, **more):
            if (form, strength) == ("truncate", 0.01) and not more:  # Figure 2's
                return OWN_RULE.one(settings, name, seed, "gn", rates["gn"])
            return OWN_RULE.one(settings, name, seed, "gn", rates["gn"], looks=0, **more,
                                options={"pseudo_inverse": form, "strength": strength})

        wanted = {}
        for form in FORMS:
            wanted[form, "tried"] = [run(CHOOSING, form, strength,
                                         epochs=settings["choosing"][name])
                                     for strength in STRENGTHS]
            best = strength_of(results, form, rates["gn"])
            wanted[form] = [run(seed, form, best) for seed in settings["seeds"] if best]
        return wanted

    def _strengths(self, results, settings):
        """Rule -> form -> strength."""
        return {rule: {form: strength_of(results, form, rates["gn"]) for form in FORMS}
                for rule, rates in self.rates(settings, results).items()}

    def judge(self, results, settings):
        told = self.told(results, settings)
        notes = {rule: "strengths: " + ", ".join(f"{WAYS[form]} {strength:g}"
                                                 for form, strength in strengths.items())
                 for rule, strengths in self._strengths(results, settings).items()}
        return {letter: OWN_RULE.decided({rule: judge(runs).with_note(notes[rule])
                                          for rule, runs in told.items()})
                for letter, judge in self.judges.items()}

    def draw(self, results, figure, settings):
        strengths = self._strengths(results, settings).values()
        looks = {form: (f"{text}, {' / '.join(f'{one[form]:g}' for one in strengths)}", COLOURS[k],
                        LINE_STYLES[k]) for k, (form, text) in enumerate(FORMS.items())}
        compared.draw_rules(figure, settings, "Pseudo-inverses (strength in the upper / lower row)",
                            self.told(results, settings),
                            looks | {"adam": ("Adam", "C0", LINE_STYLES[4])}, compared.LOSSES)
