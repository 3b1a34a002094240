"""The code of an exercise: a script's or a notebook's, also where it is meant for IPython."""

import json
import re
import sys
import tokenize
import types

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
    vars(module).update(get_ipython=_Shell, display=lambda *things, **named: None)
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
        return [(f"{path}, cell {number}", _of_cell("".join(cell["source"])))
                for number, cell in enumerate(cells, 1) if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NoExercise("the file is no notebook of format 4") from error


def _of_cell(source):
    """A cell's Python code; none where its magic makes it something else."""
    magic = re.match(r"\s*%%(\w+)", source)
    return "" if magic and magic[1] not in PYTHON_CELLS else source


def compiled(source, name):
    """Code, with what only IPython understands (``%matplotlib``, ``!ls``, ``help?``) left out.

    A line is left out only where Python refuses it: ``%`` at the beginning of a line may be an
    operator of an expression that goes over several lines. SyntaxError for anything else.
    """
    lines = re.split(r"\r\n|\r|\n", source)  # a text may hold what splitlines takes for an end
    while True:
        try:
            return compile("\n".join(lines) + "\n", name, "exec", dont_inherit=True)
        except SyntaxError as error:
            place = (error.lineno or 0) - 1
            line = lines[place] if 0 <= place < len(lines) else ""
            magic = re.match(r"(\s*)(?:(\w+)\s*=\s*)?[%!]|(\s*)\?|(\s*)[\w.]+\?\??\s*$", line)
            if magic is None:
                raise
            indent = magic[1] or magic[3] or magic[4] or ""
            lines[place] = f"{indent}{magic[2]} = None" if magic[2] else f"{indent}pass"


class _Shell:
    """Stands for IPython where a notebook was exported as a script: its magics do nothing."""

    def __getattr__(self, name):
        return lambda *arguments, **named: None
