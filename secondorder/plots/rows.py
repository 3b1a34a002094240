"""Pictures side by side."""

from ..checks import boolean, function_of, positive_number, real_array

WIDTH = 6.4  # inches of a picture; legends beside it come to that


def row(*pictures, widths=None, height=4.6, share_y=False):
    """Draw pictures side by side in one figure.

    Parameters
    ----------
    *pictures : callable
        Functions of matplotlib axes that draw on them.
    widths : sequence of float, optional
        Shares of the width; equal ones by default.
    height : float
        In inches.
    share_y : bool
        One vertical axis for all.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    TypeError, ValueError
        No pictures, one that is no function, widths that are not positive or not one a picture.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> both = so.plots.row(lambda ax: so.plots.spectrum([1.0, 2.0], ax),
    ...                     lambda ax: so.plots.lines({"loss": np.array([2.0, 1.0])}, ax))
    """
    from matplotlib.figure import Figure

    if not pictures:
        raise ValueError("pictures: there is nothing to draw")
    for number, picture in enumerate(pictures):
        function_of(picture, f"pictures[{number}]", 1, "a function of matplotlib axes")
    if widths is not None:
        widths = real_array(widths, "widths", (len(pictures),))
        if not (widths > 0).all():
            raise ValueError(f"widths must be above 0, got {widths}")
    size = min(1.6 + WIDTH * len(pictures), 14.5), positive_number(height, "height", 100)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, len(pictures), width_ratios=widths, squeeze=False,
                           sharey=boolean(share_y, "share_y"))[0]
    for picture, ax in zip(pictures, axes):
        picture(ax)
    return figure
