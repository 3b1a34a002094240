"""What people read of a run: a table for every paper, with a line that counts."""

import shutil
import textwrap

from ...checks import instance_of, whole_number
from ..comparisons import RELATIVE_TO
from ..registry import short_name
from ..runner import Result
from . import counts

_WIDE = 120  # columns from which a row of the table is one line


def table(results, width=None):
    """Results as text: a table a paper, with a line that counts verdicts, and what failed.

    Parameters
    ----------
    results : list of Result
    width : int, optional
        Columns to use; default: the terminal's (160 where there is none).  Below 120 columns
        what a display states stands in a line of its own.
    """
    width = shutil.get_terminal_size((160, 24)).columns if width is None \
        else whole_number(width, "width", 1)
    results = _checked(results)
    blocks = []
    for paper in dict.fromkeys(result.paper for result in results):
        mine = [result for result in results if result.paper == paper]
        failed = [f"FAILED {paper} {', '.join(result.labels)}: {result.message}"
                  for result in mine if result.failed]
        blocks.append("\n".join([paper, *_rows(mine, width), summary(mine), *failed]))
    return "\n\n".join([*blocks,
                        *(["\n".join(textwrap.wrap(RELATIVE_TO, width))] if blocks else [])])


def summary(results):
    """One line: labels, checks, verdicts with errata by weight, failures, time."""
    results = _checked(results)
    failed = sum(result.failed for result in results)
    seconds = sum(result.seconds for result in results)
    return (f"{counts.labels(results)}: {counts.verdicts(results)}; {failed} failed; "
            f"{seconds:.1f} s")


def _checked(results):
    """A list of results, as `run` returns it."""
    return [instance_of(result, Result, "an entry of results")
            for result in instance_of(results, list, "results")]


def _rows(results, width):
    """Header, rule and rows; each row starts with the outcome, the verdict and the label."""
    columns = {"": ["FAIL" if result.failed else "ok" if result.ok else "-" for result in results],
               "verdict": [result.verdict for result in results],
               "label": [_labels(result.labels) for result in results],
               "error": [_short(result.error) for result in results],
               "tol.": [_short(result.tolerance) for result in results],
               "printed": [result.printed_failure or _short(result.printed_error)
                           for result in results],
               "weight": [result.weight or "" for result in results],
               "kind": [result.kind for result in results]}
    for name in ("printed", "weight"):
        if not any(columns[name]):
            del columns[name]
    statements = [" ".join(result.statement.split()) for result in results]
    places = [place(result.paper, result.implements) for result in results]
    if width >= _WIDE:
        columns["states"], columns["implemented"] = statements, places
        return _lines(columns, width)
    if width < 100:
        for name in ("kind", "tol.", "weight"):
            columns.pop(name, None)
    columns["implemented"] = places
    lines = _lines(columns, width)
    rows = lines[2:]
    indent = " " * 6
    stated = [textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent,
                            max_lines=2, placeholder=" ...") for text in statements]
    return lines[:2] + [line for row, text in zip(rows, stated) for line in (row, *text)]


def _lines(columns, width):
    """Header, rule and one line a row; the last columns' texts share what the others leave."""
    sizes = {name: max([len(name), *map(len, cells)]) for name, cells in columns.items()}
    sizes["label"] = min(sizes["label"], 24)
    shared = [name for name in ("states", "implemented") if name in columns]
    left = width - sum(sizes[name] + 2 for name in columns
                       if name not in shared) - 2 * (len(shared) - 1)
    if "states" in shared:
        sizes["implemented"] = min(sizes["implemented"], max(left // 3, left - sizes["states"]))
        left -= sizes["implemented"]
    sizes[shared[0]] = max(min(sizes[shared[0]], left), 0)
    columns["implemented"] = [_fitting(name, sizes["implemented"])
                              for name in columns["implemented"]]
    cells = [list(columns), *zip(*columns.values())]
    widths = list(sizes.values())
    text = ["  ".join(_clip(cell, size) for cell, size in zip(line, widths) if size).rstrip()
            for line in cells]
    return [text[0], "-" * min(width, max(map(len, text))), *text[1:]]


def _fitting(name, size):
    """A place with its module if there is room, else without it."""
    return name if len(name) <= size else name.rpartition(".")[2]


def _labels(labels):
    """The labels of a check in short: the first and the last of many."""
    text = ", ".join(labels)
    return text if len(text) <= 24 else f"{labels[0]} to {labels[-1]}" if len(labels) > 2 else text


def _clip(text, size):
    return text.ljust(size) if len(text) <= size else text[:max(size - 3, 0)] + "..."[:size]


def _short(value):
    return "" if value is None else f"{value:.1e}"


def place(paper, names):
    """The first implementation in short, and how many more there are."""
    rest = f" +{len(names) - 1}" if len(names) > 1 else ""
    return short_name(paper, names[0]) + rest if names else ""
