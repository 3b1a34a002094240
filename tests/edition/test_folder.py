"""The folder of an edition: written whole, never over something, found by the commands."""

import ast
import importlib.util
import json
import os
import re
from pathlib import Path

import pytest

from secondorder import edition, ledger
from secondorder.edition import loading, templates
from secondorder.ledger import registry

NOTES = Path(__file__).with_name("notes")
SOURCE = r"""\title{On "halves"}
\section{One} The half of a number is
\begin{equation} h(x) = \frac{x}{2}. \label{half} \end{equation}
Its derivative is \[ h' = \tfrac12 \] and twice \eqref{half} is
\begin{equation} 2 h(x) = x. \end{equation}
"""
FORMULAS = '''

def half(x):
    """h(x) = x / 2, (1)."""
    return x / 2
'''
CHECKED = '''
from secondorder.ledger import Derivative, Equal

from . import PRINTED, formulas, paper


@paper.equation("1", statement="The half.", formula=PRINTED["1"], kind="identity", verdict="holds",
                implements=formulas.half)
def equation_1(rng):
    x = rng.normal(size=3)
    return [Equal("half", formulas.half(x), OTHER, 1e-12)]


@paper.equation("2", statement="Twice the half.", formula=PRINTED["2"], kind="claim",
                verdict="unchecked")
def equation_2(rng):
    return []
'''


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A working directory with a paper; what it loads is forgotten."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper.tex").write_text(SOURCE)
    yield tmp_path
    for key in set(registry.REGISTRY.papers) - set(ledger.PAPERS):
        loading.unload(key)


def test_a_new_edition_is_shown_verified_and_counted(desk, run):
    status, out, _ = run("edition", "new", "my-halves", "--tex", "paper.tex")
    assert status == 0 and "2 numbered displays, 1 without a number" in out
    assert sorted(path.name for path in (desk / "my-halves").iterdir()) == [
        "EQUATIONS.md", "READING.md", "__init__.py", "displays.tex", "edition.toml",
        "equations.py", "formulas.py"]
    status, out, _ = run("show", "my-halves", "1")
    assert status == 0 and "unchecked: nobody has written its check yet" in out
    assert "h(x) = x/2" in out and "The half of a number is" in out
    assert "[my-halves] Equation (1)" in out
    status, out, _ = run("verify", "my-halves")
    assert status == 0 and "2 checks of 2 labels: 2 unchecked; 0 failed" in out
    status, out, _ = run("verify", "my-halves", "--strict")
    assert status == 1 and "--strict: 2 of 2 displays unchecked" in out
    status, out, _ = run("verify", "my-halves", "2", "--json")
    (one,) = json.loads(out)
    assert status == 0 and one["ok"] is None and one["verdict"] == "unchecked"
    assert one["statement"] == "Its derivative is $h' = \\tfrac12$ and twice (1) is" or \
        one["statement"] == "and twice (1) is"
    page = (desk / "my-halves" / "EQUATIONS.md").read_text()
    assert "2 checks of 2 labels: 2 unchecked." in page and "Not checked yet" in page
    assert edition.printed("my-halves")["unnumbered-1"] == r"h' = \tfrac12"
    assert "unnumbered-1: paper.tex, line 4" in (desk / "my-halves/READING.md").read_text()


def test_an_edition_is_found_where_load_says(desk, run, monkeypatch):
    edition.new("my-halves", desk / "paper.tex", desk)
    (desk / "else").mkdir()
    monkeypatch.chdir(desk / "else")
    assert run("show", "my-halves", "1")[0] == 2
    status, out, _ = run("show", "my-halves", "1", "--load", "../my-halves")
    assert status == 0 and "h(x) = x/2" in out
    monkeypatch.chdir(desk / "my-halves")  # in its own folder
    loading.unload("my-halves")
    assert run("verify", "my-halves")[0] == 0
    monkeypatch.chdir(desk / "else")
    loading.unload("my-halves")
    status, _, err = run("show", "my-halves", "1", "--load", "../none")
    assert status == 2 and "--load: no such file or folder: ../none" in err
    status, _, err = run("show", "my-halves", "1", "--load", desk / "else")
    assert status == 2 and "holds no edition" in err


def test_a_display_is_found_by_its_name_in_the_source(desk, run):
    (desk / "paper.tex").write_text(SOURCE.replace("2 h(x) = x.", r"\label{eq:1}\label{b} 2 h(x)."))
    made = edition.new("my-halves", "paper.tex")
    for name, words in (("half", "Equation (1)"), ("eq:1", "Equation (2)"), ("b", "Equation (2)")):
        status, out, _ = run("show", "my-halves", name)
        assert status == 0 and words in out
        assert f"- {name}: {words.split()[1]}" in (made.folder / "READING.md").read_text()


def test_a_name_of_subequations_is_that_of_all_of_them(desk, run):
    (desk / "paper.tex").write_text(r"""
\begin{equation} x = 1 \label{eq:global} \end{equation}
\begin{subequations}\label{eq:sub} \begin{align} a &= b \\ c &= d \label{eq:d} \end{align}
\end{subequations} \label{eq:behind} By \eqref{eq:sub}, \begin{equation} y = 2. \end{equation}""")
    made = edition.new("mine", "paper.tex")
    assert [display.names for display in made.reading.displays] == [
        ("eq:global",), ("eq:sub",), ("eq:d", "eq:sub"), ()]
    assert made.reading.displays[-1].sentence == "By (2),"
    status, out, _ = run("show", "mine", "eq:sub")
    assert status == 0 and "Equation (2a)" in out and "Equation (2b)" in out
    status, _, err = run("show", "mine", "eq:glo")
    assert status == 2 and "did you mean 'eq:global'" in err


def write_checks(folder, other):
    with (folder / "formulas.py").open("a") as file:
        file.write(FORMULAS)
    (folder / "equations.py").write_text(CHECKED.replace("OTHER", other))


SECOND = """

@paper.equation("3", statement="Once.", formula="h", kind="identity", verdict="holds", names="once",
                implements=(formulas.once, formulas.half))
def equation_3(rng):
    return [Equal("once", formulas.once(2.0), 2 * formulas.half(2.0), 1e-12)]
"""


@pytest.mark.parametrize("second", ["", SECOND])
def test_every_address_on_the_page_is_there_once(desk, run, second):
    """A check calls what the article shows as its code: it is no helper of the check."""
    for needed in ("jinja2", "pygments", "math_core"):
        pytest.importorskip(needed, reason="the extra [book] is not installed")
    folder = edition.new("my-halves", "paper.tex").folder
    write_checks(folder, "0.5 * x")
    with (folder / "formulas.py").open("a") as file:
        file.write("\n\ndef once(x):\n    return 2 * half(x)\n")
    with (folder / "equations.py").open("a") as file:
        file.write(second)
    assert run("book", "my-halves", "--out", "book")[0] == 0
    page = (desk / "book" / "my-halves.html").read_text()
    addresses = re.findall(r'\bid="?([\w.-]+)', page)
    assert len(addresses) == len(set(addresses)) and "code-eq-1" in addresses
    assert set(re.findall(r'href="?#([\w.-]+)', page)) <= set(addresses)


def test_a_check_that_notices_everything(desk, run):
    write_checks(edition.new("my-halves", "paper.tex").folder, "0.5 * x")
    status, out, _ = run("edition", "test", "my-halves")
    assert status == 0, out
    assert "1 holds, 1 unchecked; 1 implementation spoiled, 0 ways of being wrong unnoticed, " \
        "0 checks failed" in out
    assert "Implemented by [`formulas.half`](formulas.py#L8)" in (
        desk / "my-halves" / "EQUATIONS.md").read_text()
    status, out, _ = run("verify", "my-halves", "--strict")
    assert status == 1 and "1 of 2 displays unchecked" in out
    assert run("verify", "my-halves", "1", "--strict")[0] == 0


@pytest.mark.parametrize("other, told", [
    ("formulas.half(x)", ["unnoticed: my-halves 1: formulas.half: sign",
                          "3 ways of being wrong unnoticed"]),
    ("0.25 * x", ["FAILED my-halves 1: half: error", "the ratio is 2 everywhere"])])
def test_a_check_that_notices_nothing_or_fails_is_named(desk, run, other, told):
    write_checks(edition.new("my-halves", "paper.tex").folder, other)
    status, out, _ = run("edition", "test", "my-halves")
    assert status == 1 and all(one in out for one in told)


def test_an_edition_without_any_check_does_not_pass(desk, run):
    folder = edition.new("my-halves", "paper.tex").folder
    status, out, _ = run("edition", "test", "my-halves")
    assert status == 1 and out.startswith("nothing is checked: write a check first")
    write_checks(folder, "0.5 * x")
    loading.unload("my-halves")
    status, out, _ = run("edition", "test", "my-halves", "2")
    assert status == 1 and out.startswith("nothing is checked")
    assert run("edition", "test", "my-halves", "1")[0] == 0


@pytest.mark.parametrize("text, expected", [
    ("x = (", "equations.py, line 1: SyntaxError"), ("\nx = y", "equations.py, line 2: NameError"),
    ("import none_such", "equations.py, line 1: ModuleNotFoundError")])
def test_an_error_in_a_file_of_the_author_has_its_place(desk, run, text, expected):
    folder = edition.new("my-halves", "paper.tex").folder
    (folder / "equations.py").write_text(text)
    status, _, err = run("verify", "my-halves")
    assert status == 2 and expected in err and len(err.splitlines()) == 1
    assert "my-halves" not in registry.REGISTRY.papers


def test_a_folder_that_registers_nothing_or_another_key(desk):
    folder = edition.new("my-halves", "paper.tex").folder
    (folder / "__init__.py").write_text("")
    with pytest.raises(ValueError, match="registers no paper 'my-halves'"):
        edition.load(folder)
    for mark, words in (("key = 3", "key must be"), ("key = ", "cannot be read"),
                        ('key = "low-rank"', "key must be")):
        (folder / "edition.toml").write_text(mark)
        with pytest.raises(ValueError, match=words):
            edition.load(folder)


@pytest.mark.parametrize("key, expected", [
    ("../b", "letters, digits and hyphens"), ("", "letters"), ("a b", "letters"),
    ("Low-Rank", "package's own"), ("json", "is a Python module"), ("numpy", "'numpy-paper'")])
def test_bad_keys(desk, key, expected):
    with pytest.raises(ValueError, match=expected):
        edition.new(key, "paper.tex")
    assert [path.name for path in desk.iterdir()] == ["paper.tex"]


@pytest.mark.parametrize("make", [
    lambda place: place.mkdir(), lambda place: place.write_text("mine"),
    lambda place: place.symlink_to("nowhere")])
def test_nothing_is_overwritten(desk, run, make):
    make(desk / "my-halves")
    before = os.lstat(desk / "my-halves")
    status, _, err = run("edition", "new", "my-halves", "--tex", "paper.tex")
    assert status == 2 and "is there already: nothing is overwritten" in err
    assert os.lstat(desk / "my-halves").st_ino == before.st_ino


def test_a_paper_without_a_display_leaves_nothing(desk, run):
    (desk / "broken.tex").write_text("a\n\\begin{align} b")
    status, _, err = run("edition", "new", "my-halves", "--tex", "broken.tex")
    assert status == 2 and "has no display: nothing was written" in err
    assert "broken.tex, line 2: the display that begins in line 2 is never closed" in err
    assert not (desk / "my-halves").exists() and not list(desk.glob(".*"))


def test_numbers_that_are_borne_twice(desk):
    (desk / "twice.tex").write_text("$$a \\tag{1}$$ $$a \\tag{1}$$ $$b \\tag{1}$$ $$c \\tag{$x$}$$")
    made = edition.new("twice-note", "twice.tex")
    assert made.labels == ("1", "1-again", "x")
    assert [line.partition(": ")[2] for line in made.unread] == [
        "(1) is printed again, unchanged",
        "the number (1) is borne twice; the later display stands as 1-again"]
    edition.load(made.folder)
    assert [result.labels[0] for result in ledger.run("twice-note")] == ["1", "1-again", "x"]


@pytest.mark.parametrize("words", [
    'A "quoted" word is', "It ends in \\", 'a """', "{0} {x} %s", "\\N{x} \\u12 \\alpha is",
    "a\u202eb\u2028c", '\\"{o} and "\\x"'])
def test_sentences_that_python_would_read_otherwise(words):
    """They stand in the files as texts, and come back as they were."""
    for written in (templates.wrapped(words, 26), templates.text(words)):
        assert ast.literal_eval(written).split() == words.split()


def test_formulas_that_no_page_can_draw_are_shown_in_latex(desk, run):
    (desk / "odd.tex").write_text("$$a = b^ \\tag{1}$$ $$\\foo\\tag{2}$$")
    edition.new("odd-note", "odd.tex")
    status, out, _ = run("show", "odd-note", "1")
    assert status == 0 and "formula (in LaTeX)" in out and "a = b^" in out
    if importlib.util.find_spec("math_core"):
        assert run("book", "odd-note", "--out", "book", "--jobs", "1")[0] == 0
        page = (desk / "book" / "odd-note.html").read_text()
        assert r"<pre>\foo</pre>" in page and "unchecked" in page


def test_the_book_of_an_edition(desk, run):
    pytest.importorskip("math_core")
    edition.new("everything-note", NOTES / "torture.tex")
    status, out, _ = run("book", "everything-note", "--out", "book", "--jobs", "1", "--seeds", "1")
    assert status == 0 and "everything-note: 14 articles" in out
    page = (desk / "book" / "everything-note.html").read_text()
    assert "A note that uses everything" in page and page.count("unchecked") > 14
    assert page.count("<math") >= 14 and ">fails" not in page
