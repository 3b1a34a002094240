"""The tour: its sections and its checks, which can fail."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import secondorder as so
from secondorder.cli.tour import running, sections, trainings
from secondorder.cli.tour.derivative_checks import PAIRS, check_derivatives


def test_polarisation_in_the_tour_takes_few_passes_and_can_fail(monkeypatch):
    """Three second directional derivatives a pair, where the whole matrix takes P^2 / 2."""
    rng = np.random.default_rng(0)
    net, loss = so.mlp([3, 4, 3], rng=rng), so.SoftmaxCrossEntropy()
    data, jets, jet = (rng.standard_normal((6, 3)), rng.integers(0, 3, 6)), [], so.exact.two_jet
    monkeypatch.setattr(so.exact, "two_jet", lambda *a, **named: jets.append(a) or jet(*a, **named))
    assert all(check.ok for check in check_derivatives(net, loss, *data, rng=0))
    assert len(jets) == 3 * PAIRS + 1
    right = so.nets.Activation.second_tangent
    monkeypatch.setattr(so.nets.Activation, "second_tangent", lambda self, *a: -right(self, *a))
    failed = {check.quantity for check in check_derivatives(net, loss, *data, rng=0)
              if not check.ok}
    assert failed == {"Hessian, by polarisation", "v'Hv, forward passes only"}


@pytest.mark.slow
def test_tour_in_short(run, monkeypatch):
    for name in ("EPOCHS", "AUTOENCODER_EPOCHS", "CLASSIFIER_EPOCHS", "CURVATURE_EPOCHS",
                 "PLATEAU_ITERATIONS"):
        monkeypatch.setattr(sections, name, 1)
    status, out, err = run("tour", "--out", "made", "--json")
    results, kept = json.loads(out), json.loads(Path("made/tour.json").read_text())
    assert status == 0 and results == kept and results["ok"] is True
    drawn = {figure["file"] for figure in results["figures"]}
    assert set(os.listdir("made")) == set(running.WRITTEN) == drawn | {"tour.json"}
    checks = results["derivatives"]["checks"]
    assert {check["quantity"].split(",")[0] for check in checks} >= {
        "gradient", "Jacobian of the outputs", "Hessian", "Hessian-vector product",
        "Gauss-Newton matrix"}
    assert all(check["ok"] and check["error"] <= check["tolerance"] for check in checks)
    assert "Hessian, by polarisation" in err and "written to made" in err
    assert set(results["classifier"]["runs"]) == {"SGD, rate 0.1", "Adam, rate 0.003",
                                                  "truncated Newton"}


def test_tour_fails_with_a_failing_check(run, monkeypatch):
    def failing(out, training, validation, seed, say):
        return "derivatives", {"ok": False}

    monkeypatch.setattr(sections, "SECTIONS", (("planted", failing, "nothing"),
                                               ("bound", sections.bound, "a bound")))
    status, out, err = run("tour", "--json")
    assert "What you saw: a bound" in err and "What next?" in err
    assert status == 1 and 0 < json.loads(out)["seconds"] < 60


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_derivative_checks_pass_and_can_fail(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    net, loss = so.mlp([3, 4, 3], rng=rng), so.SoftmaxCrossEntropy()
    x, y = rng.standard_normal((6, 3)), rng.integers(0, 3, 6)
    assert all(check.ok for check in check_derivatives(net, loss, x, y, l2=0.1, rng=seed))
    right = so.nets.Activation.input_gradient_tangent

    def wrong(self, saved, moved, y_bar, y_bar_tangent):
        """With the sign of the curvature turned."""
        return 2 * saved.slope * y_bar_tangent - right(self, saved, moved, y_bar, y_bar_tangent)

    monkeypatch.setattr(so.nets.Activation, "input_gradient_tangent", wrong)
    checks = check_derivatives(net, loss, x, y, l2=0.1, rng=seed)
    failed = {check.quantity for check in checks if not check.ok}
    assert failed == {"Hessian, by products", "Hessian-vector product", "v'Hv, forward passes only"}
    monkeypatch.undo()
    matrix = so.exact.gauss_newton
    monkeypatch.setattr(so.exact, "gauss_newton", lambda *a, **named: (1 + 1e-9) * matrix(
        *a, **named))
    failed = [check.quantity for check in check_derivatives(net, loss, x, y, l2=0.1, rng=seed)
              if not check.ok]
    assert failed == ["Gauss-Newton matrix"]


def test_work_counts_products():
    records = [{"epoch": 0}, {"epoch": 2, "cg_iterations": 4.0, "halvings": 0.5}, {"epoch": 3}]
    assert [record["work"] for record in trainings.with_work(records)] == pytest.approx(
        [0, 2 * (1 + 10 + 0.5), 2 * 11.5 + 1])


def test_the_tour_may_be_taken_again(run, monkeypatch):
    from secondorder.cli.tour import running

    def quick(out, seed, say):
        (out / "tour.json").write_text("{}")
        return {"ok": True}

    monkeypatch.setattr(running, "run", quick)
    assert [run("tour")[0] for _ in range(2)] == [0, 0]
    assert run("tour", "--out", "mine")[0] == 0
    status, _, err = run("tour", "--out", "mine")
    assert status == 2 and "mine/tour.json" in err and "--force" in err
