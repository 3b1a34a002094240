"""Random crops of images, brought to one size: the augmentation that protocols name."""

import numpy as np


def random_boxes(rng, count, side, area=(0.08, 1.0), ratio=(0.75, 4 / 3)):
    """Boxes (count, 4) in images of `side` pixels: top, left, height, width, not rounded.

    The share of the image is uniform between the limits of `area`, width over height uniform in
    its logarithm between those of `ratio`; a side that would be longer than the image is cut to it.
    """
    surface = side * side * rng.uniform(*area, count)
    shape = np.exp(rng.uniform(*np.log(ratio), count))
    height = np.minimum(np.sqrt(surface / shape), side)
    width = np.minimum(np.sqrt(surface * shape), side)
    top, left = (rng.random(count) * (side - extent) for extent in (height, width))
    return np.stack([top, left, height, width], axis=1)


def resized_crops(x, channels, boxes, to):
    """Every image of x (S, channels * side^2) cut to its box and brought to `to` x `to` pixels.

    A new pixel is the mean of the old image over the area that it covers:
    y_c = A x_c B^T for each channel c, with A, B (to, side) the shares of old rows and columns in
    the new ones.
    """
    side = round((x.shape[1] / channels) ** 0.5)
    A = shares(boxes[:, 0], boxes[:, 2], side, to).astype(x.dtype)
    B = shares(boxes[:, 1], boxes[:, 3], side, to).astype(x.dtype)
    grid = x.reshape(len(x), channels, side, side)
    return (A[:, None] @ grid @ B[:, None].transpose(0, 1, 3, 2)).reshape(len(x), -1)


def shares(start, extent, side, to):
    """(S, to, side): which share of old pixel p lies in new pixel i of start + extent [0, 1]."""
    edges = start[:, None] + extent[:, None] * np.arange(to + 1) / to
    low, high = edges[:, :-1, None], edges[:, 1:, None]
    pixels = np.arange(side)
    common = np.clip(np.minimum(high, pixels + 1) - np.maximum(low, pixels), 0, None)
    return common / (high - low)
