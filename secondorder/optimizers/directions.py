"""A method's formula, `direction(evaluation)`, and the guard that stands before it."""

import functools
import weakref

from ..compiled import forms
from . import guards, memory
from .fused import Undecided, twin

_GUARDS = weakref.WeakSet()  # told apart from a function that somebody put around one of them


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
        guards.own_evaluation(self, evaluation)
        return memory.whole(self, _asked_for, self, evaluation)

    direction.formula = formula
    _GUARDS.add(direction)
    return direction


def is_guarded(function):
    """Whether a function is a formula behind the guard."""
    return callable(function) and function in _GUARDS


def proposed(method, evaluation):
    """The direction at an evaluation that is known to fit, in an array that the method may use
    again: by the compiled form where there is one.
    """
    fused = None if forms.is_literal() else twin(type(method), "direction")
    if fused is not None:
        try:
            return guards.own_direction(method, fused.direction(method, evaluation))
        except Undecided:  # the formula finds out what it is
            pass
    return guards.own_direction(method, by_formula(method, evaluation))


def by_formula(method, evaluation):
    """What the formula of a method gives, as it comes."""
    own = type(method).direction
    formula = own.formula if own in _GUARDS else own
    return formula(method, evaluation)


def _asked_for(method, evaluation):
    """The direction as an array of the caller's own; nothing else to settle."""
    return proposed(method, evaluation).copy(), ()
