"""How a Gauss-Newton step is made: the options, and the check of them."""

from dataclasses import dataclass, field, replace

import numpy as np

from ...checks import boolean, instance_of, one_of, positive_number, real_array, shown
from ...checks.randomness import generator
from ...nets import Network
from .gram import FORMS
from .revmlp import RevMLP

INVERSES = ("right", "moore-penrose")
WEIGHTS = ("uniform", "shortest", "last", "full-rank")
CURVATURES = ("identity", "loss")
DECOMPOSITIONS = ("gram", "svd")


@dataclass(frozen=True)
class Options:
    """How a Gauss-Newton step is made; see :func:`direction`, and :func:`checked`."""

    inverse: str = "right"
    pseudo_inverse: str = "truncate"
    strength: float | None = None
    block_weights: object = "uniform"
    curvature: str = "identity"
    decomposition: str = "gram"
    recompute: bool = False
    drift_tolerance: float = 1e-4
    measure_residual: bool = True
    rng: object = field(default=None, repr=False)


def checked(network, options):
    """The options for a network, with their defaults filled in.

    Raises
    ------
    TypeError, ValueError
        Options that are unknown, out of range or do not go together; another network than a RevMLP
        for the right inverse, or one with a half-coupled layer that is fixed; a network without
        parameters.
    """
    instance_of(options, Options, "options")
    for name, known in (("inverse", INVERSES), ("pseudo_inverse", FORMS),
                        ("curvature", CURVATURES), ("decomposition", DECOMPOSITIONS)):
        one_of(known, getattr(options, name), name)
    _check_recomputing(options)
    boolean(options.measure_residual, "measure_residual")
    strength, weights, rng = _strength(options), _weights(options), generator(options.rng)
    if options.inverse == "moore-penrose":
        _check_kernel(options)
    instance_of(network, Network, "network").require_parameters()
    if options.inverse == "right" and not isinstance(network, RevMLP):
        raise TypeError(f"inverse='right' needs a RevMLP, got a {type(network).__name__}; "
                        f"inverse='moore-penrose' takes any network")
    if options.inverse == "right":
        _check_trained(network)
    if not isinstance(weights, str):
        weights = _given_weights(weights, len(network.blocks))
    return replace(options, strength=strength, block_weights=weights, rng=rng)


def _check_trained(network):
    """Refuse half-coupled layers whose W is fixed or whose V is not: (16)-(17) move every W."""
    for half in network.couplings:
        for layer, name, expected in ((half.trained, "W", True), (half.fixed, "V", False)):
            if layer is not None and layer.trainable != expected:
                raise ValueError(f"inverse='right' moves W of every half-coupled layer and nothing "
                                 f"else, and {name} of {half!r} has trainable={not expected}; "
                                 f"inverse='moore-penrose' takes layers that are fixed")


def _check_recomputing(options):
    positive_number(options.drift_tolerance, "drift_tolerance")
    recompute = boolean(options.recompute, "recompute")
    if not recompute and options.drift_tolerance != Options.drift_tolerance:
        raise ValueError(f"drift_tolerance={options.drift_tolerance} is about inputs that are "
                         "recomputed: it needs recompute=True")


def _strength(options):
    """The strength of the regularisation: the default of its form, unless it is given."""
    form, strength = options.pseudo_inverse, options.strength
    if strength is None:
        return FORMS[form]
    if form == "exact":
        raise ValueError("strength belongs to a regularised pseudo_inverse, not to 'exact'")
    positive_number(strength, "strength")
    if form == "truncate" and strength > 1:
        raise ValueError("strength must be at most 1 for pseudo_inverse='truncate', got "
                         f"{strength}: nothing would be left")
    return strength


def _weights(options):
    """The name of the weights of the blocks, or the array that was given."""
    weights = options.block_weights
    if isinstance(weights, str):
        one_of(WEIGHTS, weights, "block_weights")
        return weights
    if real_array(weights, "block_weights").ndim != 1:
        raise ValueError("block_weights must be a name or one number for each block, got "
                         f"{shown(weights)}")
    return weights


def _given_weights(weights, count):
    c = real_array(weights, "block_weights", (count,)).astype(float)
    if abs(c.sum() - 1) > 1e-6:
        raise ValueError(f"block_weights must have the sum 1, got {c.sum()}: with another sum the "
                         f"blocks together are no right inverse")
    return c


def _check_kernel(options):
    """Refuse what belongs to the right inverse."""
    for name in ("block_weights", "decomposition", "recompute"):
        default = getattr(Options, name)
        if not np.array_equal(getattr(options, name), default):
            raise ValueError(f"{name} belongs to inverse='right'; with 'moore-penrose' it must "
                             f"stay {default!r}")
    if options.pseudo_inverse == "noise":
        raise ValueError("pseudo_inverse='noise' belongs to inverse='right'; 'moore-penrose' "
                         "takes exact, truncate, damp and tikhonov")
