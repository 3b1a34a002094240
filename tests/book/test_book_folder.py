"""A book that is killed while it is written: where pages are of two books, the index says so."""

import os
import signal
from pathlib import Path

import pytest

from secondorder.book import folder


def contents(place):
    return {path.relative_to(place).as_posix(): path.read_bytes()
            for path in place.rglob("*") if path.is_file()}


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


@pytest.mark.thorough
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
