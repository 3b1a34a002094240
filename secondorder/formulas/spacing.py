"""The gaps between the pieces of a drawn formula, and how bad a break is at each of them."""

from .boxes import piece, text_of

_RANKS = {"gap": 0, "relation": 1, "binary": 2, "comma": 2, "factor": 4}
_CONNECTIVES = ("and", "or", "if", "where", "with", "for", "from", "at", "not", "on", "in", "else")


def pair_bars(items):
    """Say of every bar whether it opens or closes; a single one inside brackets separates."""
    depth, waiting = 0, {}
    for item in items:
        if item.kind == "bar":
            key = depth, item.rows[0][0][0]
            before = waiting.pop(key, None)
            item.kind = "open" if before is None else "close"
            if before is None:
                waiting[key] = item
        elif item.kind == "close":
            for key in [key for key in waiting if key[0] == depth]:
                waiting.pop(key).kind = "separator"
            depth -= 1
        elif item.kind == "open":
            depth += 1
    for item in waiting.values():
        item.kind = "separator"


def spaced(items, tight):
    """The items with their gaps and ranks; `tight`: as in scripts, without gaps."""
    out, depth, gap = [], 0, False
    for item in _with_dots(items):
        if item.kind == "gap":
            gap = gap or item.width > 1
            continue
        last = out[-1] if out else None
        if item.kind == "close":
            depth -= 1
        unary = item.kind == "binary" and (last is None or gap or last.kind in (
            "binary", "relation", "open", "comma", "limits", "unary"))
        if unary and (last is not None or item.rows[0][0][0] != "+" or tight):
            item.kind = "unary"
        item.gap, item.rank = _between(last, item, tight, depth)
        if gap and last is not None:
            item.gap, item.rank = (1, None) if tight else (3, 0)
        out.append(item)
        if item.kind == "open":
            depth += 1
        gap = False
    return out


def _with_dots(items):
    """A dot between a fraction and the factor beside it, which would else seem to be part of it."""
    out = []
    for item in items:
        if item.kind == "gap" and item.width == 1:
            continue
        if out and out[-1].kind == "not":
            (glyph, marked), *rest = item.rows[0]
            item.rows = [[(glyph + "\u0338", marked), *rest]]
            out.pop()
        if out and item.kind == out[-1].kind == "prime":
            out[-1] = piece("prime", "″", item.rows[0][0][1])
            continue
        if out and "frac" in (out[-1].kind, item.kind) and out[-1].kind in (
                "frac", "atom", "number") and item.kind in (
                    "frac", "atom", "prefix", "limits", "open", "grid"):
            if not (out[-1].kind == "number" and item.kind == "frac" and out[-1].width < 2):
                out.append(piece("dot", "·"))
        out.append(item)
    return out


def _between(last, item, tight, depth):
    """Spaces before an item, and the rank of a break there."""
    if last is None:
        return 0, None
    inside = 2 if depth > 0 else 0
    if item.kind == last.kind == "relation":
        return 0, None
    if item.kind in ("relation", "binary"):
        return (0 if tight else 1), _RANKS[item.kind] + inside
    if last.kind in ("relation", "binary"):
        return (0 if tight else 1), None
    if item.kind in ("comma", "close", "prime") or last.kind in ("open", "prefix", "unary"):
        return 0, None
    if last.kind == "comma":
        return (0 if tight else 1), _RANKS["comma"] + inside
    if {"separator", "slash"} & {item.kind, last.kind}:
        return 0, None
    if "dot" in (item.kind, last.kind):
        return 1, _RANKS["factor"] + inside if item.kind == "dot" else None
    if item.kind == "open" and item.rows[0][0][0] not in "|‖":
        apart = (last.kind == "limits" or last.kind == "words" and text_of(last) in _CONNECTIVES
                 or last.kind == "close" and last.width > 1)
        if not apart and (tight or last.width < 8):
            return 0, None
        return int(apart), _RANKS["factor"] + (inside if apart else 4)  # the last resort
    if "words" in (item.kind, last.kind):
        return 1, 2 + inside
    if tight and "limits" not in (item.kind, last.kind):
        return 0, None
    if last.kind == "number" and item.kind in ("atom", "prefix", "number"):
        return 0, None
    return 1, _RANKS["factor"] + inside
