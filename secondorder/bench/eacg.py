"""Cases: steps of EA-CG on the paper's network for Cifar-10, and its solvers alone."""

import numpy as np

import secondorder as so
from secondorder.papers.eacg import closed_forms, conjugate_gradients

from . import products
from .problems import Setting
from .registry import Work, case

CIFAR_10 = Setting("3072-1024-512-256-128-64-32-16-10", batch=500, dtype="float32",
                   activation="sigmoid")
SMALLEST = Setting("32-32-32-10", batch=25, activation="sigmoid")
RATE = 1e-6  # so that the network stays the same, step after step
ALPHA = 0.02
LITERAL = 20  # iterations that the closed form is held against


def _step(problem, **options):
    """Work of one step of `EACG`, beside one of SGD from the same weights."""
    loss, x, y = problem.loss, problem.x, problem.y
    optimizer = so.EACG(problem.new_network(), loss, RATE, alpha=ALPHA, **options)
    sgd = so.SGD(problem.new_network(), loss, RATE)
    net, samples = optimizer.network, len(x)
    gradient = products.forward(net, samples) + products.backward(net, samples)
    return Work(lambda: optimizer.step(x, y), products=gradient + _curvature(net, samples),
                rivals={"step of SGD": lambda: sgd.step(x, y)})


def _curvature(net, samples):
    """W^T B W and E[h' h'^T] in every layer but the first; the latter as half a product."""
    found = []
    for n_in, n_out in products.widths(net)[1:]:
        found += [products.Product(n_out, n_out, n_in), products.Product(n_in, n_out, n_in, "left")]
        found.append(products.Product(n_in, max(1, samples // 2), n_in, "left"))
    return found


@case("step of EACG, closed form", CIFAR_10, smallest=SMALLEST)
def closed_form(problem):
    """One step with PCH-1 and (11b) in closed form, beside one of SGD."""
    return _step(problem, solver="ea-closed")


@case("step of EACG, ten iterations", CIFAR_10, smallest=SMALLEST)
def ten_iterations(problem):
    """One step with PCH-1 and ten conjugate gradients on (11b) in two coefficients."""
    return _step(problem, solver="ea-cg", max_cg=10, tolerance=0.0)


@case("step of EACG, ten literal iterations", CIFAR_10, smallest=None)
def ten_literal_iterations(problem):
    """The same ten iterations on arrays as large as the weights."""
    return _step(problem, solver="ea-cg", max_cg=10, tolerance=0.0, literal=True)


@case("EA-CG system of a layer",
      Setting("768-256-10", batch=100, dtype="float32", activation="sigmoid"),
      Setting("3072-1024-10", batch=100, dtype="float32", activation="sigmoid"), smallest=None)
def layer_system(problem):
    """The first layer's weights in closed form, beside twenty literal conjugate gradients."""
    (m, n), *_ = products.widths(problem.network)
    root = problem.rng.standard_normal((n, n)).astype(problem.x.dtype) / np.sqrt(n).astype(
        "float32"
    )
    B, G = root @ root.T, problem.rng.standard_normal((n, m)).astype(problem.x.dtype)
    mean = problem.x.mean(axis=0) + 1 / np.sqrt(m).astype("float32")

    def closed():
        s, w = closed_forms.rank_one_coefficients(B, G, mean, 1 - ALPHA, ALPHA)
        return closed_forms.combined(s, G, w, mean)

    def literal():
        return conjugate_gradients.rank_one_literal(B, mean, G, 1 - ALPHA, ALPHA, LITERAL, 0.0)

    def short():
        s, w, _ = conjugate_gradients.rank_one_coefficients(B, G, mean, 1 - ALPHA, ALPHA, LITERAL,
                                                            0.0)
        return closed_forms.combined(s, G, w, mean)

    return Work(closed, products=[products.Product(n, m, 1), products.Product(n, 1, m)],
                rivals={"20 literal iterations": literal, "20 in two coefficients": short})
