"""Your own paper: registered from anywhere, executed and shown like the others."""

import re
from dataclasses import dataclass

from ..checks.brief import shown
from . import registry
from .comparisons import VerificationError
from .pages.equations_page import markdown
from .pages.show import show
from .registration import equation
from .registry import PAPERS
from .runner import run


@dataclass(frozen=True)
class Paper:
    """A paper that a user registered; see :func:`paper`.

    Attributes
    ----------
    key, title : str
    """

    key: str
    title: str = ""

    def equation(self, *labels, **named):
        """:func:`secondorder.ledger.equation` for this paper."""
        return equation(self.key, *labels, **named)

    def run(self, label=None, seed=0):
        """:func:`secondorder.ledger.run` for this paper."""
        return run(self.key, label, seed)

    def show(self, label, seed=0, more=False, tex=False):
        """:func:`secondorder.ledger.show` for this paper."""
        return show(self.key, label, seed, more, tex)

    def markdown(self):
        """:func:`secondorder.ledger.markdown` for this paper."""
        return markdown(self.key)

    def forget(self):
        """Drop the paper and its equations."""
        registry.REGISTRY.forget(self.key)


def paper(key, title="", symbols=None):
    """Make your own paper known, so that its equations can be registered, run and shown.

    Calling it again with the same key begins anew, so that a file or a cell of a notebook can be
    run twice.

    Parameters
    ----------
    key : str
        Short name, as on the command line: letters, digits and hyphens.
    title : str, optional
    symbols : dict of str to str, optional
        Symbol of the paper -> its name in the code and what it means, for the paper's page.

    Returns
    -------
    Paper
        With `equation`, the decorator; `run`, `show` and `markdown`.

    Raises
    ------
    VerificationError
        For a key that is no such text, or that is one of the package's own papers.

    Examples
    --------
    >>> from secondorder import ledger
    >>> mine = ledger.paper("my-paper", "A step that knows the least value")
    >>> def double(x):
    ...     return 2 * x
    >>> @mine.equation("1", statement="Doubling adds a number to itself.", formula="2 x = x + x",
    ...                kind="identity", verdict="holds", implements=double)
    ... def equation_1(rng):
    ...     x = rng.normal(size=3)
    ...     return [ledger.Equal("doubling against adding", double(x), x + x, 1e-14)]
    >>> [result.ok for result in mine.run()]
    [True]
    >>> mine.forget()
    """
    if not re.fullmatch("[A-Za-z0-9]+(-[A-Za-z0-9]+)*", str(key)):
        raise VerificationError("key must be letters, digits and hyphens, as in 'my-paper', "
                                f"got {shown(key)}")
    if key in PAPERS:
        raise VerificationError(f"key {shown(key)} is one of the package's own papers")
    registry.REGISTRY.begin(key, title, symbols)
    return Paper(key, title)
