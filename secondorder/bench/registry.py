"""The cases by name, and what a case gives."""

from collections.abc import Callable
from dataclasses import dataclass, field

from .problems import Setting

_CASES = {}


@dataclass
class Work:
    """What a case returns.

    Attributes
    ----------
    run : callable
        Does the work once; without arguments. Whatever it returns is dropped (tests compare it
        with that of PyTorch).
    products : list of Product
        The GEMM-bound; see `products`.
    rivals : dict of str to callable
        What else is timed beside it.
    torch : callable, optional
        Takes a `pytorch.Twin` of the problem, returns a function without arguments that does the
        same in PyTorch.
    gradient : bool
        Whether one gradient of the problem's network is timed as well.
    """

    run: Callable
    products: list = field(default_factory=list)
    rivals: dict = field(default_factory=dict)
    torch: Callable | None = None
    gradient: bool = True


@dataclass(frozen=True)
class Case:
    """A registered case: its name, the function that makes its `Work`, and what it is measured on.

    `smallest` is the smallest setting of its curves in the figure; None keeps it out.
    """

    name: str
    make: Callable
    settings: tuple
    smallest: Setting | None

    @property
    def about(self):
        """First line of the function's docstring."""
        return (self.make.__doc__ or "").strip().partition("\n")[0]


def case(name, *settings, smallest=Setting("32-32-32-10", batch=25)):
    """Decorator: register a function ``make(problem) -> Work`` as a case.

    Parameters
    ----------
    name : str
        A few words, each case its own.
    *settings : Setting
        What `bench` measures where the user asks for nothing else.
    smallest : Setting or None
        Where the curves of the figure begin: widths, depth and batch grow from there. None: no
        curves.
    """

    def register(make):
        if name in _CASES:
            raise ValueError(f"two cases are called {name!r}")
        _CASES[name] = Case(name, make, settings or (Setting(),), smallest)
        return make

    return register


def registered():
    """All cases by name."""
    return dict(_CASES)
