"""Which method supports which layer: the table of the README, made from the registrations in the
code."""

import importlib
import importlib.util
import inspect

from secondorder import nets, rules
from secondorder.ledger import PAPERS


def layer_classes():
    """The layers of `nets`, in the order of their names.

    Returns
    -------
    list of type
    """
    exported = (getattr(nets, name) for name in sorted(nets.__all__))
    return [cls for cls in exported if inspect.isclass(cls) and issubclass(cls, nets.Layer)
            and cls is not nets.Layer]


def has_all_passes(cls):
    """Whether a layer class defines all seven passes; reverse mode by `backward` or by its
    halves."""
    defined = {name for name in rules.PASSES if getattr(cls, name) is not getattr(nets.Layer, name)}
    reverse = {"backward", *rules.HALVES}
    return defined >= set(rules.PASSES) - reverse and ("backward" in defined or defined
                                                       >= set(rules.HALVES))


def table():
    """The table as Markdown, a row for each method and a column for each layer.

    "Exact derivatives" are the seven passes of a layer; every further row, in the order of the
    alphabet, is a set of rules registered by layer class.

    Returns
    -------
    str
    """
    for module in PAPERS.values():
        room = module.rpartition(".")[0]
        if importlib.util.find_spec(room) is not None:
            importlib.import_module(room)
    layers = layer_classes()
    rows = {"exact derivatives": [cls for cls in layers if has_all_passes(cls)]}
    rows |= {method: registered.supported for method, registered in sorted(rules.METHODS.items())}
    head = ["method", *(f"`{cls.__name__}`" for cls in layers)]
    body = [[method, *("yes" if cls in supported else "no" for cls in layers)]
            for method, supported in rows.items()]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *body])
