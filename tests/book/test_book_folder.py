"""The folder of a book: what is refused, and that nothing of an earlier book is left."""

import pytest

from secondorder.book import folder


def contents(place):
    return {path.relative_to(place).as_posix(): path.read_bytes()
            for path in place.rglob("*") if path.is_file() and path.name != folder.MARK}


def test_an_earlier_book_is_replaced_where_that_is_asked_for(tmp_path):
    place = folder.opened(tmp_path / "book", False)
    folder.fill(place, {"a.html": "a", "figures/old.png": b"1"})
    with pytest.raises(FileExistsError, match="--force"):
        folder.opened(place, False)
    folder.fill(folder.opened(place, True), {"a.html": "b", "c.html": "c"})
    assert contents(place) == {"a.html": b"b", "c.html": b"c"}
    assert not (place / "figures").exists()


def test_a_folder_with_other_things_is_refused(tmp_path):
    folder.fill(folder.opened(tmp_path, False), {"a.html": "a"})
    (tmp_path / "c.html").write_text("mine")
    with pytest.raises(FileExistsError, match="c.html"):
        folder.opened(tmp_path, True)


def test_a_list_that_was_tampered_with_removes_nothing_outside(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    place = tmp_path / "book"
    place.mkdir()
    (place / folder.MARK).write_text("first line\n../mine.txt\n/etc/passwd\nfonts/../../mine.txt\n")
    folder.fill(place, {"a.html": "a"})
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_book_that_is_broken_off_leaves_the_earlier_one_and_no_new_folder(tmp_path):
    earlier = {"index.html": "old", "a.html": "old a"}
    for place in (tmp_path / "book", tmp_path / "new"):
        if place.name == "book":
            folder.fill(folder.opened(place, False), earlier)
        with pytest.raises(AttributeError):  # no text and no bytes
            folder.fill(folder.opened(place, True), {"c.html": "new", "d.html": None})
    assert contents(tmp_path / "book") == {"index.html": b"old", "a.html": b"old a"}
    assert [path.name for path in tmp_path.iterdir()] == ["book"]
