"""Tutorials and exercises: as notebooks, and graded.

The scripts stand in ``tutorials/``, which is installed with the package. They are percent scripts:
a cell begins with ``# %%``, prose with ``# %% [markdown]``.
"""

from .grading import grade
from .notebooks import cells, folder, scripts, write_notebooks

__all__ = ["cells", "folder", "grade", "scripts", "write_notebooks"]
