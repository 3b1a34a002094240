"""`displays.tex`: long displays by label, and what is refused."""

import pytest

from secondorder import ledger
from secondorder.ledger import registry, tex_file

from test_ledger import register, toys  # noqa: F401

ERRATUM = dict(formula=None, verdict="erratum", weight="misprint")


@pytest.fixture
def displays(tmp_path, monkeypatch, toys):
    """The file of displays beside the checks of a toy paper."""
    monkeypatch.setattr(tex_file, "folder_of_checks", lambda check: tmp_path)
    file = tmp_path / "displays.tex"
    file.write_text("% a remark\n%= 1\na = b\n  + c\n\n%= 1 corrected\na = b\n% a remark\n  - c\n")
    return file


@pytest.mark.parametrize("given, corrected", [({}, "a = b\n  - c"),
                                              ({"corrected": "a = c"}, "a = c")])
def test_a_display_is_read_by_its_label_unless_it_is_given(displays, given, corrected):
    register("1", **ERRATUM, **given)
    entry, = registry.REGISTRY.select("toy")
    assert entry.formula == "a = b\n  + c" and entry.corrected == corrected


@pytest.mark.parametrize("text, message", [
    ("%= 2\nx\n", r"\[toy\] 1: no formula is given, and .*displays.tex has no '%= 1'"),
    ("%= 1\nx\n\n%= 1\ny\n", "displays.tex, line 4: 1 stands there twice"),
    (None, "there is no .*displays.tex")])
def test_what_is_refused(displays, text, message):
    displays.unlink()
    if text is not None:
        displays.write_text(text)
    with pytest.raises(ledger.VerificationError, match=message):
        register("1", formula=None)
