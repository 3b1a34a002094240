"""A reading path through a paper: ten stations with minutes, from ``path.toml`` beside its room."""

import textwrap
import tomllib
from dataclasses import dataclass

from .. import registry
from ..labels import is_number
from .equations_page import folder_of

_WIDTH = 80


@dataclass(frozen=True)
class Station:
    """A label or a figure to stop at; `why` is one sentence."""

    at: str
    minutes: int
    why: str

    @property
    def name(self):
        """`(39)` for a number, else the label."""
        return f"({self.at})" if is_number(self.at) else self.at


def stations(paper):
    """The stations of a paper's path in their order; () for a paper without one."""
    folder = folder_of(paper)
    file = None if folder is None else folder / "path.toml"
    if file is None or not file.is_file():
        return ()
    written = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple(Station(**station) for station in written["station"])


def shown(paper):
    """The path as text for a terminal; ValueError for a paper without one."""
    stops = stations(paper)
    if not stops:
        known = [name for name in registry.REGISTRY.rooms() if stations(name)]
        raise ValueError(f"paper {paper!r} has no reading path; there is one of "
                         f"{', '.join(known)}")
    total, wide = sum(stop.minutes for stop in stops), max(len(stop.name) for stop in stops)
    lines = [f"[{paper}] a reading path: {len(stops)} stations, {total} minutes", ""]
    for count, stop in enumerate(stops, 1):
        head = f"{count:>2}. {stop.minutes:>2} min  {stop.name:<{wide}}  "
        lines += textwrap.wrap(stop.why, _WIDTH, initial_indent=head,
                               subsequent_indent=" " * len(head), break_on_hyphens=False)
    return "\n".join([*lines, "", f"a station: secondorder show {paper} {stops[0].at}"])
