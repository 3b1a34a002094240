"""Figure 1: the autoencoder's loss, training and validation, on three sets of images."""

from secondorder.studies import both, paired, study

from .. import PAPER
from . import curves


@study(PAPER, "figure-1",
       shows="Autoencoder D-64-2-64-D: squared error of residual partitioning, SGD and Adam over "
             "steps",
       claims={"a-6000": "up to step 6000 the lowest validation loss of residual partitioning is "
                         "below SGD's and Adam's on all sets",
               "a-20000": "the same up to step 20,000",
               "a-60000-mnist": "the same up to step 60,000, on MNIST alone",
               "b": "it does not always have the lowest training loss: on at least one set it does "
                    "not",
               "c": "it overfits less: validation less training loss at the end is below both "
                    "others' on all sets",
               "c-fair": "at the lowest training loss that all three reach, its validation loss is "
                         "below both others', on all sets"},
       full=curves.FULL | {"seeds": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
                           "long": {"steps": 60000, "seeds": (1, 2, 3, 4, 5)}},
       quick=curves.QUICK | {"long": {"steps": 280, "seeds": (1,)}},
       seconds=(5000, 6), needs=("mnist", "cifar-10"), ours=("c-fair",),
       smaller=curves.SMALLER,
       deviation=curves.DEVIATION + ". MNIST runs to the first mark as well, at the same rates")
class Figure1:
    def runs(self, settings, results):
        return [run for one in (settings, self.longer(settings))
                for run in curves.stages("autoencoder", one, results)]

    def longer(self, settings):
        """The settings of the longest runs: the first set, rates as in the others."""
        return settings | {"sets": settings["sets"][:1], **settings["long"]}

    def judge(self, results, settings):
        every, end = settings["every"], settings["steps"]
        by_set = {data: curves.judged("autoencoder", data, settings, results)
                  for data in curves.counted_sets(settings)}

        def below(number, measure, by_set=by_set):
            """One verdict a set: is our number below the smallest of the others'?"""
            return [paired([other - ours for ours, other in curves.per_seed(one, number).values()],
                           f"{measure}, {data}") for data, one in by_set.items()]

        def lowest_until(horizon, **sets):
            return both(*below(lambda one: curves.lowest(one, "validation", horizon, every),
                               "lowest validation loss, best other less ours", **sets))

        verdicts = {f"a-{horizon}": lowest_until(horizon) for horizon in curves.HORIZONS}
        (first,), steps = (self.longer(settings)[name] for name in ("sets", "steps"))
        verdicts["a-60000-mnist"] = lowest_until(steps, by_set={first: curves.judged(
            "autoencoder", first, self.longer(settings), results)})
        training = [paired([ours - other for ours, other in curves.per_seed(
            one, lambda run: curves.lowest(run, "train", end, every)).values()],
            f"lowest training loss, ours less best other, {data}") for data, one in by_set.items()]
        verdicts["b"] = curves.one_of_them(*training)
        verdicts["c"] = both(*below(lambda one: curves.gap(one, end, every),
                                    "gap at the end, smallest other less ours"))
        verdicts["c-fair"] = both(*(paired(at_equal_training_loss(one),
                                           f"validation loss, best other less ours, {data}")
                                    for data, one in by_set.items()))
        return verdicts

    def draw(self, results, figure, settings):
        curves.draw("autoencoder", "loss", results, figure,
                    "Autoencoder D-64-2-64-D, tanh: each method at its best rate")


def at_equal_training_loss(by_method):
    """By seed: the smaller validation loss of the others less ours, all at the lowest training
    loss that all three reach.
    """
    differences = []
    for seed in by_method["partitioning"]:
        runs = {method: of[seed] for method, of in by_method.items() if seed in of}
        level = max(min(one["train"]) for one in runs.values())
        at = {method: curves.validation_at(one, level) for method, one in runs.items()}
        ours = at.pop("partitioning")
        differences.append(min(at.values()) - ours)
    return differences
