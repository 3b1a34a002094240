"""An executable edition of papers on second-order optimisation of neural networks.

Layers with hand-derived passes, exact curvature of small networks, each paper's method written from
its equations, and every numbered equation as a check that runs. Nothing is imported before it is
used.

Start with ``mlp``, ``exact.hessian``, ``verify.run`` or the command ``secondorder tour``.

Every paper has a room, and all rooms are laid out alike. In the order in which to read one:

- ``__init__``: the paper in half a page, its symbols and the names they have here, the reading
  order, and ``PAPER``, its key;
- one module a topic: the paper's objects, written literally from its equations;
- the fast path: the same in as few matrix products as it takes, tested against the literal form;
- ``optimizer``: the method as someone would train with it;
- ``equations``: every number of the paper as a check, in the paper's order. A derivation over
  several numbers is one check. ``cases`` holds the random cases, ``reference`` the sums index by
  index, ``conditions`` what several statements depend on; files of checks do not import each other;
- ``EQUATIONS.md``: the page of the paper, by ``secondorder verify PAPER --markdown --write``.
"""

import importlib

__version__ = "0.1.0"

_ROOMS = ("datasets", "eacg", "edition", "exact", "ledger", "low_rank", "nets", "optimizers",
          "plots", "residual_partitioning", "reversible_gauss_newton", "training", "verify")
#: Rooms that stand in a folder of their own kind; all others stand beside this file.
_PAPERS = ("eacg", "low_rank", "residual_partitioning", "reversible_gauss_newton")
_NAMES = {"nets": ("Activation", "ActivationFunction", "AvgPool2d", "BinaryCrossEntropy",
                   "BoundedCriterion", "Chain", "Conv2d", "Flatten", "Huber", "Layer", "LayerNorm",
                   "Linear", "Loss", "MaxPool2d", "Network", "PoissonNLL", "Recurrent", "Reshape",
                   "Skip", "SoftmaxCrossEntropy", "SquaredError", "TukeyBiweight", "cnn",
                   "from_arrays", "from_torch", "load", "mlp", "rnn", "save"),
          "low_rank": ("CubicRegularization",),
          "optimizers": ("SGD", "Momentum", "Adagrad", "Adadelta", "Adam", "TruncatedNewton"),
          "eacg": ("EACG",),
          "comparison": ("compare",),
          "residual_partitioning": ("ResidualPartitioning",),
          "reversible_gauss_newton": ("GaussNewton", "RevMLP"),
          "training": ("train",)}
_HOME = {name: room for room, names in _NAMES.items() for name in names}

__all__ = [*_ROOMS, *_HOME]


def _path(room):
    return f".papers.{room}" if room in _PAPERS else f".{room}"


def __getattr__(name):
    if name in _ROOMS:
        return importlib.import_module(_path(name), __name__)
    if name in _HOME:
        value = getattr(importlib.import_module(_path(_HOME[name]), __name__), name)
        globals()[name] = value
        return value
    from .checks import close_names

    raise close_names.error(__name__, name)


def __dir__():
    return sorted({*globals(), *__all__})
