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
               "b": "it does not always have the lowest training loss: on at least one set it does "
                    "not",
               "c": "it overfits less: validation less training loss at the end is below both "
                    "others' on all sets",
               "c-fair": "at the lowest training loss that all three reach, its validation loss is "
                         "below both others', on all sets"},
       full=curves.FULL, quick=curves.QUICK, seconds=(3800, 6), needs=("mnist", "cifar-10"),
       ours=("c-fair",), deviation=curves.DEVIATION)
class Figure1:
    def runs(self, settings, results):
        return curves.stages("autoencoder", settings, results)

    def judge(self, results, settings):
        every, end = settings["every"], settings["steps"]
        by_set = {data: curves.judged("autoencoder", data, settings, results)
                  for data in curves.counted_sets(settings)}

        def below(number, measure):
            """One verdict a set: is our number below the smallest of the others'?"""
            return [paired([other - ours for ours, other in curves.per_seed(one, number).values()],
                           f"{measure}, {data}") for data, one in by_set.items()]

        verdicts = {f"a-{horizon}": both(*below(
            lambda one: curves.lowest(one, "validation", horizon, every),
            "lowest validation loss, best other less ours")) for horizon in curves.HORIZONS}
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
