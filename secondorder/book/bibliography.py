"""What a page says of a paper: what the paper's room says of itself.

A paper that somebody registers himself has none of this: its title is all that is known.
"""

from dataclasses import replace

from ..ledger.registry import PAPERS, REGISTRY
from ..papers import Room, rooms
from .parts import symbols


def of(paper):
    """What is known of a paper, as a `Room`."""
    if REGISTRY.papers[paper] is None or paper not in PAPERS:
        return Room("", paper, symbols.title(paper))
    room = rooms()[paper]
    return room if room.title else replace(room, title=paper.capitalize())
