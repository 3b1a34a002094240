"""The choices of a cubic step, and the checks of what they must fit."""

from dataclasses import dataclass

from ...checks import boolean, one_of, positive_number
from ...optimizers.first_order import SGD
from .rules import rules
from .steps import ASCENT

FORMS = ("exact", "printed")
RATES = ("single", "layer", "variable")
AVERAGING = ("direction", "step", "rate")


@dataclass(frozen=True)
class Options:
    """Choices of :class:`CubicRegularization`, by its parameters' names, settled for its base."""

    rates: str
    averaging: str
    curvature: str
    coupled: bool
    ascent: str
    adaptive: bool
    smallest_sigma: float


def checked(base, sigma, rates="single", averaging="direction", curvature="exact", coupled=None,
            ascent="skip", adaptive=False, smallest_sigma=None):
    """The `Options` for a base and a sigma that is a positive number, or the errors of
    :class:`CubicRegularization`.
    """
    adaptive = boolean(adaptive, "adaptive")
    limit = sigma / 100 if smallest_sigma is None else positive_number(
        smallest_sigma, "smallest_sigma", sigma)
    options = Options(one_of(RATES, rates, "rates"), one_of(AVERAGING, averaging, "averaging"),
                      one_of(FORMS, curvature, "curvature"),
                      True if coupled is None else boolean(coupled, "coupled"),
                      one_of(ASCENT, ascent, "ascent"), adaptive, limit)
    if coupled is not None and rates != "layer":
        raise ValueError(f"coupled={coupled} is about the rates of layers: it needs "
                         f"rates='layer', got rates={rates!r}")
    if smallest_sigma is not None and not adaptive:
        raise ValueError(f"smallest_sigma={smallest_sigma} is the lower limit of an adaptive "
                         "sigma: it needs adaptive=True")
    require_fitting(base, options)
    return options


def require_fitting(base, options):
    """Raise ValueError for options that do not go together, TypeError for a layer that they do not
    know.
    """
    if options.averaging != "direction":
        if type(base) is not SGD or options.rates != "single":
            raise ValueError(f"averaging={options.averaging!r} needs SGD as base and "
                             f"rates='single', got {type(base).__name__} and "
                             f"rates={options.rates!r}")
        if options.adaptive or options.curvature == "printed":
            raise ValueError(f"averaging={options.averaging!r} has no single model: no "
                             "adaptive=True, no curvature='printed'")
    if options.curvature == "printed" and options.rates != "single":
        raise ValueError(f"curvature='printed' needs rates='single', got rates={options.rates!r}")
    if options.averaging != "direction" or options.curvature == "printed":
        for layer in base.network.layers:
            rules(layer)  # refuses what is not fully connected
