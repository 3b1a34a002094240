"""What an executable equation may claim, and what is refused as no claim at all.

A claim compares two quantities that were computed in different ways.  The comparison is made when the claim is built,
so that a refusal points at the line of the check that made it: nothing empty, nothing non-finite, no array against
itself, no zero against zero without a scale.

Errors are relative: the largest difference over a scale, which is the largest entry of either side unless the
claim names another (the size of what cancelled, a predicted error).
"""

import numpy as np

#: A printed form or a counterexample must miss its tolerance by at least this factor.
CLEAR_MARGIN = 10.0


class VerificationError(ValueError):
    """A check, a claim or a registration that proves nothing is refused with this error."""


def _is_real_number(value):
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _tolerance(what, tolerance):
    if not _is_real_number(tolerance) or not np.isfinite(tolerance) or tolerance <= 0:
        raise VerificationError(f"{what}: tolerance must be a finite number > 0, got {tolerance!r}")
    return float(tolerance)


def _text(what):
    if not isinstance(what, str) or not what.strip():
        raise VerificationError(f"a claim must say what it compares, got {what!r}")
    return what


def _array(what, side, value):
    """A float64 (or complex) copy of one side; refuses what is empty, not numeric or not finite."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise VerificationError(f"{what}: the {side} side is not numeric (dtype {array.dtype})")
    if array.size == 0:
        raise VerificationError(f"{what}: the {side} side is empty (shape {array.shape}); nothing would be compared")
    array = np.array(array, dtype=np.result_type(array.dtype, np.float64), copy=True)
    if not np.isfinite(array).all():
        count = int((~np.isfinite(array)).sum())
        raise VerificationError(f"{what}: the {side} side has {count} non-finite of {array.size} entries")
    return array


def _refuse_same(what, left, right):
    """Small integers and booleans are shared by the interpreter itself, so their identity says nothing."""
    if left is right and not isinstance(left, (bool, int)):
        raise VerificationError(f"{what}: both sides are the same object; compare with something computed another way")
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        if np.may_share_memory(left, right) and np.shares_memory(left, right):
            raise VerificationError(f"{what}: both sides share memory; compare with something computed another way")


def _scale(what, left, right, scale):
    if scale is None:
        largest = float(max(np.abs(left).max(), np.abs(right).max()))
        if largest == 0:
            raise VerificationError(f"{what}: both sides are zero everywhere; name the scale of what cancelled")
        return largest
    largest = float(np.abs(_array(what, "scale", scale)).max())
    if largest <= 0:
        raise VerificationError(f"{what}: scale must be > 0, got {scale!r}")
    return largest


class Comparison:
    """A claim with an error and a tolerance; it holds when error <= tolerance.

    Attributes
    ----------
    what : str
        What is compared with what.
    error, tolerance : float
    left, right : ndarray
        Copies of both sides, for the reader (`secondorder show`).
    """

    relation = "="

    def __init__(self, what, left, right, error, tolerance, scale):
        self.what, self.left, self.right = what, left, right
        self.error, self.tolerance, self.scale = float(error), tolerance, scale

    @property
    def holds(self):
        """Whether the error is within the tolerance."""
        return bool(self.error <= self.tolerance)

    @property
    def fails_clearly(self):
        """Whether the error misses the tolerance by a factor of ten or more."""
        return bool(self.error >= CLEAR_MARGIN * self.tolerance)

    @property
    def ok(self):
        """Whether the claim came out as it should."""
        return self.holds

    def requirement(self):
        """What is demanded, without any measured number: deterministic text for documents."""
        return f"{self.what}: equal to {self.tolerance:.2g}"

    def outcome(self):
        """What is demanded and what was measured."""
        return f"{self.what}: error {self.error:.2e}, tolerance {self.tolerance:.2g}"


class Equal(Comparison):
    """`left` equals `right`: the error is max|left - right| / scale.

    Parameters
    ----------
    what : str
    left, right : array_like of one shape
        The side under test and its independent reference.
    tolerance : float > 0
    scale : float or array_like, optional
        Default: the largest absolute entry of both sides.  An array stands for its largest absolute entry.

    Raises
    ------
    VerificationError
        For empty or non-finite arrays, different shapes, sides that are one object or share memory, a tolerance
        that is not positive, sides that are both zero without a scale, and a tolerance of 1 or more without a scale.
    """

    def __init__(self, what, left, right, tolerance, scale=None):
        _refuse_same(_text(what), left, right)
        tolerance = _tolerance(what, tolerance)
        if scale is None and tolerance >= 1:
            raise VerificationError(f"{what}: a relative tolerance of {tolerance:g} is met by almost anything; "
                                    "name the scale of the predicted error")
        left, right = _array(what, "left", left), _array(what, "right", right)
        if left.shape != right.shape:
            raise VerificationError(f"{what}: the shapes differ, left {left.shape}, right {right.shape}")
        scale = _scale(what, left, right, scale)
        with np.errstate(over="ignore"):  # an overflow is an infinite error, which fails
            error = np.abs(left - right).max() / scale
        super().__init__(what, left, right, error, tolerance, scale)


class AtMost(Comparison):
    """`smaller` <= `larger` entry by entry: the error is max(smaller - larger) / scale, but not below zero.

    Parameters
    ----------
    what : str
    smaller, larger : array_like of one shape, or one of them a scalar
    tolerance : float > 0
    scale : float or array_like, optional
        Default: the largest absolute entry of both sides.

    Attributes
    ----------
    margin : float
        min(larger - smaller) / scale: by how much the inequality holds where it is tightest.

    Raises
    ------
    VerificationError
        As `Equal`; also for complex sides.
    """

    relation = "<="

    def __init__(self, what, smaller, larger, tolerance=1e-12, scale=None):
        _refuse_same(_text(what), smaller, larger)
        tolerance = _tolerance(what, tolerance)
        left, right = _array(what, "smaller", smaller), _array(what, "larger", larger)
        if np.iscomplexobj(left) or np.iscomplexobj(right):
            raise VerificationError(f"{what}: an inequality needs real sides")
        if left.shape != right.shape and left.ndim and right.ndim:
            raise VerificationError(f"{what}: the shapes differ, smaller {left.shape}, larger {right.shape}")
        scale = _scale(what, left, right, scale)
        left, right = (np.array(side) for side in np.broadcast_arrays(left, right))
        with np.errstate(over="ignore"):
            self.margin = float((right - left).min() / scale)
        super().__init__(what, left, right, max(0.0, -self.margin), tolerance, scale)

    def requirement(self):
        """What is demanded, without any measured number."""
        return f"{self.what}: at most, to {self.tolerance:.2g}"

    def outcome(self):
        """What is demanded and what was measured, the margin included."""
        return (f"{self.what}: violated by {self.error:.2e}, margin {self.margin:.2e}, "
                f"tolerance {self.tolerance:.2g}")


class Rate(Comparison):
    """The remainders fall as steps ** order: the error is |fitted log-log slope - order|.

    Parameters
    ----------
    what : str
    steps, remainders : array_like (n,), n >= 3
        Positive; the steps span at least a factor of two.
    order : float
    tolerance : float > 0

    Raises
    ------
    VerificationError
        For fewer than three points, steps or remainders that are not positive and finite, or too short a span.
    """

    relation = "~"

    def __init__(self, what, steps, remainders, order, tolerance=0.1):
        _refuse_same(_text(what), steps, remainders)
        tolerance = _tolerance(what, tolerance)
        if not _is_real_number(order) or not np.isfinite(order):
            raise VerificationError(f"{what}: order must be a finite number, got {order!r}")
        steps, remainders = _array(what, "steps", steps), _array(what, "remainders", remainders)
        if steps.ndim != 1 or steps.shape != remainders.shape or steps.size < 3:
            raise VerificationError(f"{what}: a rate needs three or more steps with a remainder each, got shapes "
                                    f"{steps.shape} and {remainders.shape}")
        if np.iscomplexobj(steps) or np.iscomplexobj(remainders) or steps.min() <= 0 or remainders.min() <= 0:
            raise VerificationError(f"{what}: steps and remainders must be real and > 0 to have a log-log slope")
        if steps.max() < 2 * steps.min():
            raise VerificationError(f"{what}: the steps must span a factor of two or more")
        self.steps, self.remainders, self.order = steps, remainders, float(order)
        self.slope = float(np.polyfit(np.log(steps), np.log(remainders), 1)[0])
        super().__init__(what, np.array(self.slope), np.array(self.order), abs(self.slope - order), tolerance, 1.0)

    def requirement(self):
        """What is demanded, without any measured number."""
        return f"{self.what}: falls as step ** {self.order:g}, slope to {self.tolerance:.2g}"

    def outcome(self):
        """What is demanded and what was measured."""
        return f"{self.what}: slope {self.slope:.3f}, expected {self.order:g} +- {self.tolerance:.2g}"


class _MustFail:
    """A comparison that has to fail by a clear margin."""

    label = ""

    def __init__(self, claim):
        if not isinstance(claim, Comparison):
            raise VerificationError(f"{type(self).__name__} wraps an Equal, AtMost or Rate, got {type(claim).__name__}")
        self.claim, self.what = claim, claim.what
        self.error, self.tolerance = claim.error, claim.tolerance

    @property
    def ok(self):
        """Whether the wrapped comparison failed by the clear margin."""
        return self.claim.fails_clearly

    def requirement(self):
        """What is demanded, without any measured number."""
        return f"{self.label}, must fail: {self.claim.requirement()}"

    def outcome(self):
        """What is demanded and what was measured."""
        needed = CLEAR_MARGIN * self.tolerance
        return f"{self.label}, must fail by {needed:.2g} or more: {self.claim.outcome()}"


class Counterexample(_MustFail):
    """`claim` (Equal, AtMost or Rate) taken outside the stated condition: it must fail by a clear margin."""

    label = "outside the condition"


class Printed(_MustFail):
    """`claim` (Equal, AtMost or Rate) for the formula as printed: it must fail by a clear margin."""

    label = "as printed"


class PrintedShape:
    """The printed form does not conform: the two shapes must differ.

    Parameters
    ----------
    what : str
    left_shape, right_shape : tuple of int
    """

    def __init__(self, what, left_shape, right_shape):
        self.what = _text(what)
        self.left_shape, self.right_shape = tuple(left_shape), tuple(right_shape)

    @property
    def ok(self):
        """Whether the shapes differ."""
        return self.left_shape != self.right_shape

    def requirement(self):
        """What is demanded, without any measured number."""
        return f"as printed, must not conform: {self.what}"

    def outcome(self):
        """What is demanded and which shapes were met."""
        return f"as printed, must not conform: {self.what}: {self.left_shape} against {self.right_shape}"


class Property:
    """A named fact about an object that was built: `value` equals `expected`.

    Parameters
    ----------
    what : str
    value, expected : bool, int, float, str, tuple or array_like
        One fact: an array is accepted only against an expected array of its shape.
    """

    def __init__(self, what, value, expected=True):
        self.what, self.value, self.expected = _text(what), value, expected
        if np.ndim(value) and not np.ndim(expected):
            raise VerificationError(f"{what}: a property is one fact, got an array of shape {np.shape(value)}; "
                                    "reduce it (for example with .all()) or give the expected array")
        self._ok = bool(np.array_equal(np.asarray(value), np.asarray(expected)))

    @property
    def ok(self):
        """Whether the value is the expected one."""
        return self._ok

    def requirement(self):
        """What is demanded, without any measured number."""
        return f"{self.what}" if self.expected is True else f"{self.what}: {_plain(self.expected)}"

    def outcome(self):
        """What is demanded and what was met."""
        return f"{self.what}: {_plain(self.value)}, expected {_plain(self.expected)}"


def _plain(value):
    """Text of a value without the NumPy scalar types."""
    if isinstance(value, tuple):
        inner = ", ".join(_plain(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, np.ndarray):
        return str(value.tolist())
    return str(value)


class Case:
    """Names, shapes and kinds of what a check was run on, for the reader; it claims nothing.

    Parameters
    ----------
    **arrays
        Arrays, or scalars and strings that describe the case.
    """

    def __init__(self, **arrays):
        self.arrays = {name: np.array(value) for name, value in arrays.items()}

    def lines(self):
        """One line a name: its shape and dtype, or its value if it is a scalar."""
        for name, value in self.arrays.items():
            yield f"{name} = {value}" if value.ndim == 0 else f"{name}  shape {value.shape}  {value.dtype}"
