"""The folder of a book: what stays, what is refused, and what is left where the writing is killed:
where pages are of two books, the index says so.
"""

import os
import signal
from pathlib import Path

import pytest

from secondorder.book import folder


def contents(place):
    return {path.relative_to(place).as_posix(): path.read_bytes()
            for path in place.rglob("*") if path.is_file()}


def test_of_an_earlier_book_nothing_is_left_and_what_is_not_a_book_s_stays(tmp_path):
    place = tmp_path / "book"
    with folder.opened(place):
        assert folder.fill(place, {"a.html": "a", "figures/old.png": b"1"}) == []
    (place / "notes.txt").write_text("mine")
    with folder.opened(place):
        assert folder.fill(place, {"a.html": "b", "c.html": "c"}) == ["figures/old.png"]
    held = contents(place)
    mark = held.pop(folder.MARK).decode()
    assert held == {"a.html": b"b", "c.html": b"c", "notes.txt": b"mine"}
    assert [line.split()[0] for line in mark.splitlines()[1:]] == ["a.html", "c.html"]
    assert not (place / "figures").exists()


def test_a_page_that_was_changed_and_a_file_of_another_stay(tmp_path):
    place = tmp_path / "book"
    with folder.opened(place):
        folder.fill(place, {"a.html": "a", "b.html": "b"})
    (place / "c.html").write_text("mine")
    with folder.opened(place), pytest.raises(FileExistsError, match="c.html: no page of the earl"):
        folder.fill(place, {"a.html": "A", "c.html": "c"})
    (place / "a.html").write_text("a, and my notes")
    before = contents(place)
    with pytest.raises(FileExistsError, match="not as they were written .a.html.; move them"), \
            folder.opened(place):
        folder.fill(place, {"a.html": "A"})
    assert contents(place) == before
    (place / "a.html").unlink()  # one that is gone is made anew
    with folder.opened(place):
        assert folder.fill(place, {"a.html": "A"}) == ["b.html"]


def test_a_list_that_was_tampered_with_removes_nothing_outside(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    place = tmp_path / "book"
    place.mkdir()
    (place / folder.MARK).write_text("first line\n../mine.txt\n/etc/passwd\nfonts/../../mine.txt\n")
    assert folder.listed(place) == {} and folder.fill(place, {"a.html": "a"}) == []
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_book_that_does_not_come_about_leaves_no_folder(tmp_path):
    with pytest.raises(KeyError), folder.opened(tmp_path / "new"):
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def killed_at(count, place, pages):
    """Write pages in a process that is killed before its `count`-th change of a file; whether it
    came so far."""
    child = os.fork()
    if child == 0:
        left = [count]

        def counted(change):
            def changed(*arguments, **options):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return change(*arguments, **options)
            return changed

        os.replace, Path.unlink = counted(os.replace), counted(Path.unlink)
        Path.write_bytes, Path.write_text = counted(Path.write_bytes), counted(Path.write_text)
        try:
            with folder.opened(place):
                folder.fill(place, pages)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("first", [True, False])
def test_killed_at_any_moment_the_pages_are_of_one_book_or_the_index_says_so(tmp_path, first):
    """Whether there was a book before or not; and the next run makes it whole."""
    earlier = {"index.html": "old", "a.html": "old a", "figures/old.png": b"old"}
    later = {"index.html": "new", "a.html": "new a", "b.html": "new b", "figures/new.png": b"new"}
    wholes = [{name: text if isinstance(text, bytes) else text.encode()
               for name, text in pages.items()} for pages in (earlier, later)]
    seen, count = set(), 0
    while True:
        place, count = tmp_path / f"{count}", count + 1
        if not first:
            with folder.opened(place):
                folder.fill(place, earlier)
        if not killed_at(count, place, later):
            break
        held = {name: bytes for name, bytes in contents(place).items()
                if not name.startswith(".") and name != folder.MARK}
        told = held.get("index.html")
        state = ("mixed" if told == folder.MIXED.encode() else "earlier" if held == wholes[0]
                 else "later" if held == wholes[1] else "no index" if first and told is None
                 else "unsaid")
        seen.add(state)
        with folder.opened(place):
            folder.fill(place, later)
        held = contents(place)
        held.pop(folder.MARK)
        assert held == wholes[1] and state != "unsaid", (count, state)
    assert count > 10 and seen == ({"no index", "later"} if first else
                                   {"earlier", "mixed", "later"})
