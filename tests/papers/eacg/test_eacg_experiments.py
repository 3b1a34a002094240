"""EA-CG's experiments in short: every method runs, results are kept, errors are as defined."""

import json
import os

import numpy as np
import pytest

import secondorder as so
from secondorder import eacg, plots
from secondorder.experiments import eacg as experiments
from secondorder.experiments import eacg_report, processes
from test_eacg_curvatures import case


def test_every_method_trains(monkeypatch):
    training, _ = experiments.digits(0)
    loss = so.SoftmaxCrossEntropy()
    start = experiments.digits_network(0).evaluate(loss, training.inputs, training.targets).loss
    for method in experiments.METHODS:
        made = experiments.train_on_digits(method, "cross-entropy", 0, epochs=1)
        assert made["loss"] < start and 0 < made["accuracy"] <= 1, method


def test_errors_are_those_of_the_room():
    net, loss, x, y = case(0, "sigmoid", "bounded")
    made = experiments.errors_at(net.evaluate(loss, x, y), ("fisher", "pch-2"))
    exact = eacg.bias_curvatures(net, loss, x, y, "hessian")
    for name in ("fisher", "pch-2"):
        wanted = eacg.layer_errors(eacg.bias_curvatures(net, loss, x, y, name), exact)
        np.testing.assert_allclose(made[name], wanted)
    np.testing.assert_allclose(made["norm"], [np.linalg.norm(H) for H in exact])


def test_errors_along_a_run_and_their_picture():
    training, _ = experiments.digits(0)
    found, steps, sizes = experiments.errors_while_training(training, 0, 1)
    assert steps.tolist() == [0, 7] and found["pch-1"].shape == (2, len(sizes) - 1)
    assert (found["pch-1"][:, -1] < 1e-12).all(), "PCH is exact in the last layer"
    totals = {name: eacg.total_error(values) for name, values in found.items() if name != "norm"}
    left = plots.errors_over_steps(steps, totals, norm=eacg.total_error(found["norm"]))
    right = plots.errors_by_layer({name: values[0] for name, values in found.items()})
    assert len(left.lines) == 5 and len(right.patches) == 5 * 3
    made = experiments.errors_on_digits("SGD", "bounded", (64, 8, 10), 1, 0)
    assert set(made["totals"]) == set(experiments.ERRORS_OF) and made["totals"]["pch-1"] > 0


def test_runs_are_kept_and_not_made_again(tmp_path, monkeypatch):
    calls = []

    def run(*arguments):
        calls.append(arguments)
        return {"loss": 1.0}

    plan = {"a": (run, (1,)), "b": (run, (2,))}
    monkeypatch.setattr(experiments, "planned", lambda name, seeds: plan)
    for only, made in (("a", 1), ("", 2), ("", 2)):
        experiments.run_all("training", tmp_path, [0], only, say=lambda text: None)
        assert len(calls) == made
    assert json.loads((tmp_path / "a.json").read_text())["loss"] == 1.0
    (tmp_path / "b.json").unlink()
    experiments.run_all("training", tmp_path, [0], budget=-1, say=lambda text: None)
    assert len(calls) == 2


@pytest.mark.parametrize("experiment", ("training", "errors", "cifar", "memory"))
def test_plans(experiment):
    planned = experiments.planned(experiment, [10, 11, 12, 13, 14])
    assert len(planned) == {"training": 5 * 2 * len(experiments.METHODS), "errors": 24,
                            "cifar": 2 * (1 + 8 * 6) - 2 * 6, "memory": 7}[experiment]


@pytest.mark.parametrize("solver", ("sgd", *eacg.SOLVERS))
def test_wide_inputs_in_short(solver):
    made = experiments.wide_inputs(solver, batch=4, sizes=(500, 8, 4))
    assert np.isfinite(made["loss"]) and made["square_matrix_bytes"] == 4 * 500**2


def of_this_process():
    return {"process": os.getpid()}


@pytest.mark.parametrize("experiment", ("training", "cifar", "memory"))
def test_runs_that_report_memory_have_a_process_of_their_own(experiment, tmp_path, monkeypatch):
    plan = {name: (of_this_process, ()) for name in "ab"}
    monkeypatch.setattr(experiments, "planned", lambda name, seeds: plan)
    made = experiments.run_all(experiment, tmp_path, [0], say=lambda text: None)
    used = {one["process"] for one in made.values()}
    assert len(used - {os.getpid()}) == (2 if experiment in ("cifar", "memory") else 0)


def peaks():
    """Peaks while 240 MB are held, after they were forgotten, and with 80 MB held then."""
    held = np.ones(30_000_000)
    high = processes.peak_bytes()
    del held
    processes.forget_peak()
    low = processes.peak_bytes()
    kept = np.ones(10_000_000)
    return high, low, processes.peak_bytes(), kept.size


def test_the_peak_is_that_since_it_was_forgotten():
    # in a process of its own: what this one held before does not matter then
    high, low, last, _ = processes.in_a_process(peaks)
    assert high >= 240e6 and low < high - 200e6 and last >= low + 70e6


def test_a_pair_on_cifar_in_short(monkeypatch):
    rng = np.random.default_rng(0)
    x, y = rng.random((40, 12), dtype=np.float32), rng.integers(0, 10, 40)
    monkeypatch.setattr(experiments, "cifar", lambda: (x, y))
    monkeypatch.setattr(experiments, "CIFAR_10", (12, 8, 10))
    for curvature, solver in (("sgd", ""), ("pch-1", "ea-closed")):
        made = experiments.train_on_cifar(curvature, solver, "bounded", batch=20)
        assert len(made["losses"]) == 8 and made["last"] < made["first"]
        assert made["steps_of_sgd"] > 0 and made["peak_bytes"] > 1e6


def test_tables_of_what_was_found(tmp_path):
    runs = {
        "training-bounded-pch-1 KFI-seed3": {"loss": 0.02, "accuracy": 0.9},
        "training-bounded-pch-1 KFI-seed4": {"loss": 0.04, "accuracy": 1.0},
        "errors-4-3-bounded-SGD-seed0": {"totals": dict.fromkeys(experiments.ERRORS_OF, 0.25)},
        "cifar-bounded-pch-1-cg": {"first": 2.0, "last": 1.5, "steps_of_sgd": 3.25,
                                   "peak_bytes": 5 * 2**20},
        "memory-cg": {"parameter_bytes": 2**29, "peak_bytes": 2**31, "seconds": [9.0, 4.0]},
    }
    for number, (name, made) in enumerate(runs.items()):
        kept = tmp_path / f"{name.partition('-')[0]}-{number}.json"
        kept.write_text(json.dumps(made | {"name": name}))
    rows = [line.split() for line in eacg_report.report(tmp_path).splitlines() if line]
    assert rows[1] == "bounded-pch-1 KFI 2 0.0300 (0.0141) 0.950 (0.071)".split()
    assert rows[3] == ["4-3-bounded-SGD", "1", *["0.2500"] * 6]
    assert rows[5] == "bounded-pch-1-cg 3.25 5 2.0000 -> 1.5000".split()
    assert rows[7] == "cg 0.50 2.00 4.0".split()
