"""Sweeps: one file a run, nothing repeated, nothing lost, nothing mixed."""

import concurrent.futures
import json
import os

import pytest

from secondorder import studies
from secondorder.studies import Run, Sweep, exactly, results, running
from secondorder.studies.registry import Studies, Study

CALLS = []


def double(seed, factor=2):
    CALLS.append(seed)
    return {"value": factor * seed}


def overflow(seed):
    raise FloatingPointError(f"seed {seed} is too large")


def fail(seed):
    raise KeyError("a mistake in the run")


def die(seed):
    os._exit(9)


class Toy:
    """Doubles numbers, then runs on what the largest gave."""

    def runs(self, settings, results):
        first = [Run(double, {"seed": seed}) for seed in settings["seeds"]]
        if any(run not in results for run in first):
            return [*first, first[0]]  # twice, and made once
        largest = max(one["value"] for one in results.of(factor=None))
        return [*first, Run(double, {"seed": largest, "factor": 10})]

    def judge(self, results, settings):
        return {"a": exactly(results.of(factor=10)[0]["value"] == 80, 80)}

    def draw(self, results, figure, settings):
        figure.subplots().plot([one["value"] for one in studies.finished(results.of())])


def toy(**changes):
    one = {"paper": "low-rank", "key": "toy", "shows": "a toy", "claims": {"a": "it is 80"},
           "needs": (), "full": {"seeds": (1, 4)}, "quick": {"seeds": (4,)}, "seconds": (1, 1),
           "deviation": "", "implementation": Toy()}
    return Study(**(one | changes))


def runs_of(sweep):
    """Files of the runs of a toy, which needs no data."""
    return sorted((sweep.out / "runs").iterdir())


@pytest.fixture
def sweep(tmp_path):
    CALLS.clear()
    return Sweep(tmp_path / "out", say=lambda line: None)


def test_runs_follow_what_came_back_and_are_judged_and_drawn(sweep):
    record = studies.reproduce(toy(), sweep)
    assert CALLS == [1, 4, 8]
    assert record["claims"] == [{"letter": "a", "claim": "it is 80", "verdict": "held",
                                 "effect": 80.0, "spread": None, "seeds": 1, "measure": "",
                                 "because": "", "p": None, "readings": {}}]
    assert json.loads((sweep.out / "toy.json").read_text())["runs"] == 3
    assert (sweep.out / "toy.png").stat().st_size > 1000


def test_nothing_is_repeated_and_a_changed_setting_is_another_run(sweep, tmp_path):
    studies.reproduce(toy(), sweep)
    studies.reproduce(toy(), sweep)
    known = results.read_all(sweep.out / "toy.runs.json.gz")
    studies.reproduce(toy(), Sweep(tmp_path / "other", say=pytest.fail, known=known))
    assert CALLS == [1, 4, 8]
    studies.reproduce(toy(full={"seeds": (2, 4)}), sweep)
    assert CALLS == [1, 4, 8, 2] and len(runs_of(sweep)) == 4


def test_names_tell_functions_and_arguments_apart_wherever_a_function_stands():
    def elsewhere(seed):
        return {}

    elsewhere.__name__, elsewhere.__module__ = "double", "another.room"
    runs = [Run(double, {"seed": 1, "factor": 2}), Run(elsewhere, {"seed": 1}),
            Run(double, {"seed": 1}), Run(double, {"factor": 2, "seed": 1}),
            Run(double, {"seed": 2}), Run(overflow, {"seed": 1})]
    assert len({run.name for run in runs}) == 4 and runs[1].name == runs[2].name


def test_a_run_that_diverges_ends_itself_only(sweep):
    class Diverging(Toy):
        def runs(self, settings, found):
            return [Run(overflow, {"seed": 1}), Run(double, {"seed": 4})]

        def judge(self, found, settings):
            assert [results.diverged(one) for one in found.of()] == [True, False]
            assert found.by_seed()[1]["diverged"] == "seed 1 is too large"
            return {"a": exactly(len(results.finished(found.of())) == 1)}

    record = studies.reproduce(toy(implementation=Diverging()), sweep)
    assert record["claims"][0]["verdict"] == "held"


@pytest.mark.parametrize("end, jobs, error, said", [
    (fail, 1, KeyError, "a mistake"),
    (die, 2, ChildProcessError, "a worker process ended.*--resume")])
def test_a_run_that_fails_is_not_hidden_and_what_is_done_is_kept(end, jobs, error, said, sweep):
    class Ending(Toy):
        def runs(self, settings, found):
            first = [Run(double, {"seed": 4})]
            return first if first[0] not in found else [*first, Run(end, {"seed": 1})]

    with pytest.raises(error, match=said), running.processes(jobs) as sweep.executor:
        studies.reproduce(toy(implementation=Ending()), sweep)
    assert len(runs_of(sweep)) == 1 and not (sweep.out / "toy.json").exists()


def test_quick_settings_and_stand_ins_decide_nothing(sweep, monkeypatch, tmp_path):
    record = studies.reproduce(toy(), sweep, quick=True)
    assert record["claims"][0]["verdict"] == "undecided" and CALLS == [4, 8]
    monkeypatch.setenv("SECONDORDER_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    record = studies.reproduce(toy(needs=("mnist",)), sweep)
    assert record["stand_ins"] == ["mnist"] and record["claims"][0]["verdict"] == "undecided"
    assert "mnist not found; digits in its place" in record["claims"][0]["because"]


def test_a_run_on_a_stand_in_is_not_taken_when_the_data_are_here(sweep, monkeypatch):
    absent = ["mnist"]
    monkeypatch.setattr(running, "missing", lambda needs: absent)
    studies.reproduce(toy(needs=("mnist",)), sweep)
    absent.clear()
    record = studies.reproduce(toy(needs=("mnist",)), sweep)
    assert CALLS == [1, 4, 8] * 2 and record["claims"][0]["verdict"] == "held"
    assert len(runs_of(sweep)) == len(list((sweep.out / "runs-without-mnist").iterdir())) == 3


@pytest.mark.parametrize("spoilt, said", [
    (lambda whole, other: whole[:-20], "not a result of a run, or a dam"),
    (lambda whole, other: other, "it holds another run")])
def test_a_damaged_file_is_named_and_nothing_is_judged(sweep, spoilt, said):
    record = studies.reproduce(toy(), sweep)
    path, other, _ = runs_of(sweep)
    path.write_text(spoilt(path.read_text(), other.read_text()))
    (sweep.out / "toy.json").unlink()
    with pytest.raises(ValueError, match=f"{path.name}: .*{said}"):
        studies.reproduce(toy(), sweep)
    assert not (sweep.out / "toy.json").exists()
    path.unlink()
    assert studies.reproduce(toy(), sweep)["claims"] == record["claims"]


def test_claims_and_verdicts_must_be_the_same(sweep):
    with pytest.raises(RuntimeError, match="judged"):
        studies.reproduce(toy(claims={"a": "one", "b": "two"}), sweep)


@pytest.mark.parametrize("executor", [lambda: running.processes(2),
                                      lambda: concurrent.futures.ThreadPoolExecutor(2)])
def test_any_executor_gives_the_same_as_none(executor, sweep, tmp_path):
    here = sweep.complete(toy(), toy().settings()).of()
    with executor() as workers:
        there = Sweep(tmp_path / "there", workers, say=lambda line: None)
        assert there.complete(toy(), toy().settings()).of() == here and len(here) == 3


def test_registration_refuses():
    registry = Studies({"low-rank": "secondorder.papers.low_rank.equations"})
    registry.add(toy())
    with pytest.raises(ValueError, match="already registered"):
        registry.add(toy())
    with pytest.raises(TypeError, match="judge, draw missing"):
        studies.study("low-rank", "x")(type("Half", (), {"runs": None}))


def test_results_come_by_seed_and_more_seeds_follow_the_largest():
    found = results.Results({str(k): {"arguments": {"seed": seed, "rate": rate}, "result": seed,
                                      "seconds": 2.0}
                             for k, (seed, rate) in enumerate(((3, 1), (1, 1), (2, 1), (1, 2)))})
    assert found.of(rate=1) == [1, 2, 3] and found.by_seed(rate=1) == {1: 1, 2: 2, 3: 3}
    assert found.points("rate", lambda run: run if run < 3 else None) == [(1, 1), (2, 1), (1, 2)]
    assert found.seconds == 8.0
    with pytest.raises(ValueError, match="4 runs of 3 seeds have {}: name what tells them apart"):
        found.by_seed()
    assert toy(full={"seeds": (9, 2)}).settings(seeds=4)["seeds"] == (9, 2, 10, 11)


def test_packed_runs_are_the_same_bytes_and_damaged_ones_are_named(tmp_path):
    path = tmp_path / "toy.runs.json.gz"
    found = results.Results({"one": {"arguments": {"seed": 1}, "result": {}, "seconds": 1.0}})
    results.write_all(path, found)
    whole = path.read_bytes()
    assert results.read_all(path) == found.as_dictionary()
    results.write_all(path, found)
    assert path.read_bytes() == whole
    path.write_bytes(whole[:-9])
    with pytest.raises(ValueError, match="toy.runs.json.gz"):
        results.read_all(path)
