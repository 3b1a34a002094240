"""The house of DESIGN section 3: arrows run downwards, and in no circle."""

import ast
import functools
from pathlib import Path

from secondorder.papers import rooms

PACKAGE = Path(__file__).resolve().parents[2] / "secondorder"
#: From the ground up; a part knows those before it. Names of one line know each other.
FLOORS = ("formulas files papers", "kernels", "checks", "nets", "exact", "datasets", "optimizers",
          "plots", "ledger", "verify", "rooms", "bridges", "training", "studies", "comparison",
          "secondorder", "rooms' figures", "edition lessons bench race", "book", "cli", "__main__")
RANK = {name: k for k, floor in enumerate(FLOORS) for name in (
    [floor] if "'" in floor else floor.split())}
ROOMS = [room.name for room in rooms().values() if room.title]
#: What runs when it is called, not when it is loaded: part, and the part above that it calls.
CALLED = {("kernels", "secondorder"), ("checks", "secondorder"), ("files", "secondorder")}
def name_of(file):
    parts = [PACKAGE.name, *file.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file): file for file in PACKAGE.rglob("*.py")}


def statements(node, loading=True):
    """All statements below a node, and whether they run when the module is loaded."""
    for below in ("body", "orelse", "finalbody", "handlers"):
        for one in getattr(node, below, ()):
            yield one, loading
            yield from statements(one, loading and not isinstance(one, ast.FunctionDef))


@functools.cache
def imports(name):
    """Pairs of a module of the package that this one imports, and whether on loading."""
    found = []
    for node, loading in statements(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(one.name, loading) for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = name.split(".")
            keep = len(base) - node.level + (MODULES[name].name == "__init__.py")
            start = ".".join([*base[:keep], *([node.module] if node.module else [])]) \
                if node.level else node.module
            found += [(f"{start}.{one.name}" if f"{start}.{one.name}" in MODULES else start,
                       loading) for one in node.names]
    return [(target, loading) for target, loading in found if target in MODULES]


def part(name):
    """The floor's name of a module: `rooms` for a paper's, else the folder below the package."""
    parts = name.split(".")
    if len(parts) == 1:
        return "secondorder"
    if parts[1] != "papers" or len(parts) == 2:  # what reads the list of rooms, and is none
        return parts[1]
    if parts[2] == "bridges":
        return "bridges"
    return "rooms' figures" if "figures" in parts[3:] else "rooms"


def test_arrows_run_downwards():
    wrong = []
    for name in MODULES:
        for target, loading in imports(name):
            here, there = part(name), part(target)
            if RANK[there] > RANK[here] and (loading or (here, there) not in CALLED):
                wrong.append(f"{name} ({here}) knows {target} ({there})")
    assert not wrong, "\n".join(wrong)


def test_no_room_knows_another():
    def room(name):
        parts = name.split(".")
        return parts[2] if parts[1:2] == ["papers"] and len(parts) > 2 else None

    wrong = [f"{name} knows {target}" for name in MODULES if room(name) in ROOMS
             for target, _ in imports(name) if room(target) not in (None, room(name))]
    assert not wrong, "\n".join(wrong)


def test_no_module_stands_in_a_circle():
    """Depth first: a module that is met again on the way down closes a circle."""
    done, path = set(), []

    def descend(name):
        assert name not in path, " -> ".join([*path[path.index(name):], name])
        if name in done:
            return
        path.append(name)
        for target, loading in imports(name):
            if loading and target != name:
                descend(target)
        path.pop()
        done.add(name)

    for name in MODULES:
        descend(name)


def test_every_part_has_its_floor():
    assert {part(name) for name in MODULES} == set(RANK)
