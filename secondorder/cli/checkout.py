"""The checkout of the repository: what is written into the package's own folders goes there."""

from pathlib import Path

import secondorder


def root(option):
    """The folder of the checkout that this package is in.

    Parameters
    ----------
    option : str
        What asks for it, ``--write``.

    Raises
    ------
    ValueError
        For an installed package, which no command changes.
    """
    top = Path(secondorder.__file__).parent.parent
    if not (top / "pyproject.toml").is_file():
        raise ValueError(f"{option} is for a checkout of the repository, not for the installed "
                         f"package in {top}")
    return top
