"""What is wrong with an array: which entries differ, by which ratio, and what that usually means.

A hint is one sentence. Where several results are compared, it has to fit all of them: what fits
one and not another leads astray (a factor 1 - alpha is 2 at alpha = 1/2).
"""

import numpy as np

from ..checks import plain_array, shown, whole_number

LARGEST_FACTOR = 10**4  # within a part in 10**4 every larger number is near a whole one
_RELATIVE = 1e-9  # of the largest entry: the difference that is allowed where none is given
_FEWEST = 4  # entries that a permutation needs to be no accident


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
    TypeError, ValueError
        Sides that are no numbers, an allowed difference below 0, names that are no pair.
    """
    left, right = _numbers(left, "left"), _numbers(right, "right")
    if isinstance(names, str) or np.shape(names) != (2,):
        raise TypeError(f"names must be a pair of texts, got {shown(names)}")
    if error is not None and (_numbers(error, "error") < 0).any():
        raise ValueError(f"error must not be negative, got {shown(error)}")
    limit = whole_number(limit, "limit", 0)
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
    wrong = excess > 1
    if not wrong.any():
        return f"no entry differs: largest difference is {excess.max():.2g} of what is allowed"
    compared = int(np.isfinite(allowed).sum())
    sampled = "" if compared == wrong.size else f", of which {compared} were compared"
    lines = [f"{int(wrong.sum())} of {wrong.size} entries differ (shape {left.shape}{sampled})"]
    order = np.argsort(-np.where(wrong, excess, -1.0), axis=None,
                       kind="stable")[:min(limit, int(wrong.sum()))]
    for flat in order:
        index = tuple(int(i) for i in np.unravel_index(flat, left.shape))
        lines.append("  " + entry_line(index, left[index], right[index], names))
    if wrong.sum() > limit:
        lines.append(f"  ... and {int(wrong.sum()) - limit} more")
    told = hint([(left, right, allowed)], names, at)
    return "\n".join(lines + ([f"  hint: {told}"] if told else []))


def _numbers(side, name):
    side = plain_array(side, name)
    if side.dtype.kind not in "biufc":
        raise TypeError(f"{name} must hold numbers, got {side.dtype}")
    return side


def _allowed(left, right, error):
    """Absolute differences allowed; never zero, so that excess ratios stay defined."""
    error = np.asarray(np.nan if error is None else error, dtype=np.float64)
    if np.isnan(error).any():  # as relative to entries of which one is NaN
        finite = np.abs(np.concatenate([left.ravel(), right.ravel()]))
        finite = finite[np.isfinite(finite)]
        default = _RELATIVE * (finite.max() if finite.size else 1.0)
        error = np.where(np.isnan(error), default, error)
    tiny = np.finfo(np.float64).tiny
    return np.broadcast_to(np.maximum(error, tiny), left.shape)


# -- one entry -------------------------------------------------------------------------------------

def entry_line(index, left, right, names=("computed", "reference")):
    """One entry of both sides with their ratio, as text."""
    where = "value" if index == () else f"entry {index if len(index) > 1 else index[0]}"
    one, other = _told_apart(left, right)
    return f"{where}: {names[0]} {one}, {names[1]} {other}, ratio {ratio_text(left, right)}"


def _told_apart(left, right):
    """Two numbers as texts of six digits, or of as many as it takes to tell them apart."""
    for digits in (6, 9, 12, 17):
        texts = _number(left, digits), _number(right, digits)
        if texts[0] != texts[1]:
            break
    return texts if left != right else (_number(left), _number(right))


def _number(value, digits=6):
    value = complex(value) if np.iscomplexobj(value) else float(value)
    return f"{value:.{digits}g}"


def ratio_text(left, right):
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
    told = None
    for left, right, allowed in pairs:
        if not (np.isfinite(left).all() and np.isfinite(right).all()):
            return "; ".join(f"{name} is not finite everywhere" for name, side
                             in zip(names, (left, right)) if not np.isfinite(side).all())
        if (np.abs(left - right) <= allowed).all():
            ruled_out = {text for text, mistake in MISTAKES if not _same(mistake, right, allowed)}
            ruled_out |= {EVERYWHERE} if (np.abs(right) > allowed).any() else set()
            said = None
        else:
            ruled_out, said = set(), list(_hints(left, right, allowed, names, at))
        if said is not None:
            told = said if told is None else [text for text in told if text in said]
        told = told and [text for text in told
                         if not any(word in text for word in ruled_out)]
    return (told or [""])[0].format(*names)


EVERYWHERE = " everywhere: "

#: What is said of a result that is a function of what is right, and the function.
MISTAKES = (
    ("{0} is zero wherever {1} shows something: a term is missing", np.zeros_like),
    ("{0} is transposed", lambda a: a.swapaxes(-1, -2) if a.ndim > 1 else a),
    ("only the diagonal is there: mixed terms are lost",
     lambda a: np.where(np.eye(a.shape[-1], dtype=bool), a, 0.0) if _square(a) else a))


def _square(array):
    return array.ndim > 1 and array.shape[-1] == array.shape[-2] > 1


def _same(mistake, right, allowed):
    """Whether a mistake leaves as it is what is right."""
    made = mistake(right)
    return made.shape == right.shape and (np.abs(made - right) <= allowed).all()


def _hints(left, right, allowed, names, at):
    """Everything that can be said of one pair that differs, the most telling first."""
    for text, mistake in MISTAKES:
        made = mistake(right)
        if (made.shape == left.shape and not _same(mistake, right, allowed)
                and (np.abs(left - made) <= allowed + mistake(allowed)).all()):
            yield text
    gap, wrong = left - right, np.abs(left - right) > allowed
    ratio = common_ratio(left, right, allowed)
    if ratio is not None and abs(ratio - 1) > 1e-4:
        told = meaning(ratio)
        # a ratio that is no plain number says something only if different numbers have it
        known = right.real[np.abs(right) > 100 * allowed]
        if told or (known.size and np.ptp(known) > 0):
            yield f"the ratio is {_ratio(ratio)}{EVERYWHERE}{told or 'a constant factor is wrong'}"
            return
    if np.iscomplexobj(gap):
        return
    yield from _halves(left, right, allowed)
    yield from _terms(gap, allowed, at)
    if wrong.sum() >= _FEWEST and (np.abs(np.sort(left, axis=None) - np.sort(right, axis=None))
                                   <= np.max(allowed)).all():
        yield "{0} has the same entries in another order: it is right after a permutation"
    yield from _places(left, right, allowed, wrong)
    yield from _factors(left, right, allowed)
    if _square(right) and _symmetric(right, allowed) and not _symmetric(left, allowed):
        yield "{0} is not symmetric, {1} is"
    if gap.ndim == 2 and min(gap.shape) > 2 and np.isfinite(allowed).all():
        if np.linalg.svd(gap, compute_uv=False)[1] <= 10 * np.linalg.norm(allowed):
            yield "a term is lost: the difference is one outer product, u v^T"


def _symmetric(array, allowed):
    return (np.abs(array - array.swapaxes(-1, -2)) <= allowed + allowed.swapaxes(-1, -2)).all()


def _halves(left, right, allowed):
    """A + A^T of which only A is there."""
    if not _square(right):
        return
    both, slack = left + left.swapaxes(-1, -2), allowed + allowed.swapaxes(-1, -2)
    if (np.abs(both - right) <= slack).all():
        yield "{0} + {0}^T is the reference: only one of two halves is there"
    elif (np.abs(both - 2 * right) <= 2 * slack).all():
        yield "{0} + {0}^T is twice the reference: {0} lacks its symmetric half"


def _terms(gap, allowed, at):
    """The difference is a number times 1, the point, or a diagonal matrix of the point."""
    terms = {"1": np.ones(gap.shape)}
    if at is not None:
        terms["at"] = at
        if _square(gap) and gap.ndim == 2 and at.size == len(gap):
            terms["diag(at)"] = np.diag(at.ravel())
    judged = np.isfinite(allowed)
    for name, term in terms.items() if gap.size > 1 else ():
        size = np.linalg.norm(term[judged]) if term.shape == gap.shape else 0.0
        if not size:
            continue
        c = (term * gap)[judged].sum() / size**2
        if (np.abs(gap - c * term) <= 10 * allowed).all():
            told = f"{_known(abs(c), allowed[judged].max() / size)} times {name}"
            yield f"{{0}} has {told} too much" if c > 0 else f"a term is lost: {told}"


INDICES = ("first index", "second index", "third index", "fourth index")


def _factors(left, right, allowed):
    """A factor for each value of one index, the same for all others."""
    for axis, index in zip(range(left.ndim), INDICES):
        others = tuple(k for k in range(left.ndim) if k != axis)
        if not others or min(left.shape) < 2 or not np.isfinite(allowed).all():
            continue
        size = (right * right).sum(axis=others, keepdims=True)
        c = (left * right).sum(axis=others, keepdims=True) / np.where(size, size, 1)
        if (np.abs(left - c * right) <= 10 * allowed).all():
            factors = ", ".join(f"{one:.4g}" for one in c.ravel()[:4])
            yield (f"a factor is wrong that depends on the {index} alone: the ratio is {factors}"
                   + (", ..." if c.size > 4 else ""))


def _known(c, error):
    """A positive number to the digits that are known, six at most."""
    return f"{c:.{int(np.clip(-np.log10(10 * error / c), 1, 6))}g}"


def _places(left, right, allowed, wrong):
    """Where the entries are that differ, and how: by a ratio, as they are missing, or too many."""
    mine, true, slack = left[wrong], right[wrong], allowed[wrong]
    how = _how(mine, true, slack)
    inside = np.broadcast_to(np.eye(right.shape[-1], dtype=bool), right.shape) \
        if _square(right) else None
    if inside is not None and not wrong[~inside].any():
        gaps = mine - true
        if len(gaps) > 1 and (np.abs(gaps - gaps[0]) <= slack + slack[0]).all() \
                and wrong.sum() == inside.sum():
            size = _known(abs(gaps[0]), slack[0])
            yield ("only the diagonal differs: {0} " + (
                f"has {size} times the identity more" if gaps[0] > 0
                else f"lacks {size} times the identity"))
        if how:
            yield f"only the diagonal differs: its entries {how}"
        yield "only the diagonal differs: a diagonal term is missing, or too much"
    elif inside is not None and not wrong[inside].any():
        mixed = {LOST: "are lost", TOO_MANY: "are too many", TWICE: "are doubled"}
        if how:
            yield f"the diagonal is right: mixed terms {mixed.get(how, how)}"
        if _symmetric(right, allowed):
            yield "the diagonal is right: what stands beside it is wrong"
    axes = _shared_index(wrong)
    if axes:
        yield (f"only entries with {axes} differ: " + (
            f"they {how}" if how else "the term that belongs to it is lost, or wrong"))
    if how and wrong.sum() > 1:
        yield f"the entries that differ {how}, the others are right"


LOST, TOO_MANY, TWICE = "are zero", "should be zero", "have the ratio 2"


def _how(mine, true, slack):
    """What entries that differ have in common, in words; "" for nothing."""
    if (np.abs(mine) <= slack).all():
        return LOST
    if (np.abs(true) <= slack).all():
        return TOO_MANY
    ratio = common_ratio(mine, true, slack)
    if ratio is None or not (meaning(ratio) or np.ptp(true) > 100 * slack.max()):
        return ""
    return "have the other sign" if abs(ratio + 1) < 1e-4 else f"have the ratio {_ratio(ratio)}"


def _shared_index(wrong):
    """``index 3`` or ``second index 1`` where all wrong entries share it; else empty."""
    words = ("index",) if wrong.ndim == 1 else INDICES
    for word, along, length in zip(words, np.argwhere(wrong).T, wrong.shape):
        places = np.unique(along)
        if len(places) == 1 < length:
            return f"{word} {places[0]}"
    return ""


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
    if (np.abs(ratios - middle) > slack).any():
        return None
    # The entries with the least slack give the sharpest value.
    return ratios[np.argmin(slack)]


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
    only some of them; "" where they differ.
    """
    allowed = _allowed(right, right, 1e-6 * np.abs(right).max(initial=0) if allowed is None
                       else allowed)

    def same(array):
        return (np.abs(array.reshape(right.shape) - right) <= allowed).all()

    if _square(right) and left.shape == right.shape[:-1] and (np.abs(left - np.diagonal(
            right, axis1=-2, axis2=-1)) <= np.diagonal(allowed, axis1=-2, axis2=-1)).all():
        return "this is only the diagonal: the whole matrix is asked for"
    if left.shape == (*right.shape[:-2], *right.shape[:-3:-1]):  # the last two axes swapped
        return (f"{names[0]} is transposed" if same(left.swapaxes(-1, -2))
                else "the last two axes are swapped: transpose")
    if left.size != right.size:
        return ""
    flat = ".ravel()" if right.ndim == 1 else ".reshape(len(x), -1)"
    if same(left):
        return "the numbers are right: " + (
            f"flatten them by {flat}" if left.ndim > right.ndim else
            f"keep the shape {right.shape}; is a .ravel() too much?")
    if left.ndim > max(right.ndim, 1) and same(left.swapaxes(-1, -2)):
        return f"the numbers are right but transposed: swap the last two axes, then {flat}"
    return ""
