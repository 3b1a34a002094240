"""The objective along a direction in parameter space, its quadratic model, and models of yours."""

import numpy as np

from ..checks import check_l2, function_of, instance_of, real_array
from ..exact import objective, two_jet
from ..nets import Network
from .style import BLACK, BLUE, COLOURS, DRAWABLE, axes_of, legend

POINTS = 61
STYLES = (":", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)))


def along(network, loss, x, y, direction, steps=None, models=None, l2=0.0, ax=None, title=None,
          batch_size=None, executor=None):
    """Draw f(theta + t d) over t, and its quadratic model f + t g . d + t^2 d^T H d / 2.

    Parameters
    ----------
    network, loss, x, y
        As for `so.exact.gradient`. The network is not moved.
    direction : (P,) array
        d.
    steps : (n,) array, optional
        t, two or more in rising order; by default 61 from -1 to 2.
    models : dict of str to callable, optional
        Other models by name, functions of t d (P,) that return a value: bounds, such as
        ``{"bound": so.residual_partitioning.bound(network, loss, x, y).value}``.
    l2 : float
    ax : matplotlib.axes.Axes, optional
    title : str, optional
    batch_size, executor
        As for `so.exact.gradient`.

    Returns
    -------
    matplotlib.axes.Axes
        The objective is drawn where it is finite.

    Raises
    ------
    TypeError, ValueError
        As `so.exact.hessian_vector_product`; steps that do not rise, models that are no functions.

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
    d, l2 = network.vector(direction, "direction").astype(float), check_l2(l2)
    steps, models = _steps(steps), _models(models)
    options = {"l2": l2, "batch_size": batch_size, "executor": executor}
    value, slope, curvature = two_jet(network, loss, x, y, d.astype(network.dtype), **options)
    f = objective(network, loss, x, y, **options)
    values = np.array([f.fun(f.start + t * d) for t in steps])
    values[~(np.abs(values) < DRAWABLE[1])] = np.nan
    ax = axes_of(ax)
    ax.plot(steps, values, color=BLACK, linewidth=2, label="objective")
    ax.plot(steps, value + slope * steps + curvature / 2 * steps**2, color=BLUE, linestyle="--",
            label="quadratic model")
    for number, (name, model) in enumerate(models.items(), start=1):
        ax.plot(steps, [_value(model, name, t * d) for t in steps],
                color=COLOURS[number % len(COLOURS)], linestyle=STYLES[number % len(STYLES)],
                label=name)
    ax.plot([0], [value], color=BLACK, marker="o", linestyle="none")
    known = values[np.isfinite(values)]
    room = (np.ptp(known) if known.size else 0.0) or 1.0  # models may leave the picture
    low, high = (known.min(), known.max()) if known.size else (value, value)
    ax.set_ylim(low - 0.3 * room, high + 0.3 * room)
    ax.set(xlabel="step t along the direction", ylabel="objective")
    if title is not None:
        ax.set_title(title)
    legend(ax)
    return ax


def _steps(steps):
    if steps is None:
        return np.linspace(-1.0, 2.0, POINTS)
    steps = real_array(steps, "steps").astype(float)
    if steps.ndim != 1 or len(steps) < 2 or (np.diff(steps) <= 0).any():
        raise ValueError(f"steps must be two or more rising numbers, got shape {steps.shape}")
    return steps


def _models(models):
    if models is None:
        return {}
    if not isinstance(models, dict):
        raise TypeError("models must be a dictionary of functions by name, got "
                        f"{type(models).__name__}")
    for name, model in models.items():
        function_of(model, f"models: {name!r}", 1, "a function of the change of theta")
    return models


def _value(model, name, change):
    value = np.asarray(model(change))
    if value.shape != () or value.dtype.kind not in "biuf":
        raise TypeError(f"models: {name!r} must return a number, got {value!r}")
    return float(value)
