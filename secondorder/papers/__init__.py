"""The papers, a room each: a folder here whose ``__init__.py`` says ``PAPER = "its-key"`` is one.

Nothing else has to be told of a paper. What it says of itself are plain constants, which `rooms`
reads without running the room's code:

==============  ====================================================================================
``PAPER``       key, as one writes it on the command line
``TITLE``       title; a room without one (`bridges`) is not a paper of its own
``ORDER``       place in tables, a number; without one it comes after those that have one
``AUTHORS``     who wrote it
``ABOUT``       what it gives, in a line
``VERSION``     the text that was read, as far as it says itself what it is
``FIGURE``      key of the study whose picture stands for it
``ALSO``        what else people call it: its method, its network
``METHODS``     name on the command line -> class of the room, which is also ``secondorder.CLASS``
``NETWORKS``    further names of the room that are also ``secondorder.NAME``
==============  ====================================================================================

What the rooms share stands below them, and none knows another.
"""

import functools
from dataclasses import dataclass, field, fields
from pathlib import Path

#: Where the rooms stand.
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Room:
    """What a paper says of itself. `name` is its folder's; the other fields are the constants."""

    name: str
    paper: str
    title: str = ""
    order: float = float("inf")
    authors: str = ""
    about: str = ""
    version: str = ""
    figure: str = ""
    also: str = ""
    methods: dict = field(default_factory=dict)
    networks: tuple = ()

    @property
    def offers(self):
        """Names of the room that are reached from `secondorder` itself."""
        return (*self.methods.values(), *self.networks)


@functools.cache
def rooms():
    """Key -> Room of every paper, in the order of tables; a room without a title comes last.

    Raises
    ------
    ValueError
        Two folders have one key, or a constant of a room is not written out.
    """
    found = [_read(file) for file in FOLDER.glob("*/__init__.py")]
    known = {}
    for room in sorted((one for one in found if one is not None),
                       key=lambda one: (not one.title, one.order, one.paper)):
        if room.paper in known:
            raise ValueError(f"PAPER {room.paper!r} is the key of two folders: "
                             f"{known[room.paper].name} and {room.name}")
        known[room.paper] = room
    return known


def table():
    """The papers as a table in Markdown, for README: key, authors and title, where to look."""
    rows = ["| key | paper | |", "| --- | --- | --- |"]
    for room in rooms().values():
        if room.title:
            place = f"secondorder/papers/{room.name}"
            pages = {"code": "", "equations": "/EQUATIONS.md"}
            if (FOLDER / room.name / "CLAIMS.md").is_file():
                pages["claims"] = "/CLAIMS.md"
            links = ", ".join(f"[{name}]({place}{page})" for name, page in pages.items())
            rows.append(f"| `{room.paper}` | {room.authors}: *{room.title}*. {room.about} | "
                        f"{links} |")
    return "\n".join(rows)


def _read(file):
    """The Room whose ``__init__.py`` this is; None where it names no paper."""
    import ast  # only who asks for a paper needs it

    names = {one.name.upper(): one.name for one in fields(Room) if one.name != "name"}
    told = {}
    for node in ast.parse(file.read_text(encoding="utf-8"), str(file)).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) \
                and node.targets[0].id in names:
            constant = node.targets[0].id
            try:
                told[names[constant]] = ast.literal_eval(node.value)
            except ValueError:
                raise ValueError(f"{file}, line {node.lineno}: {constant} must be written out, "
                                 f"got {ast.unparse(node.value)}") from None
    return Room(file.parent.name, **told) if "paper" in told else None
