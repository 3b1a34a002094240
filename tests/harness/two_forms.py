"""Compiled passes against the literal ones."""

import numpy as np

import secondorder as so
from secondorder.nets import evaluation as evaluations

RUNS = "compiled passes run"


def both(work):
    """What the compiled and the literal form give."""
    with so.literal():
        literal = work()
    return work(), literal


def close(found, wanted, ulp=40):
    """Within so many units in the last place of the largest entry."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    error = np.abs(found - wanted).max()
    assert error <= ulp * np.finfo(wanted.dtype).eps * np.abs(wanted).max(), error


def alike(one, other):
    """What a layer, or those inside it, saved: of one type, all arrays close."""
    assert type(one) is type(other)
    if isinstance(other, np.ndarray) and other.dtype.kind == "i":  # which entries are maxima
        assert np.array_equal(one, other)
    elif isinstance(other, np.ndarray):
        close(one, other)
    else:
        for entry, wanted in zip(one, other, strict=True):
            alike(entry, wanted)


def check_every_quantity(net, loss, x, y, rng=2):
    """Every pass that the table has, and what an evaluation holds of it."""
    v = np.random.default_rng(rng).normal(size=net.size)
    given = net, loss, x, y
    assert evaluations.form(net) == RUNS and evaluations.settled(net).criterion(loss)
    close(*both(lambda: so.exact.gradient(*given, l2=0.1)))
    close(*both(lambda: so.exact.sample_gradients(*given)))
    close(*both(lambda: so.exact.hessian_vector_product(*given, v, l2=0.1)), ulp=200)
    close(*both(lambda: so.exact.GaussNewtonOperator(*given) @ v), ulp=200)
    close(*both(lambda: so.exact.jacobian(net, x)))
    close(*both(lambda: net(x)))
    compiled, literal = both(lambda: net.evaluate(loss, x, y))
    for name in ("outputs", "losses", "gradient"):
        close(getattr(compiled, name), getattr(literal, name))
    alike(compiled.saved, literal.saved)
    for bar, wanted in zip(compiled.deltas, literal.deltas, strict=True):
        close(bar, wanted)
