"""What people read of a run: a table for every paper, with a line that counts."""

import shutil
import textwrap

from ..comparisons import RELATIVE_TO
from ..registry import short_name
from . import counts


def table(results, width=None):
    """Results as text: a table a paper, with a line that counts verdicts, and what failed.

    Parameters
    ----------
    results : list of Result
    width : int, optional
        Columns to use; default: the terminal's (160 where there is none).
    """
    width = width or shutil.get_terminal_size((160, 24)).columns
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
    failed = sum(result.failed for result in results)
    seconds = sum(result.seconds for result in results)
    return (f"{counts.labels(results)}: {counts.verdicts(results)}; {failed} failed; "
            f"{seconds:.1f} s")


def _rows(results, width):
    """Header, rule, and two lines a check: outcome, verdict, label and numbers; what it states."""
    columns = {"": ["FAIL" if result.failed else "ok" if result.ok else "-" for result in results],
               "verdict": [counts.verdict_of(result) for result in results],
               "label": [_labels(result.labels) for result in results],
               "error": [_short(result.error) for result in results],
               "printed": [result.printed_failure or _short(result.printed_error)
                           for result in results],
               "implemented": [_place(result) for result in results]}
    sizes = {name: max([len(name), *map(len, cells)]) for name, cells in columns.items()}
    sizes["label"] = min(sizes["label"], 24)
    left = width - sum(sizes[name] + 2 for name in sizes if name != "implemented")
    sizes["implemented"] = max(min(sizes["implemented"], left), 0)
    columns["implemented"] = [name if len(name) <= left else name.rpartition(".")[2]
                              for name in columns["implemented"]]
    head, *rows = ["  ".join(_clip(cell, size) for cell, size in zip(row, sizes.values())
                             if size).rstrip()
                   for row in [list(columns), *zip(*columns.values())]]
    lines = [head, "-" * min(width, max(map(len, [head, *rows])))]
    for row, result in zip(rows, results):
        stated = textwrap.wrap(" ".join(result.statement.split()), width, max_lines=2,
                               initial_indent=" " * 6, subsequent_indent=" " * 6,
                               placeholder=" ...")
        lines += [row, *stated]
    return lines


def _labels(labels):
    """The labels of a check in short: the first and the last of many."""
    text = ", ".join(labels)
    return text if len(text) <= 24 else f"{labels[0]} to {labels[-1]}" if len(labels) > 2 else text


def _clip(text, size):
    return text.ljust(size) if len(text) <= size else text[:max(size - 3, 0)] + "..."[:size]


def _short(value):
    return "" if value is None else f"{value:.1e}"


def _place(result):
    """The first implementation in short, and how many more there are."""
    first, *rest = result.implements or ("",)
    return short_name(result.paper, first) + (f" +{len(rest)}" if rest else "")
