"""What a derivation rests on, as the registrations state with ``uses=``; what the code calls plays
no part.
"""

from ..ledger.registry import REGISTRY


def elsewhere(label):
    """Paper and label of what ``uses=`` names of another paper; None for one of the same."""
    paper, _, rest = label.partition(" ")
    return (paper, rest) if rest and paper in REGISTRY.papers else None


def edges(entries):
    """What rests on what: first label -> the first labels that its derivation names, in its order.

    Labels in ``uses=`` exist: `pages.require_labels` has seen to it. ValueError for a circle.
    """
    first = {label: entry.labels[0] for entry in entries for label in entry.labels}
    known = {entry.labels[0]: list(dict.fromkeys(
        first[label] for label in entry.uses or () if elsewhere(label) is None))
        for entry in entries}
    for own in known:
        for used in known[own]:
            if own == used or own in below(used, known):
                raise ValueError(f"uses= closes a circle: {own} uses {used}, which uses it")
    return known


def below(label, known):
    """All labels that a label rests on, directly or not."""
    waiting, reached = list(known[label]), []
    while waiting:
        one = waiting.pop(0)
        if one not in reached:
            reached.append(one)
            waiting += known[one]
    return reached
