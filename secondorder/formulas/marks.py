"""What differs between a formula as printed and as corrected: the symbols that changed, marked."""

import difflib

from .latex import Leaf, leaves, parse

_MOST = 0.6  # with more of it changed, a formula is another one, and marks would say nothing
_LOST = 0.3  # with more of it gone, only what is new is marked


def marked_pair(printed, corrected):
    """The nodes of both formulas, with what is not in the other one marked, and whether anything
    is.

    Where most of the corrected form is not in the printed one, nothing is marked.
    """
    before, after = parse(printed), parse(corrected)
    old, new = _symbols(before), _symbols(after)
    blocks = difflib.SequenceMatcher(None, [key for key, _ in old], [key for key, _ in new],
                                     autojunk=False).get_opcodes()
    gone = [leaf for what, a, b, _, _ in blocks if what != "equal" for _, leaf in old[a:b]]
    come = [leaf for what, _, _, a, b in blocks if what != "equal" for _, leaf in new[a:b]]
    if len(come) > _MOST * len(new) or len(gone) > _MOST * len(old) and not come:
        return (before, after), False
    if come and len(gone) > _LOST * len(old):
        gone = []
    for leaf in [*gone, *come]:
        leaf.marked = True
    return (before, after), bool(gone or come)


def _symbols(nodes, place="line"):
    """Pairs of what a symbol is (with its place: below, above, on the line) and the symbol."""
    symbols = []
    for node in nodes:
        if isinstance(node, Leaf):
            if node.text not in (" ", "&", r"\,", r"\quad", r"\;") and not node.tag:
                symbols.append(((node.text, place), node))
            continue
        places = {"script": (place, place + "_", place + "^"), "frac": (place + "n", place + "d")}
        if node.kind == "accent":
            for leaf in leaves(node.parts[0])[:1]:
                symbols += [((node.name + leaf.text, place), leaf)]
            symbols += _symbols(node.parts[0], place)[1:]
            continue
        for part, where in zip(node.parts, places.get(node.kind, (place,) * len(node.parts))):
            symbols += _symbols(part, where)
    return symbols
