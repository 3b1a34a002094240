"""An executable edition of papers on second-order optimisation of neural networks.

Layers with hand-derived passes, exact curvature of small networks, each paper's method written from
its equations, and every numbered equation as a check that runs. Nothing is imported before it is
used.

Start with ``mlp``, ``exact.hessian``, ``verify.run`` or the command ``secondorder tour``.

Every paper has a room, a folder of ``secondorder/papers`` that follows the paper. All are laid
out alike:

- ``__init__``: the paper in half a page, its symbols and the names they have here, where to start,
  and what the paper says of itself, as :mod:`secondorder.papers` lists it;
- files in the paper's order that say which displays they hold; display (n) is the function
  ``eq_n_topic``;
- ``method``: the method as someone would train with it, which calls these functions;
- ``equations``: every number of the paper as a check, in the paper's order. A derivation over
  several numbers is one check. ``cases`` holds the random cases, ``reference`` the sums index by
  index, ``conditions`` what several statements depend on; files of checks do not import each other;
- ``EQUATIONS.md``: the page of the paper, by ``secondorder verify PAPER --markdown --write``.

A room is reached by its folder's name (``secondorder.low_rank``), its methods by theirs.
"""

import importlib

__version__ = "0.1.0"

_ROOMS = ("datasets", "edition", "exact", "ledger", "nets", "optimizers", "plots", "training",
          "verify")
_NAMES = {"nets": ("Activation", "ActivationFunction", "AvgPool2d", "BinaryCrossEntropy",
                   "BoundedCriterion", "Chain", "Conv2d", "Flatten", "Huber", "Layer", "LayerNorm",
                   "Linear", "Loss", "MaxPool2d", "Network", "PoissonNLL", "Recurrent", "Reshape",
                   "ScaleShift", "Skip", "SoftmaxCrossEntropy", "SquaredError", "TukeyBiweight",
                   "cnn", "from_arrays", "from_torch", "load", "mlp", "rnn", "save"),
          "optimizers": ("SGD", "Momentum", "Adagrad", "Adadelta", "Adam", "TruncatedNewton"),
          "comparison": ("compare",),
          "training": ("train",)}
_HOME = {name: room for room, names in _NAMES.items() for name in names}


def _of_papers():
    """The papers' rooms and what they offer here: name -> the folder that has it."""
    from .papers import rooms

    return {name: room.name for room in rooms().values() for name in (room.name, *room.offers)}


def __getattr__(name):
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    elif name == "__all__":
        value = [*_ROOMS, *_HOME, *_of_papers()]
    elif name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    elif name in (papers := _of_papers()):
        room = importlib.import_module(f".papers.{papers[name]}", __name__)
        value = room if name == papers[name] else getattr(room, name)
    else:
        from .checks import close_names

        raise close_names.error(__name__, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__getattr__("__all__")})
