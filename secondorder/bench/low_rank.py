"""Cases: curvature along a direction, and a step of cubic regularisation."""

import secondorder as so
from secondorder.papers.low_rank.curvature import by_explicit_eta, directional_curvature_at

from . import products
from .problems import Setting
from .registry import Work, case

DEEP = Setting("784-12x128-10", batch=32, activation="relu")
LARGEST = 2**28  # numbers in the eta of one pair of layers, over all samples


@case("directional curvature", DEEP, smallest=Setting("32-32-32-10", batch=25, activation="relu"))
def directional_curvature(problem):
    """g . grad F and g^T H g by one tangent, evaluated before."""
    net, loss, x, y = problem
    evaluation, v = _evaluated(problem)
    return Work(lambda: directional_curvature_at(evaluation, v), products=_products(net, len(x)),
                rivals={"two-jet": lambda: so.exact.two_jet(net, loss, x, y, v)})


@case("directional curvature, explicit eta", Setting("64-4x32-10", batch=32, activation="relu"),
      Setting("64-8x64-10", batch=32, activation="relu"), smallest=None)
def explicit_eta(problem):
    """The same number with every eta of (39) formed, the literal route, evaluated before."""
    evaluation, v = _evaluated(problem)
    if len(problem.x) * max(problem.setting.sizes[1:]) ** 2 > LARGEST:
        raise MemoryError("the eta of one pair of layers would be too large")
    return Work(lambda: by_explicit_eta(evaluation, v),
                products=_eta_products(problem.setting.sizes, len(problem.x)),
                rivals={"one tangent": lambda: directional_curvature_at(evaluation, v)})


@case("step of CubicRegularization(SGD)", DEEP)
def cubic_step(problem):
    """One step of cubic regularisation around SGD, beside one of SGD."""
    base = so.SGD(problem.new_network(), problem.loss)
    alone, around = base, so.CubicRegularization(so.SGD(problem.new_network(), problem.loss))
    net, samples = problem.network, len(problem.x)
    gradient = products.forward(net, samples) + products.backward(net, samples)
    return Work(lambda: around.step(problem.x, problem.y),
                products=gradient + _products(net, samples),
                rivals={"step of SGD": lambda: alone.step(problem.x, problem.y)})


def _evaluated(problem):
    """An evaluation whose gradient is there, and a direction; the first network is at rest."""
    net, loss, x, y = problem
    evaluation = net.evaluate(loss, x, y, so.nets.Workspace())
    return evaluation, -evaluation.gradient


def _eta_products(sizes, samples):
    """W^k eta^(k-1,r) of every sample, for every pair of layers r < k."""
    widths = sizes[1:]
    return [products.Product(widths[k], widths[k - 1], widths[r], count=samples)
            for r in range(len(widths) - 1) for k in range(r + 1, len(widths))]


def _products(net, samples):
    """P v and W v' in every layer, and P v' in every layer that gets a tangent."""
    return products.tangent(net, samples) + products.forward(net, samples)[1:]
