"""A subclass that overrides a method changes what is defined by that method, too."""


class Follows:
    """Mixin: methods that are defined by others change with those.

    A class names them in ``follows = {name: (sources, ...)}``. Where a subclass (or a mixin of it)
    overrides a source and not the method itself, the method goes back to what the class with the
    table defines, which calls the sources.
    """

    follows = {}

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        root = next((c for c in reversed(cls.__mro__) if vars(c).get("follows")), cls)
        for name, sources in root.follows.items():
            if cls is not root and min(place(cls, source)
                                       for source in sources) < place(cls, name):
                setattr(cls, name, vars(root)[name])


def place(cls, name):
    """How far from `cls`, in its MRO, the class stands that defines `name`."""
    return next(i for i, c in enumerate(cls.__mro__) if name in vars(c))
