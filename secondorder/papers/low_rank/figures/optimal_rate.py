"""Claim: cubic step lengths do about as well as gradient descent at its best rate."""

from secondorder.studies import chosen, legend_below, marks, undecided

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
        told = f"rate {winner['rate']:g}, {'constant' if 'decay' in winner else 'decayed'}"
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
