"""What is counted: labels, equations, verdicts, and errata by their weight."""

from .. import registry
from ..registration import VERDICTS, WEIGHTS

_NAMES = {"holds": ("holds", "hold"), "conditional": ("conditional", "conditional"),
          "erratum": ("erratum", "errata"), "definition": ("definition", "definitions"),
          "unchecked": ("unchecked", "unchecked")}
_WEIGHT_NAMES = {"substance": ("of substance", "of substance"),
                 "misprint": ("misprint", "misprints"),
                 "extraction": ("of extraction", "of extraction")}


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
        weights = _weights(mine)
        if weights and verdict != "erratum":
            weights = f"corrected: {weights}"
        parts.append(f"{len(mine)} {_NAMES[verdict][len(mine) != 1]}"
                     + (f" ({weights})" if weights else ""))
    return ", ".join(parts) or "nothing"


def _weights(entries):
    counts = {weight: sum(entry.weight == weight for entry in entries) for weight in WEIGHTS}
    return ", ".join(f"{count} {_WEIGHT_NAMES[weight][count != 1]}"
                     for weight, count in counts.items() if count)


def labels(entries):
    """`12 checks of 15 labels`, and how many labels no display of the paper bears."""
    count = sum(len(entry.labels) for entry in entries)
    idle = sum(len(entry.unnumbered) for entry in entries)
    text = f"{_number(len(entries), 'check')} of {_number(count, 'label')}"
    return f"{text}, {idle} of them without a display in the paper" if idle else text


def _number(count, noun):
    return f"{count} {noun}{'s' * (count != 1)}"


def marks(entry):
    """Sentences that say what of a display is not the paper's."""
    lines = []
    if entry.ours:
        lines.append("The formula is ours: the paper has it in words or numbers, or not at all.")
    if entry.unnumbered:
        lines.append(f"{', '.join(entry.unnumbered)}: no display of the paper bears this number."
                     if len(entry.unnumbered) == 1 else
                     f"{', '.join(entry.unnumbered)}: no displays of the paper bear these numbers.")
    return lines


def errata_by_weight():
    """A table in Markdown: for every paper its labels, and its corrected displays by weight."""
    lines = ["| paper | displays | labels | without a display | errata of substance "
             "| misprints | of extraction |", "|---|" + "---:|" * 6]
    for paper in registry.REGISTRY.rooms():
        entries = registry.REGISTRY.select(paper)
        counts = [len(entries), sum(len(entry.labels) for entry in entries),
                  sum(len(entry.unnumbered) for entry in entries),
                  *(sum(entry.weight == weight for entry in entries) for weight in WEIGHTS)]
        lines.append(f"| {paper} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)
