"""The book: what its parts make, by hand; what it refuses; that pages ask for nothing outside."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from PIL import Image

from secondorder import files
from secondorder.formulas.latex import parse, to_latex
from secondorder.ledger import Equal, Property
from secondorder.ledger.claims import Printed
from secondorder.ledger.displays import displays
from secondorder.ledger.pages.page import page as page_of
from secondorder.ledger.registration import Equation
from secondorder.ledger.registry import REGISTRY

for needed in ("math_core", "jinja2", "pygments"):
    pytest.importorskip(needed, reason="the extra [book] is not installed")

from secondorder.book import articles, graph, pages, reported  # noqa: E402
from secondorder.book.parts import code, evidence, formulas, numbered, symbols  # noqa: E402


# -- formulas --------------------------------------------------------------------------------------


def tags(text):
    return [(element.tag, element.text) for element in ElementTree.fromstring(text).iter()
            if element.text]


def test_a_formula_is_mathml_with_its_letters_named():
    text = formulas.mathml(r"\eta_i = \frac{a}{b}", {"η", "b"})
    assert tags(text) == [("mi", "η"), ("mi", "i"), ("mo", "="), ("mi", "a"), ("mi", "b")]
    named = re.findall(r'data-symbol="(.)"', text)
    assert named == ["η", "b"]


def test_what_changed_is_marked_on_both_sides():
    one = replace(entry("1", bottom), formula="a_i + b", corrected="a_j + b")
    (printed,), (corrected,) = numbered.shown(page_of(one), (), articles.Blocks("low-rank", [one]))
    for side, letter in ((printed.math, "i"), (corrected.math, "j")):
        (marked,) = [element for element in ElementTree.fromstring(side).iter()
                     if element.get("class") == "changed"]
        assert "".join(marked.itertext()) == letter and "style" not in side


@pytest.mark.parametrize("entry", REGISTRY.select(),
                         ids=lambda entry: f"{entry.paper}-{entry.labels[0]}")
def test_every_formula_can_be_set(entry):
    for latex in filter(None, (entry.formula, entry.corrected)):
        for part in displays(entry, parse(latex)):
            text = formulas.mathml(to_latex(part.nodes, None), where=entry.labels[0])
            assert "\\" not in text and ElementTree.fromstring(text).tag == "math"


# -- evidence --------------------------------------------------------------------------------------


def test_a_ruler_has_the_tick_where_the_tolerance_is_and_a_zone_where_dots_must_lie():
    text = evidence.ruler([1e-17, 1e-12], 1e-10, False)
    tick = float(re.search(r'class="tick" d="M([\d.]+) ', text)[1])
    assert tick == pytest.approx(evidence.WIDTH * 7 / 19, abs=0.06)
    dots = [float(x) for x in re.findall(r"M([\d.]+) 7h0(?=\D)", text)]
    assert dots == pytest.approx([0, evidence.WIDTH * 5 / 19], abs=0.06)
    within, beyond = (evidence.ruler([1e-3], 1e-5, must_fail) for must_fail in (False, True))
    zone = re.compile(r'class="zone" d="M([\d.]+) 3h([\d.]+)v8')
    left, right = (tuple(map(float, zone.search(text).groups())) for text in (within, beyond))
    assert left == pytest.approx((0, evidence.place(1e-5)), abs=0.06)
    assert right[0] == pytest.approx(evidence.place(1e-4), abs=0.06)
    assert sum(right) == pytest.approx(evidence.WIDTH, abs=0.11)


def test_rows_have_a_dot_a_seed_and_the_worst_number():
    results = [SimpleNamespace(claims=[
        Equal("sum", [1.0], [1.0 + error], 1e-6), Printed(Equal("sum", [1.0], [2.0], 1e-6)),
        Property("rank", 3, 3)]) for error in (1e-9, 1e-8)]
    held, failed, fact = evidence.rows(results)
    assert held["errors"] == pytest.approx((1e-9, 1e-8)) and held["number"] == "1e-8 ≤ 1e-6"
    assert failed["must_fail"] and failed["number"].startswith("5e-1 ≰") and failed["ok"]
    assert fact["ruler"] is None and fact["number"] == "3"


# -- the graph -------------------------------------------------------------------------------------


def bottom(x):
    return x


def middle(x):
    return bottom(x) + 1


def top(x):
    return middle(x) * bottom(x)


def entry(label, *implements, uses=(), verdict="holds", check=top):
    return Equation("low-rank", (label,), "a", "x", "identity", verdict, None, (), None,
                    implements, (), check, uses=uses)


def test_labels_of_other_papers_join_pages_and_draw_no_edge():
    assert graph.elsewhere("ea-cg 4b") == ("ea-cg", "4b") and graph.elsewhere("4b") is None
    bridge = entry("b", bottom, uses=("ea-cg 4b", "ea-cg 9"))
    assert graph.edges([bridge]) == {"b": []}
    there = [SimpleNamespace(entry=SimpleNamespace(labels=labels, uses=()))
             for labels in (("4a", "4b"), ("5",))]
    here = SimpleNamespace(entry=bridge)
    made = {"low-rank": {"key": "low-rank", "articles": [here]},
            "ea-cg": {"key": "ea-cg", "articles": there}}
    assert pages.join(made) == {("low-rank", "b"): [("ea-cg", there[0])],
                                ("ea-cg", "4a"): [("low-rank", here)]}
    with pytest.raises(ValueError, match="'99', which is no label of ea-cg"):
        pages.require_labels("low-rank", [entry("b", bottom, uses=("ea-cg 99",))])


@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_labels_that_the_registrations_name_exist(paper):
    pages.require_labels(paper, REGISTRY.select(paper))


# -- symbols and code ------------------------------------------------------------------------------


@pytest.mark.parametrize("text, letter", [("w_i^(k),j", "w"), ("eta^(k,l)", "η"),
                                          (r"\nabla_{b^t} \xi_i", "ξ"), ("alpha (a step)", "α"),
                                          ("E_i[h_i^{t-1}]", "h"), ("Vec", None)])
def test_the_letter_a_symbol_is_known_by(text, letter):
    assert symbols.leading_letter(text) == letter


@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_every_room_has_a_table_of_symbols(paper):
    rows = symbols.table(paper)
    assert len(rows) >= 8 and all(len(row) == 3 and row[0] and row[2] for row in rows)
    assert symbols.letters(paper) and len(symbols.title(paper)) > 20


def test_code_is_numbered_and_linked():
    made = code.block(top, "low-rank", {"middle": "#2", "top": "#3"}, named=True)
    first = int(made["place"].rpartition(":")[2])
    assert re.findall(r"data-n=(\d+)", made["lines"]) == [str(first), str(first + 1)]
    assert '<a class=ref href="#2">middle</a>' in made["lines"]
    assert made["lines"].count("href=") == 1
    assert "<b class=k>return</b>" in made["lines"] and "<span class=i1 " in made["lines"]
    assert made["id"] == "code-test_book.top" and made["rest"] == ""
    assert code.coloured(["x = \"\"\"a", "<b>\"\"\" < y"], {}) == [
        'x = <b class=s>"""a</b>', '<b class=s>&lt;b&gt;"""</b> &lt; y']


def test_of_a_long_block_the_beginning_is_seen():
    made = code.block(articles.Blocks, "low-rank")
    assert made["lines"].count("data-n=") == code.SHOWN
    assert made["rest"].count("data-n=") == made["count"] > 3


def shared(x):
    return x


def check_one(rng):
    return shared(rng)


def check_two(rng):
    return shared(rng) + only_here(rng)


def only_here(x):
    return x


def test_a_page_shows_the_same_code_once():
    one, two = entry("1", bottom, check=check_one), entry("2", middle, bottom, check=check_two)
    blocks = articles.Blocks("low-rank", [one, two])
    assert [part["name"].rpartition(".")[2] for part in blocks.here(two)] == ["middle"]
    (name, address), = blocks.elsewhere(two)
    assert name.endswith("bottom") and address == f"#{blocks.here(one)[0]['id']}"
    assert [part["id"] for part in blocks.helpers()] == ["code-test_book.shared"]
    other = blocks.other_side(two)
    assert [part["name"].rpartition(".")[2] for part in other] == ["check_two", "only_here"]
    assert 'href="#code-test_book.shared"' in other[0]["lines"]


# -- what a paper reports --------------------------------------------------------------------------


def record(verdict):
    return {"runs": 9, "deviation": "fewer steps", "claims": [
        {"letter": "a", "verdict": verdict, "effect": 1.25, "spread": [1.0, 1.5], "seeds": 7,
         "measure": "ratio", "because": "seen in all"}]}


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A study that was recorded, with a figure: made up, in a folder of its own."""
    from secondorder.studies import STUDIES, records

    monkeypatch.setattr(reported.pages, "findings", lambda: [
        {"claim": "low-rank figure-1 a", "says": "It is far from faster.",
         "control": "There is none.", "limits": "It is made up.", "title": "It is slower",
         "effect": "1.25", "row": records.rows("low-rank", ["figure-1"])[0]}])
    one = SimpleNamespace(paper="low-rank", key="figure-1", shows="Steps by (1) in Figure 9",
                          claims={"a": "it is faster"}, deviation="fewer steps", ours=(),
                          also={}, setting="stand-in: fewer steps")
    monkeypatch.setattr(records, "folder", lambda: tmp_path / "results")
    monkeypatch.setattr(STUDIES, "select", lambda paper=None, keys=(): [one])
    place = tmp_path / "results" / "low-rank"
    place.mkdir(parents=True)
    files.write_json(place / "figure-1.json", record("did not hold"))
    Image.new("RGBA", (40, 20), (0, 0, 0, 0)).save(place / "figure-1.png")


def test_recorded_figures_and_claims_stand_in_articles_and_on_the_page_of_claims(
        recorded, tmp_path, monkeypatch):
    entries = [entry("1", bottom, check=holds), entry("2", middle, check=holds)]
    monkeypatch.setattr(pages.REGISTRY, "select", lambda paper, label=None: entries)
    page = pages.write(tmp_path / "out", "low-rank", seeds=1, say=print, jobs=1)
    text, claims, table = (path.read_text("utf-8") for path in (
        page, page.with_name("claims-low-rank.html"), page.with_name("claims.html")))
    first, second = text.split("<article ")[1:]
    about = second.partition('id="reported"')[2]
    for shown in (first, about, claims):
        assert "did not hold" in shown and "ratio: 1.25 (1 to 1.5)" in shown
        assert 'href="#pic-low-rank-figure-1"' in shown and "(7 seeds)" in shown
        assert "it is faster" in shown and "fewer steps" in shown
    assert "figure-1" not in second.partition('id="reported"')[0]
    assert "It is far from faster." in page.with_name("findings.html").read_text("utf-8")
    assert 'href="figures/low-rank-figure-1.webp"' in text
    image = Image.open(page.parent / "figures" / "low-rank-figure-1.webp")
    assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert 'href="claims-low-rank.html#study-figure-1"' in table and "<use" not in table
    assert "low-rank.html#study-figure-1" in (page.with_name("search.js")).read_text("utf-8")


def test_a_study_that_was_not_run_says_so(recorded, tmp_path):
    (tmp_path / "results" / "low-rank" / "figure-1.json").unlink()
    (tmp_path / "results" / "low-rank" / "figure-1.png").unlink()
    (study,) = reported.studies(["low-rank"])["low-rank"]
    assert study["told"] == "1 undecided" and not study["recorded"] and study["picture"] is None
    assert reported.studies(["ea-cg"]) == {}


# -- the whole -------------------------------------------------------------------------------------


class Links(HTMLParser):
    """Everything that a page asks for."""

    def __init__(self):
        super().__init__()
        self.asked, self.ids = [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.asked += [given[name] for name in ("src", "href") if given.get(name)]


@pytest.fixture(scope="module")
def one_paper(tmp_path_factory):
    out = tmp_path_factory.mktemp("book") / "out"
    said = []
    page = pages.write(out, "residual-partitioning", seeds=1, say=said.append, jobs=1)
    return out, page, said


@pytest.mark.slow
def test_pages_ask_for_nothing_but_their_own_files(one_paper):
    out, page, said = one_paper
    assert page == out / "residual-partitioning.html" and "articles" in said[0]
    for file in out.glob("*.html"):
        links = Links()
        links.feed(file.read_text(encoding="utf-8"))
        assert len(set(links.ids)) == len(links.ids), file.name
        for asked in links.asked:
            name, _, anchor = asked.partition("#")
            assert "//" not in asked and (not name or (out / name).exists()), (file.name, asked)
            if not name and anchor != "main":
                assert anchor in links.ids, (file.name, asked)
    text = (out / "style.css").read_text(encoding="utf-8")
    assert all((out / font).exists() for font in re.findall(r'url\("(.*?)"\)', text))


@pytest.mark.slow
def test_every_label_has_its_article(one_paper):
    text = one_paper[1].read_text(encoding="utf-8")
    for one in REGISTRY.select("residual-partitioning"):
        for label in one.labels:
            assert f'id="{articles.anchor(label)}"' in text


#: What is wrong, and what the one line says.
WRONG = {"a formula that cannot be set": "[low-rank] Equation (1): the formula cannot be set",
         "a label that does not exist": "[low-rank] 1: uses= names 'nowhere', which is no label"}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_one_line_and_nothing_is_written(wrong, monkeypatch, tmp_path, run):
    one = entry("1", bottom, check=holds)
    one = replace(one, formula=r"\nonsense{x}") if "formula" in wrong else \
        replace(one, uses=("nowhere",))
    monkeypatch.setattr(pages.REGISTRY, "select", lambda paper, label=None: [one])
    status, _, err = run("book", "low-rank", "--seeds", "1", "--jobs", "1", "--out", "out")
    assert status == 2 and WRONG[wrong] in err and "Traceback" not in err
    assert not list(tmp_path.iterdir())


def holds(rng):
    return [Equal("one", [1.0], [1.0], 1e-6)]


def test_without_the_extra_it_says_which_line_installs_it(monkeypatch, tmp_path, run):
    monkeypatch.setattr(pages, "NEEDED", ("no_such_package",))
    status, _, err = run("book", "--out", "out")
    assert status == 2 and "no_such_package" in err and "secondorder[book]" in err
    assert not (tmp_path / "out").exists()
