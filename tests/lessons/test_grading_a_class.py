"""A class's folder becomes one table: every file gets its row, whatever it is and does."""

import csv
import os
from pathlib import Path

import pytest

from secondorder import cli, lessons
from secondorder.lessons import apart, classes
from test_grading_apart import RIGHT, SLOPES, endless, require_an_end_by_ctrl_c

WRONG = SLOPES.replace("return ...", "return alpha(sample, k, l)")


def table(path):
    """The rows of a table as a spreadsheet reads it."""
    with open(path, encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def handed_in(folder, **students):
    """A folder a student, with one file."""
    for name, text in students.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "05.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals and links")
def test_every_file_gets_its_row_whatever_it_does(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(apart, "_STARTING", 30.0)
    folder = handed_in(tmp_path / "class", anna=RIGHT, ben=WRONG, cleo="while True: pass",
                       dora="while True: print('x' * 10**6)", emil="def f(:\n", fay=b"\x00\xff\x7f",
                       gus="import os; os._exit(0)")
    (folder / "hal").mkdir()                                         # handed in nothing
    (folder / "jon").symlink_to(tmp_path)                            # is passed over
    deep = folder / "kim, \n=2+3" / "week 1"
    deep.mkdir(parents=True)
    (deep / "müller.py").write_text(RIGHT)
    for passed_over in ("__MACOSX", ".git", "anna/__pycache__", "anna/.ipynb_checkpoints"):
        (folder / passed_over).mkdir(parents=True, exist_ok=True)
        (folder / passed_over / "05.py").write_text(RIGHT)
    (folder / "anna" / "notes.txt").write_text("not code")
    assert cli.main(["grade", str(folder), "--seconds", "8", "--jobs", "2", "--feedback", "texts"]
                    ) == 1
    rows = table("grades.csv")
    assert list(rows[0]) == list(classes.COLUMNS)
    assert {row["name"]: (row["points"], row["of"]) for row in rows[:3]} == {
        "anna": ("4", "4"), "ben": ("0", "4"), "cleo": ("", "")}
    told = {row["name"]: (row["exercise"], row["verdict"], row["hint"]) for row in rows}
    assert list(told) == ["anna", "ben", "cleo", "dora", "emil", "fay", "gus", "hal",
                          "kim,  =2+3"] and len(rows) == len(told)
    assert told["anna"] == told["kim,  =2+3"] == ("05_whose_slopes", "right", "")
    assert told["ben"][:2] == ("05_whose_slopes", "wrong") and "the step from" in told["ben"][2]
    words = {"cleo": "still running after", "dora": "too large",
             "emil": "SyntaxError in line 1",
             "fay": "no text in UTF-8", "gus": "status 0", "hal": "no script"}
    for name, expected in words.items():
        assert told[name][:2] == ("", "not graded") and expected in told[name][2], told[name]
    assert all("\n" not in cell for row in rows for cell in row.values())
    assert all(float(row["seconds"]) >= 0 for row in rows)
    assert rows[-1]["file"] == "kim,  =2+3/week 1/müller.py"
    texts = {path.stem: path.read_text(encoding="utf-8") for path in Path("texts").iterdir()}
    assert sorted(texts) == ["anna", "ben", "cleo", "dora", "emil", "fay", "gus", "hal", "kim_2_3"]
    assert texts["anna"].startswith("anna/05.py: 05_whose_slopes, 4 of 4 points\n\nright: ")
    assert "0 of 4 points" in texts["ben"] and "hint: the step from" in texts["ben"]
    assert "it printed:" in texts["dora"] and "no points" in texts["hal"]
    said = capsys.readouterr().out.splitlines()
    assert sorted(line.split("]")[0] for line in said[:-1]) == sorted(
        f"[{k}/9" for k in range(1, 10))
    assert said[-1].startswith("9 submissions: 2 right, 1 wrong, 6 not graded")


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_the_whole_class_has_a_limit(tmp_path):
    """The file that runs when the time is over is ended, and no other one is begun."""
    folder = handed_in(tmp_path / "class", ben="while True: pass", cleo="open('ran', 'w')",
                       dora="open('ran', 'w')")
    found = lessons.grade_folder(folder, tmp_path / "grades.csv", minutes=0.05)
    told = {one.name: one.verdict.text for one in found.rows}
    assert list(told) == ["ben", "cleo", "dora"] and not list(folder.rglob("ran"))
    assert all("the time for the whole class was over" in text for text in told.values())
    for minutes in (0, -1):
        with pytest.raises(ValueError, match="minutes"):
            lessons.grade_folder(folder, tmp_path / "b.csv", minutes=minutes)


@pytest.mark.slow
def test_a_flat_folder_has_a_student_a_file(tmp_path):
    for name, text in (("anna.py", RIGHT), ("=cmd|'a'!A1.py", RIGHT), ("+ben.ipynb", "{"),
                       ("readme.md", "no code")):
        (tmp_path / name).write_text(text)
    found = lessons.grade_folder(tmp_path, tmp_path / "grades.csv")
    assert [row["name"] for row in table(found.path)] == ["'+ben", "'=cmd|'a'!A1", "anna"]
    assert [row["file"] for row in table(found.path)] == ["'+ben.ipynb", "'=cmd|'a'!A1.py",
                                                          "anna.py"]
    assert not found.ok and str(found) == "3 submissions: 2 right, 0 wrong, 1 not graded"


@pytest.mark.parametrize("text, cell", [
    ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@a", "'@a"), ("\t=1", "' =1"),
    ("\uff1d1", "'\uff1d1"), ("a=1", "a=1"), ("a\nb\x1b[2J", "a b [2J"), ("\udcff\u202e", "  ")])
def test_no_cell_is_a_formula_or_goes_over_lines(text, cell):
    assert classes._cell(text) == cell


@pytest.mark.slow
def test_a_table_that_is_there_is_replaced_only_where_that_is_asked_for(tmp_path):
    folder, out = handed_in(tmp_path / "class", anna="x = ("), tmp_path / "grades.csv"
    out.write_text("mine")
    with pytest.raises(FileExistsError, match="grades.csv"):
        lessons.grade_folder(folder, out, say=lambda line: pytest.fail("graded before it refused"))
    assert out.read_text() == "mine"
    assert len(table(lessons.grade_folder(folder, out, overwrite=True).path)) == 1


def test_what_is_refused_before_any_work(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.py").write_text(RIGHT)
    handed_in(tmp_path / "class", anna=RIGHT)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "anna.txt").write_text("mine")
    for arguments, words in ((["empty"], "holds no script"), (["class", "a.py"], "by itself"),
                             (["a.py", "--jobs", "2"], "--jobs is for a folder"),
                             (["a.py", "--feedback", "b"], "--feedback is for a folder"),
                             (["class", "--csv", "no/b.csv"], "no such directory: no"),
                             (["class", "--csv", "empty"], "there already"),
                             (["class", "--feedback", "texts"], "anna.txt: there already"),
                             (["class", "--seconds", "0"], "seconds")):
        assert cli.main(["grade", *arguments]) == 2, arguments
        told = capsys.readouterr()
        assert words in told.err and "[1/" not in told.out, told.err
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        lessons.grade_folder("class", "b.csv", jobs=0)
    with pytest.raises(NotADirectoryError):
        lessons.submissions("a.py")
    assert not (tmp_path / "grades.csv").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_leaves_the_table_and_no_process(tmp_path):
    told = tmp_path / "pid"
    handed_in(tmp_path / "class", anna="x = (", ben=endless(told))
    require_an_end_by_ctrl_c(["class", "--csv", "grades.csv"], told, folder=tmp_path)
    assert [row["name"] for row in table(tmp_path / "grades.csv")] == ["anna"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["class", "grades.csv", "pid"]
