"""Ours: what adding the covariance that (5) drops changes, in a step and in training."""

from textwrap import fill

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from secondorder.studies import Run, alike, chosen, diverged, finished, over_seeds, paired, study

from .. import PAPER
from ..beyond import clipped_step
from . import networks
from .covariance import apart, draw_apart, instance_blocks
from .networks import CRITERIA

PRODUCTS = 20  # of conjugate gradients, a layer
CHOOSING = 100  # the seed on which rates are chosen
NAMES = {True: "with the covariance", False: "without it, as (5)"}


def positive_blocks(evaluation):
    """(h_i, B_i, g_i) of each linear layer: inputs (S, n_in), positive Hessians (S, n_out, n_out)
    and gradients (S, n_out) in the outputs.

    (4b) for every instance i, with the absolute value of its second term, as PCH-1 has:

        B_i^(t-1) = diag(h_i') W^T B_i^t W diag(h_i') + |diag(h_i'' (.) W^T g_i^t)|
    """
    return instance_blocks(evaluation, lambda layer, B: clipped_step(layer, B, -1.0))


def directions(evaluation, alpha, covariance):
    """Directions (D (n_out, n_in), d (n_out,)) by layer. Those of the weights solve

        ((1 - alpha) H + alpha 1) D = -G

        H Vec(V) = Vec(E_i[B_i V h_i h_i^T])            with the covariance
                 = Vec(E_i[B_i] V E_i[h_i h_i^T])       without it, (5)

    Those of the biases have the block E_i[B_i].
    """
    solved = []
    for h, B, g in positive_blocks(evaluation):
        samples, (n_out, n_in) = len(h), (g.shape[1], h.shape[1])
        mean_B, mean_hh = B.mean(axis=0), h.T @ h / samples

        def product(vector, h=h, B=B, mean_B=mean_B, mean_hh=mean_hh, shape=(n_out, n_in)):
            V = vector.reshape(shape)
            if covariance:
                H_V = ((B @ (h @ V.T)[:, :, None])[:, :, 0]).T @ h / len(h)
            else:
                H_V = mean_B @ V @ mean_hh
            return (1 - alpha) * H_V.ravel() + alpha * vector

        G = g.T @ h / samples
        D, _ = cg(LinearOperator((G.size, G.size), product, dtype=G.dtype), -G.ravel(),
                  rtol=1e-6, maxiter=PRODUCTS)
        bias = np.linalg.solve((1 - alpha) * mean_B + alpha * np.eye(n_out), -g.mean(axis=0))
        solved.append((D.reshape(G.shape), bias))
    return solved


def trained(seed, case, samples, epochs, rate, alpha, covariance, every=None):
    """A training along `directions`, batches of 100: ``loss`` of the training images, an epoch.
    With `every`, a number a look: ``cosine`` between the two directions at the same point, and
    ``length``, with the covariance over without.
    """
    (x, y), _ = networks.split(case, seed, samples)
    network, loss = networks.network_of(case, seed), CRITERIA["cross-entropy"]()
    rng, update = np.random.default_rng([seed, 1]), 0
    record = {"loss": [network.evaluate(loss, x, y).loss], "cosine": [], "length": []}
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - 99, 100):
            rows = order[start:start + 100]
            evaluation = network.evaluate(loss, x[rows], y[rows])
            step = directions(evaluation, alpha, covariance)
            if every and update % every == 0:
                one, other = (np.concatenate([D.ravel() for D, _ in both]) for both in (
                    directions(evaluation, alpha, True), directions(evaluation, alpha, False)))
                for name, value in zip(("cosine", "length"), apart(one, other)):
                    record[name].append(value)
            for layer, (D, bias) in zip((one for one in network.layers if one.size), step):
                layer.weight[...] += rate * D
                layer.bias[...] += rate * bias
            update += 1
        record["loss"].append(network.evaluate(loss, x, y).loss)
    return record


def last(run):
    """The last training loss; infinite where the run diverged."""
    return np.inf if diverged(run) else run["loss"][-1]


@study(PAPER, "claim-covariance-added",
       shows="Steps and trainings with the covariance that (5) drops, and without it",
       claims={"step": "the directions with and without it have a cosine above 0.9, in the mean "
                       "over a training",
               "training": "the last training losses with and without it are alike, within 10 %",
               "training-digits": "the same on digits, each at its best rate"},
       full={"case": "R5", "samples": 4000, "epochs": 5, "every": 20, "rate": 0.2, "alpha": 0.02,
             "seeds": (1, 2, 3), "digits": {"samples": None, "epochs": 20,
                                            "rates": (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4),
                                            "seeds": tuple(range(1, 9))}},
       quick={"case": "Q", "samples": 200, "epochs": 2, "every": 1, "rate": 0.2, "alpha": 0.02,
              "seeds": (1,), "digits": {"samples": 200, "epochs": 1, "rates": (0.2, 0.4),
                                        "seeds": (1,)}},
       seconds=(1500, 3), needs=("cifar-10",), ours=("step", "training", "training-digits"),
       smaller="4000 images, a smaller network",
       deviation="a control of ours on 4000 images: each has its block, made positive as in PCH-1; "
                 "20 products of conjugate gradients for a layer")
class CovarianceAdded:
    def run(self, settings, seed, covariance, **more):
        return Run(trained, {"seed": seed, "covariance": covariance, **{
            name: settings[name] for name in ("case", "samples", "epochs", "rate", "alpha")},
            **more})

    def of_digits(self, settings, seed, covariance, rate):
        return self.run({**settings, **settings["digits"], "case": "Q", "rate": rate}, seed,
                        covariance)

    def best(self, settings, results, covariance):
        """The best rate on digits, by the last training loss on the seed for choosing."""
        options = [{"case": "Q", "epochs": settings["digits"]["epochs"], "covariance": covariance,
                    "rate": rate} for rate in settings["digits"]["rates"]]
        choice = chosen(results, options, last, (CHOOSING,))
        return choice and choice["rate"]

    def runs(self, settings, results):
        wanted = []
        for covariance in NAMES:
            wanted += [self.run(settings, seed, covariance,
                                **({} if covariance else {"every": settings["every"]}))
                       for seed in settings["seeds"]]
            wanted += [self.of_digits(settings, CHOOSING, covariance, rate)
                       for rate in settings["digits"]["rates"]]
            rate = self.best(settings, results, covariance)
            wanted += [self.of_digits(settings, seed, covariance, rate)
                       for seed in settings["digits"]["seeds"] if rate]
        return wanted

    def _told(self, settings, results):
        """Covariance -> its runs on the images, and on digits at its best rate."""
        images = {covariance: results.of(case=settings["case"], covariance=covariance,
                                         epochs=settings["epochs"]) for covariance in NAMES}
        digits = {}
        for covariance in NAMES:
            rate = self.best(settings, results, covariance)
            runs = results.by_seed(case="Q", epochs=settings["digits"]["epochs"],
                                   covariance=covariance, rate=rate)
            digits[covariance] = [runs[seed] for seed in settings["digits"]["seeds"]]
        return images, digits

    def judge(self, results, settings):
        images, digits = self._told(settings, results)
        cosines = [np.nan if diverged(run) else np.mean(run["cosine"]) for run in images[False]]
        verdicts = {"step": paired(cosines, "mean cosine; 0.9 is asked for", 0.9)}
        for letter, told in (("training", images), ("training-digits", digits)):
            logs = [float(np.log(last(one) / last(other)))
                    for one, other in zip(told[True], told[False])]
            verdicts[letter] = alike(logs, 0.1, "log of the last loss, with it over without")
        return verdicts

    def draw(self, results, figure, settings):
        images, digits = self._told(settings, results)
        left, middle, right = figure.subplots(1, 3)
        draw_apart(left, finished(images[False]), settings["every"])
        left.set(ylabel="with the covariance, over without it")
        for panel, told, case, of in ((middle, images, settings["case"], settings),
                                      (right, digits, "Q", settings["digits"])):
            for (covariance, name), style in zip(NAMES.items(), ("s-", "o--")):
                losses = [run["loss"] for run in finished(told[covariance])]
                panel.plot(np.mean(losses, axis=0), style, markersize=4, label=name)
            panel.set(xlabel="epoch", ylabel="training loss, cross-entropy", yscale="log",
                      title=fill(f"{networks.title_of(case, of['samples'])}; "
                                 f"{over_seeds(of['seeds'], 'mean')}", 42))
        for panel in figure.axes:
            panel.title.set_fontsize(8)
            panel.legend(fontsize=8)
