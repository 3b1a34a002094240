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
