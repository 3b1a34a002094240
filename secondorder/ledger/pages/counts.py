"""What is counted: labels, equations, verdicts, and errata by their weight."""

from ..registration import VERDICTS, WEIGHTS

#: What several are called, where that is another word.
_PLURALS = {"holds": "hold", "erratum": "errata", "definition": "definitions",
            "misprint": "misprints", "check": "checks", "label": "labels"}


def verdict_of(entry):
    """The verdict with the weight of what is corrected: `erratum of substance`, for example."""
    if entry.weight is None:
        return entry.verdict
    if entry.verdict == "erratum":
        return f"erratum ({entry.weight})"
    return f"{entry.verdict}, corrected ({entry.weight})"


def verdicts(entries):
    """How many displays have each verdict, as text; errata by weight, in parentheses."""
    parts = []
    for verdict in VERDICTS:
        mine = [entry for entry in entries if entry.verdict == verdict]
        if not mine:
            continue
        weights = by_weight(mine)
        if weights and verdict != "erratum":
            weights = f"corrected: {weights}"
        parts.append(_counted(len(mine), verdict) + (f" ({weights})" if weights else ""))
    return ", ".join(parts) or "nothing"


def by_weight(entries):
    """`1 of substance, 5 misprints`: how many corrected displays have each weight."""
    return ", ".join(_counted(count, weight if weight == "misprint" else f"of {weight}")
                     for weight in WEIGHTS
                     if (count := sum(entry.weight == weight for entry in entries)))


def labels(entries):
    """`12 checks of 15 labels`, and how many labels no display of the paper bears."""
    count = sum(len(entry.labels) for entry in entries)
    idle = sum(len(entry.unnumbered) for entry in entries)
    text = f"{_counted(len(entries), 'check')} of {_counted(count, 'label')}"
    return f"{text}, {idle} of them without a display in the paper" if idle else text


def _counted(count, name):
    return f"{count} {noun(name, count)}"


def noun(name, count):
    """`erratum` for one, `errata` for more."""
    return name if count == 1 else _PLURALS.get(name, name)


def marks(entry):
    """Sentences that say what of a display is not the paper's."""
    lines = []
    if entry.ours:
        lines.append("The formula is ours: the paper has it in words or numbers, or not at all.")
    if entry.unnumbered:
        bears = ("no display of the paper bears this number" if len(entry.unnumbered) == 1 else
                 "no displays of the paper bear these numbers")
        lines.append(f"{', '.join(entry.unnumbered)}: {bears}.")
    return lines
