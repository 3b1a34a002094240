"""In the book every number of a paper stands once, with a link of its own and its own lines."""

import re

import pytest

from harness import slow
from secondorder.ledger.labels import is_number
from secondorder.ledger.pages.page import page as page_of
from secondorder.ledger.registry import REGISTRY

for needed in ("math_core", "jinja2", "pygments"):
    pytest.importorskip(needed, reason="the extra [book] is not installed")

from secondorder.book import articles  # noqa: E402
from secondorder.book.parts import code, numbered  # noqa: E402

PAPERS = ("residual-partitioning", "low-rank", "ea-cg", "reversible-gauss-newton")


def html_of(parts):
    from jinja2 import Environment, PackageLoader

    templates = Environment(loader=PackageLoader("secondorder.book"), trim_blocks=True,
                            lstrip_blocks=True, autoescape=True)
    templates.globals["spoken"] = str
    macro = templates.get_template("macros.html").module.displays
    return str(macro(parts, "formula", True))


@pytest.fixture(scope="module", params=[PAPERS[0], *slow(PAPERS[1:])])
def page(request):
    """Entries of a paper with the HTML of their displays and of their code."""
    entries = REGISTRY.select(request.param)
    blocks, found = articles.Blocks(request.param, entries), []
    for entry in entries:
        printed, _ = numbered.shown(page_of(entry), (), blocks)
        shown = blocks.here(entry) + blocks.other_side(entry)
        found.append((entry, printed, html_of(printed),
                      "".join(block["lines"] + block["rest"] for block in shown)))
    return entries, blocks, found


@pytest.mark.slow
def test_every_number_has_one_address_and_one_link_to_it(page):
    entries, _, found = page
    text = "".join(html for *_, html, _ in found)
    labels = [label for entry in entries for label in entry.labels if is_number(label)]
    printed = [label for label in labels
               if not any(label in entry.unnumbered for entry in entries)]
    assert sorted(re.findall(r'<span id="eq-(\w+)">', text)) == sorted(labels)
    links = re.findall(r'<a class="number" href="#eq-(\w+)">\((\w+)\)</a>', text)
    assert sorted(number for _, number in links) == sorted(printed)
    assert all(address == number for address, number in links)


@pytest.mark.slow
def test_every_display_leads_to_its_line_of_the_code_and_of_the_check(page):
    entries, blocks, found = page
    helpers = {f"#{code.address(helper)}" for helper in blocks.shared}
    for entry, printed, _, listing in found:
        ids = re.findall(r'<b id="([^"]+)">', listing)
        assert len(set(ids)) == len(ids)
        for part in printed:
            if part.number or len(printed) == 1:
                assert [word for word, _, _ in part.lines] == ["code", "check"], entry.labels
            for word, line, address in part.lines:
                if address[1:] in ids:
                    row = re.search(rf'data-n=(\d+)>(?:<b id="[^"]+"></b>)*<b id="{address[1:]}">',
                                    listing)
                    assert int(row[1]) == line
                else:  # in a block that another article, or the end of the page, shows
                    assert address in helpers or address in {
                        f"#{code.address(value)}" for value in blocks.home}, address
