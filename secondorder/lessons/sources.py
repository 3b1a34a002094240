"""The code of an exercise: a script's or a notebook's, also where it is meant for IPython."""

import json
import re
import sys
import tokenize
import types
from unittest.mock import MagicMock

#: What only IPython understands: magics, shell commands, questions.
_MAGIC = re.compile(r"^( *)(?:%[a-zA-Z]|!|\?|[\w.]+\?\??[ \t]*$).*$", re.M)
#: Cells of these magics are Python; those of any other (bash, html, writefile) are not.
PYTHON_CELLS = ("time", "timeit", "capture", "prun", "python", "python3")


class NoExercise(ValueError):
    """A file that cannot be graded: the text says why, without the file's name."""


def run(path):
    """The names that a script or notebook defines when it is run, not as the main program.

    NoExercise if there is no code to be read; whatever the code raises comes through.
    """
    module = types.ModuleType("exercise")
    module.__file__ = str(path)
    vars(module).update(get_ipython=MagicMock(), display=MagicMock())
    sys.modules["exercise"] = module  # classes look their module up, as dataclasses do
    for name, source in pieces(path):
        exec(compiled(source, name), module.__dict__)
    return vars(module)


def pieces(path):
    """(name in error messages, source) of a script, or of each cell of a notebook with code; else
    NoExercise.
    """
    if path.suffix.lower() != ".ipynb":
        try:
            with tokenize.open(path) as stream:
                return [(str(path), stream.read())]
        except (UnicodeDecodeError, SyntaxError) as error:
            raise NoExercise(f"the file is no text in UTF-8 ({error}); save it as UTF-8") from error
    try:
        cells = json.loads(path.read_text(encoding="utf-8-sig"))["cells"]
        return [(f"{path}, cell {number}", "".join(cell["source"]))
                for number, cell in enumerate(cells, 1) if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NoExercise("the file is no notebook of format 4") from error


def compiled(source, name):
    """Code, with what only IPython understands (``%matplotlib``, ``!ls``, ``help?``) left out, and
    nothing of a cell that its magic makes something else than Python.
    """
    magic = re.match(r"\s*%%(\w+)", source)
    if magic and magic[1] not in PYTHON_CELLS:
        source = ""
    elif magic:
        source = source.replace("%%", "#", 1)
    return compile(_MAGIC.sub(r"\1pass", source) + "\n", name, "exec", dont_inherit=True)
