"""What a wrong answer has in common in all cases: one hint, or none.

A hint that fits one case and not another leads astray (a factor 1 - alpha is 2 at alpha = 1/2), so
every pattern must hold for all results of all calls in which it could show.
"""

import inspect

import numpy as np

from ..ledger.mismatch import LARGEST_FACTOR

_RELATIVE, _FEWEST = 1e-7, 4


def pattern(target, calls):
    """What the results of all calls say about the mistake, in words; "" where nothing.

    A call is (arguments, named, pairs), with (yours, right) for each array of the result. `target`
    is what is right: its names of arguments are used.
    """
    pairs = [pair for _, _, pairs in calls for pair in pairs]
    pairs = [(mine, right) for mine, right in pairs if right.size]
    if not pairs or not all(np.isfinite(mine).all() and np.isfinite(right).all()
                            for mine, right in pairs):
        return ""
    for holds, text in _SHAPES:
        if _in_all(holds, pairs):
            return text
    if any(mine.shape != right.shape for mine, right in pairs):
        return ""
    factors = _factors(calls)
    if factors is not None:
        return _of_factors(target, calls, factors)
    for holds, text in _PATTERNS:
        if _in_all(holds, pairs):
            return text
    wrong = [pair for pair in pairs if not close(*pair)]
    for holds, text in _PATTERNS_OF_WRONG:
        if wrong and all(holds(mine, right) for mine, right in wrong):
            return text
    return ""


def _in_all(holds, pairs):
    """Whether a pattern holds in all pairs that show something, and shows in one.

    `holds` returns None where both are the same by themselves and nothing can be seen.
    """
    told = [holds(mine, right) for mine, right in pairs]
    told = [answer for answer in told if answer is not None]
    return bool(told) and all(told)


def close(a, b):
    """Whether two arrays of one shape are the same up to rounding."""
    size = np.max(np.abs(b), initial=0.0)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= _RELATIVE * size + 1e-300))


# -- patterns: True or False, or None where a pair cannot tell -------------------------------------


def _matrices(array):
    return array.ndim >= 2 and array.shape[-1] == array.shape[-2] and array.shape[-1] > 1


def _diagonal_vector(mine, right):
    if not _matrices(right):
        return None
    return close(mine, np.diagonal(right, axis1=-2, axis2=-1))


def _transposed(mine, right):
    if right.ndim < 2 or _symmetric(right):
        return None if mine.shape == right.shape and close(mine, right) else False
    return close(mine, np.swapaxes(right, -1, -2))


def _diagonal(mine, right):
    if not _matrices(right):
        return None if close(mine, right) else False
    only = right * np.eye(right.shape[-1])
    return None if close(only, right) and close(mine, right) else close(mine, only)


# -- patterns of pairs that differ -----------------------------------------------------------------


def _permuted(mine, right):
    return right.size >= _FEWEST and np.ptp(right) > 0 and close(np.sort(mine, axis=None),
                                                                 np.sort(right, axis=None))


def _symmetric(array):
    return close(array, np.swapaxes(array, -1, -2))


def _lost_symmetry(mine, right):
    return _matrices(right) and _symmetric(right) and not _symmetric(mine)


def _diagonal_wrong(mine, right):
    if not _matrices(right):
        return False
    off = 1 - np.eye(right.shape[-1])
    return close(mine * off, right * off)


def _off_diagonal_wrong(mine, right):
    return _matrices(right) and _diagonal_vector(np.diagonal(mine, axis1=-2, axis2=-1), right)


_SHAPES = (
    (_diagonal_vector, "this is only the diagonal: the whole matrix is asked for"),
    (_transposed, "yours is transposed"),
)
_PATTERNS = (
    (_diagonal, "only the diagonal is right: everything beside it is zero"),
)
_PATTERNS_OF_WRONG = (
    (_permuted, "yours has the same entries in another order: it is right after a permutation"),
    (_lost_symmetry, "yours is not symmetric, what is right is"),
    (_diagonal_wrong, "everything beside the diagonal is right: the diagonal is wrong"),
    (_off_diagonal_wrong, "the diagonal is right: what stands beside it is wrong"),
)


# -- factors ---------------------------------------------------------------------------------------


def _factors(calls):
    """The factor yours / right of each call: None where it has none, NaN for results of zero."""
    factors = []
    for _, _, pairs in calls:
        mine, right = (np.concatenate([np.ravel(pair[side]) for pair in pairs] or [np.zeros(0)])
                       for side in (0, 1))
        unit = np.max(np.abs(right), initial=0.0) or 1.0  # squares may overflow
        mine, right = mine / unit, right / unit
        along, square = float(mine @ right), float(right @ right)
        if square == 0:
            if np.any(mine):
                return None
            factors.append(np.nan)
            continue
        factor = along / square
        if not close(mine, factor * right) and not (abs(factor) < _RELATIVE and close(
                mine + right, right)):
            return None
        factors.append(factor)
    return np.array(factors) if np.isfinite(factors).any() else None


def _of_factors(target, calls, factors):
    """A factor in words: one that all calls share, or one that an argument explains."""
    finite = np.isfinite(factors)
    calls, factors = [call for call, ok in zip(calls, finite) if ok], factors[finite]
    if np.all(np.abs(factors) < _RELATIVE):
        return "yours is zero wherever something should be: a term is missing"
    explained = _explained(target, calls, factors)
    if np.ptp(factors) <= 1e-6 * np.abs(factors).max():
        if explained.startswith(("a mean", "a sum")):
            return explained
        return _constant(float(factors[0]))
    if explained or np.any(np.abs(factors - 1) < 1e-6):  # right in some calls: it is no factor
        return explained
    return ("the factor is not the same in all cases: from "
            f"{factors.min():.4g} to {factors.max():.4g}")


def _constant(ratio):
    """A factor that is the same in all calls."""
    size, flipped = abs(ratio), " and the sign is flipped" if ratio < 0 else ""
    if abs(size - 1) < 1e-6:
        return "the ratio is -1 in all cases: the sign is flipped" if ratio < 0 else ""
    whole, inverse = round(size), round(1 / size)
    if 2 <= whole < LARGEST_FACTOR and abs(size - whole) < 1e-5 * whole:
        return f"the ratio is {ratio:.6g} in all cases: a factor {whole} too much{flipped}"
    if 2 <= inverse < LARGEST_FACTOR and abs(1 / size - inverse) < 1e-5 * inverse:
        return f"the ratio is {'-' * (ratio < 0)}1/{inverse} in all cases: a factor {inverse} is " \
               f"missing{flipped}"
    return f"the ratio is {ratio:.6g} in all cases: a constant factor is wrong"


def _explained(target, calls, factors):
    """Which number among the arguments the factors are; "" for none.

    A length explains a factor only where it tells a mean from a sum.
    """
    tables = [_numbers(target, arguments, named) for arguments, named, _ in calls]
    names = set.intersection(*map(set, tables)) if tables else set()
    for name in sorted(names, key=lambda name: (name.startswith("the length"), name)):
        values = np.array([table[name] for table in tables], dtype=float)
        if name.startswith("the length"):
            if (values > 1).any() and np.allclose(factors * values, 1, rtol=1e-6):
                return f"a mean where a sum is meant: the factor is 1 over {name}"
            if (values > 1).any() and np.allclose(factors, values, rtol=1e-6):
                return f"a sum where a mean is meant: the factor is {name}"
            continue
        if np.ptp(values) == 0:
            continue
        with np.errstate(all="ignore"):
            forms = {f"{name}": values, f"1 - {name}": 1 - values, f"1 / {name}": 1 / values,
                     f"1 / (1 - {name})": 1 / (1 - values), f"sqrt({name})": np.sqrt(values),
                     f"{name}^2": values**2}
        for text, form in forms.items():
            for sign, mark in ((1, ""), (-1, "-")):
                if np.isfinite(form).all() and np.allclose(factors, sign * form, rtol=1e-6):
                    form = f"({text})" if mark and " " in text else text
                    return f"yours is {mark}{form} times what is right, in all cases"
    return ""


def _numbers(target, arguments, named):
    """Numbers among the arguments, by name, and lengths of arrays."""
    numbers = {}
    for name, value in bound(target, arguments, named).items():
        if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
            numbers[name] = float(value)
        elif isinstance(value, np.ndarray):
            for axis, length in enumerate(value.shape):
                numbers[f"the length of {name}" if value.ndim == 1 else
                      f"the length of axis {axis} of {name}"] = length
        elif isinstance(getattr(value, "samples", None), int):
            numbers[f"the length of the batch ({name}.samples)"] = value.samples
    return numbers


def bound(target, arguments, named):
    """The arguments of a call by name; what has no name by its place."""
    try:
        return dict(inspect.signature(target).bind(*arguments, **named).arguments)
    except (TypeError, ValueError):
        return {f"argument {place}": value for place, value in enumerate(arguments, 1)} | named
