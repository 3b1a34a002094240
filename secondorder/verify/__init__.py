"""The checker for a layer, an activation or a loss of one's own, and the runner of the papers' equations.

``derivatives`` holds the three channels on a user's own class; its parts are `subject`, `forward_checks`,
`layer_checks`, `calls`, `channels`, `single_precision`, `activation_checks`, `loss_checks`, `loss_model`. ``run``
executes equations; their machinery is :mod:`secondorder.ledger`.
"""

import importlib

from ..ledger import Result, run
from ..mismatch import describe_mismatch

_LAZY = {"layer": "derivatives", "activation": "derivatives", "loss": "derivatives"}

__all__ = ["Result", "activation", "describe_mismatch", "layer", "loss", "run"]


def __getattr__(name):
    """Load the derivative checker on first use: it needs the whole ground floor, the registry does not."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__():
    return sorted(set(globals()) | set(_LAZY))
