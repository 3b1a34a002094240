"""Which entries differ, by which ratio, and what that ratio usually means."""

import numpy as np

from ..checks import plain_array, shown, whole_number

_DEFAULT_RELATIVE_ERROR = 1e-9
ODD = "a constant factor is wrong"
LARGEST_FACTOR = 10**4  # within a part in 10**4 every larger number is near a whole one


def describe_mismatch(left, right, error=None, names=("computed", "reference"), limit=5):
    """Describe where two arrays differ: the worst entries with index, both values and their ratio.

    Ratios unmask a flipped sign and forgotten factors of 2 or N at a glance. They are printed for
    every entry, and interpreted when they agree over all entries that differ.

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
        return _describe_shapes(left, right, names)
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
    lines += [f"  hint: {hint}" for hint in hints(left, right, allowed, names)]
    return "\n".join(lines)


def _numbers(side, name):
    side = plain_array(side, name)
    if side.dtype.kind not in "biufc":
        raise TypeError(f"{name} must hold numbers, got {side.dtype}")
    return side


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


def _describe_shapes(left, right, names):
    text = f"the shapes differ: {names[0]} {left.shape}, {names[1]} {right.shape}"
    if (
        left.ndim == 2
        and left.shape == right.shape[::-1]
        and np.allclose(left, right.T, rtol=1e-6, atol=0)
    ):
        text += f"\n  hint: {names[0]} is {names[1]} transposed"
    return text


def _allowed(left, right, error):
    """Absolute differences allowed; never zero, so that excess ratios stay defined."""
    error = np.asarray(np.nan if error is None else error, dtype=np.float64)
    if np.isnan(error).any():  # as relative to entries of which one is NaN
        finite = np.abs(np.concatenate([left.ravel(), right.ravel()]))
        finite = finite[np.isfinite(finite)]
        default = _DEFAULT_RELATIVE_ERROR * (finite.max() if finite.size else 1.0)
        error = np.where(np.isnan(error), default, error)
    tiny = np.finfo(np.float64).tiny
    return np.broadcast_to(np.maximum(error, tiny), left.shape)


def hints(left, right, allowed, names=("computed", "reference")):
    """What the pattern of the differences suggests: short texts, none without a pattern. `allowed`
    has the absolute difference that is allowed, entry by entry.
    """
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return [f"{name} is not finite everywhere" for name, side in zip(names, (left, right))
                if not np.isfinite(side).all()]
    meanings = []
    if left.ndim >= 2 and left.shape[-1] == left.shape[-2] and (
            np.abs(left - np.swapaxes(right, -1, -2)) <= allowed + np.swapaxes(allowed, -1, -2)
            ).all():
        axes = "" if left.ndim == 2 else " in the last two axes"
        meanings.append(f"{names[0]} is {names[1]} transposed{axes}")
    ratio = common_ratio(left, right, allowed)
    if ratio is not None and abs(ratio - 1) > 1e-4:
        told = _meaning(ratio, names)
        # a ratio that is no plain number says something only if different numbers have it
        known = right.real[np.abs(right) > 100 * allowed]
        if not told.endswith(ODD) or (known.size and np.ptp(known) > 0):
            meanings.append(told)
    elif ratio is None and not meanings:
        meanings += (_on_the_diagonal(left, right, allowed, names)
                     or _of_some_signs(left, right, allowed))
    return meanings


def _on_the_diagonal(left, right, allowed, names):
    """A term of a diagonal matrix that is lost, or too much; [] where others differ as well."""
    if left.ndim != 2 or left.shape[0] != left.shape[1] or len(left) < 2:
        return []
    gap, inside = left - right, np.eye(len(left), dtype=bool)
    if (np.abs(gap) > allowed)[~inside].any():
        return []
    gaps, slack = gap[inside], allowed[inside]
    if (np.abs(gaps - gaps[0]) <= slack + slack[0]).all() and not np.iscomplexobj(gaps):
        return [f"only the diagonal differs: {names[0]} has {gaps[0]:.6g} times the identity more"
                if gaps[0] > 0 else f"only the diagonal differs: {names[0]} lacks "
                f"{-gaps[0]:.6g} times the identity"]
    return ["only the diagonal differs: a diagonal term is missing, or too much"]


def _of_some_signs(left, right, allowed):
    """Right but for the signs of some entries; [] where others differ as well."""
    flipped = np.abs(left - right) > allowed
    if (np.abs(left + right)[flipped] > allowed[flipped]).any():
        return []
    return [f"the sign is flipped in {flipped.sum()} of {flipped.size} entries, the others are "
            "right"]


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


def _meaning(ratio, names):
    """A common ratio in words."""
    if np.iscomplexobj(ratio):
        return f"{names[0]} is {ratio:.6g} times {names[1]} everywhere"
    size, sign = abs(ratio), "-" if ratio < 0 else ""
    if size < 1e-9:
        return f"{names[0]} is zero wherever {names[1]} shows something: a term is missing"
    flipped = " and its sign is flipped" if ratio < 0 else ""
    if abs(size - 1) < 1e-4:
        return "the ratio is -1 everywhere: the sign is flipped"
    whole, inverse = round(size), round(1 / size)
    if 2 <= whole < LARGEST_FACTOR and abs(size - whole) < 1e-4 * whole:
        return f"the ratio is {sign}{whole} everywhere: a factor {whole} too much{flipped}"
    if 2 <= inverse < LARGEST_FACTOR and abs(1 / size - inverse) < 1e-4 * inverse:
        mean = "" if inverse == 2 else f" (a mean over {inverse} where a sum is meant?)"
        what = f"a factor {inverse} is missing{mean}{flipped}"
        return f"the ratio is {sign}1/{inverse} everywhere: {what}"
    return f"the ratio is {ratio:.6g} everywhere: {ODD}"
