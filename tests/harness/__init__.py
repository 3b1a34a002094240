"""What tests share: cases, derivations to hold them against, sabotage."""

import pytest


def slow(values):
    """Values for `parametrize` that are left out unless asked for with ``-m slow``."""
    return [pytest.param(*value, marks=pytest.mark.slow) if isinstance(value, tuple) else
            pytest.param(value, marks=pytest.mark.slow) for value in values]
