"""What a loss is: value, gradient and Hessian of a criterion in the output ``p`` (S, C)."""

import numpy as np

from ... import checks
from ..overriding import place


class Loss:
    """Base of all losses; from `value`, `gradient` and `hessian` the rest follows.

    The passes take outputs ``p`` (S, C) and targets in the form that `prepare_target` returns, one
    row a sample. They treat every row alone: nothing is averaged or summed over samples. They
    change neither argument, and no argument may be None. Nothing is checked in them: whoever calls
    one by himself sees to shapes that fit, as NumPy would broadcast others.

    Attributes
    ----------
    diagonal_hessian : bool
        Promise that the Hessian of every sample is diagonal for all p (the loss is a sum over
        outputs). Methods then work with `hessian_diagonal` alone: residual partitioning takes its
        output rule "diagonal". False is always safe. `DiagonalLoss` makes it true and asks for
        `hessian_diagonal` instead of `hessian`.
    convex : bool
        Promise that the Hessian of every sample has no negative eigenvalue for any p. Methods then
        take its square root, as in Gauss-Newton matrices. False is always safe.
    many_directions : bool
        Promise that `hessian_product` takes any number of directions in front, v (K, S, C). False,
        which is always safe, for a subclass that overrides it and does not say so itself: it is
        then called once a direction.

    Notes
    -----
    *dtype.* Every pass returns the dtype of `p`: float32 stays float32, float64 stays float64.
    Python numbers keep it (``0.5 * p``); NumPy's own scalars and new arrays do not: write
    ``math.log(2)`` for ``np.log(2.0)``, ``np.eye(C, dtype=p.dtype)`` for ``np.eye(C)``. A pass that
    promotes float32 is refused by a float32 network.

    *Far outputs.* The passes must stay finite for outputs of +-1000, where ``exp`` alone overflows.

    *Labels.* Targets are rows (S, C) of real numbers unless `prepare_target` takes others. Integer
    labels (S,) need two lines; `labels` refuses those below 0 or above C - 1::

        def prepare_target(self, target, shape, dtype):
            return secondorder.checks.labels(target, shape)

    `fisher` and `sample_targets` are for losses that are negative log-likelihoods; leave them out
    otherwise. ``secondorder.verify.loss(MyLoss())`` checks all of this.

    Examples
    --------
    >>> import numpy as np
    >>> class Quartic(DiagonalLoss):
    ...     convex = True
    ...     def value(self, p, target):
    ...         return np.sum((p - target) ** 4, axis=1)
    ...     def gradient(self, p, target):
    ...         return 4 * (p - target) ** 3
    ...     def hessian_diagonal(self, p, target):
    ...         return 12 * (p - target) ** 2
    >>> from secondorder import verify
    >>> bool(verify.loss(Quartic()))
    True
    """

    diagonal_hessian = False
    convex = False
    many_directions = True

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if place(cls, "hessian_product") < place(cls, "many_directions"):
            cls.many_directions = False
        if min(place(cls, "value"), place(cls, "gradient")) < place(cls, "value_and_gradient"):
            cls.value_and_gradient = Loss.value_and_gradient

    def prepare_target(self, target, shape, dtype):
        """Check targets of outputs of `shape` (S, C) and return them as the passes use them.

        What it returns, or rows of that, it must accept as well. A loss of labels overrides it; see
        `Loss`.

        Raises
        ------
        ValueError
            Wrong shape or non-finite numbers.
        TypeError
            Not numbers.
        """
        return checks.targets(target, shape, dtype, self)

    def value(self, p, target):
        """Loss of each sample, (S,)."""
        raise TypeError(f"{type(self).__name__} does not define value(p, target)")

    def value_and_gradient(self, p, target):
        """`value`, and `gradient` where both are made in one go, else None: it is asked for later.
        """
        return self.value(p, target), None

    def gradient(self, p, target):
        """Gradient in p of each sample, (S, C)."""
        raise TypeError(f"{type(self).__name__} does not define gradient(p, target)")

    def hessian(self, p, target):
        """Hessian in p of each sample, (S, C, C)."""
        raise TypeError(f"{type(self).__name__} does not define hessian(p, target)")

    def hessian_product(self, p, target, v):
        """Hessian of each sample times its row of v (S, C), or of each of v (K, S, C)."""
        return np.einsum("sij,...sj->...si", self.hessian(p, target), v)

    def hessian_diagonal(self, p, target):
        """Diagonal of each sample's Hessian, (S, C)."""
        return np.einsum("sii->si", self.hessian(p, target)).copy()

    def fisher(self, p):
        """E[score score^T] under the model's own distribution of targets, (S, C, C)."""
        checks.no_model(self)

    def sample_targets(self, p, rng):
        """Draw one target a sample from the model, in the form of `prepare_target`."""
        self.fisher(p)

    def __repr__(self):
        return f"{type(self).__name__}()"


def diagonal_matrices(entries):
    """(S, C) -> (S, C, C) diagonal matrices."""
    out = np.zeros((*entries.shape, entries.shape[1]), dtype=entries.dtype)
    np.einsum("sii->si", out)[...] = entries
    return out


class DiagonalLoss(Loss):
    """A sum over outputs; a subclass defines `value`, `gradient` and `hessian_diagonal`."""

    diagonal_hessian = many_directions = True

    def hessian_diagonal(self, p, target):
        raise TypeError(f"{type(self).__name__} does not define hessian_diagonal(p, target)")

    def hessian(self, p, target):
        return diagonal_matrices(self.hessian_diagonal(p, target))

    def hessian_product(self, p, target, v):
        """f_ii v_si"""
        return self.hessian_diagonal(p, target) * v
