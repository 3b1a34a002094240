"""What a step or a curvature costs, as ratios in one run: `secondorder bench`.

Absolute seconds say little about code; they belong to a machine. Every *case* here is therefore
timed beside

- ``products``: the matrix products that it cannot do without, run alone, in arrays that are there
  already (the GEMM-bound);
- ``gradient``: one gradient of the same objective;
- ``torch``: the same work in PyTorch, if asked for and installed;
- whatever else the case names, such as a step of SGD.

They take turns in short blocks with pauses between, so that what else the machine does meets all
of them; a ratio is the median of the blocks' ratios. Peak memory is counted in a run of its own,
which is not timed.

A case of your own
------------------
One function, registered by name, makes the work for a `Problem` (a network, a loss, a batch) and
returns it as `Work`::

    from secondorder.bench import Setting, Work, case, products

    @case("directional curvature", Setting("64-40-30-10", batch=32))
    def directional_curvature(problem):
        \"\"\"v^T H v along the gradient, without a Hessian.\"\"\"  # what `bench --list` prints
        net, loss, x, y = problem
        v = so.exact.gradient(net, loss, x, y)                         # preparation is not timed
        return Work(lambda: so.low_rank.directional_curvature(net, loss, x, y, v),
                    products=products.directional_curvature(net, len(x)))

Everything but the first argument of `Work` may be left out. ``rivals={"SGD step":
other_function}`` adds further columns, and ``torch=lambda twin: ...`` the PyTorch side (see
`pytorch.Twin`). A method that needs a network of its own makes it in the function
(``problem.setting`` has widths and batch, ``problem.rng`` a generator); it then names its own
``rivals={"gradient": ...}``, or sets ``gradient=False``. A matrix that would be too large raises
`MemoryError`: that point is left out of the figure. The package's own cases stand in `cases` and,
for convolutional networks, in `images`.

The numbers come from `measure`; the figure of how they scale with width, depth and batch from
`scaling.run`.
"""

import importlib

from . import products
from .runs import CASES, Effort, Problem, Setting, Work, case, contest, measure, ratio, table

__all__ = ["Effort", "Problem", "Setting", "Work", "case", "contest", "load", "measure",
           "products", "ratio", "table"]


def load():
    """Register the package's own cases; returns all cases by name."""
    for module in ("cases", "images"):  # not before: they need the whole package
        importlib.import_module(f"{__name__}.{module}")
    return dict(CASES)
