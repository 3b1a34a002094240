"""Who is ahead, on numbers made by hand, and the page that tells it."""

import json
from pathlib import Path

import numpy as np
import pytest

from secondorder import cli
from secondorder.race import outcome, page


def entry(title, losses, at_end=()):
    runs = [{"seed": seed, "limit": 8.0, "curve": [2.0] * 13 + [loss]} | (
        {"loss": loss, "steps": 100} if np.isfinite(loss) else {"diverged": "step 3: not finite"})
        for seed, loss in enumerate(losses, 1)]
    rule = {"numbers": "rate 0.1", "at_end": list(at_end), "runs": runs}
    return {"title": title, "points": [], "seconds": rule, "work": rule}


def record(key="classifier", **methods):
    adam = entry("Adam", [1.0] * 10)
    return {"problem": key, "title": key, "seconds": 8.0, "work": 100.0, "version": "abc",
            "methods": {"adam": adam} | methods}


def row_of(losses, **more):
    rows = outcome.outcome(record(other=entry("Other", losses)) | more, "seconds")
    return next(row for row in rows if row["key"] == "other")


@pytest.mark.parametrize("losses, verdict, leads", [
    ([0.9] * 9 + [2.0], "ahead", 9), ([0.9] * 8 + [2.0] * 2, "level", 8),
    ([0.96] * 10, "level", 10), ([1.1] * 9 + [0.5], "behind", 1), ([1.04] * 10, "level", 0),
    ([1.0] * 10, "level", 0), ([0.5] * 8 + [np.inf] * 2, "level", 8),
    ([np.inf] * 10, "behind", 0)])
def test_nine_of_ten_seeds_by_five_percent(losses, verdict, leads):
    row = row_of(losses)
    assert (row["verdict"], row["leads"]) == (verdict, leads)


def test_what_diverges_is_told_apart_and_in_no_median():
    row = row_of([0.5] * 9 + [np.inf])
    assert row["diverged"] == 1 and row["median"] == pytest.approx(np.log(0.5))
    assert row["verdict"] == "ahead" and row["seeds"] == 10 and row["loss"] == 0.5


def test_ratios_are_those_of_the_method_over_adam_seed_by_seed():
    told = record(other=entry("Other", range(1, 11)))
    told["methods"]["adam"] = entry("Adam", [2.0, 8.0, *range(6, 22, 2)])
    row = next(row for row in outcome.outcome(told, "work") if row["key"] == "other")
    assert [row["least"], row["most"]] == pytest.approx(np.log([0.25, 0.5]))
    assert row["median"] == pytest.approx(np.log(0.5))


def test_the_page(tmp_path, monkeypatch, capsys):
    """From files, by the command; a loss that is infinite is null there."""
    others = {"ea-cg": entry("EA-CG, PCH-1", [0.5] * 9 + [np.inf], at_end=["alpha"]),
              "cubic": entry("cubic steps", [3.0] * 10)}
    monkeypatch.setattr(page, "folder", lambda: tmp_path)
    page.write(record(**others), tmp_path)
    assert cli.main(["race", "--recorded", "--out", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "RACE.md").read_text()
    assert capsys.readouterr().out.startswith(text)
    assert "rate 0.1 (alpha at an end: no points left)" in text
    assert "| -0.69 (-0.69 to -0.69) | 9 of 10 | ahead (1 diverged) |" in text
    assert "| +1.10 (+1.10 to +1.10) | 0 of 10 | behind |" in text
    assert "| classifier | equal CPU seconds | EA-CG, PCH-1 | - | cubic steps |" in text
    assert (tmp_path / "out" / "classifier.png").stat().st_size > 5000
    assert cli.main(["race", "--recorded", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["key"] for row in told["classifier"]["work"]] == ["ea-cg", "adam", "cubic"]


def test_a_method_that_diverges_everywhere_has_a_row():
    never = entry("Never", [])
    never["seconds"]["numbers"] = None
    text = page.section(record(never=never, lost=entry("Lost", [np.inf] * 10)))
    assert "| Never | diverges at every point | | | | | behind |" in text
    assert "| Lost | rate 0.1 | | | | | behind (10 diverged) |" in text


def test_the_page_of_the_repository_is_what_the_records_tell():
    path = Path(page.__file__).with_name(page.PAGE)
    records = page.recorded()
    assert path.is_file() == bool(records)
    if records:
        assert path.read_text() == page.markdown(records, page.PICTURES)
