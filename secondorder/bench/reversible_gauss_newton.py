"""Cases: exact Gauss-Newton in reversible networks.

Widths are read as inputs, one number a block (the bottleneck), outputs: ``784-2x8000-10`` is the
paper's MNIST network, two blocks on 784 units with a bottleneck of 8000.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

import secondorder as so
from secondorder.papers.reversible_gauss_newton import Options, RevMLP
from secondorder.papers.reversible_gauss_newton.directions import update_at
from secondorder.papers.reversible_gauss_newton.running import RunningEvaluation

from . import products
from .problems import Setting
from .registry import Work, case

MNIST = Setting("784-2x8000-10", batch=1024, dtype="float32", activation="relu")
DEPTHS = [Setting(f"64-{blocks}x1000-10", batch=256, dtype="float32", activation="relu")
          for blocks in (2, 8, 32)]


@case("step of GaussNewton, right inverse", MNIST, smallest=None)
def right_inverse(problem):
    """The exact step (16)-(17), gradient and defect unmeasured, beside one of SGD."""
    net, samples = _network(problem), len(problem.x)
    optimizer = so.GaussNewton(net, problem.loss, 1e-3, measure=False)
    rival = so.SGD(_network(problem), problem.loss, 1e-3)
    gemms = _products(net, samples)
    factors = _factorisations(net, samples)
    alone = products.bound(gemms, problem.setting.dtype)

    def all_of_it():
        alone()
        factors()

    return Work(lambda: optimizer.step(problem.x, problem.y), products=gemms,
                rivals={"gradient": _gradient(net, problem),
                        "products, Gram matrices, factorisations": all_of_it,
                        "step of SGD": lambda: rival.step(problem.x, problem.y)}, gradient=False)


@case("Gauss-Newton, recomputed", *DEPTHS, smallest=None)
def recomputed(problem):
    """The direction by inversion of the network, no activations kept; its peak hardly grows."""
    net = _network(problem)
    out = np.empty(net.size, net.dtype)
    options = Options(recompute=True, pseudo_inverse="truncate", measure_defect=False)

    def run():
        update_at(RunningEvaluation(net, problem.loss, problem.x, problem.y), options, out)

    samples = len(problem.x)
    return Work(run, _products(net, samples), {"gradient": _gradient(net, problem)}, gradient=False)


@case("Gauss-Newton, Moore-Penrose", Setting("64-2x600-10", batch=128, activation="relu"),
      smallest=None)
def moore_penrose(problem):
    """The shortest step through the tangent kernel, beside the paper's right inverse."""
    net = _network(problem)
    evaluation = net.evaluate(problem.loss, problem.x, problem.y)
    kinds = {inverse: Options(inverse=inverse, measure_defect=False)
             for inverse in ("moore-penrose", "right")}
    return Work(lambda: update_at(evaluation, kinds["moore-penrose"]),
                products=_kernel_products(net, len(problem.x)),
                rivals={"gradient": _gradient(net, problem),
                        "right inverse": lambda: update_at(evaluation, kinds["right"])},
                gradient=False)


def _network(problem):
    """The reversible network that a setting stands for."""
    sizes = problem.setting.sizes
    return RevMLP(sizes[0], len(sizes) - 2, sizes[1], activation=problem.setting.activation,
                  outputs=sizes[-1], rng=0, dtype=problem.setting.dtype)


def _gradient(net, problem):
    """One gradient of the reversible network."""
    return lambda: so.exact.gradient(net, problem.loss, problem.x, problem.y)


def _kernel_products(net, samples):
    """Gradients of every output in every half-coupled layer but the first, and Gram matrices."""
    half, features = net.blocks[0].W1.shape
    count, outputs = len(net.couplings), net.output_shape[0]
    back = products.Product(samples, half, features), products.Product(samples, features, half)
    own = products.Product(samples * outputs, half, samples * outputs, "right")
    inner = products.Product(samples, features, samples, "right")
    return (count - 1) * outputs * list(back) + count * [own, inner]


def _products(net, samples):
    """Forward pass, inverse tangents (not below the first layer), and Y^T S^T, in the order met."""
    half, features = net.blocks[0].W1.shape
    up = products.Product(samples, half, features, "right")
    down = products.Product(samples, features, half, "right")
    count = len(net.couplings)
    apply = products.Product(half, samples, features, "left")
    return count * [up, down] + (count - 1) * [up, down] + count * [apply]


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
