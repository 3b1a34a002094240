"""Figure 4: Adagrad off the plateau."""

from secondorder.studies import counted, study, undecided

from .. import PAPER
from . import plateau


def claims(*more):
    """(a) to (c) of Figures 4 and 5, for both forms of the curvature."""
    texts = (("a", "cubic steps leave the plateau before the base alone"),
             ("b", "the rate is above the base's on the plateau, and more than 3 times the later "
              "one"),
             ("c", "both are smaller than with gradient descent (Figure 2), by seed"), *more)
    return {f"{letter}-{form}": text + (" (as printed)" if form == "printed" else "")
            for form in ("exact", "printed") for letter, text in texts}


def runs_of(settings, base):
    """The base with sigma 1000, and what Figure 2 has to be compared with."""
    return (plateau.compared(settings, base, 1000, 0.1)
            + plateau.compared(settings, "sgd", 100, 0.1, ("exact", "printed")))


def judged(results, base):
    """Verdicts (a) to (c)."""
    alone, verdicts = results.by_seed(base=base, curvature="none"), {}
    for form in ("exact", "printed"):
        cubic = results.by_seed(base=base, curvature=form)
        descent = results.by_seed(base="sgd", curvature=form)
        left = [plateau.leave(one) for one in cubic.values()]
        verdicts[f"a-{form}"] = counted([plateau.leave(one) < plateau.leave(alone[seed])
                                         for seed, one in cubic.items()], left,
                                        "iterations to leave")
        rise = {seed: plateau.start_rate(one) / plateau.RATES[base] for seed, one in cubic.items()}
        jump = {seed: plateau.jump(one) for seed, one in cubic.items()}
        verdicts[f"b-{form}"] = counted([rise[seed] > 1 and jump[seed] > 3 for seed in cubic],
                                        list(jump.values()), "rate before over after")
        if not descent:
            verdicts[f"c-{form}"] = undecided("no runs of Figure 2")
            continue
        smaller = [rise[seed] < plateau.start_rate(descent[seed]) / plateau.RATES["sgd"]
                   and jump[seed] < plateau.jump(descent[seed]) for seed in cubic]
        verdicts[f"c-{form}"] = counted(smaller, list(rise.values()), "rate over the base's")
    return verdicts


@study(PAPER, "figure-4", shows="Adagrad at 0.1 and cubic steps with sigma 1000 on MNIST, weights "
       "within +-0.1", claims=claims(), full=plateau.FULL, quick=plateau.QUICK, seconds=(400, 3),
       needs=("mnist",), smaller=plateau.SMALLER,
       deviation=plateau.DEVIATION)
class Figure4:
    packed = staticmethod(plateau.packed)

    def runs(self, settings, results):
        return runs_of(settings, "adagrad")

    def judge(self, results, settings):
        return judged(results, "adagrad")

    def draw(self, results, figure, settings):
        plateau.draw_errors_and_rates(
            results, figure, f"Adagrad off the plateau: {plateau.title_of(settings)}, weights "
            "within ±0.1", base="adagrad")
