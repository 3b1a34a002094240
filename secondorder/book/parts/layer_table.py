"""Which method supports which layer: the table of CONTRIBUTING, made from the registrations."""

import importlib
import inspect

from ... import nets
from ...ledger import PAPERS
from ...nets import rules

PASSES = ("forward", "backward", "tangent", "second_tangent", "backward_tangent", "input_hessian")


def layer_classes():
    """The layers of `nets` and of the papers' folders, in the order of their names."""
    rooms = [importlib.import_module(module.rpartition(".")[0]) for module in PAPERS.values()]
    exported = {name: getattr(module, name) for module in (nets, *rooms)
                for name in getattr(module, "__all__", ())}
    return [cls for _, cls in sorted(exported.items()) if inspect.isclass(cls)
            and issubclass(cls, nets.Layer) and cls is not nets.Layer]


def table():
    """The table as Markdown, a row for each method and a column for each layer.

    "Exact derivatives" are the passes of a layer; every further row, in the order of the alphabet,
    is a set of rules registered by layer class. A method that takes layers without a rule says how
    in its rules' `without_rule`.
    """
    layers = layer_classes()
    whole = [all(getattr(cls, name) is not getattr(nets.Layer, name) for name in PASSES)
             for cls in layers]
    rows = [["method", *(f"`{cls.__name__}`" for cls in layers)], ["---"] * (len(layers) + 1),
            ["exact derivatives", *("yes" if one else "no" for one in whole)]]
    for method, registered in sorted(rules.METHODS.items()):
        rows.append([method, *("yes" if cls in registered.supported else registered.without_rule
                               for cls in layers)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
