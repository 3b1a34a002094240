"""Every bridge as a check."""

from . import curvature_of_a_layer, damped_steps, diagonal_bounds  # noqa: F401
