"""Look-up by name with a helpful error, shared by everything that takes a name."""

import difflib


def lookup(table, name, what):
    """Return ``table[name]``, or raise ``ValueError`` that names the close matches.

    Parameters
    ----------
    table : mapping of str
    name : str
    what : str
        The argument's name, for the message.
    """
    if not isinstance(name, str):
        raise TypeError(f"{what} must be a string, got {type(name).__name__}")
    if name in table:
        return table[name]
    close = difflib.get_close_matches(name, list(table), n=3)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise ValueError(f"unknown {what} {name!r}: {hint}choose from {', '.join(table)}")
