"""What a reader sees first: titles, counts, the table of claims; docstrings."""

import re

import pytest

from secondorder.ledger.registry import REGISTRY
from secondorder.studies.pages import findings
from secondorder.studies.registry import STUDIES

for needed in ("math_core", "jinja2", "pygments"):
    pytest.importorskip(needed, reason="the extra [book] is not installed")

from secondorder.book import articles, bibliography, pages, reported  # noqa: E402
from secondorder.book.parts import docstrings, symbols  # noqa: E402

PAPER = "bridges"


# -- docstrings and symbols ------------------------------------------------------------------------


def plain(text):
    """HTML with what stands below as _ and above as ^."""
    text = re.sub(r"<sub>(.*?)</sub>", r"_\1", re.sub(r"<sup>(.*?)</sup>", r"^\1", text))
    return re.sub(r"</?i>", "", text)


@pytest.mark.parametrize("given, expected", [
    ("eps_sij = |y_sj| / u^(l+1)_si", "ε_sij = |y_sj| / u_si^(l+1)"),
    ("W_dot_ij = sum_s Y_ddot_si y_sj^2", "Ẇ_ij = ∑_s Ÿ_si y_sj^2"),
    ("a +- b <= c", "a ± b ≤ c"), ("J_l^-| = A+", "J_l^⊣ = A^+"),
    ("sigma'(V1 X1)[k, j]", "σ′(V_1 X_1)[k, j]"), ("u_out_si", "u_out si"),
    ("d2 v^(n),m / d w_j^(k),i", "d² v^(n),m / d w_j^(k),i"),
    ("v^(k-1),j and x_k-1", "v^(k−1),j and x_k−1"),
    ("the sum over all bounded_hessian of a network", "the sum over all bounded_hessian of a "
                                                      "network"),
    ("low_rank.hessian of P entries", "low_rank.hessian of P entries"),
    ("``sum_i`` and :func:`layer_error`", "<code>sum_i</code> and <code>layer_error</code>"),
    ("x^(2)_l, h_i^{t-1} of the sigma", "x_l^(2), h_i^t−1 of the σ"),
    ("`net(x)`, L(x) of A (x) B", "<code>net(x)</code>, L(x) of A ⊗ B"),
    ("(J J^T)^{-1} after |W|^2 / dt^2", "(J J^T)^−1 after |W|^2 / dt^2"),
    ("x < y & z_i", "x &lt; y &amp; z_i")])
def test_a_line_of_a_docstring_is_typeset(given, expected):
    assert plain(docstrings.typeset(given)) == expected


def test_no_cell_of_the_list_of_letters_shows_a_script_as_it_is_typed():
    for letter, meanings in symbols.collected().items():
        for rows in meanings.values():
            html = docstrings.typeset(symbols.cell(rows))
            shown = re.sub(r"<code>.*?</code>", "", html)
            assert not re.search(r"\^|[^\W\d_]_[^\W\d_]", shown), (letter, shown)
            assert "⊗" not in "".join(re.findall(r"<code>.*?</code>", html)), letter


def test_columns_of_a_docstring_stay_columns():
    shown = docstrings.shown(["Eq. (9).", "a_i = b_i     c_i = d_i", "e_i = f_i     g_i = h_i",
                              "The rest is prose that goes on and on until the line is at its end",
                              "and then over it."])
    rows = re.findall(r"<tr>(.*?)</tr>", shown)
    assert [row.count("<td>") for row in rows] == [2, 2] and "c</i><sub>i" in rows[0]
    assert shown.startswith("Eq. (9).<table") and "at its end and then" in shown
    assert "<br>" not in shown


@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_symbols_are_set_whole(paper):
    """Nothing of LaTeX and no underscore is left, in what was printed."""
    for printed, _, _ in symbols.table(paper):
        seen = re.sub(r"<[^>]*>", "", docstrings.symbol(printed))
        assert not set("\\_") & set(seen), (printed, seen)


# -- what is counted and told ----------------------------------------------------------------------


@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_every_room_says_whose_paper_it_is(paper):
    known = bibliography.of(paper)
    assert not known.title.endswith(("et al", ",", "(")) and known.title.count("(") == \
        known.title.count(")")
    assert paper == "bridges" or known.authors and known.version
    assert not STUDIES.of(paper) or known.figure in STUDIES.of(paper)
    assert known.about.endswith(".")


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    """The pages of a paper without equations' evidence, written once."""
    out = tmp_path_factory.mktemp("book") / "out"
    pages.write(out, PAPER, seeds=1, say=lambda line: None, jobs=1)
    return out


def test_the_front_page_explains_verdicts_and_draws_a_ruler(front):
    text = (front / "index.html").read_text("utf-8")
    assert all(line in text for line in articles.MEANINGS.values())
    assert text.count('class="ruler within"') == text.count('class="ruler beyond"') == 1
    assert "<b>3</b> hold<" in text and "1</b> conditional<" in text


@pytest.mark.slow
def test_pages_of_all_papers_without_an_article_have_pictures_claims_and_findings(monkeypatch):
    claims = reported.studies(REGISTRY.rooms())
    made = {paper: {"key": paper, "known": bibliography.of(paper), "counts": {"erratum": 4},
                    "studies": claims.get(paper, []), "told": reported.told(claims.get(paper, [])),
                    "corrected": "", "articles": [], "symbols": [], "labels": 0, "topics": {},
                    "letters": {}, "helpers": [], "related": {}}
            for paper in REGISTRY.rooms()}
    monkeypatch.setattr(pages, "join", lambda made: {})
    texts = pages.rendered(made, claims)
    front = texts["index.html"]
    assert front.count('class="face"') == 4 and "<b>4</b> errata" in front
    assert "anonymous authors" in front and "Reveal Poor Generalization" in front
    table = texts["claims.html"]
    count = sum(len(study["rows"]) for some in claims.values() for study in some)
    assert table.count("<tr>") == count + 1 and "<use" not in table and "<image" not in table
    for paper, some in claims.items():
        own = texts[f"claims-{paper}.html"]
        assert f'href="claims-{paper}.html"' in table
        assert own.index("<table") < own.index("<section")
        assert own.count("<section") == len(some)
    found = texts["findings.html"]
    assert found.count("<h2>") == found.count("Control: ") == len(findings())
    for file, anchor in re.findall(r'href="(claims-[\w-]+\.html)#([\w-]+)"', found):
        assert f'id="{anchor}"' in texts[file]
    assert 'href="findings.html"' in texts["index.html"] and "findings.html" in texts["claims.html"]
