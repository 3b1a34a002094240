"""`displays.tex`: long displays by label, and what is refused."""

import sys

import pytest

from secondorder import ledger
from secondorder.ledger import registry, tex_file
from secondorder.ledger.registry import REGISTRY

CHECK = """
from secondorder.ledger import Equal, Printed, equation

def double(x):
    return 2 * x

@equation("toy", "1", statement="s", kind="identity", verdict="VERDICT", implements=double, MORE)
def check(rng):
    return []
"""


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A folder with a file of displays, and what registers a check that stands beside it."""
    monkeypatch.setattr(registry, "REGISTRY", registry.Registry({"toy": None}))
    (tmp_path / "displays.tex").write_text(
        "% a remark\n%= 1\na = b\n  + c\n\n%= 1 corrected\na = b\n% a remark\n  - c\n")

    def register(verdict="holds", more=""):
        (tmp_path / "checks.py").write_text(CHECK.replace("VERDICT", verdict).replace("MORE", more))
        sys.modules.pop("checks", None)
        monkeypatch.syspath_prepend(tmp_path)
        __import__("checks")
        entry, = registry.REGISTRY.select("toy")
        return entry

    register.folder = tmp_path
    return register


def test_a_display_is_read_by_its_label(room):
    entry = room("erratum", 'weight="misprint"')
    assert entry.formula == "a = b\n  + c" and entry.corrected == "a = b\n  - c"


def test_what_is_given_goes_before_the_file(room):
    entry = room("erratum", 'weight="misprint", corrected="a = c"')
    assert entry.formula == "a = b\n  + c" and entry.corrected == "a = c"


def test_a_given_formula_needs_no_file(room):
    (room.folder / "displays.tex").unlink()
    assert room(more='formula="a"').formula == "a"


@pytest.mark.parametrize("text, message", [
    ("%= 2\nx\n", r"\[toy\] 1: no formula is given, and .*displays.tex has no '%= 1'"),
    ("%= 1\nx\n\n%= 1\ny\n", "displays.tex, line 4: 1 stands there twice"),
    ("x\n%= 1\ny\n", "displays.tex, line 1: no label stands before it"),
    ("%= 1\n\n%= 2\ny\n", "formula must be a non-empty text"),
    (None, "there is no .*displays.tex")])
def test_what_is_refused(room, text, message):
    (room.folder / "displays.tex").unlink()
    if text is not None:
        (room.folder / "displays.tex").write_text(text)
    with pytest.raises(ledger.VerificationError, match=message):
        room()


def test_a_file_that_has_changed_is_read_again(tmp_path):
    import os

    file = tmp_path / "displays.tex"
    file.write_text("%= 1\nx\n")
    assert tex_file.read(file) == {"1": "x"}
    file.write_text("%= 1\ny\n")
    os.utime(file, ns=(1, 1))
    assert tex_file.read(file) == {"1": "y"}


@pytest.mark.parametrize("paper", ledger.PAPERS)
def test_every_display_of_a_room_is_shown_by_its_check(paper):
    """What no check reads, or what a check has twice, would be a text that nobody sees."""
    entries = REGISTRY.select(paper)
    folder = tex_file.folder_of_checks(entries[0].check)
    file = folder / tex_file.NAME
    written = tex_file.read(file) if file.is_file() else {}
    shown = {}
    for entry in entries:
        shown[entry.labels[0]] = entry.formula
        shown[entry.labels[0] + tex_file.CORRECTED] = entry.corrected
    assert written == {label: shown.get(label) for label in written}
    longest = max(len((entry.formula + (entry.corrected or "")).splitlines()) for entry in entries
                  if entry.labels[0] not in written)
    assert longest <= 7, "a long display stands in displays.tex"
