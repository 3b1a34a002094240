"""The live race and its command: a table, a picture, a method of one's own, an interrupt."""

import json
import re

import pytest

import secondorder as so
from secondorder import cli
from secondorder.race import full, live, problems
from secondorder.race.methods import METHODS
from secondorder.race.problems import PROBLEMS
from secondorder.studies import data

OWN = """
import numpy as np
import secondorder as so


class Signs(so.optimizers.Optimizer):
    def __init__(self, network, loss, learning_rate=0.003):
        super().__init__(network, loss, learning_rate)

    def direction(self, evaluation):
        return -np.sign(self.gradient(evaluation))
"""


@pytest.fixture(autouse=True)
def without_images(tmp_path, monkeypatch):
    """Digits stand in the place of MNIST, here as for most users."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(data, "where", lambda name: None)
    data.images.cache_clear()
    yield
    data.images.cache_clear()


def test_a_method_of_ones_own_joins(tmp_path, capsys):
    (tmp_path / "mine_of_race.py").write_text(OWN)
    assert cli.main(["race", "--minutes", "0.002", "--methods", "adam", "ea-cg", "--load",
                     "mine_of_race.py", "--out", "out", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["method"] for row in rows} == {"Adam", "EA-CG, PCH-1", "Signs"}
    assert [row["loss"] for row in rows] == sorted(row["loss"] for row in rows)
    own = next(row for row in rows if row["method"] == "Signs")
    assert own["work"] == own["steps"] >= 1 and own["numbers"].startswith("rate ")
    assert (tmp_path / "out" / "race.png").stat().st_size > 5000
    record = json.loads((tmp_path / "out" / "race.json").read_text())
    assert len(record["methods"]["ea-cg"]["points"]) >= 5


def test_the_table_has_the_lowest_loss_first(small, monkeypatch):
    methods, run = [METHODS["kfi"], METHODS["truncated-newton"], METHODS["adam"]], live.run
    monkeypatch.setattr(live, "run", lambda problem, method, *given: run(
        problem, method, *given) if method.key != "kfi" else {
        "steps": [0], "seconds": [0.0], "work": [0.0], "loss": [2.0], "diverged": "step 1: much"})
    lines = live.table({"seconds": 0.01, "methods": dict(live.race(small, methods, 0.01))})
    losses = [float(line.split()[-2]) for line in lines[1:3]]
    assert losses == sorted(losses) and re.fullmatch("KFI +diverges", lines[3])


def test_names_in_any_spelling(monkeypatch):
    raced = []
    monkeypatch.setattr(live, "race", lambda *given: raced.append(given) or iter(()))
    assert cli.main(["race", "--methods", "Adam", "EA_CG", "--problem", "Plateau"]) == 0
    assert raced[0][:2] == (PROBLEMS["plateau"], [METHODS["adam"], METHODS["ea-cg"]])


def test_help_lists_every_name(capsys):
    with pytest.raises(SystemExit):
        cli.main(["race", "--help"])
    methods, problems = re.search(r"methods of --methods.*?:\n(.*)\n\nproblems of --problem:\n(.*)",
                                  capsys.readouterr().out, re.S).groups()
    lines = [re.split(r"\s{2,}", line.strip()) for line in methods.splitlines()]
    assert dict(lines) == {key: one.title for key, one in METHODS.items()}
    assert re.findall(r"[\w-]+", problems) == list(PROBLEMS)


@pytest.mark.parametrize("arguments, told", [
    (["--problem", "platau"], "plateau"), (["--methods", "ADDAM"], "did you mean 'adam'"),
    (["--load", "no.py"], "no such file"), (["--load", "empty.py"], "defines no class"),
    (["--full"], "needs --out"), (["--full", "--out", "runs"], "secondorder data")])
def test_what_is_wrong_is_told_in_a_line(arguments, told, tmp_path, capsys):
    (tmp_path / "empty.py").write_text("import secondorder as so\n")
    assert cli.main(["race", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_an_interrupt_tells_what_came_in(monkeypatch, capsys):
    def race(*arguments):
        run = {"seed": 1, "steps": 5, "work": 5.0, "loss": 0.125, "held_out": 0.25, "limit": 1.0}
        yield "adam", {"title": "Adam", "points": []} | {
            rule: {"numbers": "rate 0.001", "at_end": [], "runs": [run]} for rule in full.RULES}
        raise KeyboardInterrupt

    monkeypatch.setattr(live, "race", race)
    assert cli.main(["race", "--methods", "adam"]) == 130
    told = capsys.readouterr()
    assert "0.125" in told.out and told.err.strip() == "secondorder race: interrupted"


def test_runs_of_a_race_in_full_are_kept_only_where_that_is_asked_for(tmp_path, monkeypatch,
                                                                     capsys):
    monkeypatch.setattr(problems, "stand_in", lambda: False)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "one.json").write_text("{}")
    assert cli.main(["race", "--full", "--out", "runs"]) == 2
    assert "--resume keeps them" in capsys.readouterr().err


def test_time_is_shared_and_a_default_rate_is_read():
    assert live.seconds_of(0.5, 10) == pytest.approx(30 / 10 / 3.5)
    assert live.seconds_of(100.0, 2) == 8.0, "as in the recorded race"
    assert live.default_rate(so.Adam) == 0.001
    assert live.default_rate(so.ResidualPartitioning) == 0.01  # None there


def test_images_and_targets():
    for problem in PROBLEMS.values():
        (x, y), (x_held, _) = problem.parts(1)
        assert x.shape == (1400, 784) and len(x_held) == 397 and x.dtype == "float32"
        assert (x.min(), x.max()) == (problem.lowest, 1.0)
        assert (y is x or (y == x).all()) if problem.repeats else {*y} == {*range(10)}
        other, _ = problem.parts(2)[0]
        assert (other != x).any()
