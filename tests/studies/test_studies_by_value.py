"""Numbers that studies read off, sum up and tell, at the places where a slip would not be seen."""

import gzip
import json
import time

import pytest

from secondorder.studies import Results, pages, records, results, running, selection
from secondorder.studies.registry import Study, name_of

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


@pytest.mark.parametrize("seconds, text", [(89.4, "89 s"), (90, "2 min"), (5399, "90 min"),
                                           (5400, "1.5 h")])
def test_times_as_a_person_says_them(seconds, text):
    assert running.duration(seconds) == text


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
