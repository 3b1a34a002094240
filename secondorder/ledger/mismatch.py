"""What is wrong with an array: which entries differ, by which ratio, and what that usually means.

A hint is one sentence. Where several results are compared, it has to fit all of them: what fits
one and not another leads astray (a factor 1 - alpha is 2 at alpha = 1/2).
"""

import inspect
from itertools import permutations

import numpy as np

from ..checks import plain_array

LARGEST_FACTOR = 10**4  # within a part in 10**4 every larger number is near a whole one
_RELATIVE = 1e-9  # of the largest entry: the difference that is allowed where none is given


def describe_mismatch(left, right, error=None, names=("computed", "reference"), limit=5,
                      at=None):
    """Describe where two arrays differ: the worst entries with index, both values and their ratio.

    Ratios unmask a flipped sign and forgotten factors of 2 or N at a glance. A last line says what
    the differences have in common, where that is something.

    Parameters
    ----------
    left, right : array_like
        The quantity under test and its reference.
    error : float or array_like, optional
        Absolute difference that is allowed, entry by entry.  Default 1e-9 of the largest entry.
    names : pair of str
        How to call the two sides.
    limit : int
        How many entries to list.
    at : array, optional
        The point at which a derivative was taken: it may be a term that is lost.

    Returns
    -------
    str
        One line a finding; the first line counts the entries that differ.

    Raises
    ------
    TypeError
        Sides that are no numbers.
    """
    left, right = plain_array(left, "left"), plain_array(right, "right")
    for side, name in ((left, "left"), (right, "right")):
        if side.dtype.kind not in "biufc":
            raise TypeError(f"{name} must hold numbers, got {side.dtype}")
    if left.shape != right.shape:
        told = shape_hint(left, right, names)
        return (f"the shapes differ: {names[0]} {left.shape}, {names[1]} {right.shape}"
                + (f"\n  hint: {told}" if told else ""))
    if left.size == 0:
        return f"both sides are empty, shape {left.shape}"
    allowed = _allowed(left, right, error)
    with np.errstate(invalid="ignore", over="ignore"):
        excess = np.abs(left - right) / allowed
    excess = np.where(np.isfinite(excess), excess, np.inf)
    wrong = int((excess > 1).sum())
    if not wrong:
        return f"no entry differs: largest difference is {excess.max():.2g} of what is allowed"
    compared = int(np.isfinite(allowed).sum())
    sampled = "" if compared == left.size else f", of which {compared} were compared"
    lines = [f"{wrong} of {left.size} entries differ (shape {left.shape}{sampled})"]
    for flat in np.argsort(-excess, axis=None, kind="stable")[:min(limit, wrong)]:
        index = tuple(int(i) for i in np.unravel_index(flat, left.shape))
        lines.append("  " + entry_line(index, left[index], right[index], names))
    if wrong > limit:
        lines.append(f"  ... and {wrong - limit} more")
    told = hint([(left, right, allowed)], names, at)
    return "\n".join(lines + ([f"  hint: {told}"] if told else []))


def _allowed(left, right, error):
    """Absolute differences allowed; never zero, so that excess ratios stay defined."""
    sides = np.abs(np.concatenate([left.ravel(), right.ravel()]))
    own = _RELATIVE * sides[np.isfinite(sides)].max(initial=0.0) or _RELATIVE
    error = np.asarray(own if error is None else error, dtype=np.float64)
    error = np.where(np.isnan(error), own, error)  # as relative to entries of which one is NaN
    return np.broadcast_to(np.maximum(error, np.finfo(np.float64).tiny), left.shape)


# -- one entry -------------------------------------------------------------------------------------

def entry_line(index, left, right, names=("computed", "reference")):
    """One entry of both sides with their ratio, as text: in six digits, or in as many as it takes
    to tell the two apart.
    """
    where = "value" if index == () else f"entry {index if len(index) > 1 else index[0]}"
    for digits in (6, 9, 12, 17) if left != right else (6,):
        one, other = _number(left, digits), _number(right, digits)
        if one != other:
            break
    return f"{where}: {names[0]} {one}, {names[1]} {other}, ratio {_ratio_text(left, right)}"


def _number(value, digits=6):
    value = complex(value) if np.iscomplexobj(value) else float(value)
    return f"{value:.{digits}g}"


def _ratio_text(left, right):
    """left / right, as its distance from 1 where it is close; or the word that says why not."""
    if right == 0:
        return "0/0" if left == 0 else "x/0"
    if not (np.isfinite(left) and np.isfinite(right)):
        return "not finite"
    ratio = left / right
    if 0 < abs(ratio - 1) < 1e-4 and not np.iscomplexobj(ratio):
        return f"1 {'+' if ratio > 1 else '-'} {abs((left - right) / right):.1e}"
    return _number(ratio + 0.0)  # no minus zero


# -- hints -----------------------------------------------------------------------------------------

def hint(pairs, names=("computed", "reference"), at=None):
    """What the differences in all pairs have in common, in one sentence; "" for nothing.

    Parameters
    ----------
    pairs : sequence of (left, right, allowed)
        Arrays of one shape in each: what is under test, what is right, and the absolute difference
        that is allowed in each entry, infinite where nothing is compared.
    names : pair of str
    at : array, optional
        The point at which a derivative was taken: it may be a term that is lost.
    """
    told, ruled_out = None, set()
    for left, right, allowed in pairs:
        if not (np.isfinite(left).all() and np.isfinite(right).all()):
            return "; ".join(f"{name} is not finite everywhere" for name, side
                             in zip(names, (left, right)) if not np.isfinite(side).all())
        if _same(left, right, allowed):  # which a mistake that would show here is not
            ruled_out |= {text for text, _, made in SLIPS if not _same(made(right), right, allowed)}
            ruled_out |= {EVERYWHERE} if (np.abs(right) > allowed).any() else set()
        else:
            said = list(_hints(left, right, allowed, at))
            told = said if told is None else [text for text in told if text in said]
    told = [text for text in told or () if not any(word in text for word in ruled_out)]
    return (told or [""])[0].format(*names)


def _square(array):
    return array.ndim > 1 and array.shape[-1] == array.shape[-2] > 1


def _transposed(a):
    return a.swapaxes(-1, -2) if a.ndim > 1 else a


def _diagonal(a):
    return np.where(np.eye(a.shape[-1], dtype=bool), a, 0.0) if _square(a) else a


def _both_halves(a):
    return a + _transposed(a) if _square(a) else np.full_like(a, np.nan, dtype=float)


EVERYWHERE = " everywhere: "

#: What is said where a function of {0} is another function of {1}, and both functions.
SLIPS = (
    ("{0} is zero wherever {1} shows something: a term is missing", np.asarray, np.zeros_like),
    ("{0} is transposed", np.asarray, _transposed),
    ("only the diagonal is there: mixed terms are lost", np.asarray, _diagonal),
    ("{0} + {0}^T is the reference: only one of two halves is there", _both_halves, np.asarray),
    ("{0} + {0}^T is twice the reference: {0} lacks its symmetric half", _both_halves,
     lambda a: 2 * a))


def _same(left, right, allowed):
    """Whether all entries agree; arrays of other shapes do not."""
    return left.shape == right.shape and bool((np.abs(left - right) <= allowed).all())


def _hints(left, right, allowed, at):
    """Everything that can be said of one pair that differs, the most telling first."""
    ratio = common_ratio(left, right, allowed)
    if ratio and abs(ratio - 1) > 1e-4:
        told = meaning(ratio)
        # a ratio that is no plain number says something only if different numbers have it
        known = right.real[np.abs(right) > 100 * allowed]
        if told or (known.size and np.ptp(known) > 0):
            yield f"the ratio is {_ratio(ratio)}{EVERYWHERE}{told or 'a constant factor is wrong'}"
            return
    if np.iscomplexobj(left - right):
        return
    slack = allowed + (_transposed(allowed) if _square(allowed) else allowed)
    for text, of_left, of_right in SLIPS:
        if _same(of_left(left), of_right(right), 2 * slack):
            yield text
    yield from _terms(left - right, allowed, at)
    yield from _places(left, right, allowed)
    yield from _factors(left, right, allowed)
    yield from _outer(left - right, allowed)


def _terms(gap, allowed, at):
    """The difference is a number times 1, the identity, the point, or a diagonal matrix of it."""
    terms = {"1": np.ones(gap.shape)}
    if _square(gap):
        terms["the identity"] = np.broadcast_to(np.eye(gap.shape[-1]), gap.shape)
    if at is not None:
        terms["at"] = at
        if _square(gap) and at.size == gap.shape[-1]:
            terms["diag(at)"] = np.broadcast_to(np.diag(at.ravel()), gap.shape)
    judged = np.isfinite(allowed)
    for name, term in terms.items() if gap.size > 1 else ():
        size = np.linalg.norm(term[judged]) if term.shape == gap.shape else 0.0
        if not size:
            continue
        c = (term * gap)[judged].sum() / size**2
        if _same(gap, c * term, 10 * allowed):
            digits = int(np.clip(-np.log10(10 * allowed[judged].max() / size / abs(c)), 1, 6))
            told = f"{abs(c):.{digits}g} times {name}"
            yield f"{{0}} has {told} too much" if c > 0 else f"a term is lost: {told}"


def _outer(gap, allowed):
    """The difference of two matrices is u v^T: its second singular value is no larger than what is
    allowed. Of two rows or columns every difference would nearly be that.
    """
    if gap.ndim == 2 and min(gap.shape) > 2 and np.isfinite(allowed).all():
        if np.linalg.svd(gap, compute_uv=False)[1] <= 10 * np.linalg.norm(allowed):
            yield "a term is lost: the difference is one outer product, u v^T"


INDICES = ("first index", "second index", "third index", "fourth index")


def _factors(left, right, allowed):
    """A factor for each value of one index, the same for all others."""
    for axis, index in zip(range(left.ndim), INDICES):
        others = tuple(k for k in range(left.ndim) if k != axis)
        if not others or min(left.shape) < 2 or not np.isfinite(allowed).all():
            continue
        size = (right * right).sum(axis=others, keepdims=True)
        c = (left * right).sum(axis=others, keepdims=True) / np.where(size, size, 1)
        if _same(left, c * right, 10 * allowed):
            factors = ", ".join(f"{one:.4g}" for one in c.ravel()[:4])
            yield (f"a factor is wrong that depends on the {index} alone: the ratio is {factors}"
                   + (", ..." if c.size > 4 else ""))


def _places(left, right, allowed):
    """Where the entries are that differ, and what they have in common."""
    wrong = np.abs(left - right) > allowed
    how = _how(left[wrong], right[wrong], allowed[wrong])
    if _square(right):
        inside = np.broadcast_to(np.eye(right.shape[-1], dtype=bool), right.shape)
        if not wrong[~inside].any():
            yield f"only the diagonal differs: its entries {how or 'lack a term, or have one more'}"
        elif how and not wrong[inside].any():
            yield f"the diagonal is right: mixed terms {how}"
    words = ("index",) if wrong.ndim == 1 else INDICES
    for word, along, length in zip(words, np.argwhere(wrong).T, wrong.shape):
        if np.ptp(along) == 0 and length > 1:
            yield f"only entries with {word} {along[0]} differ: they {how or 'are wrong'}"
    if how and wrong.sum() > 1:
        yield f"the entries that differ {how}, the others are right"


def _how(mine, true, slack):
    """What entries that differ have in common, in words; "" for nothing."""
    if (np.abs(mine) <= slack).all():
        return "are lost"
    if (np.abs(true) <= slack).all():
        return "are too many"
    ratio = common_ratio(mine, true, slack)
    if ratio is None or not (meaning(ratio) or np.ptp(true) > 100 * slack.max()):
        return ""
    return "have the other sign" if abs(ratio + 1) < 1e-4 else f"have the ratio {_ratio(ratio)}"


# -- ratios ----------------------------------------------------------------------------------------

def common_ratio(left, right, allowed):
    """The ratio left / right if it is one over all entries large enough, else None.

    Entries on both sides that are within a hundred times the allowed difference are left out: their
    ratio is noise.
    """
    large = np.maximum(np.abs(left), np.abs(right)) > 100 * allowed
    if not large.any() or (right[large] == 0).any():
        return None
    ratios = left[large] / right[large]
    middle = np.median(ratios.real) + (1j * np.median(ratios.imag) if np.iscomplexobj(ratios)
                                       else 0)
    slack = allowed[large] * (1 + abs(middle)) / np.abs(right[large]) + 1e-6 * abs(middle)
    # the entries with the least slack give the sharpest value
    return None if (np.abs(ratios - middle) > slack).any() else ratios[np.argmin(slack)]


def _ratio(ratio):
    """A ratio as text, as a whole number or one over it where it is that."""
    if not np.iscomplexobj(ratio):
        for size, mark in ((abs(ratio), ""), (1 / (abs(ratio) or 1.0), "1/")):
            if _whole(size):
                return f"{'-' if ratio < 0 else ''}{mark}{round(size)}"
    return f"{ratio:.6g}"


def _whole(size):
    return 1 <= round(size) < LARGEST_FACTOR and abs(size - round(size)) < 1e-4 * size


def meaning(ratio):
    """A ratio in words, where it is a sign or a plain factor; "" for any other."""
    if np.iscomplexobj(ratio) or ratio == 0:
        return ""
    size, flipped = abs(ratio), " and its sign is flipped" if ratio < 0 else ""
    if abs(size - 1) < 1e-4:
        return "the sign is flipped" if ratio < 0 else ""
    if _whole(size):
        return f"a factor {round(size)} too much{flipped}"
    if _whole(1 / size):
        inverse = round(1 / size)
        mean = "" if inverse == 2 else f" (a mean over {inverse} where a sum is meant?)"
        return f"a factor {inverse} is missing{mean}{flipped}"
    return ""


# -- shapes ----------------------------------------------------------------------------------------

def shape_hint(left, right, names=("computed", "reference"), allowed=None):
    """What to do with an array that has another shape than its reference and the same numbers, or
    only its diagonal; "" where they differ.
    """
    allowed = _allowed(right, right, 1e-6 * np.abs(right).max(initial=0) if allowed is None
                       else allowed)
    if _square(right) and left.shape == right.shape[:-1] and _same(
            left, np.diagonal(right, axis1=-2, axis2=-1), allowed.max()):
        return "this is only the diagonal: the whole matrix is asked for"
    if left.size != right.size:
        return ""
    if _same(left.reshape(right.shape), right, allowed):
        return (f"the numbers are right: reshape them to {right.shape}"
                + ("; is a .ravel() too much?" if left.ndim < right.ndim else ""))
    for order in permutations(range(left.ndim)) if left.ndim < 5 else ():
        if _same(left.transpose(order).reshape(right.shape), right, allowed):
            return f"{names[0]} is transposed: .transpose{order} has the numbers in their order"
    return ""


# -- several calls ---------------------------------------------------------------------------------

def pattern(target, calls):
    """What the results of all calls say about the mistake, in words; "" where nothing.

    A call is (arguments, named, pairs), with (yours, right) for each array of the result. `target`
    is what is right: its names of arguments are used.
    """
    names = "yours", "what is right"
    pairs = [pair for _, _, pairs in calls for pair in pairs if pair[1].size]
    if not all(np.isfinite(side).all() for pair in pairs for side in pair):
        return ""
    shapes = {shape_hint(mine, right, names) for mine, right in pairs if mine.shape != right.shape}
    if shapes:
        return shapes.pop() if len(shapes) == 1 else ""
    factors = [_factor(pairs) for _, _, pairs in calls]
    if None not in factors and np.isfinite(factors).any():
        told = np.isfinite(factors)
        return _of_factors(target, [call for call, one in zip(calls, told) if one],
                           np.array(factors)[told])
    return hint([(mine, right, _slack(right)) for mine, right in pairs], names)


def _slack(right):
    """What is no difference, entry by entry."""
    return np.full(right.shape, 1e-7 * np.abs(right).max(initial=0.0) + 1e-300)


def _factor(pairs):
    """The factor yours / right of one call: None where it has none, NaN for results of zero."""
    mine, right = (np.concatenate([np.ravel(pair[side]) for pair in pairs] or [np.zeros(0)])
                   for side in (0, 1))
    if not right.any():
        return None if mine.any() else np.nan
    return common_ratio(mine, right, _slack(right))


def _of_factors(target, calls, factors):
    """A factor in words: one that all calls share, or one that an argument explains."""
    if np.all(np.abs(factors) < 1e-7):
        return "yours is zero wherever something should be: a term is missing"
    explained = _explained([_given_numbers(target, *call[:2]) for call in calls], factors)
    if np.ptp(factors) <= 1e-6 * np.abs(factors).max():
        if explained.startswith(("a mean", "a sum")) or abs(factors[0] - 1) < 1e-6:
            return explained
        return (f"the ratio is {factors[0]:.6g} in all cases: "
                f"{meaning(factors[0]) or 'a constant factor is wrong'}")
    if explained or np.any(np.abs(factors - 1) < 1e-6):  # right in some calls: it is no factor
        return explained
    return ("the factor is not the same in all cases: from "
            f"{factors.min():.4g} to {factors.max():.4g}")


#: What an argument may have been used as.
FORMS = {"{}": lambda v: v, "(1 - {})": lambda v: 1 - v, "1 / {}": lambda v: 1 / v,
         "1 / (1 - {})": lambda v: 1 / (1 - v)}


def _explained(tables, factors):
    """Which number among the arguments the factors are; "" for none.

    A length explains a factor only where it tells a mean from a sum.
    """
    names = sorted(set.intersection(*map(set, tables)), key=lambda name: ("length" in name, name))
    for name in names:
        values = np.array([table[name] for table in tables], dtype=float)
        if "length" in name and (values > 1).any():
            if np.allclose(factors * values, 1, rtol=1e-6):
                return f"a mean where a sum is meant: the factor is 1 over {name}"
            if np.allclose(factors, values, rtol=1e-6):
                return f"a sum where a mean is meant: the factor is {name}"
        for text, form in FORMS.items() if "length" not in name and np.ptp(values) else ():
            with np.errstate(all="ignore"):
                made = form(values)
            for sign, mark in ((1, ""), (-1, "-")):
                if np.allclose(factors, sign * made, rtol=1e-6):
                    return f"yours is {mark}{text.format(name)} times what is right, in all cases"
    return ""


def _given_numbers(target, arguments, named):
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
