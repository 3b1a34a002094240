"""Comparisons of two quantities that were computed in different ways, and what is refused as no
comparison at all.

The comparison is made when the claim is built, so that a refusal points at the line of the check
that made it: nothing empty, nothing non-finite, no array against itself, no zero against zero
without a scale.
"""

import numpy as np

from ..checks.brief import shown

#: A printed form or a counterexample must miss its tolerance by at least this factor.
CLEAR_MARGIN = 10.0

#: What every `error` of the checks is relative to.
RELATIVE_TO = ("An error is the largest difference of the two sides, divided by the largest entry "
               "of either unless the claim names another scale. The error of an inequality is by "
               "how much it is broken; of a rate, by how much the order is off.")


class VerificationError(ValueError):
    """A check, a claim or a registration that proves nothing is refused with this error."""


def named(claim):
    """What a claim says, and on which case."""
    return claim.what if claim.case is None else f"{claim.what} ({claim.case})"


def as_array(what, side, value):
    """A float64 (or complex) copy of one side; refuses what is empty, not numeric or not finite."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise VerificationError(f"{what}: the {side} side is not numeric (dtype {array.dtype})")
    if array.size == 0:
        raise VerificationError(f"{what}: the {side} side is empty (shape {array.shape}); "
                                "nothing would be compared")
    array = np.array(array, dtype=np.result_type(array.dtype, np.float64), copy=True)
    if not np.isfinite(array).all():
        count = int((~np.isfinite(array)).sum())
        raise VerificationError(f"{what}: the {side} side has {count} non-finite of {array.size} "
                                "entries")
    return array


def _refuse_same(what, left, right):
    """Small integers and booleans are shared by the interpreter: identity says nothing."""
    arrays = isinstance(left, np.ndarray) and isinstance(right, np.ndarray)
    if left is right and not isinstance(left, (bool, int)) \
            or arrays and np.shares_memory(left, right):
        raise VerificationError(f"{what}: both sides are the same object, or share memory; "
                                "compare with something computed another way")


def _scale(what, left, right, scale):
    sides = (left, right) if scale is None else (as_array(what, "scale", scale),)
    largest = float(max(np.abs(side).max() for side in sides))
    if largest == 0:
        raise VerificationError(f"{what}: both sides are zero everywhere; name the scale of what "
                                "cancelled" if scale is None else f"{what}: scale must be > 0")
    return largest


class Comparison:
    """A claim with an error and a tolerance; it holds when error <= tolerance.

    Attributes
    ----------
    what : str
        What is compared with what.
    case : str or None
        On which of several cases (nets, losses); claims that differ in nothing else are folded into
        their worst case where they are shown.
    error, tolerance, scale : float
        The error is relative to the scale.
    left, right : ndarray
        Copies of both sides, for the reader (`secondorder show --more`).
    parts : dict or None
        Of sides that are several arrays, joined in their order: name -> shape.
    """

    relation = "="
    parts = None

    def __init__(self, what, left, right, error, tolerance, scale, case):
        if not isinstance(what, str) or not what.strip():
            raise VerificationError(f"a claim must say what it compares, got {shown(what)}")
        if not (np.isfinite(tolerance) and tolerance > 0):
            raise VerificationError(f"{what}: tolerance must be a finite number > 0, got "
                                    f"{shown(tolerance)}")
        self.what, self.left, self.right, self.case = what, left, right, case
        self.error, self.tolerance, self.scale = float(error), float(tolerance), scale

    @property
    def holds(self):
        """Whether the error is within the tolerance."""
        return bool(self.error <= self.tolerance)

    ok = holds  # as every claim has it

    @property
    def fails_clearly(self):
        """Whether the error misses the tolerance by a factor of ten or more."""
        return bool(self.error >= CLEAR_MARGIN * self.tolerance)

    def requirement(self):
        """What is demanded, without any measured number: deterministic text for documents."""
        return f"{self.what}: equal to {self.tolerance:.2g}"

    def outcome(self):
        """What is demanded and what was measured."""
        return f"{named(self)}: {self.measured()}"

    def told(self):
        """What a page says beside the numbers."""
        return self.what

    def measured(self):
        """The measured part of `outcome`."""
        return f"error {self.error:.1e}{self._of_scale()}, allowed {self.tolerance:.1e}"

    def _of_scale(self):
        return f" of {self.scale:.3g}" if self.scale != 1 else ""


class Equal(Comparison):
    """`left` equals `right`: the error is max|left - right| / scale.

    Parameters
    ----------
    what : str
    left, right : array_like of one shape, or dict of them
        The side under test and its independent reference; of several arrays, name -> array.
    tolerance : float > 0
    scale : float or array_like, optional
        Default: the largest absolute entry of both sides.  An array stands for its largest absolute
        entry.
    case : str, optional
        On which of several cases; see `Comparison`.

    Raises
    ------
    VerificationError
        For sides that are empty, not finite, of different shapes, or share memory; for a tolerance
        that is not positive, without a scale also for one from 1 on and for sides of zeros.
    """

    names = ("left", "right")

    def __init__(self, what, left, right, tolerance, scale=None, case=None):
        _refuse_same(what, left, right)
        if scale is None and tolerance >= 1:
            raise VerificationError(f"{what}: a relative tolerance of {tolerance:g} is met by "
                                    "almost anything; name the scale of the predicted error")
        if isinstance(left, dict):
            self.parts = _parts(what, left, right)
            left, right = (np.concatenate([np.ravel(side[name]) for name in self.parts])
                           for side in (left, right))
        left, right = as_array(what, "left", left), as_array(what, "right", right)
        if left.shape != right.shape:
            raise VerificationError(f"{what}: the shapes differ, left {left.shape}, right "
                                    f"{right.shape}")
        scale = _scale(what, left, right, scale)
        with np.errstate(over="ignore"):  # an overflow is an infinite error, which fails
            error = np.abs(left - right).max() / scale
        super().__init__(what, left, right, error, tolerance, scale, case)


def _parts(what, left, right):
    """Name -> shape of the arrays of two sides, which have to be alike."""
    shapes = [{name: np.shape(value) for name, value in side.items()}
              if isinstance(side, dict) else None for side in (left, right)]
    if not left or shapes[0] != shapes[1]:
        raise VerificationError(f"{what}: both sides must have arrays of the same names and "
                                f"shapes, got left {shapes[0]}, right {shapes[1]}")
    for name in left:
        _refuse_same(f"{what}, {name}", left[name], right[name])
    return shapes[0]


class AtMost(Comparison):
    """`smaller` <= `larger` entry by entry: the error is max(smaller - larger) / scale, not below
    zero.

    Parameters
    ----------
    what : str
    smaller, larger : array_like of one shape, or one of them a scalar
    tolerance, scale, case
        As of `Equal`.

    Raises
    ------
    VerificationError
        As `Equal`; also for complex sides.
    """

    relation = "<="

    def __init__(self, what, smaller, larger, tolerance=1e-12, scale=None, case=None):
        _refuse_same(what, smaller, larger)
        left, right = as_array(what, "smaller", smaller), as_array(what, "larger", larger)
        if np.iscomplexobj(left) or np.iscomplexobj(right):
            raise VerificationError(f"{what}: an inequality needs real sides")
        if left.shape != right.shape and left.ndim and right.ndim:
            raise VerificationError(f"{what}: the shapes differ, smaller {left.shape}, "
                                    f"larger {right.shape}")
        scale = _scale(what, left, right, scale)
        left, right = (np.array(side) for side in np.broadcast_arrays(left, right))
        with np.errstate(over="ignore"):
            error = max(0.0, (left - right).max() / scale)
        super().__init__(what, left, right, error, tolerance, scale, case)

    def requirement(self):
        return f"{self.what}: at most, to {self.tolerance:.2g}"

    def measured(self):
        return f"broken by {self.error:.1e}{self._of_scale()}, allowed {self.tolerance:.1e}"


class Rate(Comparison):
    """The remainders fall as steps ** order: the error is |fitted order - order|.

    Parameters
    ----------
    what : str
    steps, remainders : array_like (n,), n >= 3
        Positive; the steps span at least a factor of two.
    order : float
    tolerance : float > 0
    case : str, optional
        On which of several cases; see `Comparison`.

    Raises
    ------
    VerificationError
        For fewer than three points, numbers that are not positive and finite, or a short span.
    """

    relation = "~"

    def __init__(self, what, steps, remainders, order, tolerance=0.1, case=None):
        steps = as_array(what, "steps", steps)
        remainders = as_array(what, "remainders", remainders)
        if steps.ndim != 1 or steps.shape != remainders.shape or steps.size < 3:
            raise VerificationError(f"{what}: a rate needs three or more steps with a remainder "
                                    f"each, got shapes {steps.shape} and {remainders.shape}")
        if steps.min() <= 0 or remainders.min() <= 0:
            raise VerificationError(f"{what}: steps and remainders must be > 0 to have an order")
        if steps.max() < 2 * steps.min():
            raise VerificationError(f"{what}: the steps must span a factor of two or more")
        self.steps, self.remainders, self.order = steps, remainders, float(order)
        self.fitted_order = float(np.polyfit(np.log(steps), np.log(remainders), 1)[0])
        super().__init__(what, np.array(self.fitted_order), np.array(self.order),
                         abs(self.fitted_order - order), tolerance, 1.0, case)

    def requirement(self):
        return f"{self.what}: falls as step ** {self.order:g}, order to {self.tolerance:.2g}"

    def measured(self):
        return (f"order {self.fitted_order:.3f}, expected {self.order:g} +- "
                f"{self.tolerance:.2g}")
