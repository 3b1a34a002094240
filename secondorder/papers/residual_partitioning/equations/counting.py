"""Counting the multiply-adds of every matrix product of a computation."""

import numpy as np

from ....nets import SquaredError
from . import cases


class Counted(np.ndarray):
    """An array whose matrix products, and those of what it makes, go into the list `log`.

    An entry is the number of multiply-adds. Products that would not be seen here (einsum, dot, ...)
    are refused.
    """

    log = None

    def __array_finalize__(self, source):
        self.log = getattr(source, "log", None)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        log = next(array.log for array in (*inputs, *(out or ())) if isinstance(array, Counted))
        plain = [a.view(np.ndarray) if isinstance(a, Counted) else a for a in inputs]
        if out is not None:
            options["out"] = tuple(a.view(np.ndarray) if isinstance(a, Counted) else a for a in out)
        result = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.matmul:
            log.append(result.size * plain[0].shape[-1])
        if not isinstance(result, np.ndarray) or out is not None:
            return result if out is None else out[0]
        result = result.view(Counted)
        result.log = log
        return result

    def __array_function__(self, function, types, args, kwargs):
        if function in (np.einsum, np.dot, np.tensordot, np.inner, np.vdot, np.outer,
                        np.linalg.multi_dot):
            raise TypeError(f"{function.__name__} is not counted")
        return super().__array_function__(function, types, args, kwargs)


def multiply_adds(rng, sizes, samples, work):
    """Multiply-adds of every matrix product of work(evaluation), forward pass included."""
    net, log = cases.network(rng, "relu", sizes), []
    for layer in net.layers[::2]:
        counted = layer.weight.view(Counted)
        counted.log = log
        dict.__setitem__(layer.parameters, "weight", counted)
    x, y = cases.batch(rng, net, samples=samples)
    work(net.evaluate(SquaredError(), x, y))
    return log
