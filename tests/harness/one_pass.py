"""What compiled whole steps report, computed from a direction in plain NumPy."""

import numpy as np


def step_along(direction_of, total, theta, samples, l2, rate):
    """The new parameters, the three sums and the three largest sizes that a whole step gives, for a
    function from the gradient to the direction and the memory to look at."""
    gradient = total * (1 / samples) + l2 * theta
    direction, memory = direction_of(gradient)
    moved = theta + rate * direction
    sums = [np.sum(v.astype(np.float64) ** 2) for v in (gradient, theta, direction)]
    return moved, np.array(sums), [float(np.abs(v).max()) for v in (direction, moved, memory)]
