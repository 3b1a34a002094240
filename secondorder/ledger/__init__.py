"""The machinery of executable equations: every numbered display of a paper is a check that runs.

Reading order: ``comparisons`` and ``claims`` (what a check may claim), ``registration`` (what a
room says about a display), ``registry`` (all papers, and how a label is found), ``equations`` (the
rules for each verdict, and the runner), ``report`` (tables of a run), ``page`` (one equation on one
screen; ``latex`` reads its formula, ``terminal`` draws it from ``items``), ``document`` (the page
of a paper), ``own`` (your own paper), ``derivative`` (a claim that needs no check code),
``sabotage`` and ``spoiling`` (whether a check notices what is wrong).
"""

from .claims import Case, Counterexample, Printed, PrintedShape, Property
from .comparisons import AtMost, Equal, Rate, VerificationError
from .derivative import Derivative
from .document import markdown
from .equations import Result, run
from .own import Paper, paper
from .page import show
from .registration import Condition, Stated, equation
from .registry import PAPERS
from .report import summary, table

__all__ = ["AtMost", "Case", "Condition", "Counterexample", "Derivative", "Equal", "PAPERS",
           "Paper", "Printed", "PrintedShape", "Property", "Rate", "Result", "Stated",
           "VerificationError", "equation", "markdown", "paper", "run", "show", "summary", "table"]
