"""Drawing only: every function takes results and an optional matplotlib axes, draws, and returns the axes.

Colours are those of Okabe and Ito, which remain distinct under the common colour vision deficiencies, and lines differ
in their style or marker as well. Matplotlib is imported when the first function is called.
"""

import numpy as np

BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#E69F00",
    "#CC79A7",
    "#56B4E9",
    "#000000",
)
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def learning_curves(histories, ax=None, x="epoch", quantity="loss", x_label=None, y_label=None):
    """Training (solid) and validation (dashed) curves, one colour a method.

    Parameters
    ----------
    histories : dict of str to History or list of dict
        Records with the keys `x`, ``train_<quantity>`` and, where there is a validation set, ``validation_<quantity>``.
    ax : matplotlib.axes.Axes, optional
    x : str
        Key of the records: ``"epoch"``, ``"step"``, ``"seconds"``.
    quantity : str
        ``"loss"`` or ``"accuracy"``; records that lack it are left out.
    x_label, y_label : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    ax = _axes(ax)
    drawn = []
    for number, (name, history) in enumerate(histories.items()):
        records = getattr(history, "records", history)
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        for part, key, style, fill in (
            ("training", f"train_{quantity}", "-", colour),
            ("validation", f"validation_{quantity}", "--", "white"),
        ):
            points = [
                (record[x], record[key])
                for record in records
                if record.get(x) is not None and record.get(key) is not None
            ]
            if not points:
                continue
            places, values = np.array(points, float).T
            ax.plot(
                places,
                values,
                style,
                color=colour,
                marker=marker,
                markerfacecolor=fill,
                markersize=4,
                markevery=max(1, len(values) // 8),
                label=f"{name}, {part}",
            )
            drawn.append(values)
    if not drawn:
        raise ValueError(f"histories: no record holds both {x!r} and 'train_{quantity}'")
    if quantity == "loss" and all((values > 0).all() for values in drawn):
        ax.set_yscale("log")
    ax.set(xlabel=x if x_label is None else x_label, ylabel=quantity if y_label is None else y_label)
    ax.grid(alpha=0.3, which="both")
    ax.legend(fontsize=8)
    return ax


def parameter_blocks(network):
    """Names and places of the weights and biases in ``network.theta``.

    Returns
    -------
    list of (str, int, int)
        Name (``W1``, ``b1``, ``W2``, ... by affine layer), first index, index after the last.
    """
    blocks, start, number = [], 0, 0
    for layer in network.layers:
        for part in layer.sublayers():
            if not part.trainable or not part.parameters:
                continue
            number += 1
            for name, value in part.parameters.items():
                label = {"weight": f"W{number}", "bias": f"b{number}"}.get(name, f"{name}{number}")
                blocks.append((label, start, start + value.size))
                start += value.size
    return blocks


def hessian_heat_map(matrix, network=None, ax=None, title=None, limit=None, orders=3, colour_bar=True):
    """Symmetric matrix over the parameters as a signed picture: red above zero, blue below, white at zero.

    The colour scale is linear near zero and logarithmic beyond, so that blocks of very different size stay visible.

    Parameters
    ----------
    matrix : ndarray, shape (P, P)
    network : Network, optional
        Draws and names its weight and bias blocks.
    ax : matplotlib.axes.Axes, optional
    title : str, optional
    limit : float, optional
        Value at the ends of the scale; the largest absolute entry by default.
    orders : int
        Orders of magnitude below `limit` at which the scale becomes linear.
    colour_bar : bool

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the matrix is not square, not finite, or of another size than the network's parameters.
    """
    from matplotlib.colors import SymLogNorm

    matrix = np.asarray(matrix, float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError(f"matrix: expected a finite square matrix, given shape {matrix.shape}")
    if network is not None and len(matrix) != network.size:
        raise ValueError(f"matrix: shape {matrix.shape} for a network of {network.size} parameters")
    ax = _axes(ax)
    limit = limit or np.abs(matrix).max() or 1.0
    norm = SymLogNorm(linthresh=limit * 10.0**-orders, linscale=0.5, vmin=-limit, vmax=limit)
    image = ax.imshow(matrix, cmap="RdBu_r", norm=norm, interpolation="nearest")
    if network is not None:
        _draw_blocks(ax, parameter_blocks(network), len(matrix))
    ax.set(xlabel="parameter", ylabel="parameter", title=title or "")
    if colour_bar:
        powers = limit * 10.0 ** -np.arange(orders)
        ticks = np.concatenate([-powers, [0.0], powers[::-1]])
        bar = ax.figure.colorbar(image, ax=ax, label="second derivative", shrink=0.85)
        bar.minorticks_off()
        bar.set_ticks(ticks, labels=[f"{tick:.2g}" for tick in ticks])
    return ax


def _draw_blocks(ax, blocks, size):
    for _, start, _ in blocks[1:]:
        ax.axhline(start - 0.5, color=BLACK, linewidth=0.5)
        ax.axvline(start - 0.5, color=BLACK, linewidth=0.5)
    wide = [block for block in blocks if block[2] - block[1] >= size / 30]
    centres, names = [(start + stop - 1) / 2 for _, start, stop in wide], [name for name, _, _ in wide]
    ax.set_xticks(centres, names)
    ax.set_yticks(centres, names)
    ax.tick_params(length=0)


def spectrum(eigenvalues, ax=None, zero=None, title=None):
    """Eigenvalues in falling order on a signed axis that is logarithmic away from zero.

    Parameters
    ----------
    eigenvalues : ndarray, shape (P,)
    ax : matplotlib.axes.Axes, optional
    zero : float, optional
        Eigenvalues of smaller size count as zero; by default P times the rounding unit times the largest.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    values = np.sort(np.asarray(eigenvalues, float))[::-1]
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"eigenvalues: expected finite values of shape (P,), given shape {values.shape}")
    ax = _axes(ax)
    largest = np.abs(values).max() or 1.0
    zero = len(values) * np.finfo(float).eps * largest if zero is None else zero
    ranks = np.arange(1, len(values) + 1)
    groups = (
        (values > zero, "positive", "o", VERMILION),
        (np.abs(values) <= zero, "zero to rounding", "|", BLACK),
        (values < -zero, "negative", "s", BLUE),
    )
    for chosen, name, marker, colour in groups:
        if chosen.any():
            ax.plot(
                ranks[chosen],
                values[chosen],
                marker,
                markersize=6 if marker == "|" else 3,
                color=colour,
                label=f"{name}: {chosen.sum()}",
            )
    ax.axhline(0.0, color=BLACK, linewidth=0.6)
    smallest = largest * 1e-6
    ax.set_yscale("symlog", linthresh=smallest)
    ax.set_ylim(min(3 * values[-1], -smallest), max(3 * values[0], smallest))
    _sparse_symlog_ticks(ax, smallest, largest)
    ax.set(xlabel="rank of the eigenvalue", ylabel="eigenvalue", title=title or "")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    return ax


def _sparse_symlog_ticks(ax, smallest, largest):
    """Ticks every second power of ten on each side of zero."""
    powers = 10.0 ** np.arange(np.ceil(np.log10(smallest)), np.floor(np.log10(largest)) + 1, 2)
    low, high = ax.get_ylim()
    ticks = np.concatenate([-powers[::-1], [0.0], powers])
    ax.set_yticks(ticks[(ticks >= low) & (ticks <= high)])


def bound_beside_hessian(bounded_hessian, curvature, network, figure=None):
    """The diagonal bound of residual partitioning beside the Hessian that it bounds.

    Three panels: the Hessian, the diagonal bound on the same colour scale, and the eigenvalues of bound minus Hessian,
    none of which may be negative.

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
    if figure is None:
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=(13, 4.2), layout="constrained")
    left, middle, right = axes = figure.subplots(1, 3, width_ratios=(1, 1, 0.8))
    curvature = np.asarray(curvature, float)
    limit = max(np.abs(bounded_hessian).max(), np.abs(curvature).max())
    hessian_heat_map(bounded_hessian, network, left, "Hessian that is bounded", limit, colour_bar=False)
    hessian_heat_map(np.diag(curvature), network, middle, "diagonal bound", limit)
    gaps = np.linalg.eigvalsh(np.diag(curvature) - bounded_hessian)
    spectrum(gaps, right, title=f"eigenvalues of bound - Hessian\nsmallest: {gaps[0]:.2g}")
    return axes


def error_against_step(steps, errors, ax=None, predicted=None, label="measured"):
    """Errors of a finite difference against its step, both axes logarithmic.

    Parameters
    ----------
    steps, errors : array_like, shape (n,)
    ax : matplotlib.axes.Axes, optional
    predicted : array_like, shape (n,), optional
        Predicted errors, drawn dashed.
    label : str

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = _axes(ax)
    number = len(ax.lines)
    colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    ax.loglog(steps, errors, marker=marker, color=colour, markersize=4, label=label)
    if predicted is not None:
        ax.loglog(steps, predicted, "--", color=BLACK, label="predicted")
    ax.set(xlabel="step", ylabel="error")
    ax.grid(alpha=0.3, which="both")
    ax.legend(fontsize=8)
    return ax


def _axes(ax):
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]
