"""Per-layer rules of a method, registered by layer class; which method takes which layer.

A rule is derived for the passes of one class of layers. It is looked up along the class's MRO, and
a subclass that overrides one of those passes does not inherit it.
"""

from .layers.base import PASSES

METHODS = {}


def nearest_class(layer, classes, method, hint=""):
    """The class among `classes` whose rule applies to a layer: the first in the layer's MRO.

    TypeError, with `method` and `hint`, if there is none, or if the layer's class overrides a pass
    of it. The message names the layer, the method and the layers that it takes.
    """
    cls, taken = type(layer), f"supported layers: {', '.join(c.__name__ for c in classes)}{hint}"
    parent = next((c for c in cls.__mro__ if c in classes), None)
    if parent is None:
        raise TypeError(f"{method} does not support the layer {layer!r}; {taken}")
    changed = [name for name in PASSES
               if getattr(cls, name, None) is not getattr(parent, name, None)
               and not hasattr(getattr(cls, name), "made_of")]
    if changed:
        raise TypeError(f"{method} supports {parent.__name__}, but {cls.__name__} overrides its "
                        f"{', '.join(changed)}; {taken}")
    return parent


class LayerRules:
    """The rules of a method; a call with a layer gives the rule of its :func:`nearest_class`.

    Parameters
    ----------
    method : str
        Name used in error messages and in the table of methods.
    *others : str
        Further methods that use the same rules; each gets its row in the table.
    without_rule : str
        What the table says of a layer without a rule: "no", or how the method takes it all the
        same.

    Attributes
    ----------
    registry : dict
        Layer class -> rule.

    Examples
    --------
    >>> from secondorder.nets import Linear
    >>> rules = LayerRules("my method", "its faster twin")
    >>> @rules.register(Linear)
    ... def linear_rule(layer):
    ...     return "rule for linear layers"
    >>> rules(Linear(2, 3))(None)
    'rule for linear layers'
    """

    def __init__(self, method, *others, without_rule="no"):
        self.methods, self.without_rule = (method, *others), without_rule
        self.registry = {}
        self._found = {}  # by the layer's own class, as look-ups stand in the inner loop

    def register(self, *layer_classes):
        """Decorator: register a rule (any object) for one or several layer classes."""
        if not layer_classes or not all(isinstance(cls, type) for cls in layer_classes):
            raise TypeError("register takes the layer classes that the rule is for, got "
                            f"{layer_classes}")

        def add(rule):
            self.registry.update(dict.fromkeys(layer_classes, rule))
            self._found.clear()
            METHODS.update(dict.fromkeys(self.methods, self))
            return rule
        return add

    @property
    def supported(self):
        """The layer classes that have a rule."""
        return list(self.registry)

    def __call__(self, layer):
        """The rule for `layer`; TypeError names the layer, the method and the supported layers."""
        cls = type(layer)
        try:
            return self._found[cls]
        except KeyError:
            parent = nearest_class(layer, self.registry, " and ".join(self.methods),
                                   f"; register a rule for {cls.__name__}")
            rule = self._found[cls] = self.registry[parent]
            return rule
