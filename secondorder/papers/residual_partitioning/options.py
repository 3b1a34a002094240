"""The choices of a bound, and the checks of what they must fit."""

from dataclasses import dataclass

from ...checks import boolean, lookup, promised, require_real
from ...exact.curvature import check_network
from .rules import OUTPUTS, rules

NEGATIVE_CURVATURE = {"abs": False, "max": True}  # whether to clip at zero


@dataclass(frozen=True)
class Options:
    """Choices of :func:`bound`, settled for a network and a loss: whether a negative coefficient
    becomes zero, whether products of changes are bounded too, and which of `OUTPUTS` bounds the
    loss.
    """

    clip: bool
    cross: bool
    output: str = "diagonal"


def checked(network, loss, output="auto", negative_curvature="abs", cross=False):
    """The `Options` for a network and a loss, or :func:`bound`'s errors."""
    check_network(network)
    require_real(network, "residual partitioning")
    for layer in network.chain.sublayers():
        rules(layer)
    clip = lookup(NEGATIVE_CURVATURE, negative_curvature, "negative_curvature")
    return Options(clip, boolean(cross, "cross"), output_rule(loss, output))


def output_rule(loss, output):
    """Name of the rule that `output` stands for; ValueError if it gives no bound for this loss.

    "auto" takes diagonal where the loss's Hessian is, else jensen, or pairwise where the loss is
    not convex and Jensen's inequality has nothing to say.
    """
    lookup(OUTPUTS, output, "output")
    if output == "auto" and getattr(loss, "diagonal_hessian", False):
        return "diagonal"
    if output == "auto":
        return "jensen" if getattr(loss, "convex", False) else "pairwise"
    if output == "diagonal":
        promised(loss, "diagonal_hessian", "output='diagonal'", "; use 'jensen' or 'pairwise'")
    if output == "jensen":
        promised(loss, "convex", "output='jensen'", "; use 'pairwise'")
    return output
