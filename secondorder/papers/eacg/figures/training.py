"""One training by any method; settings and names that the figures share."""

import time

import numpy as np

import secondorder as so

from . import networks
from .networks import CRITERIA

CURVATURES = ("fisher", "gauss-newton", "pch-1", "pch-2")
NAMES = {"fisher": "Fisher", "gauss-newton": "Gauss-Newton", "pch-1": "PCH-1", "pch-2": "PCH-2",
         "sgd": "SGD", "ea-cg": "EA-CG", "kfi": "KFI", "kfi-rank-one": "KFI with (13)",
         "cg": "CG with (11a)", "cross-entropy": "cross-entropy",
         "bounded": "bounded criterion (14)"}
PRODUCTS = 20  # of conjugate gradients; the paper tries 5 to 50
CLOSED = {"ea-cg": "ea-closed"}
PRINTED = {"ea-cg": "ea-cg-printed", "kfi": "kfi-printed"}  # the solvers as the paper has them
FULL = {"epochs": 40, "trial": 10, "samples": 10000, "batches": (100, 500), "rates": (0.1, 0.2),
        "alphas": (0.01, 0.02, 0.1), "case": "R5"}
QUICK = {"case": "Q", "epochs": 3, "trial": 0, "samples": 500, "batches": (100,), "rates": (0.2,),
         "alphas": (0.01,), "seeds": (1,)}
DEVIATION = ("10,000 images and smaller networks, named in the titles; 40 epochs instead of 200. A "
             "thinned grid, tried for 10 epochs, and one step beyond its corner where that is "
             "chosen; (11b) in closed form instead of conjugate gradients")
SHARED = {"quick": QUICK, "needs": ("cifar-10",),
          "smaller": "10,000 images, smaller networks, 40 epochs", "deviation": DEVIATION}


def seeds_to(count):
    """Settings with the seeds 1 to `count`: as many as decide at the spread of the first three."""
    return {"seeds": tuple(range(1, count + 1))}


def train(seed, case, criterion, method, curvature, rate, alpha, batch, epochs, samples,
          hold_out=False):
    """Train once and look after every epoch.

    `case` and `criterion` are keys of `networks.WIDTHS` and `networks.CRITERIA`; `method` is "sgd"
    (with momentum 0.9) or a solver; `hold_out` is as for :func:`.networks.split`.

    Returns
    -------
    dict
        ``loss`` on the training images and ``accuracy`` on the others, at the start and after every
        epoch; ``seconds``, CPU seconds of the steps alone; ``updates`` of an epoch. Of a training
        whose numbers stop being finite what came before, and ``diverged``.
    """
    (x, y), (test_x, test_y) = networks.split(case, seed, samples, hold_out)
    network, loss = networks.network_of(case, seed), CRITERIA[criterion]()
    optimizer = optimizer_of(network, loss, method, curvature, rate, alpha)
    # loops are compiled in a first step, here of a copy: these seconds are not the method's
    optimizer_of(network.copy(), loss, method, curvature, 1e-3, alpha).step(x[:batch], y[:batch])
    rng, updates = np.random.default_rng([seed, 1]), len(x) // batch
    record = {"loss": [], "accuracy": [], "seconds": [], "updates": updates}
    spent = 0.0
    for epoch in range(epochs + 1):
        try:
            record["loss"].append(mean_loss(network, loss, x, y))
            record["accuracy"].append(float(np.mean(network(test_x).argmax(axis=1) == test_y)))
            record["seconds"].append(round(spent, 3))
            order = rng.permutation(len(x))
            for start in range(0, updates * batch if epoch < epochs else 0, batch):
                rows = order[start:start + batch]
                began = time.process_time()
                optimizer.step(x[rows], y[rows])
                spent += time.process_time() - began
        except FloatingPointError as error:
            return record | {"diverged": f"epoch {epoch}: {error}"}
    return record


def optimizer_of(network, loss, method, curvature, rate, alpha, products=None):
    """SGD with momentum 0.9, or a solver; EA-CG in closed form.

    With `products` the solvers are as the paper describes them: EA-CG by so many products of
    conjugate gradients at most, and KFI with the matrices of Eq. (12).
    """
    if method == "sgd":
        return so.Momentum(network, loss, learning_rate=rate, momentum=0.9)
    solvers, more = (CLOSED, {}) if products is None else (
        PRINTED, {"max_cg": products, "tolerance": 1e-10})
    return so.EACG(network, loss, learning_rate=rate, curvature=package_name(curvature),
                   solver=solvers.get(method, method), alpha=alpha, **more)


def package_name(curvature):
    """A curvature of the paper's figures as the package names it: their Fisher matrix has the given
    targets.
    """
    return "fisher-empirical" if curvature == "fisher" else curvature


def mean_loss(network, loss, x, y, part=2000):
    """Mean loss, in parts of the images so that wide inputs need little memory."""
    total = sum(network.evaluate(loss, x[k:k + part], y[k:k + part]).loss * len(x[k:k + part])
                for k in range(0, len(x), part))
    return float(f"{total / len(x):.6g}")
