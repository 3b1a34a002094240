"""The book in a real browser: Chromium, headless, from files.

Marked ``browser``: left out every day. They need the extras ``[book]`` and ``[browser-test]`` and a
Chromium, whose place the environment variable ``CHROMIUM`` may name; ``AXE`` names axe-core's
``axe.min.js`` for the check of accessibility. With ``BROWSER_TESTS=required``, as ``.ci/run`` sets
it, what is missing is a failure.
"""

import io
import os
import re
import shutil
from pathlib import Path

import pytest
from PIL import Image

pytestmark = pytest.mark.browser
REQUIRED = os.environ.get("BROWSER_TESTS") == "required"

for needed in ("math_core", "jinja2", "pygments", "playwright"):
    if not REQUIRED:
        pytest.importorskip(needed, reason="LEFT OUT: an extra is not installed, see .ci/run")

from playwright.sync_api import sync_playwright  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync"]
PAPER = "residual-partitioning"
WIDTHS = (1440, 1024, 820, 390)


def left_out(why):
    (pytest.fail if REQUIRED else pytest.skip)(f"LEFT OUT: {why}")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    from secondorder.book import tutorials, write

    out, every = tmp_path_factory.mktemp("book") / "out", tutorials.names()
    with pytest.MonkeyPatch.context() as patch:  # two of them: the others are made alike
        patch.setattr(tutorials, "names", lambda: [one for one in every
                                                   if one.name.startswith(("00", "10"))])
        write(out, seeds=1, say=lambda line: None)
    return out


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        left_out("no Chromium: name it in CHROMIUM")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield found
        found.close()


@pytest.fixture
def page(browser):
    made = browser.new_page(viewport={"width": 1440, "height": 900})
    made.set_default_timeout(90_000)
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
    page.evaluate("document.fonts.ready")


def names(book):
    return sorted(path.name for path in book.glob("*.html"))


def wide_elements(page, width):
    """What reaches beyond the right edge, for the message of a failure."""
    return page.evaluate("""width => [...document.querySelectorAll("body *")]
        .filter(one => one.getBoundingClientRect().right > width + 1).slice(0, 3)
        .map(one => one.outerHTML.slice(0, 120))""", width)


def test_every_page_at_four_widths(page, book):
    """One visit a page, since laying it out is what takes time: requests, widths, formulas."""
    maths = 0
    for name in names(book):
        open_page(page, book, name)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, (name, wide, wide_elements(page, width))
        sizes = page.evaluate("""[...document.querySelectorAll("math")].map(one => {
            const box = one.getBoundingClientRect(); return [box.width, box.height]; })""")
        assert all(width > 3 and height > 5 for width, height in sizes), name
        maths += len(sizes)
    assert maths > 280
    home = book.as_uri()
    assert page.asked and all(url.startswith(home) for url in page.asked)


def seen_at_the_top(page, name):
    top = page.evaluate("id => document.getElementById(id).getBoundingClientRect().top", name)
    return -5 < top < 120


@pytest.mark.parametrize("label", ["theorem-2", "3"])
def test_a_label_is_found_by_its_address(page, book, label):
    open_page(page, book, anchor=f"#{label}")
    page.wait_for_function("scrollY > 0")
    assert seen_at_the_top(page, label)


PLACES = """header => [...document.querySelectorAll("a.number")].map(link => {
    location.hash = link.hash;
    const box = document.getElementById(link.hash.slice(1)).parentElement.querySelector(".display")
        .getBoundingClientRect();
    return [link.hash, box.top, box.bottom]; })"""


@pytest.mark.parametrize("name", ["residual-partitioning", "low-rank", "ea-cg",
                                  "reversible-gauss-newton"])
def test_the_link_of_a_number_shows_the_whole_display(page, book, name):
    open_page(page, book, f"{name}.html")
    header = page.evaluate("document.querySelector('.bar').getBoundingClientRect().bottom")
    places = page.evaluate(PLACES, header)
    assert len(places) >= 20
    cut = [(link, top, bottom) for link, top, bottom in places if top < header or bottom > 900]
    assert not cut


#: What people ask for, and a part of the first row that they get.
ASKED = {"39": " 39", "low-rank 39": "low-rank 39", "theorem 4.3": "theorem-4.3",
         "CKA": "CKA", "NTK": "tangent kernel", "KFAC": "ea-cg u-kfac",
         "KFRA": "ea-cg u-kfra", "pos-eig": "ea-cg pos-eig", "equal": "equal",
         "eq_39_curvature": "low-rank 39", "Lemma 3": "lemma-3", "η": "letter η",
         "Pencil": "tutorial 00 Pencil", "softmax": "softmax", "algorithm 1": "algorithm-1"}


def test_search_finds_words(page, book):
    open_page(page, book, "index.html")
    page.keyboard.press("/")
    for asked, first in ASKED.items():
        page.fill("#search-input", asked)
        rows = page.locator("#search-results li").all_inner_texts()
        assert rows and first.lower() in rows[0].lower(), (asked, rows[:3])
    page.fill("#search-input", "equal")  # as a word: neither "equation" nor a part of "unequal"
    rows = page.locator("#search-results li").all_inner_texts()
    assert rows and all("equal" in re.findall(r"[a-z]+", row.lower()) for row in rows)
    page.fill("#search-input", "low-rank 39")
    page.keyboard.press("Enter")
    page.wait_for_url("**/low-rank.html#39")
    page.wait_for_function("scrollY > 0")
    assert seen_at_the_top(page, "39")


def test_a_tutorial_and_the_displays_that_it_names_lead_to_each_other(page, book):
    open_page(page, book, "tutorials.html")
    page.click("text=10 ")
    assert page.locator(".lesson .output").count() > 3 and page.locator(".lesson math").count()
    page.locator(".lesson a[href^='residual-partitioning.html#22']").first.click()
    page.wait_for_url("**/residual-partitioning.html#22")
    back = page.locator("article[id='22'] footer a[href^='tutorial-10']")
    assert back.is_visible()
    back.click()
    page.wait_for_url("**/tutorial-10-errata.html#*")


def test_code_and_latex_can_be_copied(page, book):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(page, book, anchor="#22")
    article = page.locator("article[id='22']")
    article.locator(".copy.tex").first.click()
    assert "\\frac" in page.evaluate("navigator.clipboard.readText()")
    article.locator(".right-side .code .copy").first.click()
    assert page.evaluate("navigator.clipboard.readText()").startswith("def eq_22")
    article.locator(".own-numbers summary").click()
    article.locator(".own-numbers .copy").click()
    assert "eq_22_gradient(" in page.evaluate("navigator.clipboard.readText()")


def test_keys_go_from_article_to_article(page, book):
    open_page(page, book)
    order = page.evaluate("[...document.querySelectorAll('main article')].map(one => one.id)")
    errata = page.evaluate(
        "[...document.querySelectorAll('main article.erratum')].map(one => one.id)")

    def press(key):
        page.keyboard.press(key)
        name = page.evaluate("location.hash.slice(1)")
        assert page.evaluate("document.querySelector('.rail [aria-current]').hash") == f"#{name}"
        return name

    walked = [press("j") for _ in range(6)]
    assert walked == order[:6] and seen_at_the_top(page, walked[-1])
    assert [press("k") for _ in range(3)] == order[4:1:-1]
    assert [press("e") for _ in errata] == errata
    assert press("e") == errata[-1]  # the last one stays
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.keyboard.press("k")
    assert page.evaluate("location.hash.slice(1)") in order[-4:]


def test_dark_is_dark_and_light_is_light(page, book):
    open_page(page, book, "index.html")
    colour = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(colour)
    page.click("#theme")
    assert page.evaluate(colour) != before
    page.keyboard.press("d")
    assert page.evaluate(colour) == before
    page.emulate_media(color_scheme="dark")  # a choice that was made is kept
    assert page.evaluate(colour) == before


def test_hovering_shows_symbols_and_labels(page, book):
    open_page(page, book, "low-rank.html")
    symbol = page.locator("article [data-symbol='η']").first
    symbol.scroll_into_view_if_needed()
    symbol.hover()
    assert page.is_visible("#pop-up") and "eta" in page.inner_text("#pop-up")
    assert page.evaluate("document.querySelectorAll('.lit').length") >= 1
    chip = page.locator("article footer .chip").first
    chip.scroll_into_view_if_needed()
    chip.hover()
    assert page.is_visible("#pop-up math")
    name = page.locator(".right-side > .code a.ref").first
    name.scroll_into_view_if_needed()
    name.hover()
    assert page.is_visible("#pop-up math") and page.evaluate(
        "document.querySelectorAll('.lit').length") == 0


def test_a_helper_is_reached_and_previewed_from_the_check_that_calls_it(page, book):
    open_page(page, book)
    fold = page.locator(".right-side > details:has(a.ref)").first
    fold.locator("> summary").click()
    link = fold.locator("a.ref[href^='#code-']").first
    link.hover()
    assert page.is_visible("#pop-up .code")
    link.click()
    goal = page.evaluate("location.hash.slice(1)")
    assert page.locator(f"#helpers .code[id='{goal}']").is_visible()


def corner(shown):
    """Brightness, 0 to 1, of a screenshot's corner."""
    image = Image.open(io.BytesIO(shown.screenshot())).convert("L")
    return image.getpixel((image.width // 2, 2)) / 255


def test_pictures_are_dark_in_the_dark_and_open_large(page, book):
    page.emulate_media(color_scheme="dark")
    open_page(page, book, f"claims-{PAPER}.html", "#study-figure-1")
    picture = page.locator("#study-figure-1 .picture svg").first
    assert corner(picture) < 0.2
    page.click("#theme")
    assert corner(picture) == 1.0
    page.locator("#study-figure-1 .picture").click()
    large = page.locator("#large svg")
    assert large.is_visible() and large.bounding_box()["width"] >= 1400
    page.keyboard.press("Escape")
    assert not page.locator("#large").is_visible()
    page.locator("#study-figure-1 .picture").focus()
    page.keyboard.press("Enter")
    assert page.locator("#large").is_visible()


def test_all_is_there_without_script(browser, book):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((book / f"{PAPER}.html").as_uri())
    assert page.locator("article").count() > 20
    assert page.locator("article math").first.is_visible()
    assert page.locator("article .both").first.is_visible()
    assert not page.locator("#theme").is_visible()
    context.close()


def test_it_prints(page, book, tmp_path):
    open_page(page, book)
    page.emulate_media(media="print")
    assert not page.is_visible(".rail")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440
    page.pdf(path=str(tmp_path / "page.pdf"), format="A4")
    assert (tmp_path / "page.pdf").stat().st_size > 50_000
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


SERIOUS = """async options => (await axe.run(document, options)).violations
    .filter(one => ["serious", "critical"].includes(one.impact))
    .map(one => [one.id, one.nodes.length, one.nodes[0].html.slice(0, 160),
                 one.nodes[0].failureSummary])"""


#: Of a long page of another paper than `PAPER` this many articles: they are made alike.
SHORTENED = """count => [...document.querySelectorAll("main > article, main > section.study")]
    .slice(count).forEach(one => one.remove())"""


def test_accessibility(page, book):
    """Every page in light; in dark the colours only, the rest is the same."""
    axe = os.environ.get("AXE")
    if not axe:
        pytest.skip("LEFT OUT: AXE does not name axe.min.js")
    script = Path(axe).read_text(encoding="utf-8")
    for name in names(book):
        open_page(page, book, name)
        page.evaluate(script)
        if PAPER not in name:
            page.evaluate(SHORTENED, 12)
        for theme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme=theme)
            # axe would fetch the style sheets, which a page from a file may not
            options = {"resultTypes": ["violations"], "preload": False} | rules
            found = page.evaluate(SERIOUS, options)
            assert not found, (name, theme, found)
