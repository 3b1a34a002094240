"""The folder of a book: what is refused, and that nothing of an earlier book is left."""

import pytest

from secondorder.book import folder


def contents(place):
    return {path.relative_to(place).as_posix(): path.read_bytes()
            for path in place.rglob("*") if path.is_file() and path.name != folder.MARK}


def test_an_earlier_book_is_replaced_where_that_is_asked_for_and_nothing_else(tmp_path):
    place = folder.opened(tmp_path / "book", False)
    folder.fill(place, {"a.html": "a", "figures/old.png": b"1"})
    with pytest.raises(FileExistsError, match="--force"):
        folder.opened(place, False)
    folder.fill(folder.opened(place, True), {"a.html": "b", "c.html": "c"})
    assert contents(place) == {"a.html": b"b", "c.html": b"c"}
    with pytest.raises(AttributeError):  # no text and no bytes: it is broken off
        folder.fill(folder.opened(place, True), {"c.html": "new", "d.html": None})
    assert contents(place) == {"a.html": b"b", "c.html": b"c"}
    assert [path.name for path in tmp_path.iterdir()] == ["book"]
    (place / "d.html").write_text("mine")
    with pytest.raises(FileExistsError, match="d.html"):
        folder.opened(place, True)


def test_a_list_that_was_tampered_with_removes_nothing_outside(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    place = tmp_path / "book"
    place.mkdir()
    (place / folder.MARK).write_text("first line\n../mine.txt\n/etc/passwd\nfonts/../../mine.txt\n")
    folder.fill(place, {"a.html": "a"})
    assert (tmp_path / "mine.txt").read_text() == "mine"
