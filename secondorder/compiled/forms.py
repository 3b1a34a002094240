"""Which of the two forms runs: the literal passes and formulas, or the compiled ones beside them.

``with so.literal():`` and the environment variable SECONDORDER_LITERAL=1 ask for the literal form,
of everything. The first holds for the thread that says so and for the tasks that it hands to
executors; the second for the whole process and those that it starts.
"""

import contextlib
import os
from contextvars import ContextVar

VARIABLE = "SECONDORDER_LITERAL"
_asked = ContextVar("secondorder: literal", default=os.environ.get(VARIABLE, "") not in ("", "0"))


# whether the literal form is asked for; the environment is looked at once, by the import
is_literal = _asked.get


def name():
    """The form that is asked for, as records and checkpoints tell it."""
    return "literal" if is_literal() else "compiled"


@contextlib.contextmanager
def literal(asked=True):
    """Run what one reads: in the ``with`` block the literal passes and formulas are called.

    The results equal the compiled form's up to rounding. Use it to step through the code, to set
    breakpoints, and to see the effect of a changed formula.

    Parameters
    ----------
    asked : bool
        False goes back to the compiled form inside such a block.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> net, x = so.mlp([3, 4, 2], rng=0), np.ones((5, 3))
    >>> with so.literal():
    ...     read = so.exact.gradient(net, so.SquaredError(), x, np.zeros((5, 2)))
    >>> run = so.exact.gradient(net, so.SquaredError(), x, np.zeros((5, 2)))
    >>> bool(np.allclose(read, run, rtol=1e-12))
    True
    """
    token = _asked.set(bool(asked))
    try:
        yield
    finally:
        _asked.reset(token)
