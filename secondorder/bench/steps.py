"""Cases: one step of every optimizer that takes any network.

They are found by looking: a class exported by the package that needs no arguments beyond the
network and the loss. A method that needs more (a network of its own, a method that it wraps)
registers its case in the file of its room.
"""

import inspect

import secondorder as so

from . import products
from .problems import Setting
from .registry import Work, case

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
ELSEWHERE = {so.GaussNewton}  # it takes any network, but its step grows with batch times outputs


def optimizers():
    """Exported optimizer classes that are made from a network and a loss alone.

    Returns
    -------
    list of type
    """
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
                    products=_products(name, problem, optimizer),
                    torch=IN_PYTORCH.get(name)
                    and (lambda twin: twin.step(*IN_PYTORCH[name], l2=PENALTY)))

    beside = f"; PyTorch: {IN_PYTORCH[name][0]}" if name in IN_PYTORCH else ""
    make.__doc__ = f"One step of `{name}` on a batch{beside}."
    case(f"step of {name}", AUTOENCODER, CLASSIFIER)(make)


def _products(name, problem, optimizer):
    net, samples = optimizer.network, problem.setting.batch
    gradient = products.forward(net, samples) + products.backward(net, samples)
    if (
        name == "ResidualPartitioning"
    ):  # u through every layer but the first, and Z back like the gradient
        return gradient + products.forward(net, samples)[1:] + products.backward(net, samples)
    if (
        name == "TruncatedNewton"
    ):  # five products with the curvature, one for the decrease, two trials of the step
        product = products.tangent(net, samples) + products.backward_tangent(net, samples)
        return gradient + (OPTIONS[name]["max_cg"] + 1) * product + products.forward(net, samples)
    return gradient


for _cls in optimizers():
    _register(_cls)
