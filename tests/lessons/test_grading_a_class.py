"""A class's folder becomes one table: every file gets its row, whatever it is and does."""

import csv
import os
from pathlib import Path

import pytest

from secondorder import cli, lessons
from secondorder.lessons import classes
from test_grading_apart import RIGHT, SLOPES

WRONG = SLOPES.replace("return ...", "return alpha(sample, k, l)")


def table(path):
    """The rows of a table as a spreadsheet reads it."""
    with open(path, encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def handed_in(folder, **students):
    """A folder a student, with one file."""
    for name, text in students.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "05.py").write_text(text)
    return folder


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals and links")
def test_every_file_gets_its_row_whatever_it_does(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = handed_in(tmp_path / "class", anna=RIGHT, ben=WRONG, cleo="while True: pass",
                       dora="print('hello')\nx.y")
    (folder / "hal").mkdir()                                         # handed in nothing
    (folder / "jon").symlink_to(tmp_path)                            # is passed over
    deep = folder / "kim, \n=2+3" / "week 1"
    deep.mkdir(parents=True)
    (deep / "müller.py").write_text(RIGHT)
    (folder / "=lea.py").write_text(RIGHT)                           # a file a student
    for passed_over in ("__MACOSX", ".git", "anna/__pycache__", "anna/.ipynb_checkpoints"):
        (folder / passed_over).mkdir(parents=True, exist_ok=True)
        (folder / passed_over / "05.py").write_text(RIGHT)
    (folder / "anna" / "notes.txt").write_text("not code")
    assert cli.main(["grade", str(folder), "--seconds", "8", "--jobs", "2", "--feedback", "texts"]
                    ) == 1
    rows = table("grades.csv")
    assert list(rows[0]) == list(classes.COLUMNS)
    told = {row["name"]: (row["exercise"], row["points"], row["of"], row["verdict"], row["hint"])
            for row in rows}
    assert list(told) == ["'=lea", "anna", "ben", "cleo", "dora", "hal", "kim,  =2+3"]
    right = ("05_whose_slopes", "4", "4", "right", "")
    assert told["'=lea"] == told["anna"] == told["kim,  =2+3"] == right
    assert told["ben"][:4] == ("05_whose_slopes", "0", "4", "wrong")
    assert "the step from" in told["ben"][4]
    for name, expected in {"cleo": "still running after", "dora": "NameError in line 2",
                           "hal": "no script"}.items():
        assert told[name][:4] == ("", "", "", "not graded") and expected in told[name][4]
    assert rows[-1]["file"] == "kim,  =2+3/week 1/müller.py"
    texts = {path.stem: path.read_text(encoding="utf-8") for path in Path("texts").iterdir()}
    assert texts["anna"].startswith("anna/05.py: 05_whose_slopes, 4 of 4 points\n\nright: ")
    assert "0 of 4 points" in texts["ben"] and "hint: the step from" in texts["ben"]
    assert "it printed:\nhello" in texts["dora"] and "no points" in texts["hal"] and len(texts) == 7
    said = capsys.readouterr().out
    assert said.count("/7] ") == 7 and "7 submissions: 3 right, 1 wrong, 3 not graded" in said


def test_what_is_refused_before_any_work(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    handed_in(tmp_path / "class", anna=RIGHT)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "anna.txt").write_text("mine")
    (tmp_path / "mine.csv").write_text("mine")
    for arguments, words in ((["empty"], "holds no script"), (["class", "empty"], "no such file"),
                             (["class", "--csv", "no/b.csv"], "no such directory"),
                             (["class", "--csv", "mine.csv"], "there already"),
                             (["class", "--feedback", "texts"], "anna.txt: there already")):
        assert cli.main(["grade", *arguments]) == 2, arguments
        told = capsys.readouterr()
        assert words in told.err and "[1/" not in told.out, told.err
    for name, options in (("jobs", {"jobs": 0}), ("seconds", {"seconds": 0})):
        with pytest.raises(ValueError, match=name):
            lessons.grade_folder("class", "b.csv", **options)
    assert not (tmp_path / "grades.csv").exists()
