"""Any spelling of a label: `Theorem 1`, `eq. 10`, `ALGORITHM-1`, `(39)` and `39` are understood."""

import re

_SHORT = {"thm": "theorem", "alg": "algorithm", "algo": "algorithm", "lem": "lemma", "tab": "table",
          "prop": "proposition", "app": "appendix", "ext": "extension"}
_OF_NUMBERS = {"eq", "eqs", "eqn", "equation", "equations", "formula", "no"}


def canonical(label):
    """A label in lower case, hyphens between its words, without what says that it is one.

    >>> [canonical(label) for label in ("Theorem 1", "eq. 10", "ALGORITHM-1", "(39)", 39, "Eqs.
    (8B)")] ['theorem-1', '10', 'algorithm-1', '39', '39', '8b']
    """
    text = re.sub(r"[()\[\],:]|\.(?!\d)", " ", str(label).lower())
    text = re.sub(r"([a-z]{2,})(\d)", r"\1 \2", text)  # theorem1
    words = [_SHORT.get(word, word) for word in re.split(r"[\s_-]+", text) if word]
    if len(words) > 1 and words[0] in _OF_NUMBERS:
        words = words[1:]
    return "-".join(words)


def heading(labels):
    """`Equations (8a), (8b)` for numbers, the label itself for theorems, algorithms and claims."""
    numbers = [label for label in labels if re.fullmatch(r"\d+[a-z]?", label)]
    if len(numbers) < len(labels):
        return ", ".join(labels)
    numbers = ", ".join(f"({label})" for label in labels)
    return f"Equation {numbers}" if len(labels) == 1 else f"Equations {numbers}"
