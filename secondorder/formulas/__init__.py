"""LaTeX as text and in a terminal; knows nothing else of the package.

Reading order: ``tokens`` (of papers, too), ``latex`` (a formula as a tree, and back), ``symbols``,
``boxes`` (rows of characters beside and above each other), ``spacing``, ``grids``, ``terminal``
(the tree drawn with them), ``marks`` (what a correction changes).
"""
