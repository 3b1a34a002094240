"""Arrays that count the multiplications of the products that they take part in."""

import numpy as np

UNSEEN = (np.einsum, np.dot, np.tensordot, np.inner, np.vdot, np.outer, np.linalg.multi_dot)


class Counted(np.ndarray):
    """An array of which every matrix product, also of what comes of it, is written down.

    `log` has the multiply-adds of every matrix product, `entries` the multiplications of every
    product entry by entry. Without `follow` only products with the array itself are counted.
    Products that would not be seen here (einsum, dot, ...) are refused. :func:`counted` makes one.
    """

    log = entries = None
    follow = True

    def __array_finalize__(self, source):
        for name in ("log", "entries", "follow"):
            setattr(self, name, getattr(source, name, getattr(Counted, name)))

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        source = next(array for array in (*inputs, *(out or ())) if isinstance(array, Counted))
        plain = [_plain(array) for array in inputs]
        if out is not None:
            options["out"] = tuple(_plain(array) for array in out)
        result = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.matmul:
            source.log.append(np.size(result) * plain[0].shape[-1])
        elif ufunc is np.multiply:
            source.entries.append(np.size(result))
        if out is not None:
            return out[0]
        return (counted(result, source.log, source.entries)
                if source.follow and np.ndim(result) else result)

    def __array_function__(self, function, types, args, kwargs):
        if function in UNSEEN:
            raise TypeError(f"{function.__name__} is not counted")
        return super().__array_function__(function, types, args, kwargs)


def _plain(array):
    return array.view(np.ndarray) if isinstance(array, Counted) else array


def counted(array, log, entries=None, follow=True):
    """A view of `array` that writes into the list `log`, and into `entries` if that is given."""
    view = array.view(Counted)
    view.log, view.entries, view.follow = log, [] if entries is None else entries, follow
    return view


def multiplications(work, *shapes, entry_by_entry=False):
    """How many multiplications ``work(*arrays)`` makes for arrays of ones of these shapes: those of
    matrix products, and with `entry_by_entry` those of entries too.
    """
    log, entries = [], []
    work(*(counted(np.ones(shape), log, entries) for shape in shapes))
    return sum(log) + entry_by_entry * sum(entries)
