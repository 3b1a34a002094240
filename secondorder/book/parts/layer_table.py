"""Which method supports which layer: the table of CONTRIBUTING, made from the registrations."""

import importlib
import importlib.util
import inspect

from secondorder import nets
from secondorder.nets import rules
from secondorder.ledger import PAPERS


SEVEN = ("forward", "backward", "tangent", "second_tangent", "backward_tangent", "input_hessian")


def layer_classes():
    """The layers of `nets` and of the papers' folders, in the order of their names."""
    exported = {name: getattr(module, name) for module in (nets, *rooms())
                for name in getattr(module, "__all__", ())}
    return [cls for _, cls in sorted(exported.items()) if inspect.isclass(cls)
            and issubclass(cls, nets.Layer) and cls is not nets.Layer]


def rooms():
    """The packages of the papers, imported, so that their rules are registered."""
    names = (module.rpartition(".")[0] for module in PAPERS.values())
    return [importlib.import_module(name) for name in names
            if importlib.util.find_spec(name) is not None]


def has_all_passes(cls):
    """Whether a layer class defines all seven passes; of one without parameters are none by row."""
    return all(getattr(cls, name) is not getattr(nets.Layer, name) for name in SEVEN)


def table():
    """The table as Markdown, a row for each method and a column for each layer.

    "Exact derivatives" are the seven passes of a layer; every further row, in the order of the
    alphabet, is a set of rules registered by layer class. A method that takes layers without a
    rule says how in its rules' `without_rule`.
    """
    layers = layer_classes()
    rows = {"exact derivatives": ["yes" if has_all_passes(cls) else "no" for cls in layers]}
    for method, registered in sorted(rules.METHODS.items()):
        rows[method] = ["yes" if cls in registered.supported else registered.without_rule
                        for cls in layers]
    head = ["method", *(f"`{cls.__name__}`" for cls in layers)]
    body = [[method, *cells] for method, cells in rows.items()]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *body])
