"""The checker for your own layer, activation, loss or optimizer; it runs the papers' equations too.

``classes`` holds a user's own layer, activation or loss against differences and identities;
`recorder` collects what they find, as `findings`. What is wrong with an array is told by
`secondorder.ledger.mismatch`, for all of them.
``optimizer`` compares a training method with the contract that all share: `optimizer_checks`,
`optimizer_runs`. ``derivative`` takes any function and what should be its derivative
(`derivative_of`). ``rule`` judges the rule that a layer has in residual partitioning, in whose room
it stands; ``equation`` puts a user's function in the place of one of the edition's (`grading`);
``run`` executes equations; their machinery is :mod:`secondorder.ledger`.
"""

import importlib

from ..checks import close_names
from ..ledger import Result, run
from ..ledger.mismatch import describe_mismatch

_LAZY = {"layer": "classes.layers", "activation": "classes.activations", "loss": "classes.losses",
         "derivative": "derivative_of", "optimizer": "optimizer_checks", "equation": "grading",
         "Grade": "grading", "rule": "..papers.residual_partitioning.rule_checks"}

__all__ = ["Grade", "Result", "activation", "derivative", "describe_mismatch", "equation", "layer",
           "loss", "optimizer", "rule", "run"]


def __getattr__(name):
    """Load the derivative checker on first use: it needs the ground floor, the registry none."""
    if name not in _LAZY:
        raise close_names.error(__name__, name)
    module = _LAZY[name]
    return getattr(importlib.import_module(module if module[0] == "." else f".{module}", __name__),
                   name)


def __dir__():
    return sorted(set(globals()) | set(_LAZY))
