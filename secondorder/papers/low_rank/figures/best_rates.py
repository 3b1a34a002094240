"""Claims: cubic step lengths do about as well as gradient descent at its best rate, and need less
knowledge of the problem.
"""

import numpy as np

from secondorder.studies import chosen, least, legend_below, marks, paired, undecided

from . import plateau

RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
USUAL = ([{"rate": rate} for rate in RATES]  # which decay by 0.95 per 100 iterations
         + [{"rate": rate, "decay": 1.0} for rate in RATES])
PLATEAU = [{"rate": rate, "decay": 1.0} for rate in (0.02, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)]
#: Letter -> half-width, candidates, what is read off a run, its name.
CASES = {"usual": (0.2, USUAL, plateau.end, "loss at the end"),
         "plateau": (0.1, PLATEAU, plateau.leave, "iterations to leave")}


def descent(settings, seeds, half, candidate):
    return [plateau.run(settings, seed, base="sgd", curvature="none", sigma=0.0, half_width=half,
                        **candidate) for seed in seeds]


def best(results, settings, letter):
    """The rate (and decay) of gradient descent that is best on the seeds for choosing, or None."""
    half, candidates, number, _ = CASES[letter]
    told = [{"half_width": half, "curvature": "none", "decay": None} | one for one in candidates]

    def key(run):  # a run that never leaves is as bad as one that diverges
        never = number is plateau.leave and number(run) > settings["iterations"]
        return float("inf") if never else number(run)

    winner = chosen(results, told, key, settings["choosing"])
    return None if winner is None else candidates[told.index(winner)]


@plateau.on_plateau(
    "claim-optimal-rate", "; the rate is chosen on seeds 10 and 11, without a plateau from seven "
    "that decay or do not, else from seven constant ones",
    shows="Cubic steps with sigma 100 beside gradient descent at the best of many rates",
    claims={"usual": "without a plateau cubic steps end within 1.1 times the loss of gradient "
                     "descent at its best rate",
            "plateau": "cubic steps leave a plateau within 1.1 times the iterations of gradient "
                       "descent at its best rate"},
    full=plateau.FULL | {"choosing": (10, 11)}, quick=plateau.QUICK | {"choosing": (10,)},
    seconds=(900, 10))
class OptimalRate:
    def runs(self, settings, results):
        wanted = [run for half, candidates, _, _ in CASES.values() for one in candidates
                  for run in descent(settings, settings["choosing"], half, one)]
        for letter, (half, *_) in CASES.items():
            wanted += plateau.compared(settings, "sgd", 100, half, ("exact", "printed"))
            winner = best(results, settings, letter)
            if winner is not None:
                wanted += descent(settings, settings["seeds"], half, winner)
        return wanted

    def judge(self, results, settings):
        return {letter: self.against_the_best(results, settings, letter) for letter in CASES}

    def against_the_best(self, results, settings, letter):
        winner, (half, _, number, name) = best(results, settings, letter), CASES[letter]
        if winner is None:
            return undecided("runs that choose the rate are missing")
        runs = results.by_seed(**{"curvature": "none", "half_width": half, "decay": None} | winner)
        alone = {seed: runs[seed] for seed in settings["seeds"]}
        told = (f"the best rate: {winner['rate']:g}, "
                f"{'constant' if 'decay' in winner else 'decayed'}")
        return plateau.cubic_within(results, number, f"{name} over gradient descent's", high=1.1,
                                    alone=alone, half_width=half).with_note(told)

    def draw(self, results, figure, settings):
        for panel, (half, _, number, name) in zip(figure.subplots(1, 2), CASES.values()):
            for k, decay in enumerate((None, 1.0)):
                marks(panel, results.points("rate", number, curvature="none", half_width=half,
                                            decay=decay), k,
                      label=f"gradient descent, {'constant' if decay else 'decayed'}")
            for label, form, colour, style in plateau.LINES[1:]:
                for one in results.of(**form, half_width=half):
                    panel.axhline(number(one), color=colour, linestyle=style, linewidth=0.8,
                                  label=label)
                    label = None
            panel.set(xlabel="rate of gradient descent", ylabel=name, xscale="log", yscale="log",
                      title=f"weights within ±{half:g}")
        legend_below(figure, figure.axes[0])
        figure.suptitle(f"Against the best rate: {plateau.title_of(settings)}; a mark or line a "
                        "run", fontsize=10)


SIGMAS = (1.0, 10.0, 100.0, 1000.0)
NETWORKS = ((1.0, 0.1), (1.0, 0.2), (1 / 3, 0.2))  # share of the layers, half-width
CHOICES = {"rate": [{"curvature": "none", "sigma": 0.0, "rate": rate} for rate in RATES]} | {
    form: [{"curvature": form, "sigma": sigma, "rate": 0.02} for sigma in SIGMAS]
    for form in plateau.FORMS.values()}


NAMES = {form: name for name, form in plateau.FORMS.items()}


def problems(settings):
    """Sets of images, layers and half-widths."""
    return [{"data": data, "layers": round(share * settings["layers"]), "half_width": half}
            for data in settings["sets"] for share, half in NETWORKS]


def regrets(results, settings, seed, kinds):
    """Kind -> log(end / best end of the problem), (problems, choices); infinite: diverged."""
    table = {kind: [] for kind in kinds}
    for problem in problems(settings):
        ends = {kind: [plateau.end(results.by_seed(**problem, **one)[seed])
                       for one in CHOICES[kind]] for kind in kinds}
        least = min(min(row) for row in ends.values())
        for kind, row in ends.items():
            table[kind].append([float(np.log(end / least)) for end in row])
    return {kind: np.array(rows) for kind, rows in table.items()}


@plateau.on_plateau(
    "claim-less-tuning", keep=plateau.losses,
    shows="Nine problems: the end at each sigma and each rate over the best end of the problem",
    claims={"a": "one sigma for all nine problems (three sets of images, three networks) does "
                 "better than one rate of gradient descent for all: less regret on the worst one"},
    full=plateau.FULL | {"seeds": (2, 3, 4), "sets": ("digits", "mnist", "cifar-10")},
    quick=plateau.QUICK | {"iterations": 40, "sets": ("digits", "mnist")}, seconds=(4300, 4),
    needs=("mnist", "cifar-10"), smaller="up to 10,000 images, 2000 iterations",
    deviation="2000 iterations on 1400 digits, 8000 images of MNIST and 10,000 of CIFAR-10; the "
    "paper runs no such comparison. Both sides get their best single setting. Regret: log of the "
    "end over the best end of the problem, in the picture of both forms of (39). At ±0.1 it tells "
    "mainly who has left the plateau")
class LessTuning:
    def runs(self, settings, results):
        return [plateau.run(settings | {name: problem[name] for name in ("data", "layers")}, seed,
                            base="sgd", half_width=problem["half_width"], **one)
                for seed in settings["seeds"] for problem in problems(settings)
                for choices in CHOICES.values() for one in choices]

    def judge(self, results, settings):
        def one_setting(form):
            """Regrets of the rate and the sigma that are best for all problems and seeds."""
            tables = [regrets(results, settings, seed, ("rate", form))
                      for seed in settings["seeds"]]
            worst, told = {}, []
            for kind, name in (("rate", "rate"), (form, "sigma")):
                by_seed = np.array([table[kind].max(axis=0) for table in tables])
                number = least(by_seed.mean(axis=0), kind)
                worst[kind] = by_seed[:, number]
                told.append(f"best {name}: {CHOICES[kind][number][name]:g}")
            return paired(worst["rate"] - worst[form], "worst regret at one rate minus that at "
                          "one sigma").with_note(", ".join(told))

        return {"a": plateau.both_forms(one_setting)}

    def draw(self, results, figure, settings):
        axes, ticks = figure.subplots(), []
        tables = [regrets(results, settings, seed, CHOICES) for seed in settings["seeds"]]
        for k, (kind, choices) in enumerate(CHOICES.items()):
            for number, one in enumerate(choices):
                values = np.concatenate([table[kind][:, number] for table in tables])
                shown = values[np.isfinite(values)]
                marks(axes, [(len(ticks), value) for value in shown], k)
                if len(shown) < len(values):
                    axes.annotate(f"{len(values) - len(shown)}\ndiverged", (len(ticks), 1.0),
                                  xycoords=("data", "axes fraction"), ha="center", va="bottom",
                                  fontsize=7)
                ticks.append(f"rate\n{one['rate']:g}" if kind == "rate" else
                             f"sigma\n{one['sigma']:g}\n{NAMES[kind]}")
        axes.set_xticks(range(len(ticks)), ticks, fontsize=7)
        axes.set(ylabel="log(end / best end of the problem); 0 is best")
        figure.suptitle("One setting for all problems: gradient descent's rate, cubic steps' sigma"
                        f"\n{', '.join(settings['sets'])}; one mark per problem and seed",
                        fontsize=10)
