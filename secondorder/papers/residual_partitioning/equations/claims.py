"""Claims that many checks make, and the name of the case that they are made on."""

from .... import exact
from ....ledger import AtMost, Case, Equal
from ..fast import bound_at
from . import dense_reference, reference


def in_case(name, *claims):
    """The claims, each with the name of its case."""
    for claim in claims:
        # a claim that must fail holds the comparison, which bears the name as well
        claim.case = getattr(claim, "claim", claim).case = name
    return claims


def is_bound(what, curvature, H, tolerance=1e-12):
    """0 is at most the least eigenvalue of diag(curvature) - H, for (P,) and (P, P) arrays."""
    return AtMost(what, 0.0, reference.least_eigenvalue(curvature, H), tolerance, scale=curvature)


def claims_of_a_bound(rng, make):
    """Against explicit fractions and the dense Hessians, for both ways and with cross terms."""
    claims = []
    for activation, loss in zip(("tanh", "softplus", "sigmoid", "relu"),
                                ("squared", "softmax", "softmax", "squared")):
        at, name = make(rng, activation, loss), f"{activation}, {loss}"
        for way in ("abs", "max"):
            fast, explicit = bound_at(at, "jensen", way), dense_reference.bound(at, way)
            claims += in_case(
                f"{name}, {way}",
                Equal("total gradients of the outputs, with one matrix a layer",
                      fast.total_gradients[-1], explicit.u, 1e-12),
                Equal("curvature from explicit fractions", fast.curvature, explicit.curvature,
                      1e-12),
                Equal("sum rule", fast.curvature.sum(), explicit.total, 1e-12),
                is_bound("0 against the least eigenvalue of bound minus model", fast.curvature,
                         explicit.H))
        true = exact.hessian(at.network, at.loss_function, at.x, at.y, method="products")
        claims += in_case(name, is_bound(
            "with cross terms: 0 against that of bound minus true Hessian",
            bound_at(at, "pairwise", cross=True).curvature, true))
    return [*claims, Case(x=at.x, u_L=fast.total_gradients[-1], Z_L=fast.carried[-1],
                          curvature=fast.curvature)]
