"""What a page says of a paper: what the paper's room says of itself.

A paper that somebody registers himself has none of this: its title is all that is known.
"""

import re
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


def bibtex(known):
    """An entry for BibTeX, and the address of the paper, "" where none is known."""
    year, arxiv = (re.search(pattern, known.version) for pattern in
                   (r"\b(?:19|20)\d\d\b(?!\.)", r"arXiv (\d{4}\.\d{4,5})"))
    address = f"https://arxiv.org/abs/{arxiv[1]}" if arxiv else ""
    fields = {"title": f"{{{known.title}}}", "author": known.authors.replace(", ", " and ")}
    if year:
        fields["year"] = year[0]
    if arxiv:
        fields |= {"eprint": arxiv[1], "archivePrefix": "arXiv"}
    else:
        fields["note"] = known.version
    lines = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items())
    return f"@{'article' if arxiv else 'unpublished'}{{{known.paper},\n{lines}\n}}", address
