"""Exact curvature; nothing here is approximated, but for estimates that state their error.

One call each: gradients and products with vectors (``curvature``), whole matrices (``dense``),
operators for SciPy (``operators``), diagonals, traces, spectral densities, and the objective for
SciPy's optimizers. All of them work through the samples in chunks with ``batch_size``, and hand the
chunks to an ``executor``.
"""

from ..checks import guessed
from . import finite_differences
from .curvature import gradient, hessian_vector_product, jacobian, sample_gradients, two_jet
from .dense import fisher, gauss_newton, hessian
from .densities import SpectralDensity, spectral_density
from .diagonals import diagonal, diagonal_methods
from .objectives import Objective, objective
from .operators import CurvatureOperator, FisherOperator, GaussNewtonOperator, HessianOperator
from .traces import Trace, trace

__all__ = ["CurvatureOperator", "FisherOperator", "GaussNewtonOperator", "HessianOperator",
           "Objective", "SpectralDensity", "Trace", "diagonal", "diagonal_methods",
           "finite_differences", "fisher", "gauss_newton", "gradient", "hessian",
           "hessian_vector_product", "jacobian", "objective", "sample_gradients",
           "spectral_density", "trace", "two_jet"]

__getattr__ = guessed.names(__name__)
