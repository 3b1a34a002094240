"""A value as a message shows it: short, whatever it is."""

import reprlib

import numpy as np

_ENTRIES = 8  # an array of more is told by its shape
_LENGTH = 160


class _Brief(reprlib.Repr):
    """`repr` that never grows with what it shows; arrays inside lists are short, too."""

    def __init__(self):
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = _LENGTH
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = _ENTRIES
        self.maxlevel = 3

    def repr1(self, value, level):
        if isinstance(value, np.ndarray) and value.size > _ENTRIES:
            kind = "an array" if type(value) is np.ndarray else f"a {type(value).__name__}"
            return f"{kind} of shape {value.shape}, {value.dtype}"
        if isinstance(value, int) and abs(value) >= 10**_LENGTH:  # repr refuses some of them
            return f"a whole number of {value.bit_length()} bits"
        if hasattr(value, "is_leaf") and hasattr(value, "shape"):  # a tensor of Torch
            return f"a {type(value).__name__} of shape {tuple(value.shape)}, {value.dtype}"
        return super().repr1(value, level)


_BRIEF = _Brief()


def shown(value):
    """`repr(value)` in at most a few hundred characters: an array of many entries as its shape and
    dtype, a long list or text without its middle.

    >>> shown([1, "two"]), shown(np.zeros((30, 10)))
    ("[1, 'two']", 'an array of shape (30, 10), float64')
    """
    text = _BRIEF.repr(value)
    return text if len(text) <= 3 * _LENGTH else f"{text[:_LENGTH]}...{text[-_LENGTH:]}"
