"""Tutorials and exercises: as notebooks, and graded.

The scripts stand in ``tutorials/``, which is installed with the package. They are percent scripts:
a cell begins with ``# %%``, prose with ``# %% [markdown]``. Every tutorial has one shape;
``01_exact_curvature.py`` is the model:

- its first cell is prose: the title ``# NN Title``, and **Question.**, **Time.** (minutes),
  **Before it.** (other tutorials, or nothing), **Belongs to.** (the chapter of a usual course), and
  how it is run as a script;
- prose stands before code, with formulas between dollars and the numbers of the papers' equations
  (``[low-rank] Eq. (39)``);
- **Predict first.** asks for a guess in the prose before each result;
- ``figures = Figures()`` and ``figures.show(figure, "name")`` show a figure in a notebook and save
  it as ``name.png`` in a script;
- its last cell, **What this tutorial claims**, is asserts.

`grade` (in `apart`) runs an exercise in a process of its own (`child`), reads its code with
`sources` and judges it with `grading`. An exercise says in ``GRADE`` what is graded; its solution
has usual mistakes (``WRONG``), further calls to compare (``CASES``) and, for a class, ``by_hand``.
"""

from .apart import Verdict, grade, require_file
from .figures import Figures
from .notebooks import cells, folder, scripts, write_notebooks

__all__ = ["Figures", "Verdict", "cells", "folder", "grade", "require_file", "scripts",
           "write_notebooks"]
