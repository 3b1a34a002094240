"""The experiments on reversible networks in short: runs stop and go on, and are reported."""

import json

import numpy as np
import pytest

from secondorder.experiments import reversible, reversible_report

SHAPE = {"blocks": 2, "bottleneck": 12, "outputs": 10}


@pytest.fixture
def data():
    x, y = np.random.default_rng(0).normal(size=(32, 10)), np.arange(32) % 10
    return (x[:24], y[:24]), (x[24:], y[24:])


def short(method, rate, full=True):
    return reversible.Run(method, rate, full, 4, samples=8, shape=SHAPE)


@pytest.mark.parametrize("method", reversible.METHODS)
@pytest.mark.parametrize("full", (True, False))
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(method, full, data, tmp_path,
                                                              monkeypatch):
    run = short(method, 0.01, full)
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    whole.mkdir(), pieces.mkdir()
    expected = reversible.execute(run, data, whole, say=lambda text: None)
    clock = iter(range(1000))  # every look at the clock is a second later: three looks a step
    monkeypatch.setattr(reversible.time, "perf_counter", lambda: next(clock))
    found = reversible.execute(run, data, pieces, budget=5, say=lambda text: None)
    assert 0 < len(found) < run.steps and (pieces / f"{run.name}.npz").exists()
    found = reversible.execute(run, data, pieces, say=lambda text: None)
    assert [record["loss"] for record in found] == [record["loss"] for record in expected]
    assert found[-1]["test_loss"] == expected[-1]["test_loss"]
    assert not (pieces / f"{run.name}.npz").exists(), "the state is of no use after the end"
    written = (pieces / f"{run.name}.json").read_text()
    assert json.loads(written)["settings"]["method"] == method
    assert len(reversible.execute(run, data, pieces, say=lambda text: None)) == run.steps
    assert (pieces / f"{run.name}.json").read_text() == written, "what has ended is left alone"


def test_a_run_that_diverges_ends_and_is_not_taken_up_again(data, tmp_path):
    run = short("sgd", 1e300)
    with np.errstate(all="ignore"):
        records = reversible.execute(run, data, tmp_path, say=lambda text: None)
    assert 0 < len(records) < run.steps and not (tmp_path / f"{run.name}.npz").exists()
    assert len(reversible.execute(run, data, tmp_path, say=lambda text: None)) == len(records)


def test_the_report_shows_the_last_measured_qualities(data, tmp_path, capsys):
    for full in (True, False):
        for rate in (0.1, 0.01):
            records = reversible.execute(short("sgd", rate, full), data, tmp_path,
                                         say=lambda text: None)
    reversible.main(["report", "--out", str(tmp_path)])
    header, *rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 5 and all(len(line) <= 100 for line in (header, *rows[:4]))
    last = next(row for row in rows if row.startswith("mini") and " 0.01 " in row)
    assert f"{records[-1]['train_loss']:.3g}" in last and "4 of  4" in last
    assert (tmp_path / "runs.png").stat().st_size > 5000


def test_a_report_of_nothing_says_so(tmp_path):
    with pytest.raises(SystemExit, match="holds no runs"):
        reversible.main(["report", "--out", str(tmp_path)])


def test_a_run_without_a_measured_quality_has_a_row(tmp_path):
    run = {"settings": vars(short("sgd", 0.1)), "records": [{"loss": 1.0, "seconds": 2.0}],
           "peak_memory_bytes": 2**20}
    assert reversible_report.last_quality(run) == {}
    row = reversible_report.table([run])[1]
    assert "nan" in row and "2.00" in row
