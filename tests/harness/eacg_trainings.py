"""Made-up trainings of EA-CG and its rivals, for the judges of its studies."""

import numpy as np

from harness import made_up


def judged(key, make, seeds=None):
    return made_up.judged("ea-cg", key, timed_too(make), seeds)


def timed_too(make):
    """Beside trainings the timings of their updates, by the seconds of the trainings' epochs."""
    def made(**arguments):
        if "repeat" not in arguments:
            return make(**arguments)
        return {f"{method} {curvature}": make(
            seed=1, method=method, curvature=curvature, case=arguments["case"], rate=0.1,
            criterion=arguments["criterion"], alpha=0.01, batch=arguments["batch"])["seconds"][-1]
            / (40 * 100) for method, curvature in arguments["methods"]}
    return made


def falling(seed, to=0.1, accuracy=0.5, speed=1.0, early=None):
    """A made-up training from log 10 to a loss, 41 looks, `speed` seconds an epoch; `early`: the
    accuracy of epochs 10 to 15.
    """
    wobble = 1e-3 * (seed % 7)
    accuracies = np.full(41, accuracy + wobble)
    if early is not None:
        accuracies[10:16] = early + wobble / 2
    return {"loss": np.geomspace(np.log(10), to * (1 + wobble), 41).tolist(),
            "accuracy": accuracies.tolist(), "seconds": (speed * np.arange(41.0)).tolist(),
            "updates": 100}


def flat(seed, **_):
    return {"loss": [2.303] * 41, "accuracy": [0.1] * 41, "seconds": list(range(41)),
            "updates": 100}


LOST = {"loss": [2.303], "accuracy": [0.1], "seconds": [0.0], "updates": 100,
        "diverged": "epoch 0: inf"}


def as_printed(seed, method, curvature, **_):
    """EA-CG faster and better tested, KFI lower by epoch, SGD the fastest."""
    if method == "sgd":
        return falling(seed, to=0.1, accuracy=0.5, speed=0.05)
    if method == "ea-cg":
        return falling(seed, to=0.1, accuracy=0.5, speed=0.1)
    return falling(seed, to=0.05, accuracy=0.4, speed=1.0 if curvature == "fisher" else 3.0)


def contrary(seed, method, curvature, **_):
    if method == "sgd":
        return falling(seed, to=0.5, accuracy=0.3, speed=9.0)
    if method == "ea-cg":
        return falling(seed, to=0.2 if curvature == "pch-1" else 0.4,
                       accuracy=0.4 if curvature == "pch-1" else 0.3, speed=3.0)
    return falling(seed, to=0.25, accuracy=0.6, speed=1.0 if curvature != "fisher" else 2.0)
