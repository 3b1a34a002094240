"""Whatever only reads may be shared by threads: the same numbers as one after the other.

Threads are made to take turns a thousand times more often than usual, as the networks are small.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative

reversible = so.reversible_gauss_newton
THREADS = 4
SMALL = ([6, 5, 4, 3], 40)
DIGITS = ([64, 64, 10], 200)


@pytest.fixture(autouse=True)
def short_turns():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(usual)


def problem(sizes, samples):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(samples, sizes[0])), rng.integers(0, sizes[-1], samples)
    return so.mlp(sizes, rng=0), so.SoftmaxCrossEntropy(), x, y


def revmlp():
    rng = np.random.default_rng(3)
    net = reversible.RevMLP(6, 2, 8, outputs=3, activation="tanh", rng=0)
    return net, so.SoftmaxCrossEntropy(), rng.normal(size=(5, 6)), rng.integers(0, 3, 5)


# A case makes a function of a vector v (P,) that is called by all threads; whatever it makes before
# is shared.

def operator(name, size=DIGITS, **options):
    def make():
        net, *data = problem(*size)
        return net, getattr(so.exact, name)(net, *data, **options).matvec
    return make


def columns(name, **options):
    def make():
        net, *data = problem(*SMALL)
        A = getattr(so.exact, name)(net, *data, **options)
        return net, lambda v: A.matmat(np.stack([v, 2 * v, v[::-1]], axis=1))
    return make


def data_of(function, size=SMALL, of_v=False, **options):
    """A function of network, loss, x, y (and v), for inputs that v has moved a little."""
    def make():
        net, loss, x, y = problem(*size)

        def call(v):
            arguments = (net, loss, x * (1 + 0.1 * v[0]), y, *[v] * of_v)
            return function(*arguments, **options)
        return net, call
    return make


def inputs_of(function):
    def make():
        net, _, x, _ = problem(*SMALL)
        return net, lambda v: function(net, x * (1 + 0.1 * v[0]))
    return make


def evaluation_of(function, size=SMALL):
    """A function of one evaluation that all threads share, and of v; nothing in it was asked for
    before."""
    def make():
        net, loss, x, y = problem(*size)
        evaluation = net.evaluate(loss, x, y)
        return net, lambda v: function(evaluation, v)
    return make


def step_of(**options):
    def make():
        net, loss, x, y = revmlp()
        return net, lambda v: reversible.direction(net, loss, x * (1 + 0.1 * v[0]), y, **options)
    return make


def objective():
    net, *data = problem(*SMALL)
    f = so.exact.objective(net, *data)
    return net, lambda v: f.jac(net.theta + 0.1 * v)


CASES = {
    "Hessian": operator("HessianOperator"),
    "Gauss-Newton": operator("GaussNewtonOperator"),
    "columns of the sampled Fisher matrix": columns("FisherOperator", kind="sampled", rng=1),
    "Hessian in chunks": operator("HessianOperator", SMALL, batch_size=16),
    "outputs": inputs_of(lambda net, x: net(x)),
    "evaluation": evaluation_of(
        lambda e, v: np.concatenate([e.gradient, e.objective_gradient(0.1), e.deltas[0].ravel(),
                                     [e.loss]])),
    "gradient": data_of(so.exact.gradient, l2=0.1),
    "dense Hessian": data_of(so.exact.hessian, ([2, 2], 9)),
    "diagonal": data_of(so.exact.diagonal),
    "objective": objective,
    "directional curvature": data_of(so.low_rank.directional_curvature, of_v=True, form="exact"),
    "EA-CG direction": data_of(so.eacg.direction, curvature="pch-1", solver="ea-cg", alpha=0.1),
    "bound": data_of(lambda *problem: so.residual_partitioning.bound(*problem).curvature),
    "step of a reversible network": step_of(inverse="right"),
}


def flat(result):
    """Everything in a result, one number after the other."""
    if isinstance(result, (list, tuple)):
        return np.concatenate([flat(part) for part in result])
    return np.ravel(result)


def wrong(make, calls):
    """How many of many calls by four threads give something else than a call before."""
    net, function = make()
    vectors = list(np.random.default_rng(1).normal(size=(8, net.size)))
    alone = [flat(make()[1](v)) for v in vectors]
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(function, [vectors[i % 8] for i in range(calls)]))
    assert len(found) == calls and alone[0].any()
    return sum(not relative(flat(result), alone[i % 8]) < 1e-12 for i, result in enumerate(found))


@pytest.mark.parametrize("name", CASES)
def test_readers_may_share(name):
    assert wrong(CASES[name], 24) == 0
