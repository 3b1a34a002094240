"""The recorded race, with runs that take no time: what is run next, what is kept, what is chosen.
"""

import json

import numpy as np
import pytest

from secondorder.race import full
from secondorder.race.methods import METHODS, Point

T = 8.0


def curve(loss, work=100.0, seconds=T):
    """A run that has come down to a loss, at the end of its time and its work."""
    return {"steps": [0, 50, 100], "seconds": [0.0, seconds / 2, seconds],
            "work": [0.0, work / 2, work], "loss": [4.0, (4.0 * loss)**0.5, loss], "held_out": 1.0}


@pytest.fixture
def raced(small, tmp_path, monkeypatch):
    """Call the race of Adam and SGD on the small problem; ``made`` lists the runs it makes."""
    made, losses = [], {}

    def run(problem, method, numbers, seed, seconds, work, marks, longest):
        assert longest == (1 if marks == 1 else 3)
        if len(made) == call.killed_after:
            raise KeyboardInterrupt
        made.append((method.key, numbers[0], seed, seconds, work))
        far = abs(np.log10(numbers[0] / method.default))
        return curve(losses.get((method.key, numbers[0], seed), 0.5 + far))

    monkeypatch.setattr(full, "run", run)
    monkeypatch.setattr(full, "METHODS", {key: METHODS[key] for key in ("adam", "momentum")})

    def call(**options):
        return full.raced(small, tmp_path, T, say=lambda line: None, **options)

    call.made, call.losses, call.folder, call.killed_after = made, losses, tmp_path, None
    return call


def test_every_run_is_made_once_also_where_the_race_is_killed(raced):
    raced.killed_after = 30
    with pytest.raises(KeyboardInterrupt):
        raced()
    assert len(list(raced.folder.iterdir())) == 30, "each run is a file, and nothing else is left"
    raced.killed_after = None
    record, tuned = raced(), 2 * 12 * 3
    assert len(raced.made) == len(set(raced.made)) == tuned + 2 * 10
    assert {run[2] for run in raced.made[:tuned]} == {101, 102, 103}
    assert {run[2] for run in raced.made[tuned:]} == set(range(1, 11))
    assert record["work"] == 100.0 and record["seconds"] == T
    assert {run[4] for run in raced.made if run[0] == "momentum"} == {100.0}, "Adam's work"
    assert [len(record["methods"]["adam"][rule]["runs"]) for rule in full.RULES] == [10, 10]
    assert (raced.folder / "small-adam-0.001-seed101-8s-0w.json").is_file(), "names that stay"


def test_the_median_over_the_seeds_chooses(raced):
    """One seed of three is very low, or diverges."""
    raced.losses.update({("adam", 0.01, 101): 1e-9})
    for seed in (101, 102, 103):
        raced.losses["momentum", 0.1, seed] = 0.3
    record = raced(judged_on=(1,))
    assert record["methods"]["adam"]["seconds"]["numbers"] == "rate 0.001"
    assert record["methods"]["momentum"]["seconds"]["numbers"] == "rate 0.1"


@pytest.mark.parametrize("work, winners", [(100.0, [Point(1), Point(-1)]), (0.0, [Point(1)] * 2)])
def test_each_rule_chooses_by_its_own_losses(work, winners):
    def run_of(method, point, *limits):
        return {"seconds": [0.0, T, 2 * T], "work": [0.0, 50.0, 100.0],
                "loss": [9.0, abs(point.first - 1), abs(point.first + 1)]}

    assert full.tuned(METHODS["adam"], run_of, T, work, (1,))[1] == winners


def test_a_run_of_the_search_that_makes_less_work_counts_with_its_end():
    record = {"seconds": [0.0, T], "work": [0.0, 60.0], "loss": [9.0, 2.0]}
    assert full.score(record, "work", 100.0) == full.score(record, "seconds", T) == 2.0
    assert full.score(record | {"diverged": "step 7"}, "work", 100.0) == np.inf


@pytest.mark.parametrize("winners, work, runs", [
    ([Point(1), Point(1)], 100.0, [(Point(1), T, 100.0)]),
    ([Point(1), Point(2)], 100.0, [(Point(1), T, 0.0), (Point(2), 0.0, 100.0)]),
    ([Point(1), None], 100.0, [(Point(1), T, 0.0)]),
    ([Point(1), Point(1)], 0.0, [(Point(1), T, 0.0)])])
def test_two_choices_are_two_runs(winners, work, runs):
    wanted, told = [], {rule: {"runs": []} for rule in full.RULES}

    def run_of(method, point, seed, seconds, work, marks):
        wanted.append((point, seconds, work))
        return curve(0.5)

    full.add_judged(told, METHODS["adam"], winners, run_of, 1, T, work)
    assert wanted == runs
    assert [run["limit"] for run in told["work"]["runs"]] == [100.0] * (winners[1] is not None)


def test_a_number_that_the_cap_leaves_at_an_end_is_named(raced):
    raced.losses.update({("momentum", METHODS["momentum"].numbers(Point(k))[0], seed): 0.1 / 2**k
                         for k in range(20) for seed in (101, 102, 103)})
    entry = raced(judged_on=(1,))["methods"]["momentum"]
    assert len(entry["points"]) == 16 and entry["seconds"]["at_end"] == ["rate"]


def test_runs_of_two_versions_make_no_record(raced, monkeypatch):
    before = raced(judged_on=(1,))
    monkeypatch.setattr(full, "version", lambda: "newer")
    assert raced(judged_on=(1,)) == before, "all runs are there"
    raced.made.clear()
    with pytest.raises(ValueError, match="several versions of the code: .*newer"):
        raced(judged_on=(1, 2))
    assert not raced.made
    path = next(raced.folder.glob("*.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": "older"}))
    with pytest.raises(ValueError, match="older"):
        raced(judged_on=(1,))


def test_what_is_kept_of_a_run():
    kept = full.brief(curve(1.0), "seconds", T)
    assert kept["loss"] == 1.0 and kept["steps"] == kept["work"] == 100 and kept["held_out"] == 1.0
    marks = full.marks_of(T)
    assert marks[[-3, -1]] == pytest.approx([4.0, 8.0]) and len(kept["curve"]) == len(marks)
    assert kept["curve"][-3] == pytest.approx(2.0) and kept["curve"][-1] == 1.0
    ended = curve(1.0, seconds=5.0) | {"diverged": "step 101: not finite"}
    kept = full.brief(ended, "seconds", T)
    assert kept.keys() == {"limit", "curve", "diverged"}
    assert np.isinf(kept["curve"][-1]) and np.isfinite(kept["curve"][-3])
    assert full.brief(ended, "work", 100.0)["loss"] == 1.0, "it had made the work before"
