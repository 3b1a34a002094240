"""Per-layer rules of a method, registered by layer class, and the table of which method supports which layer."""

import functools

PASSES = ("forward", "backward", "parameter_gradients", "tangent", "second_tangent", "backward_tangent", "input_hessian")

METHODS = {}


class LayerRules:
    """The rules of one method.

    Calling it with a layer gives the rule registered for the layer's class. A subclass inherits its parent's rule only as
    long as it overrides none of the parent's passes: a rule was derived for certain passes and is wrong for others.

    Parameters
    ----------
    method : str
        Name used in error messages and in the table of methods.

    Examples
    --------
    >>> from secondorder.nets import Linear
    >>> rules = LayerRules("my method")
    >>> @rules.register(Linear)
    ... def linear_rule(layer):
    ...     return "rule for linear layers"
    >>> rules(Linear(2, 3))(None)
    'rule for linear layers'
    """

    def __init__(self, method):
        self.method = method
        self._dispatch = functools.singledispatch(_unsupported)
        self._found = {}  # by layer class, as look-ups stand in the inner loop

    def register(self, layer_class):
        """Decorator: register a rule (any object) for a layer class."""
        def add(rule):
            # singledispatch wants functions; it only stores and returns them here
            self._dispatch.register(layer_class, rule)
            self._found.clear()
            METHODS[self.method] = self
            return rule
        return add

    @property
    def supported(self):
        """The layer classes that have a rule."""
        return [cls for cls in self._dispatch.registry if cls is not object]

    def __call__(self, layer):
        """The rule for `layer`; TypeError names the layer, the method and the supported layers."""
        cls = type(layer)
        if cls not in self._found:
            self._found[cls] = self._look_up(layer, cls)
        return self._found[cls]

    def _look_up(self, layer, cls):
        rule = self._dispatch.dispatch(cls)
        names = ", ".join(c.__name__ for c in self.supported)
        if rule is _unsupported:
            raise TypeError(f"{self.method} does not support the layer {layer!r}; supported layers: {names}; "
                            f"register a rule for {cls.__name__}")
        parent = next(c for c in cls.__mro__ if self._dispatch.registry.get(c) is rule)
        changed = [name for name in PASSES if getattr(cls, name) is not getattr(parent, name)]
        if changed:
            raise TypeError(f"{self.method} has a rule for {parent.__name__}, but {cls.__name__} overrides its {', '.join(changed)}; "
                            f"register a rule for {cls.__name__} (supported layers: {names})")
        return rule


def _unsupported(layer):
    """Marks layers without a rule."""
