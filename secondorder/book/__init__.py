"""The edition as pages to read beside the papers: static, offline, in any browser.

`articles` gathers what a page shows of one check from `parts`: `formulas` sets LaTeX as MathML with
the changed symbols marked, `evidence` runs the check and draws the rulers, `code` colours the code,
`docstrings` sets words. `graph` finds which equation uses which, `pages` fills the templates and
writes. `bibliography` knows who wrote the papers, `reported` and `pictures` what they report.
``secondorder book`` runs it.

What it needs beside the package stands in the extra ``[book]``: `math-core`, `jinja2`, `pygments`.
"""

from .pages import write

__all__ = ["write"]
