"""The live race: a table, a picture, a method of one's own, an interrupt."""

import json
import re

import pytest
from matplotlib.figure import Figure

from secondorder import cli
from secondorder.race import live
from secondorder.race.entrants import ENTRANTS
from secondorder.race.problems import PROBLEMS

OWN = """
import numpy as np
import secondorder as so


class Signs(so.optimizers.Optimizer):
    def __init__(self, network, loss, learning_rate=0.003):
        super().__init__(network, loss, learning_rate)

    def direction(self, evaluation):
        return -np.sign(self.gradient(evaluation))
"""
SHORT = ["race", "--minutes", "0.02", "--methods", "adam", "ea-cg"]


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine_of_race.py"
    path.write_text(OWN)
    return str(path)


def test_a_method_of_ones_own_joins(mine, tmp_path, capsys):
    assert cli.main([*SHORT, "--load", mine, "--out", str(tmp_path / "out"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["method"] for row in rows] == ["Adam", "EA-CG, PCH-1", "Signs"]
    assert all(row["steps"] >= 1 and row["loss"] < 10 for row in rows), rows
    assert rows[2]["kind"] == "own" and rows[2]["work"] == rows[2]["steps"]
    assert (tmp_path / "out" / "race.png").stat().st_size > 5000
    record = json.loads((tmp_path / "out" / "race.json").read_text())
    assert len(record["records"]) == 3


@pytest.mark.slow
def test_the_table_has_the_lowest_loss_first_and_says_who_did_not_run(capsys):
    assert cli.main(["race", "--problem", "reversible", "--minutes", "0.002", "--methods",
                     "partitioning", "adam", "momentum"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == PROBLEMS["reversible"].title
    assert lines[4].startswith("residual partitioning") and "Coupling" in lines[4]
    losses = [float(line[32:].split()[5]) for line in lines[2:4]]
    assert losses == sorted(losses)
    assert lines[-1].startswith("The least loss held out: ")


def test_names_in_any_spelling(monkeypatch):
    raced = []
    monkeypatch.setattr(live, "race", lambda *given: raced.append(given) or [])
    assert cli.main(["race", "--methods", "Adam", "EA_CG", "--problem", "Digits 10"]) == 0
    assert raced[0][:2] == ("digits-10", [ENTRANTS["adam"], ENTRANTS["ea-cg"]])


def test_the_table_names_the_least_loss_held_out():
    def ended(key, loss, held_out):
        return live.Result(ENTRANTS[key], 0, {"steps": [5], "seconds": [1.0], "work": [5.0],
                                              "loss": [loss], "held_out": [held_out]})

    lines = live.table([ended("adam", 0.5, 0.75), ended("unit", 1e-45, 20.0)])
    assert lines[1].startswith(ENTRANTS["unit"].title)
    assert lines[-1] == "The least loss held out: Adam (0.75)."
    assert lines[-2].startswith("The lowest training loss stands first")
    assert len(live.table([live.Result(ENTRANTS["adam"], why="none")])) == 2


def test_help_lists_every_name(capsys):
    with pytest.raises(SystemExit):
        cli.main(["race", "--help"])
    methods, problems = re.search(r"methods of --methods.*?:\n(.*)\n\nproblems of --problem:\n(.*)",
                                  capsys.readouterr().out, re.S).groups()
    lines = [re.split(r"\s{2,}", line.strip()) for line in methods.splitlines()]
    assert {key: title.removesuffix(" (a control)") for key, title in lines} == {
        key: one.title for key, one in ENTRANTS.items()}
    assert re.findall(r"[\w-]+", problems) == list(PROBLEMS)


@pytest.mark.parametrize("arguments, told", [
    (["--problem", "digit"], "digits"), (["--methods", "addam"], "adam"),
    (["--methods", "ADDAM"], "did you mean 'adam'"), (["--methods", ""], "choose from"),
    (["--load", "no.py"], "no such file")])
def test_what_is_wrong_is_told_in_a_line(arguments, told, capsys):
    assert cli.main(["race", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_a_file_without_a_method_is_refused(tmp_path, capsys):
    path = tmp_path / "empty_of_race.py"
    path.write_text("import secondorder as so\n")
    assert cli.main(["race", "--load", str(path)]) == 2
    assert "defines no class that derives from" in capsys.readouterr().err


def test_an_interrupt_tells_what_came_in(monkeypatch, capsys):
    def race(*arguments):
        yield live.Result(ENTRANTS["adam"], 0, {"steps": [0, 5], "seconds": [0, 1.0],
                                                "work": [0, 5.0], "loss": [2.0, 0.125],
                                                "held_out": [2.0, 0.25]})
        raise KeyboardInterrupt

    monkeypatch.setattr(live, "race", race)
    assert cli.main(["race", "--methods", "adam"]) == 130
    told = capsys.readouterr()
    assert "0.125" in told.out and told.err.strip() == "secondorder race: interrupted"


def test_time_is_shared_and_has_the_problems_limit():
    digits = PROBLEMS["digits"]
    assert live.seconds_of(digits, 0.5, 10) == pytest.approx(30 / 10 / 2.5)
    assert live.seconds_of(digits, 100.0, 2) == digits.most


def test_a_default_rate_is_read():
    import secondorder as so

    assert live.default_rate(so.Adam) == 0.001
    assert live.default_rate(so.ResidualPartitioning) == 0.01  # None there


@pytest.mark.parametrize("last, told", [(1e-9, "training loss (0.000001: that or less)"),
                                        (1e-3, "training loss")])
def test_the_picture_says_where_it_cuts_losses(last, told):
    record = {"work": [0, 1, 2], "seconds": [0, 1, 2], "loss": [1.0, 0.1, last]}
    result = live.Result(ENTRANTS["momentum"], 0, record)
    figure = Figure()
    live.draw([result], "", figure)
    assert [panel.get_ylabel() for panel in figure.axes] == [told, ""]
    assert figure.axes[0].lines[0].get_ydata()[-1] == max(last, 1e-6)
