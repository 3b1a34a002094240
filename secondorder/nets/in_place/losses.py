"""Twins of the losses that steps are taken with most: `SquaredError` and `SoftmaxCrossEntropy`."""

import numpy as np

from ... import checks
from ..losses import SoftmaxCrossEntropy, SquaredError
from .base import Buffer, Buffered, Twins


def like_p():
    """A buffer shaped like a batch of outputs."""
    return Buffer(lambda twin: (twin.rows, twin.outputs))


class LossInPlace(Buffered):
    """Twin of a loss: its passes, which write into arrays that are used again.

    Passes that a twin does not define are the loss's own. Targets are those that `prepare_target`
    returned, and `value` is asked first, so that it alone looks at their shapes.

    Parameters
    ----------
    loss : Loss
    outputs : int
        C.
    dtype : numpy.dtype
    """

    def __init__(self, loss, outputs, dtype):
        super().__init__(dtype)
        self.loss, self.outputs = loss, outputs

    def prepare_target(self, target, shape, dtype):
        return self.loss.prepare_target(target, shape, dtype)

    def value(self, p, target):
        return self.loss.value(p, target)

    def gradient(self, p, target):
        return self.loss.gradient(p, target)

    def hessian(self, p, target):
        return self.loss.hessian(p, target)

    def hessian_product(self, p, target, v):
        return self.loss.hessian_product(p, target, v)

    def hessian_diagonal(self, p, target):
        return self.loss.hessian_diagonal(p, target)


losses = Twins(LossInPlace)  # losses: twin(loss, outputs, dtype)


@losses.register(SquaredError)
class SquaredErrorInPlace(LossInPlace):
    residual, p_bar, diagonal, product = like_p(), like_p(), like_p(), like_p()

    def value(self, p, target):
        checks.rows(p, target)
        residual = np.subtract(p, target, out=self.residual)
        return 0.5 * np.square(residual, out=residual).sum(axis=1)

    def gradient(self, p, target):
        return np.subtract(p, target, out=self.p_bar)

    def hessian_diagonal(self, p, target):
        self.diagonal[...] = 1
        return self.diagonal

    def hessian_product(self, p, target, v):
        checks.rows(p, v)
        return np.multiply(self.hessian_diagonal(p, target), v, out=self.product)


@losses.register(SoftmaxCrossEntropy)
class SoftmaxCrossEntropyInPlace(LossInPlace):
    one_hot, shifted, others, p_bar = like_p(), like_p(), like_p(), like_p()
    q, rest, after, diagonal, product = like_p(), like_p(), like_p(), like_p(), like_p()

    def __init__(self, loss, outputs, dtype):
        super().__init__(loss, outputs, dtype)
        self.classes = np.arange(outputs)

    def prepare_target(self, target, shape, dtype):
        target = checks.class_targets(target, shape, dtype, self.loss)
        if target.ndim == 2:
            return target
        return np.equal(target[:, None], self.classes, out=self.one_hot)

    def value(self, p, target):
        checks.rows(p, target)
        largest = p.real.argmax(axis=1)[:, None]
        shifted = np.subtract(p, np.take_along_axis(p, largest, axis=1), out=self.shifted)
        others = np.exp(shifted, out=self.others)
        np.put_along_axis(others, largest, 0, axis=1)
        log_total = np.log1p(others.sum(axis=1, keepdims=True))
        losses = np.subtract(log_total, shifted, out=shifted)
        return np.multiply(target, losses, out=losses).sum(axis=1)

    def _exponentials(self, p):
        """exp(p_si - max_j p_sj) in the place of q, and its sum over i."""
        e = np.subtract(p, p.real.max(axis=1, keepdims=True), out=self.q)
        np.exp(e, out=e)
        return e, e.sum(axis=1, keepdims=True)

    def _softmax_and_rest(self, p):
        """As `softmax_and_rest`."""
        e, total = self._exponentials(p)
        rest, after = self.rest, self.after
        rest[:, 0], after[:, -1] = 0, 0
        np.cumsum(e[:, :-1], axis=1, out=rest[:, 1:])
        np.cumsum(e[:, :0:-1], axis=1, out=after[:, :-1][:, ::-1])
        rest += after
        return np.divide(e, total, out=e), np.divide(rest, total, out=rest)

    def gradient(self, p, target):
        q, rest = self._softmax_and_rest(p)
        p_bar = np.subtract(target.sum(axis=1, keepdims=True), target, out=self.p_bar)
        p_bar *= q
        p_bar -= np.multiply(target, rest, out=rest)
        return p_bar

    def hessian_product(self, p, target, v):
        checks.rows(p, v)
        q, total = self._exponentials(p)
        q /= total
        top = np.take_along_axis(v, q.real.argmax(axis=1)[:, None], axis=1)
        product = np.subtract(v, top, out=self.product)
        product -= np.einsum("si,si->s", q, product)[:, None]
        product *= q
        product *= target.sum(axis=1, keepdims=True)
        return product

    def hessian_diagonal(self, p, target):
        q, rest = self._softmax_and_rest(p)
        diagonal = np.multiply(q, rest, out=self.diagonal)
        diagonal *= target.sum(axis=1, keepdims=True)
        return diagonal
