"""A proposal of the paper, run here: a rate for every layer or parameter might mend Adam."""

from secondorder.studies import both, headline, readings

from . import plateau

SIGMA = 1000.0
#: The joint model by both forms of (39), and every layer's own, for which both are the same.
KINDS = {"corrected": {"rates": "layer", "coupled": True},
         "as printed": {"rates": "layer printed", "coupled": True},
         "separate": {"rates": "layer", "coupled": False}}
VARIABLE = {"rates": "variable"}


def on_adam(settings, seed, options, half):
    return plateau.run(settings, seed, plateau.train_with, base="adam", rate=plateau.RATES["adam"],
                       sigma=SIGMA, options=options, half_width=half)


@plateau.on_plateau(
    "claim-layer-rates", "; the paper proposes it and runs nothing. A rate for every weight costs "
    "a step of 110 ms: 300 iterations. Within a layer both forms agree", plateau.losses,
    shows="Adam alone and with a rate for every layer, or for every weight, by the cubic model",
    claims={"coupled": "a rate a layer, by one joint model, mends Adam: it leaves and ends within "
                       "10 % of Adam alone, or before it",
            "separate": "a rate a layer, each by its own model, mends Adam likewise",
            "variable": "with a rate a weight in the place of one a layer the loss after 300 "
                        "iterations is within 10 % of Adam's, or below"},
    full=plateau.FULL | {"iterations of variable": 300},
    quick=plateau.QUICK | {"iterations of variable": 5}, seconds=(700, 6),
    ours=("coupled", "separate", "variable"))
class LayerRates:
    def runs(self, settings, results):
        alone = [run for half in (0.1, 0.2)
                 for run in plateau.compared(settings, "adam", 0, half, ("none",))]
        layers = [on_adam(settings, seed, options, half) for seed in settings["seeds"]
                  for half in (0.1, 0.2) for options in KINDS.values()]
        short = settings | {"iterations": settings["iterations of variable"]}
        return [*alone, *layers, *(on_adam(short, seed, VARIABLE, 0.1)
                                   for seed in settings["seeds"])]

    def judge(self, results, settings):
        alone = {half: results.by_seed(curvature="none", half_width=half) for half in (0.1, 0.2)}

        def as_good(kind):
            told = [(0.1, plateau.leave, "leaving over Adam's"), (0.2, plateau.end,
                                                                  "end over Adam's")]
            return both(*(plateau.within(plateau.ratios(results.by_seed(
                options=KINDS[kind], half_width=half), alone[half], number), name, high=1.1)
                for half, number, name in told))

        def reached(one):
            last = settings["iterations of variable"] // plateau.EVERY
            return one["loss"][last] if len(one["loss"]) > last else float("inf")

        by_weight = plateau.ratios(results.by_seed(options=VARIABLE), alone[0.1], reached)
        return {"coupled": readings({form: as_good(form)
                                     for form in ("corrected", "as printed")},
                                    because=plateau.OPEN),
                "separate": as_good("separate"),
                "variable": plateau.within(by_weight, "loss over Adam's", high=1.1)}

    def draw(self, results, figure, settings):
        lines = [("Adam alone", {"curvature": "none"}, "k", "-")]
        names = "layers jointly, (39) corrected", "the same, as printed", "layers apart"
        lines += [(name, {"options": options}, colour, style) for name, options, colour, style in
                  zip(names, KINDS.values(), ("C0", "C3", "C1"), ("--", "-", "-."))]
        lines.append(("a rate a weight", {"options": VARIABLE}, "C2", ":"))
        plateau.draw_losses(figure, figure.subplots(1, 2), results, lines, plateau.HALVES)
        headline(figure, "Rates by layer and by weight on Adam, sigma 1000\n"
                 f"{plateau.title_of(settings)}", settings)
