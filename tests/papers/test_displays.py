"""What is shown as a paper's formula is the paper's, but for a list of exceptions with reasons."""

import tomllib

import pytest

from harness import displays
from secondorder.ledger.registry import REGISTRY

KEPT = tomllib.loads(displays.KEPT.read_text(encoding="utf-8"))
PAPERS = tuple(KEPT["digests"])


@pytest.mark.parametrize("paper", PAPERS)
def test_formulas_are_those_of_the_text(paper):
    digests, explained = KEPT["digests"][paper], KEPT["explained"][paper]
    for entry in REGISTRY.select(paper):
        label = entry.labels[0]
        if entry.ours:
            assert label not in digests and label not in explained, f"{label} is ours"
        elif label in explained:
            assert explained[label].strip()
            assert displays.digest(entry.formula) != digests.get(label), f"{label} is the text's"
        else:
            assert displays.digest(entry.formula) == digests.get(label), label


def test_digests_of_a_paper_that_is_new_are_written_at_the_end():
    one = displays.written('[digests.a]\n"1" = "x"\n\n[explained.a]\n', "b", {"2": "y"})
    assert tomllib.loads(one) == {"digests": {"a": {"1": "x"}, "b": {"2": "y"}},
                                  "explained": {"a": {}, "b": {}}}
    again = tomllib.loads(displays.written(one, "a", {"1": "z"}))
    assert again["digests"] == {"a": {"1": "z"}, "b": {"2": "y"}}


def test_the_command_says_what_differs_and_writes_when_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(displays, "KEPT", tmp_path / "kept.toml")
    displays.KEPT.write_text("[places]\n")
    (tmp_path / "text.md").write_text(r"$$k \; = 7 \tag{39}$$")
    displays.main("low rank", tmp_path / "text.md")
    assert "[39]\n  text  k = 7\n" in capsys.readouterr().out
    assert displays.KEPT.read_text() == "[places]\n", "nothing is written unasked"
    displays.main("low rank", tmp_path / "text.md", "--write")
    kept = tomllib.loads(displays.KEPT.read_text())["digests"]["low-rank"]
    assert kept == {"39": displays.digest("k = 7")}


@pytest.mark.parametrize("paper", PAPERS)
def test_no_exception_is_left_over(paper):
    labels = {entry.labels[0] for entry in REGISTRY.select(paper)}
    assert {*KEPT["digests"][paper], *KEPT["explained"][paper]} <= labels


@pytest.mark.parametrize("paper", PAPERS)
def test_digests_are_those_of_the_text(paper):
    text = displays.text_of(paper).read_text(encoding="utf-8")
    found = displays.of_registrations(paper, displays.sources(paper, text))
    assert found == KEPT["digests"][paper]


@pytest.mark.parametrize("paper", PAPERS)
def test_nothing_is_left_out(paper):
    """No registration shows dots of its own: the text has as many."""
    text = displays.text_of(paper).read_text(encoding="utf-8")
    found = displays.sources(paper, text)
    for entry in REGISTRY.select(paper):
        wanted = None if entry.ours else displays.expected(entry.labels, found)
        if wanted is not None:
            dots = displays.normal(entry.formula).count("ldots")
            assert dots <= displays.normal(wanted).count("ldots"), entry.labels


@pytest.mark.parametrize("one, other, same", [
    (r"a_i \, b", "a_{i}b", True),
    (r"\begin{aligned} a &= b \\\\ &= c. \end{aligned} \tag{3}", "a = b = c", True),
    (r"\left( a \right)^{T}, \quad (4b)", "(a)^T", True),
    (r"{W}^T \tfrac12", r"W^{T} \frac{1}{2}", True), (r"k = 7. \;", "k = 7", True),
    ("a_{ij}", "a_i j", False),
    (r"\frac{ab}{c}", r"\frac{a}{bc}", False),
    (r"\begin{pmatrix} a \end{pmatrix}", r"\begin{bmatrix} a \end{bmatrix}", False),
    (r"\hat{a}", "a", False),
])
def test_what_counts(one, other, same):
    assert (displays.digest(one) == displays.digest(other)) is same


def test_numbers_of_displays():
    assert displays.numbers(r"a = b. \quad (12)") == ["12"]
    assert displays.numbers(r"a \tag{3}") == ["3"]
    assert displays.lines_of(r"a = b \tag{1} c = d \tag{2}") == {"1": "a = b ", "2": " c = d "}
