"""Every equation executed, and the checker for a layer, an activation or a loss of one's own.

Reading order: `claims` (what a check may claim), `registry` and `equations` (rules and runner), `report` (tables and
pages for readers), `mismatch` (worst entries with their ratio), `derivatives` (the three channels on a user's own
class; its parts are `subject`, `forward_checks`, `layer_checks`, `calls`, `channels`, `single_precision`,
`activation_checks`, `loss_checks`, `loss_model`).
"""

import importlib

from .claims import (AtMost, Case, Counterexample, Equal, Printed, PrintedShape, Property, Rate, VerificationError)
from .equations import Result, run
from .mismatch import describe_mismatch
from .registry import PAPERS, equation
from .report import markdown, show, summary, table

_LAZY = {"layer": "derivatives", "activation": "derivatives", "loss": "derivatives"}

__all__ = ["AtMost", "Case", "Counterexample", "Equal", "PAPERS", "Printed", "PrintedShape", "Property", "Rate",
           "Result", "VerificationError", "activation", "describe_mismatch", "equation", "layer", "loss", "markdown",
           "run", "show", "summary", "table"]


def __getattr__(name):
    """Load the derivative checker on first use: it needs the whole ground floor, the registry does not."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__():
    return sorted(set(globals()) | set(_LAZY))
