"""Numbers as they stand in texts: 0.05 and 4000, never .05 or 4e+03."""

import math


def number(value, digits=3):
    """A number in plain digits, so many that count; only what is below 0.0001 has a power of ten.

    Whole thousands keep all their digits.
    """
    if not math.isfinite(value):
        return f"{value:g}"
    if abs(value) >= 10_000:
        return f"{value:,.0f}"
    if value == 0 or abs(value) < 1e-4:
        return f"{value:.{digits}g}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    told = f"{value:.{places}f}"
    return told.rstrip("0").rstrip(".") if "." in told else told


def is_logarithm(measure):
    """Whether a measure is a natural logarithm: a reader is told the factor in its place."""
    return measure.startswith(("log of ", "log ratio"))


def amount(value, measure):
    """An effect as a text tells it: "0.5", or "1.21 times" of a logarithm."""
    return f"{number(math.exp(value))} times" if is_logarithm(measure) else number(value)


def effect_text(measure, effect, spread=None):
    """Measure, effect and spread: "loss over Adam's: 1.21 times (1.1 to 1.3)"."""
    told = amount(effect, measure)
    if spread:
        low, high = (amount(end, measure).removesuffix(" times") for end in spread)
        told += f" ({low} to {high})" if low != high else ""
    if is_logarithm(measure):
        measure = measure.removeprefix("log of ").removeprefix("log ")
    return f"{measure}: {told}" if measure else told
