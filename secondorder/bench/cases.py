"""The cases of `secondorder bench`: exact curvature, a step of every optimizer, the papers' own."""

import inspect

import numpy as np
from scipy.linalg import cho_factor, cho_solve

import secondorder as so
from secondorder import exact
from secondorder.checks import require_bytes
from secondorder.papers.eacg import beyond, eq_09_11_ea_cg
from secondorder.papers.low_rank.curvature import by_explicit_eta, directional_curvature_at
from secondorder.papers.reversible_gauss_newton import RevMLP
from secondorder.papers.reversible_gauss_newton.directions import update_at
from secondorder.papers.reversible_gauss_newton.options import Options, checked
from secondorder.papers.reversible_gauss_newton.recomputed import RunningEvaluation

from . import products
from .runs import Setting, Work, case

LARGEST = 2**28  # bytes of a matrix; the figure leaves out what is larger

# -- gradient and exact curvature ------------------------------------------------------------------

WIDE = Setting("784-400-100-36-10", activation="softplus")
DEEP = Setting("784-12x128-10")
DENSE = Setting("64-40-30-10", batch=32)


@case("gradient", WIDE)
def gradient(problem):
    """Gradient of the objective by back-propagation."""
    net, _, x, _ = problem
    return Work(lambda: exact.gradient(*problem),
                products=products.gradient(net, len(x)),
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
    return Work(lambda: exact.sample_gradients(*problem),
                products=products.sample_gradients(problem.network, len(problem.x)),
                torch=lambda twin: twin.sample_gradients())


@case("dense Hessian", DENSE, smallest=Setting("8-8-8-4", batch=25))
def dense_hessian(problem):
    """The whole Hessian, (P, P); PyTorch: torch.func.hessian."""
    net, _, x, _ = problem
    require_bytes("the Hessian", (net.size, net.size), net.dtype, LARGEST)
    return Work(lambda: exact.hessian(*problem), products=products.dense_hessian(net, len(x)),
                torch=lambda twin: twin.hessian())


def _vector(problem):
    return problem.rng.standard_normal(problem.network.size).astype(np.dtype(problem.setting.dtype))


# -- a step of every optimizer that takes any network ----------------------------------------------

AUTOENCODER = Setting("784-64-2-64-784", dtype="float32", loss="squared-error")
CLASSIFIER = Setting("784-400-100-36-10", dtype="float32", activation="softplus")
OPTIONS = {
    "TruncatedNewton": {"max_cg": 5, "tolerance": 0.0},  # the same work in every step
    "EACG": {"learning_rate": 1e-6},  # at its usual rate it diverges on a batch of noise
}
IN_PYTORCH = {
    "SGD": ("SGD", {}),
    "Momentum": ("SGD", {"momentum": 0.9}),
    "Adagrad": ("Adagrad", {}),
    "Adadelta": ("Adadelta", {}),
    "Adam": ("Adam", {}),
    "ResidualPartitioning": ("Adam", {}),  # no counterpart: what else one would train with
}
PENALTY = 1e-3
# Methods that need more, such as a network of their own or a method that they wrap, have their
# cases below.
ELSEWHERE = {so.GaussNewton}  # it takes any network, but its step grows with batch times outputs


def optimizers():
    """Exported optimizer classes that are made from a network and a loss alone."""
    exported = [getattr(so, name) for name in so.__all__ if name[0].isupper()]
    classes = [value for value in exported if inspect.isclass(value)
               and issubclass(value, so.optimizers.Optimizer)]
    return [cls for cls in classes if _needed(cls) == ["network", "loss"] and cls not in ELSEWHERE]


def _needed(cls):
    parameters = inspect.signature(cls).parameters.values()
    return [p.name for p in parameters if p.default is p.empty
            and p.kind is p.POSITIONAL_OR_KEYWORD]


def _register(cls):
    name, options = cls.__name__, {"l2": PENALTY} | OPTIONS.get(cls.__name__, {})

    def make(problem):
        optimizer = cls(problem.new_network(), problem.loss, **options)
        return Work(lambda: optimizer.step(problem.x, problem.y),
                    products=_products_of_a_step(name, optimizer.network, len(problem.x)),
                    torch=IN_PYTORCH.get(name)
                    and (lambda twin: twin.step(*IN_PYTORCH[name], l2=PENALTY)))

    beside = f"; PyTorch: {IN_PYTORCH[name][0]}" if name in IN_PYTORCH else ""
    make.__doc__ = f"One step of `{name}` on a batch{beside}."
    case(f"step of {name}", AUTOENCODER, CLASSIFIER)(make)


def _products_of_a_step(name, network, samples):
    if name == "ResidualPartitioning":
        return products.partitioning_step(network, samples)
    if name != "TruncatedNewton":
        return products.gradient(network, samples)
    # five products with the curvature, one for the decrease, one trial of the step
    product = products.tangent(network, samples) + products.backward_tangent(network, samples)
    return (products.gradient(network, samples) + (OPTIONS[name]["max_cg"] + 1) * product
            + products.forward(network, samples))


for _cls in optimizers():
    _register(_cls)


# -- the low-rank structure ------------------------------------------------------------------------

LARGEST_ETA = 2**28  # numbers in the eta of one pair of layers, over all samples
RELU = Setting("784-12x128-10", batch=32, activation="relu")


@case("directional curvature", RELU, smallest=Setting("32-32-32-10", batch=25, activation="relu"))
def directional_curvature(problem):
    """g . grad F and g^T H g by one tangent, evaluated before."""
    net, loss, x, y = problem
    evaluation, v = _evaluated(problem)
    return Work(lambda: directional_curvature_at(evaluation, v),
                products=products.directional_curvature(net, len(x)),
                rivals={"two-jet": lambda: so.exact.two_jet(net, loss, x, y, v)})


@case("directional curvature, explicit eta", Setting("64-4x32-10", batch=32, activation="relu"),
      Setting("64-8x64-10", batch=32, activation="relu"), smallest=None)
def explicit_eta(problem):
    """The same number with every eta of (39) formed, the literal route, evaluated before."""
    evaluation, v = _evaluated(problem)
    if len(problem.x) * max(problem.setting.sizes[1:]) ** 2 > LARGEST_ETA:
        raise MemoryError("the eta of one pair of layers would be too large")
    return Work(lambda: by_explicit_eta(evaluation, v),
                products=products.explicit_eta(problem.setting.sizes, len(problem.x)),
                rivals={"one tangent": lambda: directional_curvature_at(evaluation, v)})


@case("step of CubicRegularization(SGD)", RELU)
def cubic_step(problem):
    """One step of cubic regularisation around SGD, beside one of SGD."""
    base = so.SGD(problem.new_network(), problem.loss)
    alone, around = base, so.CubicRegularization(so.SGD(problem.new_network(), problem.loss))
    net, samples = problem.network, len(problem.x)
    return Work(lambda: around.step(problem.x, problem.y),
                products=products.gradient(net, samples)
                + products.directional_curvature(net, samples),
                rivals={"step of SGD": lambda: alone.step(problem.x, problem.y)})


def _evaluated(problem):
    """An evaluation whose gradient is there, and a direction; the first network is at rest."""
    net, loss, x, y = problem
    evaluation = net.evaluate(loss, x, y, so.nets.Workspace())
    return evaluation, -evaluation.gradient


# -- exact Gauss-Newton in reversible networks -----------------------------------------------------

# Widths are read as inputs, one number a block (the bottleneck), outputs: 784-2x8000-10 is the
# paper's MNIST network, two blocks on 784 units with a bottleneck of 8000.
MNIST = Setting("784-2x8000-10", batch=1024, dtype="float32", activation="relu")
DEPTHS = [Setting(f"64-{blocks}x1000-10", batch=256, dtype="float32", activation="relu")
          for blocks in (2, 8, 32)]


@case("step of GaussNewton, right inverse", MNIST, smallest=None)
def right_inverse(problem):
    """The exact step (16)-(17), gradient and residual unmeasured, beside one of SGD."""
    net, samples = _reversible_network(problem), len(problem.x)
    optimizer = so.GaussNewton(net, problem.loss, 1e-3, measure=False)
    rival = so.SGD(_reversible_network(problem), problem.loss, 1e-3)
    gemms = products.right_inverse(net, samples)
    factors = _factorisations(net, samples)
    alone = products.bound(gemms, problem.setting.dtype)

    def all_of_it():
        alone()
        factors()

    return Work(lambda: optimizer.step(problem.x, problem.y), products=gemms,
                rivals={"gradient": _reversible_gradient(net, problem),
                        "products, Gram matrices, factorisations": all_of_it,
                        "step of SGD": lambda: rival.step(problem.x, problem.y)}, gradient=False)


@case("Gauss-Newton, recomputed", *DEPTHS, smallest=None)
def recomputed(problem):
    """The direction by inversion of the network, no activations kept; its peak hardly grows."""
    net = _reversible_network(problem)
    out = np.empty(net.size, net.dtype)
    options = checked(net, Options(recompute=True, pseudo_inverse="truncate",
                                   measure_residual=False))

    def run():
        update_at(RunningEvaluation(net, problem.loss, problem.x, problem.y), options, out)

    samples = len(problem.x)
    return Work(run, products.right_inverse(net, samples),
                {"gradient": _reversible_gradient(net, problem)}, gradient=False)


@case("Gauss-Newton, Moore-Penrose", Setting("64-2x600-10", batch=128, activation="relu"),
      smallest=None)
def moore_penrose(problem):
    """The shortest step through the tangent kernel, beside the paper's right inverse."""
    net = _reversible_network(problem)
    evaluation = net.evaluate(problem.loss, problem.x, problem.y)
    kinds = {inverse: Options(inverse=inverse, measure_residual=False)
             for inverse in ("moore-penrose", "right")}
    return Work(lambda: update_at(evaluation, kinds["moore-penrose"]),
                products=products.moore_penrose(net, len(problem.x)),
                rivals={"gradient": _reversible_gradient(net, problem),
                        "right inverse": lambda: update_at(evaluation, kinds["right"])},
                gradient=False)


def _reversible_network(problem):
    """The reversible network that a setting stands for."""
    sizes = problem.setting.sizes
    return RevMLP(sizes[0], len(sizes) - 2, sizes[1], activation=problem.setting.activation,
                  outputs=sizes[-1], rng=0, dtype=problem.setting.dtype)


def _reversible_gradient(net, problem):
    """One gradient of the reversible network."""
    return lambda: so.exact.gradient(net, problem.loss, problem.x, problem.y)


def _factorisations(net, samples):
    """A function that makes Gram matrices of features and solves with them, in float64."""
    rng, (half, features) = np.random.default_rng(0), net.blocks[0].W1.shape
    F, E = rng.standard_normal((samples, features)), rng.standard_normal((samples, half))

    def run():
        for _ in net.couplings:
            G = F @ F.T
            G[np.diag_indices(samples)] += samples  # for batches beyond the bottleneck
            cho_solve(cho_factor(G, lower=True, overwrite_a=True, check_finite=False), E)

    return run


# -- EA-CG on the paper's network for Cifar-10 -----------------------------------------------------

CIFAR_10 = Setting("3072-1024-512-256-128-64-32-16-10", batch=500, dtype="float32",
                   activation="sigmoid")
SMALLEST = Setting("32-32-32-10", batch=25, activation="sigmoid")
RATE = 1e-6  # so that the network stays the same, step after step
ALPHA = 0.02
LITERAL = 20  # iterations with which the closed form is compared


def _eacg_step(problem, **options):
    """Work of one step of `EACG`, beside one of SGD from the same weights."""
    loss, x, y = problem.loss, problem.x, problem.y
    optimizer = so.EACG(problem.new_network(), loss, RATE, alpha=ALPHA, **options)
    sgd = so.SGD(problem.new_network(), loss, RATE)
    return Work(lambda: optimizer.step(x, y),
                products=products.eacg_step(optimizer.network, len(x)),
                rivals={"step of SGD": lambda: sgd.step(x, y)})


@case("step of EACG, closed form", CIFAR_10, smallest=SMALLEST)
def closed_form(problem):
    """One step with PCH-1 and (11b) in closed form, beside one of SGD."""
    return _eacg_step(problem, solver="ea-closed")


@case("step of EACG, ten iterations", CIFAR_10, smallest=SMALLEST)
def ten_iterations(problem):
    """One step with PCH-1 and ten conjugate gradients on (11b) in n + 1 numbers."""
    return _eacg_step(problem, solver="ea-cg", max_cg=10, tolerance=0.0)


@case("step of EACG, ten iterations as printed", CIFAR_10, smallest=None)
def ten_literal_iterations(problem):
    """The same ten iterations on arrays as large as the weights."""
    return _eacg_step(problem, solver="ea-cg-printed", max_cg=10, tolerance=0.0)


@case("EA-CG system of a layer",
      Setting("768-256-10", batch=100, dtype="float32", activation="sigmoid"),
      Setting("3072-1024-10", batch=100, dtype="float32", activation="sigmoid"), smallest=None)
def layer_system(problem):
    """The first layer's weights in closed form, beside twenty literal conjugate gradients."""
    (m, n), *_ = products.widths(problem.network)
    root = problem.rng.standard_normal((n, n)) / np.sqrt(n)
    B, G = root @ root.T, problem.rng.standard_normal((n, m)).astype(problem.x.dtype)
    mean = problem.x.mean(axis=0) + 1 / np.sqrt(m).astype("float32")

    limits = eq_09_11_ea_cg.Limits(LITERAL, 0.0)

    def closed():
        return beyond.closed_form(B, G, mean, ALPHA)

    def literal():
        return eq_09_11_ea_cg.ea_cg_as_printed(B, G, mean, ALPHA, 0.0, limits)

    def short():
        return eq_09_11_ea_cg.ea_cg(B, G, mean, ALPHA, 0.0, limits)

    return Work(closed, products=[products.Product(n, m, 1), products.Product(n, 1, m)],
                rivals={"20 iterations as printed": literal, "20 in n + 1 numbers": short})
