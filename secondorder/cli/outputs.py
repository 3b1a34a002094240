"""The directory of --out: of one command alone, which replaces nothing but its own files."""

import contextlib

from secondorder import files


@contextlib.contextmanager
def own_outputs(place, names, command):
    """The directory, and those of its files `names` that the command is about to replace; None and
    an empty list where no place is given.
    """
    if not place:
        yield None, []
        return
    out = files.output_directory(place)
    with files.exclusive(out):
        yield out, files.replaceable(out, names, command)


def tell_written(paths, earlier, stream):
    """Print a line a file; `earlier` are those that stood there before."""
    for path in paths:
        print(f"{'replaced' if path in earlier else 'written'}: {path}", file=stream)
