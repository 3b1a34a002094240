"""All curvatures of one small network side by side: one table, one page.

`rows` says how each curvature is made and what theory promises of it, `measures` what is measured
of a matrix at a point, `page` draws. Start with :func:`compare`, or ``secondorder compare``.
"""

from .compare import Comparison, compare

__all__ = ["Comparison", "compare"]
