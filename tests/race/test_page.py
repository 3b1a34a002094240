"""The race's page of the book, and where it is linked."""

import pytest

pytest.importorskip("jinja2")

from secondorder.book import pages, reported
from secondorder.studies import STUDIES


@pytest.mark.slow
def test_the_page_has_every_study_with_its_claims():
    texts = pages.rendered({}, reported.studies(["race"]))
    page = texts["race.html"]
    for study in STUDIES.of("race").values():
        assert f'id="study-{study.key}"' in page
        assert all(f"</a> ({letter})</td>" in page for letter in study.claims)
    assert 'href="race.html"' in texts["claims.html"]


def test_a_book_of_papers_alone_has_no_race():
    texts = pages.rendered({}, {})
    assert "race.html" not in texts and 'href="race.html"' not in texts["claims.html"]
