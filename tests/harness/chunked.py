"""Calls that take `batch_size` and `executor`, and a loss that spoils a
chunk.

It is a module so that other processes can import what is in it.
"""

from concurrent.futures import Executor, Future

import numpy as np

import secondorder as so


def problem(samples=23, sizes=(3, 3, 3), seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(samples, sizes[0])), rng.integers(0, sizes[-1], samples)
    return so.mlp(sizes, rng=seed), so.SoftmaxCrossEntropy(), x, y


def vectors(size):
    return np.random.default_rng(7).normal(size=(size, 3))


def product(operator, **own):
    def call(*problem, **options):
        A = getattr(so.exact, operator)(*problem, l2=0.1, **own, **options)
        V = vectors(A.shape[0])
        return np.concatenate([A @ V, (A @ V[:, 0])[:, None]], axis=1)
    return call


def function(name, *of_v, **own):
    def call(net, *data, **options):
        v = [vectors(net.size)[:, 0]] * len(of_v)
        return np.array(getattr(so.exact, name)(net, *data, *v, l2=0.1, **own, **options))
    return call


def objective(net, *data, **options):
    f, theta, v = so.exact.objective(net, *data, l2=0.1, **options), net.theta + 0.1, \
        vectors(net.size)[:, 0]
    return np.concatenate([[f.fun(theta)], f.jac(theta), f.hess(theta).ravel(), f.hessp(theta, v),
                           f.operator(theta) @ v])


CALLS = {
    "gradient": function("gradient"),
    "Hessian-vector product": function("hessian_vector_product", "v"),
    "two-jet": function("two_jet", "v"),
    "sample gradients": function("sample_gradients"),
    "Jacobian": lambda net, loss, x, y, **options: so.exact.jacobian(net, x, **options),
    **{f"Hessian by {method}": function("hessian", method=method)
       for method in ("blocks", "products", "polarisation")},
    "Gauss-Newton": function("gauss_newton"),
    **{f"Fisher, {kind}": function("fisher", kind=kind, rng=3, draws=2)
       for kind in ("exact", "empirical", "sampled")},
    **{f"diagonal, {kind}": function("diagonal", kind=kind, rng=3, draws=2)
       for kind in ("hessian", "gauss-newton", "fisher", "fisher-empirical", "fisher-sampled")},
    "trace": function("trace"),
    **{f"{name} of a block": function(name, layer="2.weight")
       for name in ("hessian", "gauss_newton", "fisher", "diagonal")},
    **{f"solve by {method}": lambda net, *data, method=method, **options: so.exact.solve(
        net, *data, vectors(net.size), "gauss-newton", 0.1, method, tolerance=1e-14,
        **options).solution
       for method in ("cholesky", "cg")},
    "eigenpairs": lambda *problem, **options: so.exact.eigenpairs(*problem, 3, **options).values,
    **{f"{structure} posterior": lambda net, loss, x, y, structure=structure, **options: np.append(
        so.exact.posterior(net, loss, x, y, 1.0, structure=structure, **options).variance(x[:3]),
        so.exact.posterior(net, loss, x, y, 1.0, structure=structure, **options).log_evidence())
       for structure in ("full", "diagonal")},
    **{f"trace by {method}": function("trace", method=method, products=9, rng=2)
       for method in ("hutchinson", "hutch++")},
    "spectral density": lambda *problem, **options: so.exact.spectral_density(
        *problem, probes=2, steps=4, rng=2, **options).density,
    "objective": objective,
    "HessianOperator": product("HessianOperator"),
    "block of the Hessian": product("HessianOperator", layer=2, parameter="weight"),
    "GaussNewtonOperator": product("GaussNewtonOperator"),
    **{f"FisherOperator, {kind}": product("FisherOperator", kind=kind, rng=3, draws=2)
       for kind in ("exact", "empirical", "sampled")},
}


class Here(Executor):
    """Works everything out at once, in the same thread, and keeps the futures."""

    def __init__(self):
        self.futures = []

    def submit(self, function, /, *arguments, **options):
        future = Future()
        self.futures.append(future)
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


class Infinite(so.SquaredError):
    """A loss that is not finite for targets above 1e6."""

    def value(self, p, target):
        return np.where((target > 1e6).any(axis=1), np.inf, super().value(p, target))
