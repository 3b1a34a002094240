"""Eigenvalues of either sign over many orders of magnitude."""

import numpy as np

from ..checks import number_in, real_array
from .style import BLACK, BLUE, VERMILION, axes_of, finished, style

ORDERS = 6  # of magnitude that are drawn logarithmically


def spectrum(eigenvalues, ax=None, zero=None, title=None):
    """Eigenvalues in falling order on a signed axis that is logarithmic away from zero.

    The logarithmic part begins below the smallest eigenvalue that does not count as zero, and at
    most six orders of magnitude below the largest.

    Parameters
    ----------
    eigenvalues : array_like, shape (P,), or dict of str to array_like
        A dictionary draws several spectra, each in a colour of its own; markers show the signs.
        Of a single one the signs have colours.
    ax : matplotlib.axes.Axes, optional
    zero : float, optional
        Eigenvalues of smaller size count as zero; by default P times the rounding unit times the
        largest.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If the eigenvalues are not finite real numbers of shape (P,).
    """
    several = eigenvalues if isinstance(eigenvalues, dict) else {None: eigenvalues}
    zero = None if zero is None else number_in(zero, "zero", 0, np.inf)
    checked = {name: _checked(values) for name, values in several.items()}
    if not checked:
        raise ValueError("eigenvalues: there is no spectrum to draw")
    ax, counted = axes_of(ax), []
    for number, (name, values) in enumerate(checked.items()):
        least = len(values) * np.finfo(float).eps * np.abs(values).max() if zero is None else zero
        _draw(ax, values, least, name, style(number)[0])
        counted += values[np.abs(values) > least].tolist()
    _scale(ax, np.concatenate(list(checked.values())), np.abs(counted))
    ax.set(xlabel="rank of the eigenvalue", ylabel="eigenvalue (symmetric logarithm)")
    return finished(ax, title, "both")


def _checked(values):
    values = real_array(values, "eigenvalues").astype(float)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"eigenvalues has shape {values.shape}, expected (P,)")
    return np.sort(values)[::-1]


def _draw(ax, values, zero, name, own):
    """One spectrum: a line of markers for each sign."""
    ranks = np.arange(1, len(values) + 1)
    groups = ((values > zero, "positive", "o", VERMILION),
              (np.abs(values) <= zero, "zero to rounding", "|", BLACK),
              (values < -zero, "negative", "s", BLUE))
    for chosen, sign, marker, colour in groups:
        if chosen.any():
            ax.plot(ranks[chosen], values[chosen], marker, markersize=6 if marker == "|" else 3,
                    color=colour if name is None else own,
                    label=("" if name is None else f"{name}, ") + f"{sign}: {chosen.sum()}")


def _scale(ax, values, sizes):
    """Limits, ticks and the line at zero; `sizes` are those of eigenvalues that are not zero."""
    largest = np.abs(values).max() or 1.0
    smallest = max(largest * 10.0**-ORDERS, min(sizes, default=largest) / 3)
    if values.min() <= 0 <= values.max():
        ax.axhline(0.0, color=BLACK, linewidth=0.6)
    ax.set_yscale("symlog", linthresh=smallest)
    low, high = min(3 * values.min(), -smallest), max(3 * values.max(), smallest)
    if values.min() > 0:  # no room for signs that do not occur
        low = smallest / 2
    elif values.max() < 0:
        high = -smallest / 2
    ax.set_ylim(low, high)
    first, last = np.ceil(np.log10(smallest)), np.floor(np.log10(largest))
    powers = 10.0 ** np.arange(first, last + 1, 2 if last - first > 2 else 1)
    ticks = np.concatenate([-powers[::-1], [0.0], powers])
    ax.set_yticks(ticks[(ticks >= low) & (ticks <= high)])
