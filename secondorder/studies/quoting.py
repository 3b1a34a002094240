"""Texts that quote recorded numbers: ``{low-rank figure-1 c-printed}`` stands for the effect.

In braces stand the paper, the study and the letter of a claim. ``low`` or ``high`` behind them
quotes an end of the spread, ``seeds`` how many there were, ``verdict`` the verdict. In front of
them ``exp`` makes a factor of a log ratio, ``double`` of a log2, ``size`` takes the absolute value,
``minus`` the other sign, ``percent`` multiplies by 100; they apply from the right to the left.
"""

import re

import numpy as np

from .numbers import number
from .records import rows

FUNCTIONS = {"exp": np.exp, "double": np.exp2, "size": abs, "percent": lambda value: 100 * value,
             "minus": lambda value: -value}
FIELDS = {"low": lambda row: row["spread"][0], "high": lambda row: row["spread"][1],
          "seeds": lambda row: row["seeds"], "verdict": lambda row: row["verdict"],
          "effect": lambda row: row["effect"]}


def quoted(text, paper=None, table=None):
    """A text with its quotations filled in.

    Parameters
    ----------
    text : str
    paper : str, optional
        Of the quotations that name none.
    table : list of dict, optional
        As `records.rows` gives them; default: all that is recorded.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For a quotation of a claim that there is not.
    """
    table = rows(paper) if table is None else table
    claims = {(row["paper"], row["key"], row["claim"]): row for row in table}
    return re.sub(r"\{([^{}]+)\}", lambda match: _told(match[1].split(), paper, claims), text)


def _told(words, paper, claims):
    asked = " ".join(words)
    functions = []
    while words[0] in FUNCTIONS:
        functions.append(FUNCTIONS[words.pop(0)])
    field = words.pop() if words[-1] in FIELDS else "effect"
    where = tuple(words) if len(words) == 3 else (paper, *words)
    if where not in claims:
        raise ValueError(f"{{{asked}}}: there is no claim {' '.join(map(str, where))}")
    row = claims[where]
    if field in ("seeds", "verdict"):
        return str(FIELDS[field](row))
    if row["effect"] is None or (field in ("low", "high") and row["spread"] is None):
        return "(not known)"
    value = FIELDS[field](row)
    for function in reversed(functions):
        value = function(value)
    return number(float(value))
