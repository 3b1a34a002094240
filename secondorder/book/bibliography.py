"""Who wrote the papers, which text of each was read, and the figure that stands for it.

A paper that somebody registers himself has none of this: its title is all that is known.
"""

from dataclasses import dataclass

from ..ledger.registry import REGISTRY
from .parts import symbols


@dataclass(frozen=True)
class Paper:
    """What a page says of a paper. `about` is a line on what it gives; `version` the text that was
    read, as far as it says itself what it is; `figure` the key of the study whose picture stands
    for it, or "".
    """

    title: str
    authors: str = ""
    about: str = ""
    version: str = ""
    figure: str = ""


PAPERS = {
    "residual-partitioning": Paper(
        "Deep Residual Partitioning", "Neal Lawton, Greg Ver Steeg, Aram Galstyan",
        "A bound on the loss with a diagonal Hessian, as cheap as a gradient.",
        "the authors' text, undated, with appendix; read as text extracted from it", "figure-1"),
    "low-rank": Paper(
        "Understanding and Exploiting the Low-Rank Structure of Deep Networks",
        "anonymous authors",
        "Exact Hessians as outer products, index by index, and step lengths from them.",
        "the anonymous text under double-blind review, undated, with appendices; read as text "
        "extracted from it", "figure-2"),
    "ea-cg": Paper(
        "EA-CG: An Approximate Second-Order Method for Training Fully-Connected Neural Networks",
        "Sheng-Wei Chen, Chun-Nan Chou, Edward Y. Chang",
        "A Hessian with its negative curvature corrected, solved by conjugate gradients.",
        "the authors' text, undated, with supplement; read as text extracted from it", "figure-2"),
    "reversible-gauss-newton": Paper(
        "Exact, Tractable Gauss-Newton Optimization in Deep Reversible Architectures Reveal Poor "
        "Generalization",
        "Buffelli, McGowan, Xu, Cioba, Shiu, Hennequin, Bernacchia",
        "Exact Gauss-Newton steps in closed form, because the network can be run backwards.",
        "NeurIPS 2024 (arXiv 2411.07979), formulas as printed, without related work and checklist",
        "figure-1"),
    "bridges": Paper(
        "Bridges", "", "Where two of the papers say the same of one object.", "", ""),
}


def of(paper):
    """What is known of a paper."""
    if REGISTRY.papers[paper] is None or paper not in PAPERS:
        return Paper(symbols.title(paper))
    return PAPERS[paper]
