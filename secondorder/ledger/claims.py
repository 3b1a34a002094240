"""What an executable equation may claim: comparisons, ones that must fail, plain facts.

Every claim has `ok`, and three texts: ``requirement()`` is what is demanded, without any measured
number, ``outcome()`` that and what was met, ``told()`` what a page says beside its numbers.
"""

import numpy as np

from .comparisons import CLEAR_MARGIN, Comparison, VerificationError, named


class _MustFail:
    """A comparison that has to fail by a clear margin."""

    label = expected = ""

    def __init__(self, claim):
        if not isinstance(claim, Comparison):
            raise VerificationError(f"{type(self).__name__} wraps an Equal, AtMost or Rate, "
                                    f"got {type(claim).__name__}")
        self.claim, self.what, self.case = claim, claim.what, claim.case
        self.error, self.tolerance, self.relation = claim.error, claim.tolerance, claim.relation
        self.ok = claim.fails_clearly

    def requirement(self):
        return f"{self.label}, must fail: {self.claim.requirement()}"

    def outcome(self):
        needed = CLEAR_MARGIN * self.tolerance
        return f"{self.label}, must fail by {needed:.2g} or more: {self.claim.outcome()}"

    def told(self):
        return f"{self.expected if self.ok else f'{self.label}, must fail'}: {self.what}"


class Counterexample(_MustFail):
    """`claim` (Equal, AtMost or Rate) outside the stated condition: it must fail clearly."""

    label, expected = "outside the condition", "fails outside the condition, as expected"


class Printed(_MustFail):
    """`claim` (Equal, AtMost or Rate) for the formula as printed: it must fail clearly."""

    label, expected = "as printed", "printed form fails, as expected"


class PrintedShape:
    """The printed form does not conform: the two shapes must differ.

    Parameters
    ----------
    what : str
    left_shape, right_shape : tuple of int
    """

    relation, case = "shape", None

    def __init__(self, what, left_shape, right_shape):
        self.what = what
        self.left_shape, self.right_shape = tuple(left_shape), tuple(right_shape)
        self.ok = self.left_shape != self.right_shape

    def requirement(self):
        return f"as printed, must not conform: {self.what}"

    def outcome(self):
        return f"{self.requirement()}: {self.left_shape} against {self.right_shape}"

    def told(self):
        return f"as printed, {self.what}: {self.left_shape} against {self.right_shape}"


class Property:
    """A named fact about an object that was built: `value` equals `expected`.

    Parameters
    ----------
    what : str
    value, expected : bool, int, float, str, tuple or array_like
        One fact: an array is accepted only against an expected array of its shape.
    case : str, optional
        On which of several cases; facts that differ in nothing else are folded where they are
        shown.
    """

    relation = "is"

    def __init__(self, what, value, expected=True, case=None):
        self.what, self.value, self.expected, self.case = what, value, expected, case
        if np.ndim(value) and not np.ndim(expected):
            raise VerificationError(
                f"{what}: a property is one fact, got an array of shape {np.shape(value)}; "
                "reduce it (for example with .all()) or give the expected array")
        self.ok = bool(np.array_equal(np.asarray(value), np.asarray(expected)))

    def requirement(self):
        return self.what if self.expected is True else f"{self.what}: {_plain(self.expected)}"

    def outcome(self):
        return f"{named(self)}: {_plain(self.value)}, expected {_plain(self.expected)}"

    def told(self):
        return self.outcome() if self.expected is not True or not self.ok else self.what


def _plain(value):
    """Text of a value without the NumPy scalar types."""
    if isinstance(value, tuple):
        inner = ", ".join(_plain(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, np.ndarray):
        return str(value.tolist())
    return str(value)


class Case:
    """What a check was run on, by name, for the reader; it claims nothing.

    Parameters
    ----------
    **arrays
        Arrays, or scalars and strings that describe the case.  Small arrays are shown with their
        values; of an array with more than two axes the first slice is shown.
    """

    largest = 36  # entries of an array that is still shown in full

    def __init__(self, **arrays):
        self.arrays = {name: np.array(value) for name, value in arrays.items()}

    def lines(self):
        """Text: a scalar's value, the entries of a small array, the shape of a large one."""
        for name, value in self.arrays.items():
            if value.ndim == 0:
                yield f"{name} = {value:.6g}" if value.dtype.kind == "f" else f"{name} = {value}"
                continue
            shown, which = value, ""
            while shown.ndim > 2 and len(shown):
                shown, which = shown[0], which + "[0]"
            yield f"{name}  shape {value.shape}  {value.dtype}"
            if 0 < shown.size <= self.largest and shown.dtype.kind in "biufc":
                rows = np.array2string(shown, precision=3, suppress_small=True, max_line_width=70)
                yield from ("    " + line for line in f"{which} {rows}".lstrip().splitlines())
