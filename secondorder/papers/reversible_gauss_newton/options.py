"""How a Gauss-Newton step is made: every option, checked once."""

from dataclasses import dataclass, field

import numpy as np

from ...checks import boolean, instance_of, one_of, positive_number, real_array
from ...nets import Network
from ...checks.randomness import generator
from .gram import FORMS
from .revmlp import RevMLP
from .sweep import WEIGHTS

INVERSES = ("right", "moore-penrose")
CURVATURES = ("identity", "loss")
DECOMPOSITIONS = ("gram", "svd")
DRIFT_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Options:
    """How a Gauss-Newton step is made; see :func:`direction`."""

    inverse: str = "right"
    pseudo_inverse: str = "exact"
    strength: float | None = None
    block_weights: object = "uniform"
    curvature: str = "identity"
    decomposition: str = "gram"
    recompute: bool = False
    drift_tolerance: float = DRIFT_TOLERANCE
    measure_defect: bool = True
    rng: object = field(default=None, repr=False)

    def __post_init__(self):
        for name, known in (("inverse", INVERSES),
                            ("pseudo_inverse", FORMS),
                            ("curvature", CURVATURES),
                            ("decomposition", DECOMPOSITIONS)):
            one_of(known, getattr(self, name), name)
        if self.strength is None:
            object.__setattr__(self, "strength", FORMS[self.pseudo_inverse])
        elif self.pseudo_inverse == "exact":
            raise ValueError("strength belongs to a regularised pseudo_inverse, not to 'exact'")
        else:
            positive_number(self.strength, "strength")
            if self.pseudo_inverse == "truncate" and self.strength > 1:
                raise ValueError("strength must be at most 1 for pseudo_inverse='truncate', got "
                                 f"{self.strength}: nothing would be left")
        positive_number(self.drift_tolerance, "drift_tolerance")
        if not boolean(self.recompute, "recompute") and self.drift_tolerance != DRIFT_TOLERANCE:
            raise ValueError(f"drift_tolerance={self.drift_tolerance} is about inputs that are "
                             "recomputed: it needs recompute=True")
        boolean(self.measure_defect, "measure_defect")
        if isinstance(self.block_weights, str):
            one_of(WEIGHTS, self.block_weights, "block_weights")
        elif real_array(self.block_weights, "block_weights").ndim != 1:
            raise ValueError("block_weights must be a name or one number for each block, got "
                             f"{self.block_weights!r}")
        if self.inverse == "moore-penrose":
            self._require_kernel_options()
        object.__setattr__(self, "rng", generator(self.rng))

    def _require_kernel_options(self):
        for name, only in (("block_weights", "uniform"),
                           ("decomposition", "gram"),
                           ("recompute", False)):
            if not np.array_equal(getattr(self, name), only):
                raise ValueError(f"{name} belongs to inverse='right'; with 'moore-penrose' it must "
                                 f"stay {only!r}")
        if self.pseudo_inverse == "noise":
            raise ValueError("pseudo_inverse='noise' belongs to inverse='right'; 'moore-penrose' "
                             "takes exact, truncate, damp and tikhonov")

    def check_network(self, network):
        """Raise TypeError or ValueError unless a network fits these options."""
        instance_of(network, Network, "network").require_parameters()
        if self.inverse == "right" and not isinstance(network, RevMLP):
            raise TypeError(f"inverse='right' needs a RevMLP, got a {type(network).__name__}; "
                            f"inverse='moore-penrose' takes any network")
        if not isinstance(self.block_weights, str):
            object.__setattr__(self, "block_weights",
                               _given_weights(self.block_weights, len(network.blocks)))


def _given_weights(weights, count):
    c = real_array(weights, "block_weights", (count,)).astype(float)
    if abs(c.sum() - 1) > 1e-6:
        raise ValueError(f"block_weights must have the sum 1, got {c.sum()}: with another sum the "
                         f"blocks together are no right inverse")
    return c
