"""Claims as a table on a terminal."""

import textwrap

from .pages import effect_text, seeds_text


def table(rows, width=100):
    """Lines of a table on a terminal: study and letter, verdict, claim with its effect below; each
    begins in the same column on every line.

    Parameters
    ----------
    rows : list of dict
        As `records.rows` gives them.
    width : int
        Of the terminal; the last column is at least 30 wide.
    """
    names = [f"{row['key']} ({row['claim']})" for row in rows]
    first = max(map(len, names), default=0)
    second = max((len(row["verdict"]) for row in rows), default=0)
    before = 2 + first + 2 + second + 2
    lines = []
    for name, row in zip(names, rows):
        effect = ", ".join(filter(None, (effect_text(row), seeds_text(row["seeds"]))))
        texts = [row["statement"], *([effect] if effect_text(row) else [])]
        told = [line for text in texts for line in textwrap.wrap(text, max(30, width - before))]
        lines.append(f"  {name:<{first}}  {row['verdict']:<{second}}  {told[0]}")
        lines += [" " * before + line for line in told[1:]]
    return lines
