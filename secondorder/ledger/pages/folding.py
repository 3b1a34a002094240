"""Claims that differ in their case only, together: one line for the worst of them."""

import re

import numpy as np

from ..claims import Case, PrintedShape, Property
from ..comparisons import Comparison

#: Parts of a claim's text that say on which case it was made, and nothing of what is claimed.
_CASE = re.compile(
    r"(?:(?:one|two|three|all|no|last|first|second|\d+)\s)*(?:"
    r"re ?lu|tanh|sigmoid|softplus|sin|sine|identity|leaky ?relu|linear|cubic|square|smooth"
    r"|softmax|softmax cross-entropy|cross-entropy|squared(?: error)?|bounded|tukey\w*|"
    r"PCH-[12]|(?:layer|block|seed|sample|strides?|step|batch|case|draw|l2|gamma|alpha|n|S)"
    r"(?:s)?\s?=?\s?[-\d(][-\d., ()and]*|"
    r"layers?|samples?|blocks?|all pairs of layers|all layers|one sample|weights doubled"
    r")", re.I)


def split_case(text):
    """Text of a claim as what is claimed and on which case: `relu, layer 2: the product`.

    Only parts that name activations, losses, layers, seeds or other numbered things are a case.

    >>> split_case("PCH-1, tanh, layer 2: as corrected, by loops")
    ('as corrected, by loops', 'PCH-1, tanh, layer 2')
    >>> split_case("factor of the inputs")
    ('factor of the inputs', '')
    """
    head, colon, rest = text.partition(": ")
    if colon and rest and all(map(_is_case, _parts(head))):
        return rest, head
    parts = _parts(text)
    cases = [part for part in parts if _is_case(part)]
    if len(cases) == len(parts):
        return text, ""
    return ", ".join(part for part in parts if part not in cases), ", ".join(cases)


def _parts(text):
    """A text cut at commas outside brackets."""
    return re.split(r", (?![^(]*\))", text)


def _is_case(text):
    return bool(_CASE.fullmatch(text.strip()))


def folded(claims):
    """Groups of claims that say the same on different cases.

    Returns
    -------
    list of (str, list)
        What is claimed, and the claims with the worst one first, in the order of the check.
    """
    groups = {}
    for claim in claims:
        if isinstance(claim, Case):
            continue
        what = split_case(claim.what)[0]
        outcome = (claim.left_shape, claim.right_shape) if isinstance(claim, PrintedShape) else \
            repr(claim.expected) if isinstance(claim, Property) else None
        groups.setdefault((type(claim), claim.relation, what, outcome), []).append(claim)
    return [(key[2], sorted(same, key=badness, reverse=True)) for key, same in groups.items()]


def case_of(claim):
    """On which case a claim was made, from its text and its `case`; "" for the only one."""
    return ", ".join(part for part in (split_case(claim.what)[1], claim.case) if part)


def badness(claim):
    """Larger for what is nearer to failing."""
    if not claim.ok:
        return np.inf
    if isinstance(claim, (Property, PrintedShape)):
        return 0.0
    ratio = claim.error / claim.tolerance
    return ratio if isinstance(claim, Comparison) else -ratio
