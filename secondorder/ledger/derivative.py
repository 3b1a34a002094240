"""A claim that one function is the derivative of another: no check code needed."""

import warnings

import numpy as np

from ..checks import real_array, shown
from .comparisons import Equal, VerificationError, as_array

_ROUGHEST = 1e-3  # a predicted error beyond this says nothing of a derivative
_ROUNDING = 1e-13


class Derivative(Equal):
    """`is_` is the derivative of `of` at a point: gradient or Jacobian, entry by entry.

    The reference is the complex step where `of` follows complex numbers, which is exact to
    rounding, else central differences with a predicted error. For a Hessian give the gradient as
    `of`; for a derivative along d give ``lambda t: f(x + t * d)`` at 0.0.

    Parameters
    ----------
    what : str, optional
        Default: named by the two functions.
    of : callable
        Takes an array like `at` (a number for a number), returns a number or an array.
    is_ : callable or array_like
        The derivative, or a function that returns it at `at`: shape of(at).shape + at.shape.
    at : float or array_like
        The point.
    tolerance : float > 0
        Relative to the largest entry, on top of the predicted error.
    case : str, optional
        On which of several cases; see `Comparison`.

    Raises
    ------
    TypeError, ValueError
        Arguments that are none of these; a derivative of another shape; a function that differences
        cannot judge at this point (a kink, noise).
    """

    names = ("given", "differences")

    def __init__(self, what=None, *, of, is_, at, tolerance=1e-8, case=None):
        if not callable(of):
            raise VerificationError(f"of must be a function, got {shown(of)}")
        what = _name(of, is_) if what is None else what
        at = real_array(at, "at").astype(np.float64)
        self.stated = tolerance
        given = as_array(what, "given", is_(at[()]) if callable(is_) else is_)
        reference, error = _reference(what, of, at)
        if given.shape != reference.shape:
            turned = given.shape == reference.T.shape and given.ndim == 2
            raise VerificationError(f"{what}: the derivative has shape {given.shape}, expected "
                                    f"{reference.shape}, the shape of the value and then of the "
                                    "point"
                                    + (": it is transposed" if turned else ""))
        scale = max(np.abs(reference).max(initial=0), np.abs(given).max(initial=0))
        rough = float(error / scale) if scale > 0 else 0.0
        if not rough < _ROUGHEST:
            raise VerificationError(f"{what}: differences cannot judge this derivative here, their "
                                    f"predicted error is {rough:.1e}: is the function smooth?")
        super().__init__(what, given, reference, tolerance, case=case)
        self.tolerance += rough

    def requirement(self):
        return f"{self.what}: the derivative by differences, to {self.stated:.2g}"


def _name(of, is_):
    names = [getattr(one, "__name__", "").replace("<lambda>", "") for one in (is_, of)]
    return (f"{names[0] or 'the derivative'} against differences of "
            f"{names[1] or 'the function'}")


def _reference(what, of, at):
    """The derivative by differences and its predicted error, of shape of(at).shape + at.shape."""
    from ..exact.finite_differences import central, complex_step

    def f(theta):
        value = np.asarray(of(theta.reshape(at.shape)[()]))
        if np.iscomplexobj(theta) and value.dtype.kind != "c":  # no derivative is left
            raise TypeError("it dropped the imaginary part")
        return value

    value = f(at.ravel())
    if value.dtype.kind not in "iuf" or not np.isfinite(value).all():
        raise VerificationError(f"{what}: the function has to return finite real numbers at this "
                                f"point, got dtype {value.dtype}")
    shape = value.shape + at.shape
    difference = central(f, at.ravel())
    if not np.isfinite(difference.value).all():
        raise VerificationError(f"{what}: the function is not finite around this point")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        try:
            exact = complex_step(f, at.ravel())
            if difference.excess(exact) <= 1:
                return exact.reshape(shape), _ROUNDING * np.abs(exact).max(initial=0)
        except Exception:  # a function of real numbers may raise anything for others
            pass
    return difference.value.reshape(shape), difference.error.max(initial=0)
