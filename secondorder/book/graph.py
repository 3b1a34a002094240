"""What a derivation rests on, as proof trees: a result on top, below it what it is proved from.

The edges are what the registrations state with ``uses=``; what the code calls plays no part.
"""

import re

from ..ledger.registry import REGISTRY

_LONG = 5  # labels below one that make its derivation worth a tree of its own
_RESULTS = re.compile(r"(theorem|lemma|proposition|corollary|algorithm)-")


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


def below(label, known, stops=()):
    """All labels that a label rests on, directly or not; what is in `stops` is not gone through."""
    waiting, reached = list(known[label]), []
    while waiting:
        one = waiting.pop(0)
        if one not in reached:
            reached.append(one)
            waiting += [] if one in stops else known[one]
    return reached


def tops(entries, known):
    """First labels of what has a tree of its own.

    Theorems and their like first; then, in the paper's order, what nothing else rests on, and what
    several of these start from if its own derivation is long.
    """
    used = {one for steps in known.values() for one in steps}
    proved = [entry.labels[0] for entry in entries if known[entry.labels[0]]]
    named = [entry.labels[0] for entry in entries if any(map(_RESULTS.match, entry.labels))]
    results = [label for label in proved if label in named or label not in used]
    starts = [one for result in results for one in known[result]]
    shown = [label for label in proved if label in results
             or starts.count(label) > 1 and len(below(label, known)) >= _LONG]
    return sorted(shown, key=lambda label: label not in named)


def tree(top, known, stops):
    """The part of `known` below one result, down to other results; steps that are implied left out.

    What a label names and what another of its steps rests on as well is drawn once, below the
    latter.
    """
    stops = set(stops) - {top}
    nodes = [top, *below(top, known, stops)]
    part = {label: [] if label in stops else known[label] for label in nodes}
    return {label: [used for used in part[label]
                    if not any(used in below(other, part) for other in part[label])]
            for label in nodes}


def trees(entries, known):
    """A tree for each result, as nested pairs of an entry and the trees of what it rests on.

    What has a tree of its own, or has been shown in the same one, ends there.
    """
    by_label, stops = {entry.labels[0]: entry for entry in entries}, tops(entries, known)

    def branch(label, part, shown):
        below_it = [] if label in shown else part[label]
        shown.add(label)
        return by_label[label], [branch(used, part, shown) for used in below_it]

    return [branch(top, tree(top, known, stops), set()) for top in stops]
