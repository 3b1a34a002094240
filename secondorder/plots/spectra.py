"""Eigenvalues of either sign over many orders of magnitude, and how they are distributed."""

import numpy as np

from ..checks import instance_of, number_in, real_array
from ..exact import SpectralDensity
from .style import BLACK, BLUE, VERMILION, axes_of, drawable, drawn, finished, style

EIGENVALUES, ZERO = "eigenvalues", "eigenvalues that are zero"
DENSITY = "density"  # mark of the lines of this kind of picture
ORDERS = 6  # of magnitude that are drawn logarithmically


def spectrum(eigenvalues, ax=None, zero=None, title=None, label=None):
    """Eigenvalues in falling order on a signed axis that is logarithmic away from zero.

    The logarithmic part begins below the smallest eigenvalue that does not count as zero, and at
    most six orders of magnitude below the largest.

    Parameters
    ----------
    eigenvalues : array_like, shape (P,), or dict of str to array_like
        A dictionary draws several spectra, by name, in one picture; so do several calls with the
        same axes.
    ax : matplotlib.axes.Axes, optional
    zero : float, optional
        Eigenvalues of smaller size count as zero; by default P times the rounding unit times the
        largest.
    title : str, optional
    label : str, optional
        Name of the series: it gets one colour, and markers show its signs. Without a name the
        signs have colours.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If the eigenvalues are not finite real numbers of shape (P,).
    """
    several = eigenvalues if isinstance(eigenvalues, dict) else {label: eigenvalues}
    zero = None if zero is None else number_in(zero, "zero", 0, np.inf)
    checked = {name: _checked(values) for name, values in several.items()}
    if not checked:
        raise ValueError("eigenvalues: there is no spectrum to draw")
    ax = axes_of(ax)
    for name, values in checked.items():
        _draw(ax, values, zero, name)
    _scale(ax)
    ax.set(xlabel="rank of the eigenvalue", ylabel="eigenvalue (symmetric logarithm)")
    return finished(ax, title, "both")


def _checked(values):
    values = drawable(real_array(values, "eigenvalues"), "eigenvalues")
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"eigenvalues: expected values of shape (P,), given shape {values.shape}")
    return np.sort(values)[::-1]


def _draw(ax, values, zero, name):
    """One spectrum: a line of markers for each sign."""
    largest = np.abs(values).max() or 1.0
    zero = len(values) * np.finfo(float).eps * largest if zero is None else zero
    ranks = np.arange(1, len(values) + 1)
    own = style(len({line.get_color() for line in _lines(ax)}))[0]
    groups = ((values > zero, "positive", "o", VERMILION),
              (np.abs(values) <= zero, "zero to rounding", "|", BLACK),
              (values < -zero, "negative", "s", BLUE))
    for chosen, sign, marker, colour in groups:
        if chosen.any():
            ax.plot(ranks[chosen], values[chosen], marker, markersize=6 if marker == "|" else 3,
                    color=colour if name is None else own,
                    label=("" if name is None else f"{name}, ") + f"{sign}: {chosen.sum()}",
                    gid=ZERO if marker == "|" else EIGENVALUES)


def _lines(ax):
    return drawn(ax, EIGENVALUES) + drawn(ax, ZERO)


def _scale(ax):
    """Limits, ticks and the line at zero, for everything that was drawn so far."""
    values = np.concatenate([line.get_ydata() for line in _lines(ax)])
    largest = np.abs(values).max() or 1.0
    others = np.concatenate([[largest], *(line.get_ydata() for line in drawn(ax, EIGENVALUES))])
    smallest = max(largest * 10.0**-ORDERS, np.abs(others).min() / 3)
    if not drawn(ax, "zero") and values.min() <= 0 <= values.max():
        ax.axhline(0.0, color=BLACK, linewidth=0.6, gid="zero")
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


def spectral_density(density, eigenvalues=None, ax=None, title=None, label=None):
    """A spectral density with its stated error, on a logarithmic axis.

    Parameters
    ----------
    density : SpectralDensity
        What :func:`secondorder.exact.spectral_density` returns.
    eigenvalues : array_like, shape (P,), optional
        The exact spectrum; it is smoothed in the same way and drawn beside the estimate.
    ax : matplotlib.axes.Axes, optional
    title, label : str, optional
        Title of the axes, and name of the curve.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        Something else than a density; eigenvalues that are not finite real numbers (P,).
    """
    instance_of(density, SpectralDensity, "density")
    exact = None if eigenvalues is None else density.smoothed(eigenvalues)
    ax = axes_of(ax)
    points, curve, error = density.points, density.density, density.error
    lowest = curve.max() * 10.0**-ORDERS
    colour = style(len(drawn(ax, DENSITY)))[0]
    ax.fill_between(points, np.maximum(curve - error, lowest), np.maximum(curve + error, lowest),
                    color=colour, alpha=0.2, linewidth=0)
    ax.plot(points, np.maximum(curve, lowest), color=colour, gid=DENSITY,
            label=label or f"estimate, {len(density.nodes)} probes")
    if exact is not None:
        ax.plot(points, np.maximum(exact, lowest), "--", color=BLACK, linewidth=1,
                label="exact spectrum, smoothed")
    ax.set(yscale="log", xlabel="eigenvalue",
           ylabel=f"density (kernel of width {density.width:.2g})")
    return finished(ax, title, "both")
