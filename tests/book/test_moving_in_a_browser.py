"""The figures that one moves, in a real browser: keys, paper, no script, a phone.

Marked ``browser``, as `test_book_in_a_browser`. A page here holds the figure and nothing else, so
that a book need not be built.
"""

import json

import pytest

pytestmark = pytest.mark.browser

from test_book_in_a_browser import browser, page  # noqa: E402, F401

from secondorder.book import articles, folder, moving  # noqa: E402

PAPERS = sorted(moving.FIGURES)
SECTION = """{% extends "base.html" %}{% set current = paper.key %}
{% block title %}{{ paper.key }}{% endblock %}
{% block main %}<h1>{{ paper.key }}</h1>{% include "moving.html" %}{% endblock %}
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    from jinja2 import Environment, PackageLoader, StrictUndefined

    place = tmp_path_factory.mktemp("moving")
    (place / "fonts").mkdir()
    for name, content in folder.static().items():
        (place / name).write_bytes(content)
    (place / "search.js").write_text("const INDEX = [];")
    environment = Environment(loader=PackageLoader("secondorder.book"), undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True, autoescape=True)
    environment.globals.update(anchor=articles.anchor, single=False, lessons=[])
    for paper in PAPERS:
        (place / f"{paper}.html").write_text(environment.from_string(SECTION).render(
            papers=[], paper={"key": paper, "moving": moving.figure(paper)}))
    return place


def drawn(page):  # noqa: F811
    return page.evaluate(
        "[...document.querySelectorAll('[data-curve]')].map(one => one.getAttribute('d'))")


def slider_of(page, number=0):  # noqa: F811
    return page.locator(f"#moving-{number}")


@pytest.mark.parametrize("paper", PAPERS)
def test_the_script_draws_what_the_still_picture_shows(page, pages, paper):  # noqa: F811
    """At the start, and at another position the same as Python would draw there."""
    figure = moving.figure(paper)
    page.goto((pages / f"{paper}.html").as_uri())
    places = [0] * len(figure.sliders)
    for start in (figure.places(), places):
        for number, place in enumerate(start):
            slider_of(page, number).fill(str(place))
        expected = [moving.drawing.path(panel, curve, start)
                    for panel in figure.panels for curve in panel.curves]
        for one, other in zip(drawn(page), expected, strict=True):
            assert numbers(one) == pytest.approx(numbers(other), rel=1e-3, abs=0.15)
            assert letters(one) == letters(other)
        assert page.inner_text(".told") == figure.words.at(start)


def letters(path):
    return "".join(sign for sign in path if sign.isalpha())


def numbers(path):
    return [float(one) for one in "".join(
        sign if sign in "-.0123456789" else " " for sign in path).split()]


@pytest.mark.parametrize("paper", PAPERS)
def test_keys_move_every_slider_and_its_curves(page, pages, paper):  # noqa: F811
    figure = moving.figure(paper)
    page.goto((pages / f"{paper}.html").as_uri())
    for number, slider in enumerate(figure.sliders):
        box, before, told = slider_of(page, number), drawn(page), page.inner_text(".told")
        box.focus()
        place, last = slider.start, len(slider.texts) - 1
        page.keyboard.press("ArrowLeft" if place == last else "ArrowRight")
        place += -1 if place == last else 1
        assert box.input_value() == str(place)
        after = drawn(page)
        assert before != after and told != page.inner_text(".told")
        assert page.inner_text(f"output[for=moving-{number}] b") == slider.texts[place]
        assert box.get_attribute("aria-valuetext") == f"{slider.texts[place]} {slider.unit}".strip()
        page.keyboard.press("Home")
        assert box.input_value() == "0" and drawn(page) != after


@pytest.mark.parametrize("paper", PAPERS)
def test_a_slider_has_a_name_and_a_picture_has_one(page, pages, paper):  # noqa: F811
    page.goto((pages / f"{paper}.html").as_uri())
    for number, slider in enumerate(moving.figure(paper).sliders):
        assert page.get_by_role("slider", name=slider.label, exact=True).count() == 1
        assert page.inner_text(f"label[for=moving-{number}]") == slider.label
    for panel in moving.figure(paper).panels:
        assert page.get_by_role("img", name=panel.title).count() == 1


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_its_lines_stand_out(page, pages, paper, scheme):  # noqa: F811
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((pages / f"{paper}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    sizes = page.evaluate("""[...document.querySelectorAll("#moving figure > svg")].map(one =>
        one.getBoundingClientRect().width)""")
    assert min(sizes) > 320, "text of 12 units stays readable"
    ratios = page.evaluate(CONTRAST)
    assert ratios and min(ratios.values()) >= 3, json.dumps(ratios)


CONTRAST = """() => {
    const light = text => text.match(/[0-9.]+/g).slice(0, 3).map(one => one / 255)
        .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, k) => sum + one * [0.2126, 0.7152, 0.0722][k], 0);
    const ground = light(getComputedStyle(document.body).backgroundColor);
    return Object.fromEntries([...document.querySelectorAll("[data-curve]")].map(one => {
        const ink = light(getComputedStyle(one).stroke);
        return [one.dataset.curve, (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05)];
    }));
}"""


@pytest.mark.parametrize("paper", PAPERS)
def test_without_script_the_picture_stands(browser, pages, paper):  # noqa: F811
    context = browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto((pages / f"{paper}.html").as_uri())
    assert still.locator("#moving figure > svg path[data-curve]").first.get_attribute("d")
    assert not slider_of(still).is_visible() and still.locator("#moving noscript").count() == 1
    assert still.inner_text(".told") == moving.figure(paper).said()
    assert still.inner_text("output[for=moving-0] b") == moving.figure(paper).sliders[0].texts[
        moving.figure(paper).sliders[0].start]
    context.close()


@pytest.mark.parametrize("paper", PAPERS)
def test_on_paper_the_picture_stands_where_it_was_moved(page, pages, paper):  # noqa: F811
    page.goto((pages / f"{paper}.html").as_uri())
    slider_of(page).fill("1")
    page.emulate_media(media="print")
    assert not slider_of(page).is_visible()
    assert page.inner_text("output[for=moving-0] b") == moving.figure(paper).sliders[0].texts[1]
    assert page.locator("#moving figure > svg").first.is_visible()
