"""`so.compare`: every curvature at one point of one network, measured alike."""

import time
from dataclasses import dataclass

import numpy as np

from secondorder import checks
from secondorder.checks import instance_of, whole_number
from secondorder.exact.curvature import check_network
from secondorder.nets import Activation, Linear, Loss
from secondorder.papers import residual_partitioning

from . import measures, page
from .rows import ABOVE, GAUSS_NEWTON, HESSIAN, POSITIVE, own, rows

MATRICES = 20  # of P x P that are held at a time, about


@dataclass(frozen=True)
class Comparison:
    """What `compare` found.

    Attributes
    ----------
    rows : list of dict
        One a curvature: ``name``, ``source``, ``bytes``, ``milliseconds`` and the numbers of
        :func:`secondorder.comparison.measures.measure`.
    matrices : dict of str to (P, P) array
    promises : list of dict
        What theory says, ``name``, ``promise``, ``ok``.
    network : Network
    damping : float
        What is added to every spectrum.
    caption : str
    """

    rows: list
    matrices: dict
    promises: list
    network: object
    damping: float
    caption: str

    @property
    def ok(self):
        """Whether everything that theory promises was found."""
        return all(one["ok"] for one in self.promises)

    def table(self):
        """The table as text."""
        return page.table(self)

    __str__ = table

    def figure(self):
        """The page, A4 landscape, as a figure of matplotlib."""
        return page.draw(self)


def compare(network, loss, x, y, damping=0.2, extra=None, limit=2500, caption=""):
    """Every curvature of a small network at one point, side by side.

    Parameters
    ----------
    network : Network
        A chain of `Linear` and `Activation` layers; its parameters stay as they are.
    loss : Loss
    x : (S, D) array
    y : targets of the loss
    damping : float
        What every step adds to the eigenvalues, as a share of the mean absolute eigenvalue of the
        Hessian; the same number for all rows.
    extra : dict of str to (P, P) array or LinearOperator, optional
        Your rows, by name.
    limit : int
        Largest number of parameters.
    caption : str
        What the page says of network and data.

    Returns
    -------
    Comparison

    Raises
    ------
    MemoryError
        Above the limit, with the bytes that it would take.
    TypeError, ValueError
        Bad arguments, a layer that one of the methods does not take, a row of another shape. Also
        a Hessian that is zero (dead units, a saturated loss): all errors are relative to it.

    Examples
    --------
    >>> import secondorder as so
    >>> wine = so.datasets.load_wine()
    >>> x = so.datasets.Standardisation.fit(wine.inputs).apply(wine.inputs)
    >>> network, loss = so.mlp([13, 4, 3], rng=0), so.SoftmaxCrossEntropy()
    >>> comparison = so.compare(network, loss, x, wine.targets)
    >>> comparison.ok
    True
    """
    check_network(network)
    instance_of(loss, Loss, "loss")
    for layer in network.layers:
        if type(layer) not in (Linear, Activation):
            raise TypeError(f"compare takes chains of Linear and Activation layers, not {layer!r}: "
                            "some of the curvatures are derived for them only")
    checks.positive_number(damping, "damping")
    whole_number(limit, "limit", 1)
    P = network.size
    if P > limit:
        raise MemoryError(f"the network has {P} parameters: {MATRICES} matrices of {P} x {P} take "
                          f"about {MATRICES * P * P * 8:,} bytes; the limit of {limit} parameters "
                          "may be raised")
    table = rows(loss, np.zeros((1, *network.output_shape), network.dtype))
    extra = {} if extra is None else instance_of(extra, dict, "extra")
    known = [row.name for row in table]
    for name in extra:
        if name in known:
            raise ValueError(f"extra: {name!r} is the name of a row that is there already")
    table += [own(name, matrix) for name, matrix in extra.items()]
    point = measures.Point(network, loss, x, y, damping)
    if not point.hessian.any():
        raise ValueError("the Hessian is zero at this point, so that no curvature can be compared "
                         "with it; take other parameters or data")
    measured, matrices = [], {}
    for row in table:
        began = time.perf_counter()
        matrix, stored = row.make(point)
        seconds = time.perf_counter() - began
        matrix = np.asarray((matrix + matrix.T) / 2, dtype=float)
        matrices[row.name] = matrix
        measured.append({"name": row.name, "source": row.source, "bytes": int(stored),
                         "milliseconds": 1e3 * seconds} | measures.measure(point, matrix))
    newton = measured[0]["direction"]
    for one in measured:
        one["angle"] = measures.angle(one["direction"], newton)
    return Comparison(measured, matrices, promises(point, table, measured, matrices), network,
                      point.damping, caption)


def promises(point, table, measured, matrices):
    """What theory says of the rows, and whether it is so."""
    told, H = [], point.hessian
    for row, one in zip(table, measured):
        matrix = matrices[row.name]
        known = {POSITIVE: one["negative"] == 0, ABOVE: one["above"],
                 HESSIAN: one["error"] < 1e-10}
        if GAUSS_NEWTON in row.promises:
            known[GAUSS_NEWTON] = bool(np.allclose(matrix, matrices["Gauss-Newton"], rtol=0,
                                                   atol=1e-10 * abs(matrix).max()))
        told += [{"name": row.name, "promise": promise, "ok": bool(known[promise])}
                 for promise in row.promises]
    bounded = residual_partitioning.bounded_hessian(*point.model)
    tiny = measures.rounding(H, matrices["diagonal bound"])
    told.append({"name": "diagonal bound", "promise": "bounds the quadratic form without products "
                 "of changes of weights and activations",
                 "ok": measures.is_positive(matrices["diagonal bound"] - bounded, tiny)})
    return told
