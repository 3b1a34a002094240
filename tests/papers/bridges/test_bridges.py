"""The bridges' own parts, on cases that are worked out by hand, and that no room knows another."""

import ast
import importlib.util
from pathlib import Path

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.bridges import diagonals, kernels, layers, steps

ROOMS = Path(so.__file__).parent / "papers"
NAMES = {path.name for path in ROOMS.iterdir() if (path / "__init__.py").is_file()}


def test_one_weight_by_hand():
    # p = w x, f = (p - 1)^2 / 2 over x = 1, 2: G = J^T J / 2 = 5 / 2, g = (w - 1 + 2 (2 w - 1)) / 2
    net = so.mlp([1, 1], bias=False, rng=0)
    w = net.theta[0]
    x, y = np.array([[1.0], [2.0]]), np.ones((2, 1))
    batch = net, so.SquaredError(), x, y
    g, alpha = (5 * w - 3) / 2, 0.25
    wanted = -g / (alpha + (1 - alpha) * 2.5)
    assert steps.damping(alpha, 2) == pytest.approx(2 / 3)
    assert steps.damped(*batch, alpha) == pytest.approx([wanted])
    assert steps.regularised(*batch, alpha) == pytest.approx([wanted])
    assert kernels.mean_spectrum(net, x, 2) == pytest.approx([2.5, 0])
    assert diagonals.exact(*batch) == pytest.approx([2.5])
    assert diagonals.bounding(*batch) == pytest.approx([2.5])
    assert diagonals.by_fractions(*batch) == pytest.approx([2.5])
    assert layers.by_outer_products(*batch)[0] == pytest.approx(np.array([[2.5]]))
    assert layers.by_bias_hessians(*batch)[0] == pytest.approx(np.array([[2.5]]))


def imported(path):
    """Full names of all that a file imports."""
    package = ".".join(path.relative_to(ROOMS.parents[1]).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            home = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            yield from (f"{home}.{one.name}" for one in node.names)


@pytest.mark.parametrize("room", sorted(NAMES))
def test_no_room_knows_another(room):
    """`bridges` is the only place that knows two rooms; not every room has a bridge."""
    known = {name.split(".")[2] for path in (ROOMS / room).rglob("*.py") for name in imported(path)
             if name.startswith("secondorder.papers.")}
    others = (known & NAMES) - {room}
    assert len(others) >= 2 if room == "bridges" else not others
