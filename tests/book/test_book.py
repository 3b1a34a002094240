"""The book: what its parts make, by hand; what it refuses; that pages ask for nothing outside."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from secondorder import cli
from secondorder.ledger import Equal, Property
from secondorder.ledger.claims import Printed
from secondorder.ledger.registration import Equation
from secondorder.ledger.registry import REGISTRY

for needed in ("math_core", "jinja2", "pygments"):
    pytest.importorskip(needed, reason="the extra [book] is not installed")

from secondorder.book import articles, code, evidence, formulas, graph, pages, symbols  # noqa: E402


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
    printed, corrected = formulas.pair("a_i + b", "a_j + b")
    for side, letter in ((printed, "i"), (corrected, "j")):
        (marked,) = [element for element in ElementTree.fromstring(side).iter()
                     if element.get("class") == "changed"]
        assert "".join(marked.itertext()) == letter and "style" not in side


def test_a_formula_that_cannot_be_set_is_named():
    with pytest.raises(formulas.FormulaError, match=r"\[low-rank\] Equation \(39\)"):
        formulas.mathml(r"\nonsense{x}", where="[low-rank] Equation (39)")


@pytest.mark.parametrize("entry", REGISTRY.select(),
                         ids=lambda entry: f"{entry.paper}-{entry.labels[0]}")
def test_every_formula_can_be_set(entry):
    for latex in filter(None, (entry.formula, entry.corrected)):
        text = formulas.mathml(latex, where=entry.labels[0])
        assert "\\" not in text and ElementTree.fromstring(text).tag == "math"


@pytest.mark.parametrize("text, expected", [
    ("f_p and W^T", "<i>f</i><sub>p</sub> and W<sup>T</sup>"),
    ("the sigma of eta", "the <i>σ</i> of <i>η</i>"), ("a <= b", "a ≤ b"),
    ("cross-entropy, pieces", "cross-entropy, pieces"), ("x < y & z", "x &lt; y &amp; z"),
    ("hidden_layers stays", "hidden_layers stays")])
def test_prose(text, expected):
    assert formulas.prose(text) == expected


# -- evidence --------------------------------------------------------------------------------------


def test_a_ruler_has_the_tick_where_the_tolerance_is():
    text = evidence.ruler([1e-17, 1e-12], 1e-10, False)
    tick = float(re.search(r'x1="([\d.]+)"[^>]*class="tick"', text)[1])
    assert tick == pytest.approx(evidence.WIDTH * 7 / 19, abs=0.06)
    dots = [float(x) for x in re.findall(r'cx="([\d.]+)"', text)]
    assert dots == pytest.approx([0, evidence.WIDTH * 5 / 19], abs=0.06)


def test_zones_lie_where_dots_must():
    within, beyond = (evidence.ruler([1e-3], 1e-5, must_fail) for must_fail in (False, True))
    zone = re.compile(r'<rect x="([\d.]+)" y="3" width="([\d.]+)"')
    left, right = (tuple(map(float, zone.search(text).groups())) for text in (within, beyond))
    assert left == pytest.approx((0, evidence.place(1e-5)), abs=0.06)
    assert right[0] == pytest.approx(evidence.place(1e-4), abs=0.06)
    assert sum(right) == pytest.approx(evidence.WIDTH, abs=0.11)


class Outcome:
    def __init__(self, claims):
        self.claims = claims


def test_rows_have_a_dot_a_seed_and_the_worst_number():
    results = [Outcome([Equal("sum", [1.0], [1.0 + error], 1e-6),
                        Printed(Equal("sum", [1.0], [2.0], 1e-6)), Property("rank", 3, 3)])
               for error in (1e-9, 1e-8)]
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


def entry(label, *implements, uses=(), verdict="holds"):
    return Equation("low-rank", (label,), "a", "x", "identity", verdict, None, (), None,
                    implements, (), top, uses=uses)


def test_edges_are_found_in_code_and_stated():
    entries = [entry("1", bottom), entry("2", middle), entry("3", top), entry("4", uses=("3",))]
    known = graph.edges(entries)
    assert known == {("2", "1"): "found", ("3", "1"): "found", ("3", "2"): "found",
                     ("4", "3"): "stated"}
    assert graph.levels(["1", "2", "3", "4"], known) == {"1": 0, "2": 1, "3": 2, "4": 3}
    assert graph.ancestors("4", known) == {"1", "2", "3"}
    drawn = graph.svg(entries, known, lambda one: one.labels[0], lambda one: "#" + one.labels[0])
    assert drawn.count("<path") == 4 and drawn.count('class="node') == 4


def test_stated_circles_are_refused_and_found_ones_left_out():
    with pytest.raises(ValueError, match="circle"):
        graph.edges([entry("1", uses=("2",)), entry("2", uses=("1",))])
    assert graph.without_circles({("1", "2"): "found", ("2", "1"): "found"}) == {
        ("1", "2"): "found"}


@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_graphs_of_the_papers_have_edges_labels_and_no_circle(paper):
    entries = REGISTRY.select(paper)
    known = graph.edges(entries)
    firsts = {one.labels[0] for one in entries}
    assert known and all(user in firsts and used in firsts for user, used in known)
    assert not any(graph.reaches(known, used, user) for user, used in known)


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
    made = code.block(top, "low-rank", {"middle": ("#2", "2"), "top": ("#3", "3")})
    assert [number for number, _ in made["lines"]] == list(range(
        made["lines"][0][0], made["lines"][0][0] + 2))
    text = made["lines"][1][1]
    assert 'href="#2"' in text and "#3" not in made["lines"][0][1]
    assert made["place"].endswith(f":{made['lines'][0][0]}")


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
    page = pages.write(out, "residual-partitioning", seeds=1, say=said.append)
    return out, page, said


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


def test_every_label_has_its_article(one_paper):
    text = one_paper[1].read_text(encoding="utf-8")
    for one in REGISTRY.select("residual-partitioning"):
        for label in one.labels:
            assert f'id="{articles.anchor(label)}"' in text


def test_it_may_be_written_again_and_over_nothing_else(one_paper, tmp_path):
    pages.refuse_other_things(one_paper[0])
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="other things"):
        pages.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_label_in_uses_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="'nowhere', which is no label"):
        pages._paper("low-rank", [entry("1", bottom, uses=("nowhere",))], 1)


def test_without_the_extra_it_says_which_line_installs_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(pages, "NEEDED", ("no_such_package",))
    assert cli.main(["book", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "no_such_package" in said and "secondorder[book]" in said
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path, capsys):
    out = str(tmp_path / "no" / "such" / "place")
    assert cli.main(["book", "low-rank", "--seeds", "1", "--out", out]) == 2
    assert "does not exist" in capsys.readouterr().err
