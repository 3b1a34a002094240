"""The diagonal bound of residual partitioning, beside the Hessian that it bounds."""

import numpy as np

from ..checks import plain_array
from .matrices import _checked, hessian_heat_map
from .spectra import spectrum
from .style import figure_of


def bound_beside_hessian(bounded_hessian, curvature, network, figure=None):
    """The diagonal bound of residual partitioning beside the Hessian that it bounds.

    Two panels show the Hessian and the diagonal bound, each with its own colour scale: the bound is
    many times larger. The third shows the eigenvalues of bound minus Hessian; none may be negative.

    Parameters
    ----------
    bounded_hessian : ndarray, shape (P, P)
    curvature : ndarray, shape (P,)
        The bound's diagonal.
    network : Network
    figure : matplotlib.figure.Figure, optional

    Returns
    -------
    ndarray of three matplotlib.axes.Axes
    """
    H = _checked(bounded_hessian, network, "bounded_hessian")
    curvature = plain_array(curvature, "curvature")
    if curvature.shape != H.shape[:1]:
        raise ValueError(f"curvature has shape {curvature.shape}, expected {H.shape[:1]}")
    D = _checked(np.diag(curvature), network, "curvature")
    figure = figure_of(figure, (15, 4.2))
    left, middle, right = axes = figure.subplots(1, 3, width_ratios=(1.1, 1.1, 1))
    hessian_heat_map(H, network, left, "Hessian that is bounded")
    hessian_heat_map(D, network, middle, "diagonal bound")
    gaps = np.linalg.eigvalsh(D - H)
    spectrum(gaps, right, title=f"eigenvalues of bound - Hessian\nsmallest: {gaps[0]:.2g}")
    return axes
