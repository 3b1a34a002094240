"""Exact Gauss-Newton in reversible networks at the paper's MNIST and CIFAR-10 shapes.

    python -m secondorder.experiments.reversible mnist --out DIR --list           names of all runs
    python -m secondorder.experiments.reversible mnist --out DIR --budget 400     some of them
    python -m secondorder.experiments.reversible cifar --out DIR                  a few iterations
    python -m secondorder.experiments.reversible report --out DIR                 table and figure

Every run writes one file, ``NAME.json``, with settings, records and environment, and goes on where
it stopped.

Each step moves the parameters by the paper's right inverse or the Moore-Penrose inverse, or by SGD
or Adam. Data come from the directory that ``SECONDORDER_DATA`` names (``mnist-subset`` in IDX
format, ``cifar-10-subset`` in binary format); the digits are embedded.
"""

import argparse
import json
import resource
import time
import warnings
from dataclasses import dataclass, field

import numpy as np

import secondorder as so
from secondorder import files
from secondorder.experiments import environment, reversible_report
from secondorder.papers.reversible_gauss_newton import RankWarning, RevMLP

N = 1024  # samples a step, as in the paper
METHODS = {"right": (so.GaussNewton, {"measure": False}),
           "truncated": (so.GaussNewton, {"pseudo_inverse": "truncate", "measure": False}),
           "moore-penrose": (so.GaussNewton, {"inverse": "moore-penrose", "measure": False}),
           "adam": (so.Adam, {}), "sgd": (so.SGD, {})}
RATES = {"right": (0.5, 1.0, 2.0), "truncated": (0.5, 1.0, 2.0), "moore-penrose": (1.0, 0.5, 2.0),
         "adam": (1e-4, 1e-3, 3e-3), "sgd": (0.1, 0.3, 1.0)}


@dataclass(frozen=True)
class Run:
    """One optimizer with one rate on one network; `full` repeats one batch, otherwise epochs of
    batches of `samples`.
    """

    method: str
    rate: float
    full: bool
    steps: int
    samples: int = N
    seed: int = 0
    shape: dict = field(default_factory=dict)

    @property
    def name(self):
        kind = "full" if self.full else "mini"
        return f"{kind}-{self.method}-{self.rate:g}-n{self.samples}-s{self.seed}"


MNIST = {"blocks": 2, "bottleneck": 8000, "outputs": 10, "dtype": "float32"}
CIFAR = {"blocks": 6, "bottleneck": 8000, "outputs": 10, "dtype": "float32"}


def mnist_runs():
    """The runs at the paper's MNIST shape.

    30 full-batch steps on 1024 images and on 256; ten epochs of 7 batches of 1024 (8000 images).
    """
    kinds = [(True, N, 30), (True, 256, 30), (False, N, 70)]
    return [
        Run(method, rate, full, steps, samples, shape=MNIST)
        for full, samples, steps in kinds
        for method, rates in RATES.items()
        for rate in rates
    ]


def mnist():
    """Training and test images as rows, normalised as the authors do."""
    return _images("idx:mnist-subset", 0.1307, 0.3081)


def cifar():
    """Training and test images as rows, normalised by mean and deviation of each channel."""
    training, test = _images("cifar-10:cifar-10-subset", 0.0, 1.0)
    x = training[0].reshape(len(training[0]), 3, -1)
    mean, deviation = x.mean(axis=(0, 2))[:, None], x.std(axis=(0, 2))[:, None]
    return [(((part.reshape(len(part), 3, -1) - mean) / deviation).reshape(len(part), -1), labels)
            for part, labels in (training, test)]


def _images(name, mean, deviation):
    parts = [so.datasets.load(name), so.datasets.load(name, part="test")]
    return [((part.inputs.reshape(len(part.inputs), -1).astype(np.float32) / 255 - mean)
             / deviation, part.targets) for part in parts]


def execute(run, data, out, budget=np.inf, say=print):
    """Run, or go on with, one `Run`; returns its records. It stops, to be continued, after `budget`
    seconds.
    """
    (x, y), (x_test, y_test) = data
    started = time.perf_counter()
    net = RevMLP(x.shape[1], rng=run.seed, **run.shape)
    kind, options = METHODS[run.method]
    optimizer = kind(net, so.SoftmaxCrossEntropy(), learning_rate=run.rate, **options)
    path, state_path = out / f"{run.name}.json", out / f"{run.name}.npz"
    records = _resumed(run, path, state_path, net, optimizer)
    if _ended(records, run):
        return records
    per_epoch = 1 if run.full else len(x) // run.samples
    while not _ended(records, run) and time.perf_counter() - started < budget:
        step = len(records)
        order = np.random.default_rng([run.seed,
                                       0 if run.full else step // per_epoch]).permutation(len(x))
        place = 0 if run.full else step % per_epoch
        batch = order[place * run.samples:(place + 1) * run.samples]
        record = _step(optimizer, x[batch], y[batch])
        last = step + 1 == run.steps
        if last or (step + 1) % (5 if run.full else per_epoch) == 0:
            record |= _quality(net, x[batch] if run.full else x, y[batch] if run.full else y,
                               x_test, y_test)
            say(f"{run.name} {step + 1}/{run.steps}: {record}")
        records.append(record)
    files.write_json(
        path, {"settings": vars(run),
               "records": records,
               "environment": environment(),
               "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024})
    if not _ended(records, run):
        state = {name: value for name, value in optimizer.state_dict().items() if value is not None}
        files.write_arrays(state_path, theta=net.theta,
                           **{f"state_{name}": value for name, value in state.items()})
    else:
        state_path.unlink(missing_ok=True)
    return records


def _ended(records, run):
    """Whether all steps were made, or the last one failed. (JSON keeps a NaN as null.)"""
    failed = records and (records[-1]["loss"] is None or not np.isfinite(records[-1]["loss"])
                          or "stopped" in records[-1])
    return bool(failed) or len(records) >= run.steps


def _resumed(run, path, state_path, net, optimizer):
    """Records so far, with parameters and memory put back; all of them if the run has ended."""
    if not path.exists():
        return []
    records = json.loads(path.read_text(encoding="utf-8"))["records"]
    if _ended(records, run):
        return records
    if not state_path.exists():
        return []
    with np.load(state_path, allow_pickle=False) as stored:
        saved = dict(stored)
    net.theta = saved["theta"]
    known = optimizer.state_dict()
    state = {name: saved.get(f"state_{name}", value) for name, value in known.items()}
    optimizer.load_state_dict(state | {"method": known["method"]})
    return records


def _step(optimizer, x, y):
    """One step, timed, with the loss of the same batch before and after; a failure is recorded."""
    before = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            info = optimizer.step(x, y)
    except FloatingPointError as problem:
        return {"loss": float("nan"), "stopped": str(problem)[:200]}
    seconds = time.perf_counter() - before
    kept = {name: info[name] for name in ("loss", "rank", "full_rank", "defect", "step_norm")
            if name in info}
    return kept | {"seconds": seconds}


def _quality(net, x, y, x_test, y_test):
    """Mean loss and accuracy on both sets, in parts."""
    found = {}
    for name, inputs, labels in (("train", x, y), ("test", x_test, y_test)):
        losses, right = [], 0
        for start in range(0, len(inputs), N):
            part = slice(start, start + N)
            try:
                outputs = net(inputs[part])
            except FloatingPointError:
                return {"stopped": "the outputs are not finite"}
            losses.append(so.SoftmaxCrossEntropy().value(
                outputs, np.eye(10, dtype=outputs.dtype)[labels[part]]))
            right += int((outputs.argmax(axis=1) == labels[part]).sum())
        found |= {f"{name}_loss": float(np.concatenate(losses).mean()),
                  f"{name}_accuracy": right / len(inputs)}
    return found


def main(arguments=None):
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=("mnist", "cifar", "report"))
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", nargs="*", help="names of runs; default: all")
    parser.add_argument("--budget", type=float, default=np.inf,
                        help="seconds, after which a run waits to be continued")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args(arguments)
    if options.experiment == "report":
        _report(files.output_directory(options.out))
        return
    if options.experiment == "mnist":
        runs, data = mnist_runs(), mnist
    else:
        runs = [Run(method, RATES[method][0], True, 3, shape=CIFAR)
                for method in ("right", "adam", "sgd")]
        data = cifar
    if options.list:
        print("\n".join(run.name for run in runs))
        return
    out = files.output_directory(options.out)
    data, started = data(), time.perf_counter()
    for run in runs:
        if not options.only or run.name in options.only:
            left = options.budget - (time.perf_counter() - started)
            if left > 0:
                execute(run, data, out, left)


def _report(directory):
    """Print the table of the runs in a directory and draw their figure beside them."""
    runs = reversible_report.read_runs(directory)
    if not runs:
        raise SystemExit(f"{directory} holds no runs; make some with 'mnist --out {directory}'")
    print("\n".join(reversible_report.table(runs)))
    reversible_report.figure(runs, directory / "runs.png")
    print(f"figure: {directory / 'runs.png'}")


if __name__ == "__main__":
    main()
