"""The machinery of executable equations: every numbered display of a paper is a check that runs.

Reading order: ``comparisons`` and ``claims`` (what a check may claim), ``registration`` (what a
room says about a display), ``registry`` (all papers, and how a label is found), ``runner`` (the
rules for each verdict), ``pages`` (what shows them), ``user_paper`` (your own paper),
``derivative`` (a claim that needs no check code), ``sabotage`` and ``spoiling`` (whether a check
notices what is wrong).
"""

from .claims import Case, Counterexample, Printed, PrintedShape, Property
from .comparisons import AtMost, Equal, Rate, VerificationError
from .derivative import Derivative
from .pages.equations_page import markdown
from .pages.report import summary, table
from .pages.show import show
from .registration import Condition, Stated, equation
from .registry import PAPERS
from .runner import Result, run
from .user_paper import Paper, paper

__all__ = ["AtMost", "Case", "Condition", "Counterexample", "Derivative", "Equal", "PAPERS",
           "Paper", "Printed", "PrintedShape", "Property", "Rate", "Result", "Stated",
           "VerificationError", "equation", "markdown", "paper", "run", "show", "summary", "table"]
