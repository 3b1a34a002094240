"""How the eigenvalues of a matrix are distributed."""

import numpy as np

from ..checks import instance_of
from .style import BLACK, axes_of, drawn, finished, style

DENSITY = "density"  # mark of the lines of this kind of picture
ORDERS = 6  # of magnitude below the highest point that are drawn


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
    from ..exact import SpectralDensity

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
