"""The record that every reader returns."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Dataset:
    """Inputs and targets with what one has to know about them.

    Attributes
    ----------
    name : str
    inputs : ndarray of float64, shape (N, D)
    targets : ndarray
        Class labels, int64 of shape (N,), or float64 of shape (N, 1) for regression.
    names : tuple of str
        Names of the D inputs.
    description : str
    image_shape : tuple of int or None
        Shape of one input as an image, (H, W) or (C, H, W); None for tables.
    input_range : tuple of float or None
        Smallest and largest value that the file format allows; None where it sets no bounds.
    """

    name: str
    inputs: np.ndarray
    targets: np.ndarray
    names: tuple
    description: str
    image_shape: tuple | None = None
    input_range: tuple | None = None

    @property
    def classes(self):
        """Number of classes, or None for regression."""
        return None if self.targets.ndim == 2 else int(self.targets.max()) + 1

    def __len__(self):
        return len(self.inputs)
