"""Tutorials and exercises: as notebooks, as slides, for nbgrader, and graded.

The scripts stand in ``tutorials/``, which is installed with the package. They are percent scripts:
a cell begins with ``# %%``, prose with ``# %% [markdown]``, and ``tags=["answer"]`` behind it gives
the notebook's cell that tag. Every tutorial has one shape; ``01_exact_curvature.py`` is the model:

- its first cell is prose: the title ``# NN Title``, and **Question.**, **Time.** (minutes),
  **Before it.** (other tutorials, or nothing), **Belongs to.** (the chapter of a usual course), and
  how it is run as a script;
- prose stands before code, with formulas between dollars and the numbers of the papers' equations
  (``[low-rank] Eq. (39)``);
- **Predict first.** asks for a guess in the prose before each result;
- ``figures = Figures()`` and ``figures.show(figure, "name")`` show a figure in a notebook and save
  it as ``name.png`` in a script;
- its last cell, **What this tutorial claims**, is asserts.

A plan of a class stands in ``classes/`` under its minutes and its topic, ``90_steps.py``. It is a
talk as well: the tags of its cells (``notebooks.SLIDES``) say which slide each one stands on. Its
first cells are the title with a table of the parts, and what its teacher has to know. The minutes
in the headings of the parts add up to those of the name. A part asks, **Predict first.**; runs a
cell; and then answers in a cell of its own, which is collapsed until somebody opens it.

An exercise names what is graded in ``GRADE``, and its minutes, difficulty and points in its first
cell (`exercises`). Its solution has usual mistakes (``WRONG``), further calls to compare
(``CASES``) and, for a class, ``by_hand``. `grade` (in `apart`) runs an exercise in a process of its
own (`child`), reads its code with `sources` and judges it with `grading`; `grade_folder` (in
`classes`) does so with what a class handed in.
"""

from .apart import Verdict, grade, require_file
from .classes import grade_folder, submissions, summary
from .exercises import facts, mistakes
from .figures import Figures
from .nbgrader import write_assignment
from .notebooks import cells, folder, plans, scripts, write_notebooks

__all__ = ["Figures", "Verdict", "cells", "facts", "folder", "grade", "grade_folder", "mistakes",
           "plans", "require_file", "scripts", "submissions", "summary", "write_assignment",
           "write_notebooks"]
