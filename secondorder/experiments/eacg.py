"""EA-CG's experiments: curvatures and solvers on digits and Cifar-10, errors of curvatures, memory.

    python -m secondorder.experiments.eacg training --out DIR     every method, two criteria
    python -m secondorder.experiments.eacg errors --out DIR       the metric of Tables 2-5
    python -m secondorder.experiments.eacg cifar --out DIR        every pair on the paper's network
    python -m secondorder.experiments.eacg memory --out DIR       inputs of width 150,528

Digits are 1437 for training and 360 for testing, pixels between 0 and 1; the network is
64-32-16-10 with sigmoids and Xavier weights, the batch 100. Cifar-10 comes from the directory that
``SECONDORDER_DATA`` names (``cifar-10-subset``). One file a run, so that a sweep that was stopped
goes on where it stood.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

import secondorder as so
from secondorder import files
from secondorder.papers import eacg
from secondorder.papers.eacg import curvatures, errors, rules
from secondorder.papers.eacg.complexity import CIFAR_10, IMAGENET_10
from secondorder.experiments import environment
from secondorder.experiments.processes import forget_peak, in_a_process, peak_bytes

SIZES, DEEPER = (64, 32, 16, 10), (64, 48, 32, 24, 16, 10)
BATCH = 100
EPOCHS = 30
CRITERIA = {"cross-entropy": so.SoftmaxCrossEntropy, "bounded": so.BoundedCriterion}
PAPERS = {"learning_rate": 0.2, "alpha": 0.01}  # a corner of its grids
ERRORS_OF = ("fisher", "gauss-newton", "pch-1", "pch-2", "clipped", "expectation")


def _eacg(curvature, solver="ea-cg", **options):
    return so.EACG, PAPERS | {"curvature": curvature, "solver": solver} | options


METHODS = {
    "SGD, momentum": (so.Momentum, {"learning_rate": 0.2, "momentum": 0.9}),
    "SGD, rate 2": (so.SGD, {"learning_rate": 2.0}),
    **{f"{name} EA-CG": _eacg(name) for name in ("fisher", "gauss-newton", "pch-1", "pch-2")},
    **{f"{name} KFI": _eacg(name, "kfi") for name in ("fisher", "gauss-newton", "pch-1", "pch-2")},
    "pch-1 exact": _eacg("pch-1", "exact"),
    "pch-1 joint": _eacg("pch-1", joint=True),
    "pch-1 rank 4": _eacg("pch-1", rank=4),
    **{f"pch-mean {solver}": _eacg("pch-mean", solver) for solver in ("ea-cg", "kfi", "exact")},
    **{f"clipped {solver}": _eacg("clipped", solver) for solver in ("ea-cg", "kfi")},
}


# -- digits --------------------------------------------------------------------------------------


def digits(seed):
    """Training and test part, pixels between 0 and 1."""
    data = so.datasets.scale(so.datasets.load_digits(), (0.0, 1.0))
    return so.datasets.split(data, validation=360, rng=seed)


def digits_network(seed, sizes=SIZES):
    """Sigmoids, Xavier weights, zero biases."""
    return so.mlp(sizes, activation="sigmoid", init="xavier", rng=seed)


def batches(x, y, rng, epochs):
    """Full batches of `BATCH`, in a new order every epoch."""
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            yield x[chosen], y[chosen]


def train_on_digits(method, criterion, seed, epochs=EPOCHS):
    """One run: training loss and test accuracy at the end, seconds of its steps."""
    training, test = digits(seed)
    network, (cls, options) = digits_network(seed), METHODS[method]
    loss = CRITERIA[criterion]()
    optimizer, seconds = cls(network, loss, **options), 0.0
    for x, y in batches(training.inputs, training.targets, np.random.default_rng([seed, 1]),
                        epochs):
        started = time.perf_counter()
        optimizer.step(x, y)
        seconds += time.perf_counter() - started
    accuracy = np.mean(network(test.inputs).argmax(axis=1) == test.targets)
    final = network.evaluate(loss, training.inputs, training.targets).loss
    return {"loss": final, "accuracy": float(accuracy), "seconds": seconds}


TRAJECTORIES = {"SGD": (so.Momentum, {"learning_rate": 0.1, "momentum": 0.9}),
                "EA-CG": (so.EACG, PAPERS | {"learning_rate": 0.1, "alpha": 0.02})}


def errors_on_digits(trajectory, criterion, sizes, epochs, seed):
    """Layer-wise errors averaged over all updates, batch of the update on both sides.

    Returns
    -------
    dict
        ``errors``: name -> errors of the layers, mean over updates; ``norm`` of the true blocks.
    """
    training, _ = digits(seed)
    network, (cls, options) = digits_network(seed, sizes), TRAJECTORIES[trajectory]
    loss = CRITERIA[criterion]()
    optimizer, found, norms = cls(network, loss, **options), {name: [] for name in ERRORS_OF}, []
    for x, y in batches(training.inputs, training.targets, np.random.default_rng([seed, 1]),
                        epochs):
        made = errors_at(network.evaluate(loss, x, y), ERRORS_OF)
        norms.append(made.pop("norm"))
        for name, values in made.items():
            found[name].append(values)
        optimizer.step(x, y)
    means = {name: np.mean(values, axis=0) for name, values in found.items()}
    return {"errors": means,
            "totals": {name: float(errors.total_error(values)) for name, values in means.items()},
            "norm": float(errors.total_error(np.mean(norms, axis=0)))}


def errors_at(evaluation, names):
    """Layer-wise errors of curvatures at one evaluation, and the norms of the true blocks."""
    units = rules.units(evaluation)
    exact = curvatures.CURVATURES["hessian"].make(evaluation, units, None)
    made = {name: errors.layer_errors(curvatures.CURVATURES[name].make(evaluation, units, None),
                                      exact) for name in names}
    return made | {"norm": np.array([np.linalg.norm(H) for H in exact])}


def errors_while_training(training, seed, epochs, every=7):
    """Layer-wise errors every few steps of a run of EA-CG with PCH-1, for a picture.

    Parameters
    ----------
    training : Dataset
    seed : int
    epochs : int
    every : int

    Returns
    -------
    dict of str to (n, k) arrays
        Errors by step and layer; under ``"norm"`` the norms of the true blocks.
    (n,) array
        The steps.
    tuple of int
        Widths of the network.
    """
    network, loss = digits_network(seed), so.SoftmaxCrossEntropy()
    cls, options = TRAJECTORIES["EA-CG"]
    optimizer, found, steps = cls(network, loss, **options), [], []
    rows = batches(training.inputs, training.targets, np.random.default_rng([seed, 1]), epochs)
    for step, (x, y) in enumerate(rows):
        if step % every == 0:
            steps.append(step)
            found.append(errors_at(network.evaluate(loss, x, y), ERRORS_OF[:4]))
        optimizer.step(x, y)
    by_name = {name: np.array([one[name] for one in found]) for name in found[0]}
    return by_name, np.array(steps), SIZES


# -- the paper's networks ------------------------------------------------------------------------


def cifar(samples=2000, seed=0):
    """Some images of Cifar-10, pixels between 0 and 1, in single precision."""
    data = so.datasets.scale(so.datasets.load("cifar-10:cifar-10-subset"), (0.0, 1.0))
    chosen = np.random.default_rng(seed).permutation(len(data))[:samples]
    inputs = data.inputs.reshape(len(data), -1)
    return inputs[chosen].astype(np.float32), data.targets[chosen]


def train_on_cifar(curvature, solver, criterion, steps=8, batch=500, alpha=0.02, rate=0.1):
    """Some steps of one pair on the paper's network: losses, memory, seconds a step beside SGD.

    The memory is that of the process while it makes these steps; the seconds are of steps that
    follow, one of SGD on a network of its own after every one of the pair.
    """
    x, y = cifar()
    loss = CRITERIA[criterion]()
    network = so.mlp(CIFAR_10, activation="sigmoid", init="xavier", rng=0, dtype="float32")
    sgd = so.SGD(network.copy(), loss, rate)
    if curvature == "sgd":
        optimizer = so.SGD(network, loss, rate / alpha)
    else:
        options = {"curvature": curvature, "solver": solver, "alpha": alpha, **products(solver, 10)}
        optimizer = so.EACG(network, loss, rate, rng=0, **options)
    first = network.evaluate(loss, x, y).loss
    parts = [slice(start, start + batch) for start in range(0, len(x), batch)] * steps
    forget_peak()
    losses = [optimizer.step(x[part], y[part])["loss"] for part in parts[:steps]]
    peak, last = peak_bytes(), network.evaluate(loss, x, y).loss
    seconds = [[_seconds(method.step, x[part], y[part]) for method in (optimizer, sgd)]
               for part in parts[:steps]]
    return {
        "losses": losses,
        "first": first,
        "last": last,
        "seconds_a_step": float(np.median([ours for ours, _ in seconds])),
        "steps_of_sgd": float(np.median([ours / other for ours, other in seconds[1:]])),
        "peak_bytes": peak,
    }


def _seconds(function, *arguments):
    started = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - started


def products(solver, most):
    """The limit of conjugate gradients, for a solver that has one."""
    return {"max_cg": most} if solver in ("ea-cg", "cg") else {}


def wide_inputs(solver, batch=100, sizes=IMAGENET_10):
    """Two steps at the width of ImageNet-10; an (n_0, n_0) matrix would be 90.6 GB."""
    rng = np.random.default_rng(0)
    x, y = rng.random((batch, sizes[0]), dtype=np.float32), rng.integers(0, sizes[-1], batch)
    network = so.mlp(sizes, activation="sigmoid", init="xavier", rng=0, dtype="float32")
    if solver == "sgd":
        optimizer = so.SGD(network, so.SoftmaxCrossEntropy(), 1e-3)
    else:
        optimizer = so.EACG(network, so.SoftmaxCrossEntropy(), 1e-3, solver=solver,
                            **products(solver, 5))
    forget_peak()
    before = peak_bytes()
    seconds = [_seconds(optimizer.step, x, y) for _ in range(2)]
    return {
        "parameters": network.size,
        "parameter_bytes": network.theta.nbytes,
        "square_matrix_bytes": 4 * sizes[0] ** 2,
        "peak_bytes": peak_bytes(),
        "bytes_before_the_steps": before,
        "seconds": seconds,
        "loss": network.evaluate(so.SoftmaxCrossEntropy(), x, y).loss,
    }


SLOW = ("pch-mean", "clipped")  # instance by instance
OF_THE_MODEL = ("fisher-exact", "fisher-sampled")  # not for the bounded criterion

# -- sweeps ---------------------------------------------------------------------------------------


def planned(experiment, seeds):
    """Name -> (function, arguments) of every run of an experiment."""
    if experiment == "training":
        return {f"training-{criterion}-{method}-seed{seed}":
                (train_on_digits, (method, criterion, seed))
                for criterion in CRITERIA for method in METHODS for seed in seeds}
    if experiment == "errors":
        return {f"errors-{'-'.join(map(str, sizes))}-{criterion}-{trajectory}-seed{seed}":
                (errors_on_digits, (trajectory, criterion, sizes, epochs, seed))
                for sizes, epochs in ((SIZES, 30), (DEEPER, 60)) for criterion in CRITERIA
                for trajectory in TRAJECTORIES for seed in seeds[:3]}
    if experiment == "cifar":
        once = [name for name in eacg.POSITIVE if name != "fisher-empirical"]  # it is "fisher"
        pairs = [("sgd", "")] + [(c, s) for c in once for s in eacg.SOLVERS]
        return {f"cifar-{criterion}-{curvature}-{solver}":
                (train_on_cifar, (curvature, solver, criterion, 2 if curvature in SLOW else 8))
                for criterion in CRITERIA for curvature, solver in pairs
                if not (criterion == "bounded" and curvature in OF_THE_MODEL)}
    return {f"memory-{solver}": (wide_inputs, (solver,)) for solver in ("sgd", *eacg.SOLVERS)}


def run_all(experiment, out, seeds, only="", budget=np.inf, say=print):
    """Make every run that has no file in `out` yet; return name -> what it found.

    Parameters
    ----------
    experiment : {"training", "errors", "cifar", "memory"}
    out : Path
        Existing directory.
    seeds : list of int
    only : str
        Runs whose name contains it.
    budget : float
        Seconds after which no further run begins.
    say : callable
    """
    found, started = {}, time.perf_counter()
    for name, (function, arguments) in planned(experiment, seeds).items():
        path = out / f"{name.replace(' ', '_').replace(',', '')}.json"
        if only not in name:
            continue
        if not path.exists():
            if time.perf_counter() - started > budget:
                say("the budget is used up; run it again to go on")
                break
            # memory is that of a process, so that each of these has its own
            alone = experiment in ("cifar", "memory")
            made = in_a_process(function, *arguments) if alone else function(*arguments)
            made = {"name": name, "environment": environment(), **made}
            files.write_json(path, made)
        found[name] = json.loads(path.read_text(encoding="utf-8"))
        say(f"{name}: {_short(found[name])}")
    return found


def _short(made):
    kept = {k: v for k, v in made.items() if k not in ("name", "environment", "losses", "errors")}
    return json.dumps(kept, default=float)


def main(arguments=None):
    """The command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m secondorder.experiments.eacg")
    parser.add_argument("experiment", choices=("training", "errors", "cifar", "memory"))
    parser.add_argument("--out", required=True, metavar="DIR", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11, 12, 13, 14])
    parser.add_argument("--only", default="", metavar="TEXT", help="runs whose name contains this")
    parser.add_argument("--budget", type=float, default=np.inf, metavar="SECONDS")
    options = parser.parse_args(arguments)
    out = files.output_directory(options.out)
    run_all(options.experiment, out, options.seeds, options.only, options.budget)


if __name__ == "__main__":
    main()
