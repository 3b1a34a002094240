"""The objective along directions in parameter space, its quadratic model, and models of yours."""

import numpy as np

from ..checks import check_l2, increasing, instance_of
from ..exact import objective, two_jet
from ..nets import Network
from .style import BLACK, BLUE, COLOURS, DRAWABLE, axes_of, finished, style

POINTS = 61
STYLES = (":", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)))


def along(network, loss, x, y, direction, steps=None, models=None, l2=0.0, ax=None, title=None):
    """Draw f(theta + t d) over t, and its quadratic model f + t g . d + t^2 d^T H d / 2.

    Parameters
    ----------
    network, loss, x, y
        As for `so.exact.gradient`. The network is not moved.
    direction : (P,) array, or dict of str to (P,) array
        d. Of several by name the objective along each is drawn, and its quadratic model dashed in
        the same colour.
    steps : (n,) array, optional
        t, two or more in rising order; by default 61 from -1 to 2.
    models : dict of str to callable, optional
        Other models by name, functions of t d (P,) that return a value: bounds, such as
        ``{"bound": so.residual_partitioning.bound(network, loss, x, y).value}``. For one direction
        only.
    l2 : float
    ax : matplotlib.axes.Axes, optional
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
        The objective is drawn where it is finite.

    Raises
    ------
    TypeError, ValueError
        As `so.exact.hessian_vector_product`; steps that do not rise, models of several directions.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> net, x = so.mlp([3, 4, 2], rng=0), np.random.default_rng(1).normal(size=(20, 3))
    >>> problem = net, so.SquaredError(), x, np.ones((20, 2))
    >>> bound = so.residual_partitioning.bound(*problem)
    >>> axes = so.plots.along(*problem, -bound.gradient / bound.curvature,
    ...                       models={"residual partitioning": bound.value})
    """
    instance_of(network, Network, "network").require_parameters()
    directions, models = _directions(direction, network), models or {}
    steps = np.linspace(-1.0, 2.0, POINTS) if steps is None else increasing(steps, "steps")
    if models and len(directions) > 1:
        raise ValueError("models are drawn along one direction, got several")
    l2 = check_l2(l2)
    jets = [two_jet(network, loss, x, y, d.astype(network.dtype), l2=l2)
            for d in directions.values()]
    f = objective(network, loss, x, y, l2=l2)
    values = np.array([[f.fun(f.start + t * d) for t in steps] for d in directions.values()])
    values[~(np.abs(values) < DRAWABLE)] = np.nan
    ax, start = axes_of(ax), jets[0][0]
    for number, (name, own, jet) in enumerate(zip(directions, values, jets)):
        _ray(ax, steps, own, jet, name, number)
    if None not in directions:
        ax.plot([], [], color=BLACK, linestyle="--", linewidth=1, label="quadratic models")
    for number, (name, model) in enumerate(models.items(), start=1):
        (d,) = directions.values()
        ax.plot(steps, [float(model(t * d)) for t in steps],
                color=COLOURS[number % len(COLOURS)], linestyle=STYLES[number % len(STYLES)],
                label=name)
    ax.plot([0], [start], color=BLACK, marker="o", linestyle="none")
    known = values[np.isfinite(values)]
    room = (np.ptp(known) if known.size else 0.0) or 1.0  # models may leave the picture
    low, high = (known.min(), known.max()) if known.size else (start, start)
    ax.set_ylim(low - 0.3 * room, high + 0.3 * room)
    ax.set(xlabel="step t along the direction", ylabel="objective")
    return finished(ax, title)


def _directions(direction, network):
    """By name, float64; one that bears no name has the name None."""
    named = direction if isinstance(direction, dict) else {None: direction}
    if not named:
        raise ValueError("direction is an empty dictionary: there is nothing to draw")
    return {name: network.vector(d, "direction" if name is None else f"direction: {name!r}"
                                 ).astype(float) for name, d in named.items()}


def _ray(ax, steps, values, jet, name, number):
    """The objective along one direction, and its quadratic model dashed."""
    value, slope, curvature = jet
    model = value + slope * steps + curvature / 2 * steps**2
    if name is None:
        ax.plot(steps, values, color=BLACK, linewidth=2, label="objective")
        ax.plot(steps, model, color=BLUE, linestyle="--", label="quadratic model")
        return
    colour, marker = style(number)
    ax.plot(steps, values, color=colour, marker=marker, markersize=4,
            markevery=max(1, len(steps) // 8), label=name)
    ax.plot(steps, model, color=colour, linestyle="--", linewidth=1)
