"""Exact curvature; nothing here is approximated, but for estimates that state their error.

One call each: gradients and products with vectors (``curvature``), whole matrices (``dense``),
operators for SciPy (``operators``), diagonals, the objective for SciPy's optimizers, and in
``spectra`` traces, spectral densities, solutions of systems, eigenpairs, Laplace's approximation.
All of them work through the samples in chunks with ``batch_size``, and hand the chunks to an
``executor``.
"""

from ..checks import close_names
from . import finite_differences
from .curvature import (gauss_newton_vector_product, gradient, hessian_vector_product, jacobian,
                        sample_gradients, two_jet)
from .dense import fisher, gauss_newton, hessian
from .spectra.densities import SpectralDensity, spectral_density
from .diagonals import diagonal, diagonal_methods
from .spectra.eigenpairs import Eigenpairs, eigenpairs
from .objectives import Objective, objective
from .operators import CurvatureOperator, FisherOperator, GaussNewtonOperator, HessianOperator
from .spectra.posterior import Posterior, posterior
from .spectra.solving import Solution, solve
from .spectra.traces import Trace, trace

__all__ = ["CurvatureOperator", "Eigenpairs", "FisherOperator", "GaussNewtonOperator",
           "HessianOperator", "Objective", "Posterior", "Solution", "SpectralDensity", "Trace",
           "diagonal", "diagonal_methods", "eigenpairs", "finite_differences", "fisher",
           "gauss_newton", "gauss_newton_vector_product", "gradient", "hessian",
           "hessian_vector_product", "jacobian", "objective", "posterior", "sample_gradients",
           "solve", "spectral_density", "trace", "two_jet"]

__getattr__ = close_names.names(__name__)
