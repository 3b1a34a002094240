"""The book in a real browser: Chromium, headless, from files.

Marked ``browser``: left out every day. They need the extras ``[book]`` and ``[browser-test]`` and a
Chromium, whose place the environment variable ``CHROMIUM`` may name; ``AXE`` names axe-core's
``axe.min.js`` for the check of accessibility.
"""

import os
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

for needed in ("math_core", "jinja2", "pygments", "playwright"):
    pytest.importorskip(needed, reason="an extra is not installed")

from playwright.sync_api import sync_playwright  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which(
    "chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync"]
PAPER = "residual-partitioning"
WIDTHS = (1440, 1024, 820, 390)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    from secondorder.book import write

    out = tmp_path_factory.mktemp("book") / "out"
    write(out, seeds=1, say=lambda line: None)
    return out


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium: name it in CHROMIUM")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield found
        found.close()


@pytest.fixture
def page(browser):
    made = browser.new_page(viewport={"width": 1440, "height": 900})
    made.errors, made.asked = [], []
    made.on("pageerror", lambda error: made.errors.append(str(error)))
    made.on("console", lambda message: made.errors.append(message.text)
            if message.type == "error" else None)
    made.on("request", lambda request: made.asked.append(request.url))
    yield made
    assert not made.errors
    made.close()


def open_page(page, book, name=f"{PAPER}.html", anchor=""):
    page.goto((book / name).as_uri() + anchor)
    page.wait_for_load_state("load")
    page.evaluate("document.fonts.ready")


def files(book):
    return sorted(path.name for path in book.glob("*.html"))


def test_nothing_but_its_own_files_is_asked_for(page, book):
    for name in files(book):
        open_page(page, book, name)
    home = book.as_uri()
    assert page.asked and all(url.startswith(home) for url in page.asked)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_scrolls_sideways(page, book, width):
    page.set_viewport_size({"width": width, "height": 800})
    for name in files(book):
        open_page(page, book, name)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, (name, wide)


def test_every_formula_has_a_size_and_the_fonts_are_there(page, book):
    for name in files(book):
        open_page(page, book, name)
        sizes = page.evaluate("""[...document.querySelectorAll("math")].map(one => {
            const box = one.getBoundingClientRect(); return [box.width, box.height]; })""")
        assert all(width > 3 and height > 5 for width, height in sizes)
    open_page(page, book)
    assert len(page.query_selector_all("math")) > 30
    assert page.evaluate("document.fonts.check('16px \"Edition Math\"')")
    loaded = page.evaluate("[...document.fonts].filter(f => f.status === 'loaded').length")
    assert loaded >= 2


def test_a_label_is_found_by_its_address(page, book):
    open_page(page, book, anchor="#theorem-2")
    top = page.evaluate("document.getElementById('theorem-2').getBoundingClientRect().top")
    assert -5 < top < 300


def test_keys_go_from_article_to_article(page, book):
    open_page(page, book)
    page.keyboard.press("j")
    first = page.evaluate("location.hash")
    page.keyboard.press("j")
    second = page.evaluate("location.hash")
    assert first and second and first != second
    page.keyboard.press("k")
    assert page.evaluate("location.hash") == first
    page.keyboard.press("e")
    goal = page.evaluate("location.hash")
    assert page.evaluate("id => document.getElementById(id).classList.contains('erratum')",
                         goal[1:])
    page.keyboard.press("g")
    assert page.evaluate("document.getElementById('graph').open")


def test_search_finds_a_number_and_a_word(page, book):
    open_page(page, book, "index.html")
    page.keyboard.press("/")
    page.fill("#search-input", "low-rank 39")
    first = page.inner_text("#search-results li:first-child")
    assert "low-rank 39" in first
    page.keyboard.press("Enter")
    page.wait_for_url("**/low-rank.html#39")
    page.keyboard.press("/")
    page.fill("#search-input", "no such words at all")
    assert page.query_selector_all("#search-results li") == []


def test_dark_is_dark_and_light_is_light(page, book):
    open_page(page, book)
    colour = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(colour)
    page.click("#theme")
    assert page.evaluate(colour) != before
    page.keyboard.press("d")
    assert page.evaluate(colour) == before


def test_hovering_a_symbol_shows_its_row_and_lights_its_places(page, book):
    open_page(page, book, "low-rank.html")
    symbol = page.locator("article [data-symbol='η']").first
    symbol.scroll_into_view_if_needed()
    symbol.hover()
    assert page.is_visible("#pop-up") and "eta" in page.inner_text("#pop-up")
    assert page.evaluate("document.querySelectorAll('.lit').length") >= 1


def test_hovering_a_label_shows_its_formula(page, book):
    open_page(page, book, "low-rank.html")
    chip = page.locator("article footer .chip").first
    chip.scroll_into_view_if_needed()
    chip.hover()
    assert page.is_visible("#pop-up math")


def test_hovering_the_graph_lights_what_a_label_needs(page, book):
    open_page(page, book, "low-rank.html")
    page.keyboard.press("g")
    node = page.locator(".graph .node[data-needs]:not([data-needs=''])").first
    needs = node.get_attribute("data-needs").split()
    node.hover()
    assert page.evaluate("document.querySelectorAll('.graph .node.up').length") == len(needs) + 1


def test_all_is_there_without_script(browser, book):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((book / f"{PAPER}.html").as_uri())
    assert page.locator("article").count() > 20 and page.locator("math").first.is_visible()
    assert not page.locator("#theme").is_visible()
    context.close()


def test_it_prints(page, book, tmp_path):
    open_page(page, book)
    page.emulate_media(media="print")
    assert not page.is_visible(".rail")
    page.pdf(path=str(tmp_path / "page.pdf"), format="A4")
    assert (tmp_path / "page.pdf").stat().st_size > 50_000


def test_accessibility(page, book):
    axe = os.environ.get("AXE")
    if not axe:
        pytest.skip("AXE does not name axe.min.js")
    for name in files(book):
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            open_page(page, book, name)
            page.add_script_tag(content=Path(axe).read_text(encoding="utf-8"))
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            serious = [(one["id"], one["nodes"][0]["html"][:160], one["nodes"][0]["failureSummary"])
                       for one in found["violations"] if one["impact"] in ("serious", "critical")]
            assert not serious, (name, theme, serious)
