r"""An edition of a paper of one's own: its displays as printed, and a check beside each.

`read` finds the displays of a LaTeX text, `new` writes a folder with them: a room like
those of the papers, every verdict "unchecked". `load` makes it known, so that
``secondorder show``, ``verify`` and ``book`` go on from there.

Reading order: ``tex`` (tokens, macros, counters, commands), ``displays``, ``reader`` (the walk),
``theorems``; ``folder``, ``names`` and ``templates`` (what is written), ``loading``.
"""

from .displays import Display
from .folder import new
from .loading import load, printed
from .reader import Reading
from .reading import read
from .tex.stream import ReadingError
from .theorems import Theorem

__all__ = ["Display", "Reading", "ReadingError", "Theorem", "load", "new", "printed", "read"]
