"""Displays of Markdown papers: numbers behind them, several in one, broken ones listed."""

import json

import pytest

from harness import displays
from secondorder.edition import read


def of(text, folder):
    (folder / "paper.md").write_text(text, encoding="utf-8")
    return read(folder / "paper.md")


def test_numbers_and_sentences(tmp_path):
    found = of("""# A *paper*

Some words. The model is

$$f(x) = x \\quad (1)$$

## Two

**Theorem 2.1 (Taylor).** As (1) says, also

$$\\begin{aligned} a &= b \\\\ &= c \\end{aligned} \\tag{2}$$
and

$$\\begin{aligned} d &= e \\quad (3a) \\\\ g &= h & (3b) \\end{aligned}$$

```tex
$$ code \\tag{9} $$
```
Not `$$ this $$` either, but
\\[
  \\R = \\mathbb{R}
\\]
and $$ i = j (4) $$ too.
""", tmp_path)
    assert found.title == "A *paper*" and found.unread == []
    assert [display.label for display in found.displays] == ["1", "2", "3a", "3b", None, None]
    assert [display.line for display in found.displays] == [5, 11, 14, 14, 21, 23]
    assert found.displays[0].sentence == "The model is" and found.displays[1].section == "Two"
    assert found.displays[1].formula.startswith(r"\begin{aligned}") \
        and "tag" not in found.displays[1].formula
    assert [display.formula for display in found.displays[2:4]] == ["d = e", "g = h"]
    assert [str(theorem) for theorem in found.theorems] == ["Theorem 2.1 (Taylor)"]


def test_a_broken_display_is_listed_and_the_others_are_read(tmp_path):
    found = of("$$a \\tag{1}$$\n\n$$\n\\frac{b \\tag{2}\n$$\n\n$$c$$\n", tmp_path)
    assert [display.label for display in found.displays] == ["1", None]
    assert found.unread == [
        "paper.md, line 4: the display that begins in line 4 is never closed: { of line 4 is open"]
    assert of("a\n\n$$ b", tmp_path).unread == ["paper.md, line 3: $$ is never closed"]


@pytest.mark.parametrize("paper, broken", [("residual-partitioning", []), ("ea-cg", []),
                                           ("low-rank", ["56"])])
def test_displays_of_the_papers_come_out_right(paper, broken):
    """Every number, each with the formula that the text has; (56) does not close its braces."""
    path = displays.text_of(paper)
    listed = path.parents[1] / "equations" / "labels.json"
    found = read(path)
    got = {display.label: display.formula for display in reversed(found.numbered)}
    if listed.is_file():
        wanted = [one["label"] for one in json.loads(listed.read_text())[paper]]
        numbers = {label for label in wanted if label[0].isdigit()}
        assert set(got) == numbers - set(broken)
    assert len(found.unread) == len(broken)
    of_text = {}
    for display in displays.displays(path.read_text(encoding="utf-8")):
        for number, latex in displays.lines_of(display).items():
            of_text.setdefault(number, latex)
    assert len(got) >= 23
    wrong = [label for label, formula in got.items()
             if displays.digest(formula) != displays.digest(of_text[label])]
    assert wrong == []


def test_a_macro_is_defined_in_a_display_and_stands_in_the_next(tmp_path):
    found = of("$$\\newcommand{\\R}{\\mathbb{R}} a = b$$\n\n$$x \\in \\R \\tag{1}$$\n", tmp_path)
    assert [display.formula for display in found.displays] == ["a = b", r"x \in \mathbb{R}"]
    assert found.unread == []


def test_what_latex_would_count_stays_as_it_is_written(tmp_path):
    found = of("$$\\begin{equation} x \\end{equation}$$\n\n$$y \\tag{\\theequation}$$\n", tmp_path)
    assert [display.label for display in found.displays] == [None, r"\theequation"]
    assert len(found.unread) == 1 and "equation inside $$" in found.unread[0]
