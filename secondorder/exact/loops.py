"""Windows of several images, a matrix of patches each, for `shaped_columns`."""

from ..compiled import compiled
from ..compiled.layers.windows import windows, windows_back


@compiled
def gathered(x, size, Z):
    """Z_n = the windows of image n: x (N, C H W), Z (N, C K K, P Q)."""
    for n in range(x.shape[0]):
        windows(x[n : n + 1], size, 0, size[3], Z[n])


@compiled
def spread(Z_bar, size, x_bar):
    """The way back: sums of Z_bar_n at the places in x_bar_n that they come from."""
    x_bar[:, :] = x_bar.dtype.type(0)
    for n in range(x_bar.shape[0]):
        windows_back(Z_bar[n], size, 0, size[3], x_bar[n : n + 1])
