"""Ours: does EA-CG leave the plateau at the paper's depth?"""

import numpy as np

import secondorder as so
from secondorder.studies import Run, counted, study

from .. import PAPER
from . import networks, training

LOOK = 100  # updates between two looks
#: Widths of the paper's depth on the images of R5.
DEEP = (768, 256, 128, 64, 32, 16, 16, 16, 10)


def normal_xavier(shape, fan_in, fan_out, rng):
    """Normal weights with the variance 2 / (fan_in + fan_out); biases 0."""
    return rng.normal(0, np.sqrt(2 / (fan_in + fan_out)) if len(shape) > 1 else 0, shape)


def first_start(seed, case, widths, name, updates, gain, favoured=False):
    """First look at which the training loss is off the plateau, `updates` + 1 where it never is.

    `widths` are those of another network on the images of the case; `name` is "ea-cg" or "sgd".
    `gain` multiplies Xavier's weights: 1 as printed, 4 is the slope of the sigmoid. `favoured`
    takes normal weights instead of uniform ones, and inputs less their mean: what helps a start.
    """
    (x, y), _ = networks.split(case, seed, None)
    network = so.mlp(widths or networks.WIDTHS[case], activation="sigmoid",
                     init=normal_xavier if favoured else "xavier", rng=seed, dtype="float32")
    for layer in network.layers:
        if layer.size:
            layer.weight[...] *= gain
    if favoured:
        x = x - x.mean(axis=0)
    loss = so.SoftmaxCrossEntropy()
    optimizer = training.optimizer_of(network, loss, name, "pch-1", 0.2, 0.02)
    rng = np.random.default_rng([seed, 1])
    for update in range(updates + 1):
        if update % LOOK == 0 and network.evaluate(loss, x[:2000], y[:2000]).loss \
                < networks.STARTED["cross-entropy"]:
            return {"update": update}
        rows = rng.choice(len(x), 100, replace=False)
        try:
            optimizer.step(x[rows], y[rows])
        except FloatingPointError as error:
            return {"update": updates + 1, "diverged": f"update {update}: {error}"}
    return {"update": updates + 1}


@study(PAPER, "claim-plateau", shows="Updates until EA-CG leaves the plateau of a deep network",
       claims={"printed": "EA-CG starts on the paper's network for Cifar-10 within 1500 updates",
               "favoured": "EA-CG starts on that network within 20,000 updates, with normal "
                           "Xavier weights and centred inputs, which are not printed",
               "gain": "EA-CG starts at the same depth on smaller images, with weights four times "
                       "Xavier's, which is not printed"},
       full={"case": "R5", "deep": DEEP, "printed": "P8", "seeds": (1, 2, 3),
             "updates": {"printed": 1500, "favoured": 20_000, "gain": 4000}},
       quick={"case": "Q", "deep": None, "printed": "Q", "seeds": (1,),
              "updates": {"printed": 20, "favoured": 40, "gain": 60}},
       seconds=(5000, 5), needs=("cifar-10",), ours=("printed", "favoured", "gain"),
       smaller="up to 20,000 updates of 100,000",
       deviation="the paper trains for up to 100,000 updates; a start that takes longer reads as "
                 "never")
class Plateau:
    names = {"printed": "the paper's network,\nas printed", "favoured": "the paper's network,\n"
             "normal weights,\ncentred inputs", "gain": "its depth on 16 x 16 pixels,\nweights "
             "times 4"}

    def asked(self, settings, letter):
        """The runs of a claim."""
        gain = {"case": settings["case"], "gain": 4.0,
                "widths": settings["deep"] and list(settings["deep"])}
        own = {"printed": {}, "favoured": {"favoured": True}, "gain": gain}[letter]
        return [Run(first_start, {"case": settings["printed"], "widths": None, "name": "ea-cg",
                                  "gain": 1.0, "updates": settings["updates"][letter],
                                  "seed": seed} | own) for seed in settings["seeds"]]

    def runs(self, settings, results):
        return [run for letter in self.names for run in self.asked(settings, letter)]

    def starts(self, results, settings, letter):
        return [results.returned(run)["update"] for run in self.asked(settings, letter)]

    def judge(self, results, settings):
        verdicts = {}
        for letter, limit in settings["updates"].items():
            starts = self.starts(results, settings, letter)
            verdicts[letter] = counted([update <= limit for update in starts], starts,
                                       f"updates until the start ({limit + 1}: never)", least=3)
        return verdicts

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        for place, letter in enumerate(self.names):
            for k, update in enumerate(self.starts(results, settings, letter)):
                never = update > settings["updates"][letter]
                axes.plot(place + 0.1 * k, update, "o", color="C3",
                          markerfacecolor="white" if never else "C3")
        axes.set_xticks(range(len(self.names)), self.names.values())
        axes.set(ylabel="updates until the start (hollow: none until there)", yscale="log",
                 xlim=(-0.5, 2.7), title="EA-CG with PCH-1 on the plateau of eight sigmoid layers; "
                 "one mark per seed")
        axes.set_yticks([100, 1000, 10_000], ["100", "1000", "10,000"])
        axes.title.set_fontsize(10)
