"""The objective in a plane of parameter space, with points and paths in it."""

import numpy as np

from ..checks import check_l2, increasing, instance_of, real_array
from ..exact import objective
from ..nets import Network
from .style import axes_of, finished, legend, style


def plane(network, loss, x, y, across, up, points=None, x_steps=None, y_steps=None, l2=0.0, ax=None,
          title=None):
    """Draw f(theta + a u + b v) in shades over a and b, and changes of theta as points.

    u is `across` over its length; v is what of `up` is orthogonal to it, over its length.

    Parameters
    ----------
    network, loss, x, y
        As for `so.exact.gradient`. The network is not moved.
    across, up : (P,) array
        Two directions, not parallel.
    points : dict of str to (P,) or (n, P) array, optional
        Changes of theta by name: one is a cross, several are a path. They are drawn where they lie
        in the plane; what leaves it is not seen.
    x_steps, y_steps : (n,) array, optional
        a and b, two or more in rising order; by default 41 from -2 to 2.
    l2 : float
    ax : matplotlib.axes.Axes, optional
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        As `so.exact.gradient`; parallel directions, steps that do not rise, points of other shapes.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> net, x = so.mlp([3, 2], rng=0), np.random.default_rng(1).normal(size=(20, 3))
    >>> problem = net, so.SquaredError(), x, np.ones((20, 2))
    >>> g = so.exact.gradient(*problem)
    >>> axes = so.plots.plane(*problem, -g, np.ones(net.size), points={"gradient step": -g})
    """
    instance_of(network, Network, "network").require_parameters()
    u, v = _frame(network.vector(across, "across"), network.vector(up, "up"))
    a, b = (np.linspace(-2.0, 2.0, 41) if steps is None else increasing(steps, name)
            for steps, name in ((x_steps, "x_steps"), (y_steps, "y_steps")))
    shown = _points(points, network)
    f = objective(network, loss, x, y, l2=check_l2(l2))
    heights = np.array([[f.fun(f.start + s * u + t * v) for s in a] for t in b])
    heights = np.ma.masked_invalid(heights)
    ax = axes_of(ax)
    shades = ax.contourf(a, b, heights, levels=20, cmap="Greys")
    ax.figure.colorbar(shades, ax=ax, label="objective in this plane")
    for number, (name, changes) in enumerate(shown.items()):
        colour, marker = style(number)
        ax.plot(changes @ u, changes @ v, color=colour, label=name,
                **({"marker": marker, "markersize": 3} if len(changes) > 1
                   else {"marker": "X", "markersize": 11, "linestyle": "none"}))
    ax.set(xlim=(a[0], a[-1]), ylim=(b[0], b[-1]), xlabel="across", ylabel="up")
    if shown:
        legend(ax, loc="upper left", bbox_to_anchor=(0, -0.16))
    return finished(ax, title, where="none")


def _frame(across, up):
    """Two orthonormal vectors of the plane."""
    across, up = across.astype(float), up.astype(float)
    length = np.linalg.norm(across)
    if length == 0:
        raise ValueError("across must not be zero")
    u = across / length
    rest = up - (up @ u) * u
    if np.linalg.norm(rest) <= 1e-12 * np.linalg.norm(up):
        raise ValueError("up must not be zero or parallel to across: they span no plane")
    return u, rest / np.linalg.norm(rest)


def _points(points, network):
    checked, points = {}, {} if points is None else instance_of(points, dict, "points")
    for name, changes in points.items():
        changes = np.atleast_2d(real_array(changes, f"points: {name!r}").astype(float))
        if changes.ndim != 2 or changes.shape[1] != network.size:
            raise ValueError(f"points: {name!r} has shape {changes.shape}, expected (n, "
                             f"{network.size})")
        checked[name] = changes
    return checked
