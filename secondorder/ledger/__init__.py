"""The machinery of executable equations: every numbered display of a paper is a check that runs.

Reading order: ``claims`` (what a check may claim), ``registry`` (what a room says about a display), ``equations`` (the
rules for each verdict, and the runner), ``report`` (tables and pages for readers).
"""

from .claims import (AtMost, Case, Counterexample, Equal, Printed, PrintedShape, Property, Rate, VerificationError)
from .equations import Result, run
from .registry import PAPERS, equation
from .report import markdown, show, summary, table

__all__ = ["AtMost", "Case", "Counterexample", "Equal", "PAPERS", "Printed", "PrintedShape", "Property", "Rate",
           "Result", "VerificationError", "equation", "markdown", "run", "show", "summary", "table"]
