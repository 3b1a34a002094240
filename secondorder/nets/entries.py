"""What stands for a class of layers, functions or losses in the compiled form, found by class."""

from inspect import getattr_static


class Entries:
    """Entries by class: a decorator to register one, a look-up to find it.

    The entry of a class stands for its subclasses too, but for none that overrides anything beside
    special methods, itself or by a mixin, nor for an object with a method of its own: what was
    changed would have no effect.
    """

    def __init__(self):
        self.registry, self._found = {}, {}

    def register(self, *classes):
        """Decorator: register the entry of some classes."""
        def add(entry):
            self.registry.update(dict.fromkeys(classes, entry))
            self._found.clear()
            return entry
        return add

    def find(self, one):
        """The entry that stands for an object, or None."""
        cls = type(one)
        if cls not in self._found:
            self._found[cls] = self._of_class(cls)
        entry, methods = self._found[cls]
        return entry if methods.isdisjoint(vars(one)) else None

    def _of_class(self, cls):
        """The entry for a class, and the names that an object of that class must not shadow."""
        parent = next((c for c in cls.__mro__ if c in self.registry), None)
        names = {name for name in dir(parent) if not name.startswith("__")} if parent else ()
        if any(getattr_static(cls, name) is not getattr_static(parent, name) for name in names):
            parent = None
        if parent is None:
            return None, frozenset()
        return self.registry[parent], frozenset(name for name in names
                                                if callable(getattr_static(parent, name)))
