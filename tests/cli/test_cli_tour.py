"""The tour: its sections and its checks, which can fail."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import secondorder as so
from harness import slow
from secondorder.cli.tour import running, sections


@pytest.mark.slow
def test_tour_in_short(run, monkeypatch):
    for name in ("EPOCHS", "CLASSIFIER_EPOCHS", "CURVATURE_EPOCHS", "PLATEAU_ITERATIONS"):
        monkeypatch.setattr(sections, name, 1)
    status, out, err = run("tour", "--out", "made", "--json")
    results, kept = json.loads(out), json.loads(Path("made/tour.json").read_text())
    assert status == 0 and results == kept and results["ok"] is True
    assert set(os.listdir("made")) == set(running.WRITTEN)
    assert all(results["derivatives"]["checks"].values())
    assert "Hessian by products" in err and "written to made" in err
    assert set(results["classifier"]["runs"]) == {"SGD, rate 0.1", "Adam, rate 0.003",
                                                  "truncated Newton"}


@pytest.mark.parametrize("broken_off", [False, True])
def test_a_failing_check_and_a_signal_leave_what_was_done(run, monkeypatch, broken_off):
    def last(*_):
        if broken_off:
            signal.raise_signal(signal.SIGTERM)
        return Figure(), {"ok": False}

    from matplotlib.figure import Figure

    (bound,) = [one for one in sections.SECTIONS if one.key == "bound"]
    planted = sections.Section("planted", "planted", last, "planted.png", "nothing")
    monkeypatch.setattr(sections, "SECTIONS", (bound, planted))
    status, _, err = run("tour", "--json")
    kept = json.loads(Path("secondorder-tour/tour.json").read_text())
    assert status == (143 if broken_off else 1) and kept["ok"] is False and kept["bound"]["ok"]
    assert "What you saw: a diagonal" in err and ("What next?" in err) != broken_off


@pytest.mark.parametrize("seed", [0, *slow([1, 2])])
def test_derivative_checks_pass_and_can_fail(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    net, loss = so.mlp([3, 4, 3], rng=rng), so.SoftmaxCrossEntropy()
    x, y = rng.standard_normal((6, 3)), rng.integers(0, 3, 6)

    def failed():
        return {name.split(",")[0] for name, report in sections.check_derivatives(
            net, loss, x, y, 0.1, seed).items() if not report}

    assert not failed()
    right, second = so.nets.Activation.input_gradient_tangent, so.nets.Activation.second_tangent

    def wrong(self, saved, moved, y_bar, y_bar_tangent):
        """With the sign of the curvature turned."""
        return 2 * saved.slope * y_bar_tangent - right(self, saved, moved, y_bar, y_bar_tangent)

    with monkeypatch.context() as patch:
        patch.setattr(so.nets.Activation, "input_gradient_tangent", wrong)
        assert failed() == {"Hessian by products", "Hessian-vector product"}
    with monkeypatch.context() as patch:
        patch.setattr(so.nets.Activation, "second_tangent", lambda self, *a: -second(self, *a))
        assert failed() == {"v'Hv by forward passes only"}
    matrix = so.exact.gauss_newton
    monkeypatch.setattr(so.exact, "gauss_newton", lambda *a, **named: (1 + 1e-6) * matrix(
        *a, **named))
    assert failed() == {"Gauss-Newton matrix"}


def test_work_counts_products():
    records = [{"epoch": 0}, {"epoch": 2, "cg_iterations": 4.0, "halvings": 0.5}, {"epoch": 3}]
    assert [record["work"] for record in sections.with_work(records)] == pytest.approx(
        [0, 2 * (1 + 10 + 0.5), 2 * 11.5 + 1])
