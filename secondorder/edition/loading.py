"""Making the edition in a folder known, as any paper of one's own."""

import importlib.util
import os
import sys
import tomllib
import traceback
from pathlib import Path

from ..ledger import tex_file
from ..ledger.registry import PAPERS, REGISTRY

MARK = "edition.toml"


def is_edition(folder):
    """Whether a folder holds an edition."""
    # `os.path` says no where a folder may not be looked into, `Path` raises
    return all(os.path.isfile(Path(folder) / name) for name in (MARK, "__init__.py"))


def key_of(folder):
    """The key that a folder's ``edition.toml`` names."""
    try:
        key = tomllib.loads((Path(folder) / MARK).read_text(encoding="utf-8")).get("key")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{Path(folder) / MARK} cannot be read: {error}") from None
    if not isinstance(key, str) or not key or key in PAPERS:
        raise ValueError(f"{Path(folder) / MARK}: key must be the paper's own, got {key!r}")
    return key


def load(folder):
    """Make the edition in a folder known; its code runs.

    Parameters
    ----------
    folder : path

    Returns
    -------
    str
        The key of the paper.

    Raises
    ------
    FileNotFoundError
        It holds no edition.
    ValueError
        Its code does not run, with file and line; it registers no paper of its key.
    """
    folder = Path(folder)
    if not is_edition(folder):
        raise FileNotFoundError(f"{folder} holds no edition: {MARK} and __init__.py are expected "
                                "(secondorder edition new)")
    key = key_of(folder)
    unload(key)
    name = module_name(key)
    place = folder.resolve()
    spec = importlib.util.spec_from_file_location(name, place / "__init__.py",
                                                  submodule_search_locations=[str(place)])
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    importlib.invalidate_caches()
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever an author's file raises is told with its place
        unload(key)
        raise ValueError(f"{_place(error, folder)}: {type(error).__name__}: {error}") from error
    if key not in REGISTRY.papers:
        unload(key)
        raise ValueError(f"{folder / '__init__.py'} registers no paper {key!r}: it has to call "
                         "secondorder.ledger.paper(key)")
    return key


def printed(room):
    """The displays as printed of an edition.

    Parameters
    ----------
    room : path
        Its folder, or its ``__init__.py``.

    Returns
    -------
    dict of str to str
        Label -> LaTeX.

    Raises
    ------
    VerificationError
        ``displays.tex`` is not there, or has a display without a label, or one label twice.
    """
    place = Path(room)
    return tex_file.read((place if place.is_dir() else place.parent) / tex_file.NAME)


def module_name(key):
    """The name under which the code of an edition is imported."""
    return f"edition_{key.replace('-', '_')}"


def unload(key):
    """Forget an edition and its modules."""
    REGISTRY.forget(key)
    name = module_name(key)
    for module in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
        del sys.modules[module]


def _place(error, folder):
    """The last line of the edition that an error came through."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}, line {error.lineno}"
    inside = [one for one in traceback.extract_tb(error.__traceback__)
              if Path(one.filename).parent == folder.resolve()]
    return f"{Path(inside[-1].filename).name}, line {inside[-1].lineno}" if inside \
        else str(folder)
