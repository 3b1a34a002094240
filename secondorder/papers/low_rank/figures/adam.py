"""Claim: Adam leaves the plateau by itself, and cubic step lengths add nothing to it."""

from secondorder.studies import LINE_STYLES, counted, exactly, headline

from . import plateau

SIGMAS = (1.0, 10.0, 100.0, 1000.0)
SHORT = 100  # iterations with (39) as printed: enough where none leaves with Adam, at 20
OTHERS = "adagrad", "adadelta"
AT_LEAST = {"exact": "", "printed": ", at least"}  # a run that was cut off may leave later


@plateau.on_plateau(
    "claim-adam", "; Adam's epsilon stands behind the bias correction, TensorFlow's before it. "
    "With (39) as printed: five seeds; on the plateau 100 iterations. There (b) asks who leaves "
    "first, and not who ends lower: from sigma 10 on cubic steps end below Adam alone",
    plateau.losses,
    shows="Cubic steps on Adam for four sigmas, (39) corrected, and Adam alone",
    claims={"a": "Adam alone leaves the plateau before Adagrad and Adadelta alone",
            "b": "cubic steps on Adam gain nothing: they leave the plateau at most 10 % earlier "
                 "than Adam alone (sigma 1000)",
            "b-end": "without a plateau cubic steps on Adam end at most 10 % below Adam alone "
                     "(sigma 1000)",
            "c": "at the best of four sigmas the two rates do not interfere: cubic steps on Adam "
                 "leave within 1.1 times its iterations"},
    full=plateau.TEN, seconds=(1100, 4), ours=("b-end", "c"))
class AdamClaim:
    def runs(self, settings, results):
        alone = [run for base, half in (("adam", 0.1), ("adam", 0.2), *((b, 0.1) for b in OTHERS))
                 for run in plateau.compared(settings, base, 0, half, ("none",))]
        short = settings | {"seeds": settings["seeds"][:5], "iterations": SHORT}
        few = settings | {"seeds": settings["seeds"][:5]}
        return alone + [run for sigma in SIGMAS for half, form, asked in (
            (0.1, "exact", settings), (0.2, "exact", settings), (0.1, "printed", short),
            (0.2, "printed", few)) if half == 0.1 or form == "exact" or sigma == 1000
            for run in plateau.compared(asked, "adam", sigma, half, (form,))]

    def judge(self, results, settings):
        def of(half=0.1, base="adam", curvature="none", sigma=0.0):
            return results.by_seed(base=base, half_width=half, curvature=curvature, sigma=sigma)

        def late(sigma, form="exact"):
            last = plateau.NEVER if form == "exact" else SHORT
            return plateau.ratios(of(curvature=form, sigma=sigma), of(),
                                  lambda one: min(plateau.leave(one), last))

        def ends(form):
            return plateau.within(plateau.ratios(of(0.2, curvature=form, sigma=1000.0), of(0.2),
                                                 plateau.end), "end over Adam's", 0.9)

        left, *others = ([plateau.leave(one) for one in of(base=base).values()]
                         for base in ("adam", *OTHERS))
        found = counted([one < min(two) for one, *two in zip(left, *others)], left,
                        "iterations to leave")
        for base, lefts in zip(OTHERS, others):
            found = found.with_note(f"{base.capitalize()}: {plateau.middle(lefts)}")
        return {"a": found,
                "b": plateau.both_forms(lambda form: plateau.within(
                    late(1000.0, form), "iterations to leave over Adam's" + AT_LEAST[form], 0.9)),
                "b-end": plateau.both_forms(ends),
                "c": plateau.both_forms(lambda form: as_good(
                    [late(sigma, form) for sigma in SIGMAS]))}

    def draw(self, results, figure, settings):
        lines = [("Adam alone", {"base": "adam", "curvature": "none"}, "black", "-")]
        lines += [(f"cubic, sigma {sigma:g}", {"curvature": "exact", "sigma": sigma}, f"C{k}",
                   LINE_STYLES[k + 1]) for k, sigma in enumerate(SIGMAS)]
        panels = figure.subplots(1, 2, sharex=True)
        plateau.draw_losses(figure, panels, results, lines, plateau.HALVES)
        for panel in panels:
            panel.set_yscale("log")
        headline(figure, f"Cubic steps on Adam: {plateau.title_of(settings)}", settings)


def as_good(late):
    """Whether leaving takes at most 1.1 times Adam's iterations at the sigma where it is soonest;
    `late` has the ratios, (sigmas, seeds).
    """
    seeds = len(late[0])
    middle = [sorted(ratios)[seeds // 2] for ratios in late]
    best = middle.index(min(middle))
    return exactly(middle[best] <= 1.1, middle[best],
                   f"iterations to leave over Adam's, at sigma {SIGMAS[best]:g}", seeds=seeds,
                   least=3)
