"""Tutorials as pages: prose, what they name, what their cells gave; the rows of the search."""

import pytest

for needed in ("math_core", "jinja2", "pygments"):
    pytest.importorskip(needed, reason="the extra [book] is not installed")

from secondorder.book import search, tutorials  # noqa: E402

TEXT = '''# %% [markdown]
# # 99 A title
#
# **Question.** Why *is* that?
#
# **Belongs to.** The paper is `ea-cg`, Eqs. (4a)-(4c).
#
# %%
x = 3
print(x + 1)

# %% [markdown]
# ## 1. A part: (9)
# With $a_i < b$, [reversible-gauss-newton] theorem 4.3 and `(5)`:
# - one
# - (5), $$c = d$$
#
# | a | b |
# |---|---|
# | 1 | [low-rank] (39) |
#
# No label: (77).
'''


def made(tmp_path, text=TEXT):
    path = tmp_path / "99_a_title.py"
    path.write_text(text)
    return path


def test_a_tutorial_runs_and_is_a_page_with_links(tmp_path):
    path = made(tmp_path)
    outputs = tutorials.ran(path)
    assert outputs == [("", []), ("4\n", []), ("", [])]
    page = tutorials.page(path, outputs)
    assert page["title"] == "99 A title" and page["question"] == "Why *is* that?"
    assert page["file"] == "tutorial-99-a-title.html" and page["cells"][1]["printed"] == "4"
    text = page["cells"][2]["html"]
    for part in ('<h2 id="1-a-part-9">', 'href="ea-cg.html#9"', "<ul><li>one</li>",
                 'href="reversible-gauss-newton.html#theorem-4.3"', "<code>(5)</code>",
                 'href="low-rank.html#39"', "<th", "No label: (77)", "<math"):
        assert part in text, part
    assert page["uses"][("ea-cg", "4b")] == "" and page["uses"][("low-rank", "39")] == "1-a-part-9"
    assert page["heads"] == [("1-a-part-9", "1. A part: (9)")]
    assert tutorials.by_display([page])[("ea-cg", "9")] == [
        ("99 A title", "tutorial-99-a-title.html#1-a-part-9")]


def test_a_tutorial_that_fails_is_named(tmp_path):
    with pytest.raises(ValueError, match="99_a_title.py does not run: ZeroDivisionError"):
        tutorials.ran(made(tmp_path, "# %%\n1 / 0\n"))


def test_a_row_of_the_search_has_other_names_and_no_word_twice():
    row = search._row("u-kfi", "page#u-kfi", "ea-cg", "✓", "KFI's direction.", ["kfi", "kfi"],
                      ["KFI's direction with the two factors"])
    assert row["called"] == row["also"] == "KFAC K-FAC" and row["code"] == "kfi"
    assert row["more"].split() == ["with", "factors"]
