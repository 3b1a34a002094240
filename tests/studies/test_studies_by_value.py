"""Numbers that studies read off, sum up and tell, at the places where a slip would not be seen."""

import gzip
import json
import math
import time
from dataclasses import replace

import numpy as np
import pytest

from secondorder import files, studies
from secondorder.studies import (DID_NOT_HOLD, HELD, UNDECIDED, Run, Results, alike, data, pages,
                                 records, results, running, selection)
from secondorder.studies.registry import Study, name_of

# -- curves and crops ------------------------------------------------------------------------------


def test_saturation_of_a_curve_that_rises_looks_behind_the_middle_only():
    """T is the mean of five; at the middle it is 3, and the least behind it 4."""
    assert studies.saturation(range(1, 11)) == pytest.approx(3 / 4)
    assert studies.saturation(range(1, 11), middle=6) == pytest.approx(4 / 5)
    np.testing.assert_allclose(studies.smoothed(range(1, 9)), [1, 1.5, 2, 2.5, 3, 4, 5, 6])


def test_a_loss_that_comes_down_to_zero_crosses_behind_the_place_before():
    """Zero counts as the smallest number that there is: its logarithm is finite."""
    place = studies.crossing([1.0, 0.0], 0.5)
    assert place == pytest.approx(np.log(2) / -np.log(np.finfo(float).tiny)) and place > 0
    assert studies.crossing([3.0, 2.0, 2.0], 1.9) == math.inf
    assert studies.crossing([3.0, 2.0], 3.0) == 0.0


def test_lowest_common_loss_is_that_of_the_worst_and_skips_what_is_no_number():
    assert studies.lowest_common([3.0, np.nan, 1.0], [2.0, 1.5]) == 1.5


def test_wide_boxes_are_wide():
    """A ratio of width over height between 2 and 4, uniform in its logarithm."""
    top, left, height, width = studies.random_boxes(np.random.default_rng(0), 4000, 30, (0.1, 0.2),
                                                    (2.0, 4.0)).T
    shape = width / height
    assert 2 <= shape.min() < 2.02 and 3.95 < shape.max() <= 4
    assert np.log(shape).mean() == pytest.approx(np.log(8) / 2, abs=0.02)
    assert (top + height).max() <= 30 and (left + width).max() <= 30
    assert (top + height).max() > 29 and top.min() < 0.5  # anywhere in the image


# -- verdicts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("centre, verdict", [(0.70, HELD), (0.80, UNDECIDED), (1.2, UNDECIDED),
                                             (-1.2, UNDECIDED), (1.3, DID_NOT_HOLD),
                                             (-1.3, DID_NOT_HOLD), (-0.70, HELD)])
def test_alike_leaves_open_what_crosses_the_margin_from_either_side(centre, verdict):
    """The interval is 0.248 wide on either side; the margin is 1."""
    found = alike(np.array([-0.1, 0, 0.1]) + centre, 1.0, "gap")
    assert found.verdict == verdict and found.measure == "gap" and found.seeds == 3
    assert found.spread[1] - found.effect == pytest.approx(0.24841, abs=1e-4)


# -- results ---------------------------------------------------------------------------------------


def made(*rows):
    return Results({name_of("toy", arguments): {
        "function": "toy", "arguments": arguments, "result": result, "seconds": seconds}
        for arguments, result, seconds in rows})


def test_results_come_by_seed_and_seconds_are_summed():
    found = made(({"seed": 3, "rate": 1}, {"a": 3}, 1.0), ({"seed": 1, "rate": 1}, {"a": 1}, 2.0),
                 ({"seed": 2, "rate": 1}, {"a": 2}, 4.0), ({"seed": 1, "rate": 2}, {"a": 9}, 8.0))
    assert [one["a"] for one in found.of(rate=1)] == [1, 2, 3]
    assert found.times(rate=1) == [2.0, 4.0, 1.0] and found.seconds == 15.0
    assert [one["seed"] for one in found.arguments(rate=1)] == [1, 2, 3]
    assert list(found.by_seed(rate=1)) == [1, 2, 3]


def test_packed_runs_are_the_same_bytes_at_any_time(tmp_path, monkeypatch):
    found = made(({"seed": 1}, {"a": 1.5}, 1.0), ({"seed": 2}, {"a": 2.5}, 2.0))
    results.write_all(tmp_path / "one.gz", found)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 1e6)
    results.write_all(tmp_path / "two.gz", found)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert results.read_all(tmp_path / "two.gz") == found.as_dictionary()
    runs = json.loads(gzip.decompress((tmp_path / "one.gz").read_bytes()))
    assert runs[name_of("toy", {"seed": 2})]["seconds"] == 2


def made_by_hand(seed):
    return {"value": seed}


def test_a_run_that_took_less_than_no_time_is_damaged(tmp_path):
    run = Run(made_by_hand, {"seed": 1})
    path = tmp_path / f"{run.name}.json"
    results.write(path, run, {"value": 1}, 0.0, {})
    assert results.read(path)["result"] == {"value": 1}
    results.write(path, run, {"value": 1}, -0.5, {})
    with pytest.raises(ValueError, match="damaged"):
        results.read(path)


# -- choosing --------------------------------------------------------------------------------------


def test_a_setting_is_chosen_when_all_its_seeds_are_there_and_on_no_others():
    found = made(*(({"seed": seed, "rate": rate}, {"a": value}, 1.0) for seed, rate, value in (
        (1, 1, 5.0), (2, 1, 1.0), (1, 2, 2.0), (2, 2, 2.0), (9, 2, 90.0))))
    both = [{"rate": 1}, {"rate": 2}]
    assert selection.chosen(found, both, lambda one: one["a"], (1, 2)) == {"rate": 2}
    assert selection.chosen(found, both, lambda one: one["a"], (2,)) == {"rate": 1}
    assert selection.chosen(found, both, lambda one: one["a"], (1, 9)) is None  # 9 lacks once


# -- settings, times, texts ------------------------------------------------------------------------


def study(**changes):
    told = {"paper": "low-rank", "key": "toy", "shows": "a toy", "claims": {"a": "it is"},
            "needs": (), "full": {"seeds": (10, 11, 12)}, "quick": {"seeds": (4,)},
            "seconds": (7200.0, 30.0), "deviation": "", "implementation": None}
    return Study(**(told | changes))


def test_more_seeds_are_those_that_follow_the_largest():
    assert study().settings(seeds=5)["seeds"] == (10, 11, 12, 13, 14)
    assert study(full={"seeds": (9, 2)}).settings(seeds=4)["seeds"] == (9, 2, 10, 11)
    assert study().settings(seeds=2)["seeds"] == (10, 11)
    assert study().full == {"seeds": (10, 11, 12)}


@pytest.mark.parametrize("seconds, text", [(0, "0 s"), (89.4, "89 s"), (90, "2 min"),
                                           (3600, "60 min"), (5399, "90 min"), (5400, "1.5 h"),
                                           (36000, "10.0 h")])
def test_times_as_a_person_says_them(seconds, text):
    assert running.duration(seconds) == text


def test_a_line_tells_what_varies_and_how_a_run_ended(tmp_path):
    said = []

    class Toy:
        def runs(self, settings, found):
            return [Run(made_by_hand, {"seed": seed}) for seed in settings["seeds"]]

        def judge(self, found, settings):
            return {"a": studies.exactly(True)}

        def draw(self, found, figure, settings):
            figure.subplots()

    sweep = studies.Sweep(tmp_path / "out", say=said.append)
    record = studies.reproduce(study(implementation=Toy()), sweep)
    assert [line.partition("(")[2][:7] for line in said] == ["seed=10", "seed=11", "seed=12"]
    assert [line.split()[1] for line in said] == ["1/3", "2/3", "3/3"]
    alone = studies.Sweep(tmp_path / "alone", say=said.append)
    studies.reproduce(study(implementation=Toy(), full={"seeds": (10,)}), alone)
    assert "(one run: " in said[-1]
    packed = results.read_all(tmp_path / "out" / "toy.runs.json.gz")
    assert record["run_seconds"] == pytest.approx(sum(run["seconds"] for run in packed.values()))
    assert record["run_seconds"] < 1 and record["runs"] == 3


def made_by_factor(seed, factor):
    return {"value": factor * seed}


def test_what_is_left_takes_as_long_as_runs_of_its_own_kind(tmp_path, monkeypatch):
    """The first seed has a slow run and a quick one, the others quick ones; a kind of which none
    was made takes as long as all on average."""
    class Toy:
        def runs(self, settings, found):
            kinds = {10: (2, 3), 11: (2,), 12: settings.get("last", (2,))}
            return [Run(made_by_factor, {"seed": seed, "factor": factor})
                    for seed in settings["seeds"] for factor in kinds[seed]]

        def judge(self, found, settings):
            return {"a": studies.exactly(True)}

        def draw(self, found, figure, settings):
            figure.subplots()

    monkeypatch.setattr(running, "timed", lambda function, arguments: (
        function(**arguments), {2: 10.0, 3: 100.0}[arguments["factor"]]))
    sweep = studies.Sweep(tmp_path / "out", say=lambda line: None)
    record = studies.reproduce(study(implementation=Toy()), sweep, seeds=1)
    assert record["rest"] == {"seeds": 3, "runs": 2, "seconds": 20}
    assert record["run_seconds"] == 110
    other = study(implementation=Toy(), full={"seeds": (10, 11, 12), "last": (5,)})
    assert studies.reproduce(other, sweep, seeds=1)["rest"]["seconds"] == 65


def test_seconds_of_a_record_count_what_is_left_to_run(monkeypatch):
    known = {"run_seconds": 100.0, "rest": {"seconds": 40}}
    monkeypatch.setattr(records, "recorded", lambda paper, key: known)
    assert records.seconds(study()) == 140.0
    del known["rest"]
    assert records.seconds(study()) == 100.0
    monkeypatch.setattr(records, "recorded", lambda paper, key: None)
    assert records.seconds(study()) == 7200.0


def test_an_effect_is_told_with_its_spread_from_low_to_high():
    row = {"effect": 1.23456, "spread": (0.5, 2.25), "measure": "ratio"}
    assert pages.effect_text(row) == "ratio: 1.23 (0.5 to 2.25)"
    assert pages.effect_text(row | {"measure": ""}) == "1.23 (0.5 to 2.25)"
    assert pages.effect_text(row | {"spread": None}) == "ratio: 1.23"
    assert pages.effect_text(row | {"effect": None}) == ""


def test_runs_that_became_too_large_to_keep_leave_none_of_an_earlier_record(tmp_path, monkeypatch):
    """Runs of another record would be judged in their place."""
    monkeypatch.setattr(records, "folder", lambda: tmp_path / "kept")
    monkeypatch.setattr(records, "LARGEST_RUNS", 100)
    out = tmp_path / "out"
    out.mkdir()
    (out / "toy.png").write_bytes(b"a figure")
    record = {"paper": "low-rank", "key": "toy", "quick": False, "figure": "toy.png"}
    place = tmp_path / "kept" / "low-rank" / "toy.runs.json.gz"
    for size, there in ((100, True), (101, False), (20, True)):
        (out / "toy.runs.json.gz").write_bytes(b"x" * size)
        records.keep(out, record)
        assert place.exists() == there
    assert place.read_bytes() == b"x" * 20


# -- data ------------------------------------------------------------------------------------------


def test_no_digit_is_in_both_parts():
    training, test = studies.images("digits"), studies.images("digits", "test")
    assert len(training.labels) == 1400 and len(test.labels) == 397
    whole = data.datasets.scale(data.datasets.load_digits(), (0.0, 1.0))
    np.testing.assert_array_equal(np.concatenate([training.inputs, test.inputs]), whole.inputs)
    np.testing.assert_array_equal(np.concatenate([training.labels, test.labels]), whole.targets)


@pytest.mark.parametrize("classes, fits", [(9, True), (10, True), (11, False)])
def test_ten_classes_are_this_set_and_eleven_another(classes, fits):
    one = data.datasets.load_digits()
    other = replace(one, targets=np.arange(len(one.inputs)) % classes)
    if fits:
        data.refuse_another_set(other, "mnist", "idx:mnist", 64)
        with pytest.raises(ValueError, match="64 values a sample; mnist has 65"):
            data.refuse_another_set(other, "mnist", "idx:mnist", 65)
    else:
        with pytest.raises(ValueError, match="label 10; mnist has 10 classes"):
            data.refuse_another_set(other, "mnist", "idx:mnist", 64)


@pytest.mark.parametrize("size", [(3, 5), (28, 28)])
def test_an_enlarged_image_holds_the_whole_of_it(size):
    x = np.random.default_rng(0).random((2, 9))
    found = data.enlarged(x, size).reshape(2, *size)
    for place in np.ndindex(size):
        row, column = (place[k] * 3 // size[k] for k in (0, 1))
        np.testing.assert_array_equal(found[:, *place], x.reshape(2, 3, 3)[:, row, column])


# -- records ---------------------------------------------------------------------------------------


def test_a_record_keeps_the_digest_of_its_criterion(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    (tmp_path / "figure-1.png").write_bytes(b"png")
    results.write_all(tmp_path / "figure-1.runs.json.gz", made(({"seed": 1}, {"a": 1.5}, 1.0)))
    records.keep(tmp_path, {"paper": "low-rank", "key": "figure-1", "quick": False, "runs": 1,
                            "figure": "figure-1.png", "claims": []})
    record = records.recorded("low-rank", "figure-1")
    kept, lines = record["criterion"], record["changes"]
    assert len(kept) == 16 and kept == records.criterion("low-rank", "figure-1")
    assert kept != records.criterion("low-rank", "figure-2")
    assert lines == records.lines_of_changes("low-rank", "figure-1") > 0


def test_another_verdict_than_the_recorded_one_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    told = {"paper": "low-rank", "key": "toy", "runs": 1,
            "claims": [{"letter": letter, "verdict": "held"} for letter in "ab"]}
    assert records.changes(told) == []
    (tmp_path / "low-rank").mkdir()
    files.write_json(tmp_path / "low-rank" / "toy.json", told)
    now = {**told, "claims": [{"letter": letter, "verdict": verdict} for letter, verdict
                              in (("a", "held"), ("b", "undecided"), ("c", "held"))]}
    assert records.changes(now) == ["(b) was 'held', is 'undecided'"]
