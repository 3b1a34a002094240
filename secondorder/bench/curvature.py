"""Cases: gradient and exact curvature."""

import numpy as np

from secondorder import exact
from secondorder.checks import require_bytes

from . import products
from .problems import Setting
from .registry import Work, case

WIDE = Setting("784-400-100-36-10", activation="softplus")
DEEP = Setting("784-12x128-10")
DENSE = Setting("64-40-30-10", batch=32)
LARGEST = 2**28  # bytes of a matrix; the figure leaves out what is larger


@case("gradient", WIDE)
def gradient(problem):
    """Gradient of the objective by back-propagation."""
    net, _, x, _ = problem
    return Work(lambda: exact.gradient(*problem),
                products=products.forward(net, len(x)) + products.backward(net, len(x)),
                torch=lambda twin: twin.gradient(), gradient=False)


@case("Hessian-vector product", WIDE)
def hessian_vector_product(problem):
    """Hessian times a vector, evaluated before; PyTorch: double backward, its graph kept."""
    net, loss, x, y = problem
    operator, v = exact.HessianOperator(net, loss, x, y), _vector(problem)
    operator.matvec(v)  # the backward pass belongs to the evaluation
    return Work(lambda: operator.matvec(v),
                products=products.tangent(net, len(x)) + products.backward_tangent(net, len(x)),
                torch=lambda twin: twin.hessian_vector_product(v))


@case("Gauss-Newton product", WIDE)
def gauss_newton_product(problem):
    """Gauss-Newton matrix times a vector, evaluated before; PyTorch: jvp, vjp, graph kept."""
    net, loss, x, y = problem
    operator, v = exact.GaussNewtonOperator(net, loss, x, y), _vector(problem)
    return Work(lambda: operator.matvec(v),
                products=products.tangent(net, len(x)) + products.backward(net, len(x)),
                torch=lambda twin: twin.gauss_newton_product(v))


@case("per-sample gradients", WIDE, DEEP)
def sample_gradients(problem):
    """The gradient of every sample's own loss, (S, P), a new array; PyTorch: vmap(grad)."""
    return Work(lambda: exact.sample_gradients(*problem), products=_products_of_samples(problem),
                torch=lambda twin: twin.sample_gradients())


@case("per-sample gradients, out=", WIDE, DEEP)
def sample_gradients_in_place(problem):
    """The same into an array that is there already; PyTorch: vmap(grad), which makes its own."""
    out = np.empty((len(problem.x), problem.network.size), problem.setting.dtype)
    return Work(lambda: exact.sample_gradients(*problem, out=out),
                products=_products_of_samples(problem), torch=lambda twin: twin.sample_gradients())


def _products_of_samples(problem):
    steps = products.forward, products.input_gradients, products.outer_products
    return [product for step in steps for product in step(problem.network, len(problem.x))]


@case("dense Hessian", DENSE, smallest=Setting("8-8-8-4", batch=25))
def dense_hessian(problem):
    """The whole Hessian, (P, P); PyTorch: torch.func.hessian."""
    net, _, x, _ = problem
    require_bytes("the Hessian", (net.size, net.size), net.dtype, LARGEST)
    return Work(lambda: exact.hessian(*problem), products=products.dense_hessian(net, len(x)),
                torch=lambda twin: twin.hessian())


def _vector(problem):
    return problem.rng.standard_normal(problem.network.size).astype(np.dtype(problem.setting.dtype))
