"""The kernels of a convolution, side by side."""

import numpy as np

from ..checks import real_array
from .style import axes_of, finished

GAP = 1  # pixels between two
COLUMNS = 3


def kernels(weights, ax=None, title=None):
    """Draw small images on one colour scale, blue below zero and red above.

    Parameters
    ----------
    weights : (n, h, w) array
        Such as ``layer.weight[:, 0]`` of a `so.Conv2d`.
    ax : matplotlib.axes.Axes, optional
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        No images of finite numbers.
    """
    weights = real_array(weights, "weights").astype(float)
    if weights.ndim != 3 or 0 in weights.shape:
        raise ValueError(f"weights has shape {weights.shape}, expected (n, h, w), none of them 0")
    count, h, w = weights.shape
    columns = min(COLUMNS, count)
    rows = -(-count // columns)
    whole = np.full((rows * (h + GAP) - GAP, columns * (w + GAP) - GAP), np.nan)
    for k, image in enumerate(weights):
        top, left = k // columns * (h + GAP), k % columns * (w + GAP)
        whole[top:top + h, left:left + w] = image
    ax, limit = axes_of(ax), np.abs(weights).max() or 1.0
    shown = ax.imshow(whole, cmap="RdBu_r", vmin=-limit, vmax=limit)
    ax.figure.colorbar(shown, ax=ax, shrink=0.8, label="weight")
    ax.axis("off")
    return finished(ax, title, where="none")
