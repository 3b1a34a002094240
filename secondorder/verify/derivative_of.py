"""The checker for a derivative of your own: a function, what should be its derivative, a point.

The reference is made from values of the function alone: central differences with a predicted error,
and the complex step, exact to rounding, where the function takes complex numbers and is analytic.
"""

import warnings

import numpy as np

from ..checks import function_of, one_of, real_array, shown
from ..exact.finite_differences import Difference, complex_step
from .findings import KINK, UNJUDGED
from .ladder import EPS, first_differences, jumps, second_differences
from .recorder import SAFETY, Recorder

KINDS = ("auto", "gradient", "jacobian", "hessian")
ACCURATE = 1e-6  # differences with a larger error, relative to the largest entry, say so
SMALL = 1e-2  # entries far below the largest are judged to so much of themselves
FLOOR = 1e-3  # by a tolerance that much smaller than the largest entry's, and no smaller


@np.errstate(all="ignore")
def derivative(f, df, at, kind="auto", tolerance=1e-8):
    """Compare a derivative with differences of the function that it is said to be of.

    Parameters
    ----------
    f : callable
        Takes an array of the shape of `at`, or a number, and returns a number or an array.
    df : callable or array
        Its derivative: at `at`, or as a function that takes the same.
    at : number or array
        The point. At a kink nothing is judged, and the report says so. A kink of the gradient is
        seen where f takes complex numbers.
    kind : {"auto", "gradient", "jacobian", "hessian"}
        ``"gradient"``, of a number: of the shape of `at`. ``"jacobian"``, of an array: f's shape,
        then the shape of `at`. ``"hessian"``, of a number: the shape of `at` twice.
        ``"auto"``: whichever of the three has the shape of df. For a derivative along v give
        ``lambda t: f(x + t * v)`` at 0.0.
    tolerance : float
        Relative difference that is allowed on top of the predicted error.

    Returns
    -------
    Report
        True when nothing is wrong. Its text has the worst entries: index, both values and their
        ratio. It names the likely slip: a sign, a factor, a transpose, a lost term, a shape that
        only wants reshaping.

    Raises
    ------
    TypeError, ValueError
        Arguments of another kind.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> A = np.array([[2.0, 1.0], [0.0, 3.0]])
    >>> f = lambda x: x @ A @ x / 2
    >>> bool(so.verify.derivative(f, lambda x: (A + A.T) @ x / 2, at=np.array([0.3, -1.0])))
    True
    >>> print(so.verify.derivative(f, A, at=np.array([0.3, -1.0])))
    df: wrong in hessian; 1 comparisons (hessian 1)
    <BLANKLINE>
    hessian: df against differences of the complex step of f
        2 of 4 entries differ (shape (2, 2))
          entry (0, 1): df 1, differences 0.5, ratio 2
          entry (1, 0): df 0, differences 0.5, ratio 0
          hint: df + df^T is twice the reference: df lacks its symmetric half
    """
    function_of(f, "f", 1, "a function of a point")
    at = real_array(at, "at").astype(float)
    if not at.size:
        raise ValueError(f"at is empty, of shape {at.shape}: there is nothing to differentiate in")
    one_of(KINDS, kind, "kind")
    recorder = Recorder(getattr(df, "__name__", "df").replace("<lambda>", "df"), tolerance)
    point = _Point(f, at)
    computed = _computed(df, at)
    kind = point.kind_of(computed) if kind == "auto" else kind
    right_shape = computed.shape == point.shape_of(kind)
    kink = right_shape and point.kink(kind)
    if kink:
        recorder.fact(kind, "no kink", False, f"f has a kink: {kink}", kind=KINK,
                      hint="nothing is right or wrong there: choose a point beside the kink")
        return recorder.report
    reference, how = point.reference(kind)
    recorder.unit = point.unit(kind)
    scale = _scale(reference, how, tolerance, recorder.unit)
    coarse = float(np.median(reference.error, axis=None)) / np.max(scale)
    if np.isfinite(coarse) and coarse > ACCURATE:
        recorder.note(f"differences are good to {coarse:.0e} of the largest entry only: f rounds "
                      "coarsely (float32 inside?) or is not smooth here")
    names = "df", "differences" if how.startswith("diff") else "reference"
    agrees = recorder.compare(kind, f"df against {how} of f", computed, reference.value,
                              reference.error, names=names, scale=scale, at=at, sure=True)
    if not right_shape:
        return recorder.report
    unknown = ~np.isfinite(reference.error)
    if agrees and unknown.any():
        agrees = recorder.fact(kind, "all entries", False, f"{unknown.sum()} of {unknown.size} "
                               "entries cannot be judged: f is not defined around the point",
                               kind=UNJUDGED)
    allowed = SAFETY * reference.error + tolerance * scale
    small = (computed != 0) & (np.abs(computed) < allowed)
    if agrees and small.any():
        recorder.note(f"{small.sum()} of {small.size} entries are below {allowed[small].max():.0e}:"
                      " beside the others too small to be judged")
    return recorder.report


def _scale(reference, how, tolerance, unit):
    """What the tolerance refers to: the largest entry; far smaller ones count if all are exact."""
    judged = np.isfinite(reference.error)
    sizes = np.where(judged, np.abs(reference.value), 0.0)
    nothing = (sizes <= SAFETY * np.where(judged, reference.error, np.inf)).all()
    largest = max(sizes.max(initial=0), unit * nothing) or 1.0
    if how != "the complex step":
        return largest
    return np.clip(SMALL * sizes / tolerance, FLOOR * largest, largest)


class _Point:
    """A function at a point of any shape, as one of vectors."""

    def __init__(self, f, at):
        self.f, self.at, self.theta = f, at, at.reshape(-1)
        self.value = np.asarray(self(self.theta))
        if self.value.dtype.kind not in "biuf" or not np.isfinite(self.value).all():
            raise ValueError(f"f must return finite real numbers, got {shown(self.value)} at the "
                             "point")

    def __call__(self, theta):
        """f at a vector (n,), on a copy of its own; numbers are handed over as numbers."""
        point = np.array(theta).reshape(self.at.shape)
        return np.asarray(self.f(point if self.at.shape else point[()]))

    def shape_of(self, kind):
        """What a derivative of this kind has to have."""
        own, at = self.value.shape, self.at.shape
        return own + at + at if kind == "hessian" else own + at

    def unit(self, kind):
        """The derivative of a function that changes by its own size where the point does."""
        size = np.abs(self.value).max() or 1.0
        return size / (np.abs(self.theta).max() or 1.0) ** (2 if kind == "hessian" else 1)

    def kind_of(self, computed):
        """The kind that a shape tells; a gradient or a Jacobian if none does."""
        if computed.shape == self.shape_of("hessian") != self.shape_of("jacobian"):
            return "hessian"
        return "gradient" if self.value.ndim == 0 else "jacobian"

    def reference(self, kind):
        """A `Difference`, and how it was made."""
        difference, how = self._second() if kind == "hessian" else first(self, self.theta)
        return Difference(*(part.reshape(self.shape_of(kind)) for part in difference)), how

    def kink(self, kind):
        """What jumps at the point along one of two lines, in words; "" if nothing does."""
        slopes = {"slope": self}
        if kind == "hessian" and first(self, self.theta)[1] == "the complex step":
            slopes["second derivative"] = lambda theta: complex_step(self, theta)
        reach = np.maximum(1, np.abs(self.theta))
        lines = reach * np.random.default_rng(0).normal(size=(2, reach.size))
        for what, function in slopes.items():
            if any(jumps(function, self.theta, line) for line in lines):
                return f"the {what} jumps{self._where(function, reach)}"
        return ""

    def _where(self, function, reach):
        """The first entry of the point in which a function has a kink, in words."""
        if self.at.ndim:
            for i in range(self.theta.size):
                if jumps(function, self.theta, reach * (np.arange(self.theta.size) == i)):
                    return f" in entry {tuple(map(int, np.unravel_index(i, self.at.shape)))}"
        return " at the point"

    def _second(self):
        """Differences of the complex step where it can be taken, else differences twice."""
        if first(self, self.theta)[1] == "the complex step":
            return (first_differences(lambda theta: complex_step(self, theta), self.theta),
                    "differences of the complex step")
        return second_differences(self, self.theta), "differences"


def first(function, theta):
    """First derivatives (..., n), by the complex step where differences on two lines confirm it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exact = complex_step(function, theta)
    except Exception:  # whatever a function does that is not made for complex numbers
        return first_differences(function, theta), "differences"
    if np.isfinite(exact).all() and all(
            _confirmed(function, theta, exact, line)
            for line in np.random.default_rng(0).normal(size=(2, theta.size))):
        return Difference(exact, 100 * EPS * (np.abs(exact) + EPS)), "the complex step"
    return first_differences(function, theta), "differences"


def _confirmed(function, theta, exact, line):
    """Whether differences along a line say what exact derivatives do, and say it well."""
    v = line * np.maximum(1, np.abs(theta))
    along, error = first_differences(lambda t: function(theta + t[0] * v), np.zeros(1))
    gap = np.abs(exact @ v - along[..., 0])
    return bool((gap <= SAFETY * error[..., 0]).all()
                and (error <= ACCURATE * (np.abs(exact) @ np.abs(v)).max()).all())


def _computed(df, at):
    """The derivative at the point, as an array of real numbers."""
    if callable(df):
        function_of(df, "df", 1, "a function of the point")
        df = df(at.copy() if at.shape else at[()])
    computed = np.asarray(df)
    if computed.dtype.kind not in "biuf":
        raise TypeError(f"df must give real numbers, got {computed.dtype}")
    return computed.astype(float)
