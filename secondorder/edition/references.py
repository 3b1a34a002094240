r"""What `\ref` and `\eqref` stand for, once all numbers are known."""

import re

_REFERENCE = re.compile(r"\\(eqref|ref|cref|Cref|autoref)\s*\{([^{}]*)\}")


def resolved(reading, names):
    """Put the numbers into the sentences and formulas of a reading.

    Parameters
    ----------
    reading : Reading
    names : dict of str to str
        Name -> number.
    """
    def number(match):
        number_of = names.get(match[2].strip()) or "?"
        return f"({number_of})" if match[1] == "eqref" else number_of

    for display in reading.displays:
        if display.label is not None:
            display.label = _REFERENCE.sub(number, display.label)
        display.formula = _REFERENCE.sub(number, display.formula)
        display.sentence = _REFERENCE.sub(number, display.sentence)
