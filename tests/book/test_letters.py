"""The list of letters: made once, from the tables in the rooms' docstrings."""

import re
from pathlib import Path

import pytest

import secondorder
from secondorder.book.parts import docstrings, symbols

PACKAGE = Path(secondorder.__file__).parent
PAPERS = symbols.papers()


def test_the_page_has_the_list_that_the_rooms_make():
    page = (PACKAGE.parent / symbols.PAGE).read_text(encoding="utf-8")
    shown = re.search(r"<!-- letters -->\n(.*?)\n<!-- end -->", page, re.S)[1]
    assert shown == symbols.markdown(), "rewrite it: secondorder verify --markdown --write"


@pytest.mark.parametrize("paper", PAPERS)
def test_every_letter_of_a_room_is_in_the_list(paper):
    known = symbols.collected()
    for printed, _, _ in symbols.table(paper):
        if printed.startswith("("):
            continue
        bare = re.sub(r"[_^](\([^)]*\)|\{[^}]*\}|[A-Za-z0-9]+)(,j)?|\([^)]*\)"
                      r"|\\(mathcal|widehat|ddot|dot|nabla)", " ", printed)
        for word in re.findall(r"[A-Za-z]+", bare):
            letter = symbols._NAMED.get(word, word)
            if len(letter) == 1 and word not in ("E", "T"):
                assert (printed in [row[0] for row in known[letter][paper]]), (letter, printed)


@pytest.mark.parametrize("paper", PAPERS)
def test_names_in_the_list_are_names_of_the_code(paper):
    """A cell that names what is not there is wrong: every name stands in the room or in `nets`."""
    room = Path(symbols.room(paper).__file__).parent
    code = " ".join(re.sub(r'^r?""".*?"""', "", path.read_text(encoding="utf-8"), flags=re.S)
                    for folder in (room, PACKAGE / "nets", PACKAGE / "optimizers")
                    for path in folder.rglob("*.py"))
    words = set(re.findall(r"\w+", code))
    for letter, meanings in symbols.collected().items():
        for _, here, _ in meanings[paper]:
            for name in re.findall(r"``([^`]*)``", here):
                for word in re.findall(r"[A-Za-z_]\w+", re.sub(r'"[^"]*"', "", name)):
                    assert word in words, (letter, here)


@pytest.mark.parametrize("paper", PAPERS)
def test_scripts_of_latex_are_one_sign_or_in_braces(paper):
    """`\\lambda_max` is lambda with the index m, times a x."""
    for printed, *_ in symbols.table(paper):
        if "\\" in printed:
            assert not re.search(r"[_^](\(|[A-Za-z]{2})", printed), printed


def test_a_comma_between_brackets_parts_no_formula():
    pytest.importorskip("math_core", reason="the extra [book] is not installed")
    shown = docstrings.symbol(r"\ell(y_i, f)")
    assert shown.count("<math") == 1 and shown.count("(") == shown.count(")") == 1
    assert docstrings.symbol(r"J^+, J^\dashv").count("<math") == 2
