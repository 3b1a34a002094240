"""Which names of an optimizer are its author's, which the base keeps for itself, and the guard
before an author's formula.
"""

import functools

from ..checks import memory_names, names_of_its_own
from . import stepping

# what the base keeps of every optimizer, and its methods that are not for overriding
KEPT = ("network", "base", "loss", "steps", "details", "schedule", "_network", "_workspace",
        "_trials", "_arrays", "_spares", "_busy", "_given")
RESERVED = ("network", "loss", "steps", "details", *KEPT[6:], "evaluate", "gradient", "objective",
            "penalty", "_array", "_spare")
RENAMED = {"_direction": "direction", "_gradient": "gradient"}


def settle(cls, base):
    """Put the formula of a new class behind the guard; TypeError for a name that is not its own."""
    for old, new in RENAMED.items():
        owner = next((c for c in cls.__mro__ if old in vars(c)), None)
        if owner is not None:
            raise TypeError(f"class {owner.__qualname__} defines {old!r}, which is called {new!r} "
                            "now")
    names_of_its_own(cls, base, RESERVED)
    memory_names(cls, base, (*KEPT, "method"))
    if not callable(cls.direction):
        raise TypeError(f"class {cls.__qualname__}: direction must be a method "
                        f"direction(self, evaluation), got {cls.direction!r}")
    if getattr(cls.direction, "guard", None) is not cls.direction:
        cls.direction = guarded(cls.direction)


def guarded(formula):
    """A formula ``direction(self, evaluation)`` behind the guard.

    ``method.direction(evaluation)`` checks the evaluation, puts the memory back if the formula
    fails, checks what it returns and copies that. ``super().direction(evaluation)``, by which a
    formula asks for its parent's, runs that formula alone.
    """
    @functools.wraps(formula)
    def direction(self, evaluation):
        if type(self).direction is not direction:
            return formula(self, evaluation)
        stepping.own_evaluation(self, evaluation)
        return stepping.whole(self, _asked_for, self, evaluation)

    direction.formula, direction.guard = formula, direction
    return direction


def _asked_for(method, evaluation):
    """The direction as an array of the caller's own; nothing else to settle."""
    return stepping.proposed(method, evaluation).copy(), ()
