"""The machinery of executable equations: every numbered display of a paper is a check that runs.

Reading order: ``comparisons`` and ``claims`` (what a check may claim), ``registry`` (what a room
says about a display), ``equations`` (the rules for each verdict, and the runner), ``report``
(tables and pages for readers), ``page`` (one equation on one screen, drawn by ``terminal``).
"""

from .claims import Case, Counterexample, Printed, PrintedShape, Property
from .comparisons import AtMost, Equal, Rate, VerificationError
from .page import show
from .equations import Result, run
from .registry import PAPERS, Condition, Stated, equation
from .report import markdown, summary, table

__all__ = ["AtMost", "Case", "Condition", "Counterexample", "Equal", "PAPERS", "Printed",
           "PrintedShape", "Property", "Rate", "Result", "Stated", "VerificationError", "equation",
           "markdown", "run", "show", "summary", "table"]
