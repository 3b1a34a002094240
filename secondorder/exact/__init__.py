"""Exact curvature; nothing here is approximated."""

from ..checks import guessed
from . import finite_differences
from .curvature import gradient, hessian_vector_product, jacobian, sample_gradients, two_jet
from .dense import fisher, gauss_newton, hessian
from .operators import CurvatureOperator, FisherOperator, GaussNewtonOperator, HessianOperator

__all__ = ["CurvatureOperator", "FisherOperator", "GaussNewtonOperator", "HessianOperator",
           "finite_differences", "fisher", "gauss_newton", "gradient", "hessian",
           "hessian_vector_product", "jacobian", "sample_gradients", "two_jet"]

__getattr__ = guessed.names(__name__)
