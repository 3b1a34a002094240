"""Matrices over the parameters as signed pictures."""

import numpy as np

from ..checks import boolean, instance_of, one_of, positive_number, real_array, whole_number
from ..nets import Network
from .spectra import spectrum
from .style import BLACK, axes_of, figure_of, give_layout

SCALES = ("common", "own")  # of several matrices
ORDERS = 3  # of magnitude below the end of a scale at which it becomes linear
SYMMETRIC = 1e-5  # largest difference from the transpose, relative to the largest entry


def parameter_blocks(network):
    """Names and places of the weights and biases in ``network.theta``.

    Returns
    -------
    list of (str, int, int)
        Name (``W1``, ``b1``, ``W2``, ...), first index, index after the last. The number counts
        the layers of the network that have parameters, fixed ones too. In a layer with both
        kinds inside, it counts the trained ones.
    """
    blocks, start, number = [], 0, 0
    for layer in instance_of(network, Network, "network").layers:
        parts = [part for part in layer.sublayers() if part.parameters]
        trained = [part for part in parts if part.trainable]
        number += 0 if trained else len(parts)
        for part in trained:
            number += 1
            for name, value in part.parameters.items():
                label = {"weight": f"W{number}", "bias": f"b{number}"}.get(name, f"{name}{number}")
                blocks.append((label, start, start + value.size))
                start += value.size
    return blocks


def hessian_heat_map(matrix, network=None, ax=None, title=None, limit=None, colour_bar=True):
    """Symmetric matrix over the parameters as a signed picture: red above zero, blue below.

    White is zero. The colour scale is linear near zero and logarithmic beyond (the colour bar says
    from where), so that blocks of very different size stay visible.

    Parameters
    ----------
    matrix : array_like, shape (P, P)
    network : Network, optional
        Draws and names its weight and bias blocks.
    ax : matplotlib.axes.Axes, optional
    title : str, optional
    limit : float, optional
        Value at the ends of the scale; the largest absolute entry by default.
    colour_bar : bool

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If the matrix does not hold real numbers.
    ValueError
        If it is not square, not symmetric, not finite, or of another size than the parameters.
    """
    matrix = _checked(matrix, network, "matrix")
    limit = _largest([matrix]) if limit is None else positive_number(limit, "limit")
    colour_bar = boolean(colour_bar, "colour_bar")
    image = _draw(matrix, network, axes_of(ax), title, limit)
    if colour_bar:
        _colour_bar(image, limit, ax=image.axes)
    return image.axes


def matrices(named, network=None, figure=None, columns=None, scale="common"):
    """Several symmetric matrices in rows, on one signed scale or each on its own.

    Parameters
    ----------
    named : dict of str to array_like, each of shape (P, P)
        The names become titles.
    network : Network, optional
        Draws and names its weight and bias blocks.
    figure : matplotlib.figure.Figure, optional
    columns : int, optional
        Matrices in a row; at most four by default.
    scale : {"common", "own"}
        One scale and one colour bar for all, to compare sizes; or one for each, to see the pattern
        of the small ones.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
        One for each matrix.

    Raises
    ------
    TypeError, ValueError
        As for :func:`hessian_heat_map`.
    """
    if not isinstance(named, dict) or not named:
        raise TypeError("named must be a dictionary of matrices by name, got "
                        f"{type(named).__name__}")
    checked = {name: _checked(matrix, network, repr(name)) for name, matrix in named.items()}
    own = one_of(SCALES, scale, "scale") == "own"
    columns = min(4, len(checked)) if columns is None else whole_number(columns, "columns", 1)
    rows = -(-len(checked) // columns)
    size = (4 + own) * columns + 1.5 * (not own), 4.2 * rows
    figure = figure_of(figure, size)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    axes, spare = grid[:len(checked)], grid[len(checked):]
    for ax in spare:
        ax.remove()
    for ax, (name, matrix) in zip(axes, checked.items()):
        end = _largest([matrix] if own else checked.values())
        image = _draw(matrix, network, ax, name, end)
        if own:
            _colour_bar(image, end, ax=ax)
    if not own:
        _colour_bar(image, end, ax=list(axes))
    return axes


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
    D = np.diag(real_array(curvature, "curvature", H.shape[:1]).astype(float))
    figure = figure_of(figure, (15, 4.2))
    left, middle, right = axes = figure.subplots(1, 3, width_ratios=(1.1, 1.1, 1))
    hessian_heat_map(H, network, left, "Hessian that is bounded")
    hessian_heat_map(D, network, middle, "diagonal bound")
    gaps = np.linalg.eigvalsh(D - H)
    spectrum(gaps, right, title=f"eigenvalues of bound - Hessian\nsmallest: {gaps[0]:.2g}")
    return axes


def _checked(matrix, network, name):
    """The matrix as floats, finite, square, symmetric, and of the network's size."""
    matrix = real_array(matrix, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"{name}: expected a square matrix, given shape {matrix.shape}")
    if network is not None and len(matrix) != instance_of(network, Network, "network").size:
        raise ValueError(f"{name}: shape {matrix.shape} for a network of {network.size} parameters")
    matrix = matrix.astype(float)
    skew = np.abs(matrix - matrix.T).max()
    if skew > SYMMETRIC * np.abs(matrix).max():
        raise ValueError(f"{name}: the matrix is not symmetric, entries differ by up to {skew:.2g}")
    return matrix


def _largest(given):
    """The largest absolute entry of some matrices, 1 if all are zero."""
    return max(float(np.abs(matrix).max()) for matrix in given) or 1.0


def _draw(matrix, network, ax, title, limit):
    from matplotlib.colors import SymLogNorm

    norm = SymLogNorm(linthresh=limit * 10.0**-ORDERS, linscale=0.5, vmin=-limit, vmax=limit)
    end = len(matrix) - 0.5
    image = ax.imshow(matrix, cmap="RdBu_r", norm=norm, interpolation="nearest",
                      extent=(-0.5, end, end, -0.5))
    if network is not None:
        _draw_blocks(ax, parameter_blocks(network), len(matrix))
    ax.set(xlabel="parameter", ylabel="parameter")
    if title is not None:
        ax.set_title(title)
    return image


def _colour_bar(image, limit, **place):
    """The colour bar, with the powers of ten below the limit, and what kind of scale it is."""
    powers = limit * 10.0 ** -np.arange(ORDERS)
    ticks = np.concatenate([-powers, [0.0], powers[::-1]])
    label = f"second derivative (symmetric logarithm,\nlinear within ±{limit * 10.0**-ORDERS:.2g})"
    figure = image.axes.figure
    give_layout(figure)
    bar = figure.colorbar(image, shrink=0.85, **place)
    bar.set_label(label, fontsize=8)
    bar.minorticks_off()
    bar.set_ticks(ticks, labels=[f"{tick:.2g}" for tick in ticks])


def _draw_blocks(ax, blocks, size):
    for _, start, _ in blocks[1:]:
        ax.axhline(start - 0.5, color=BLACK, linewidth=0.5)
        ax.axvline(start - 0.5, color=BLACK, linewidth=0.5)
    wide = [block for block in blocks if block[2] - block[1] >= size / 30]
    centres = [(start + stop - 1) / 2 for _, start, stop in wide]
    names = [name for name, _, _ in wide]
    ax.set_xticks(centres, names)
    ax.set_yticks(centres, names)
    ax.tick_params(length=0)
