"""Exact curvature; nothing here is approximated, but for estimates that state their error.

One call each: gradients and products with vectors (``curvature``), whole matrices (``dense``),
operators for SciPy (``operators``), diagonals, the objective for SciPy's optimizers, and in
``spectra`` traces, spectral densities, solutions of systems, eigenpairs, Laplace's approximation.
All of them work through the samples in chunks with ``batch_size``, and hand the chunks to an
``executor``.
"""

import importlib

from ..checks import close_names
from . import finite_differences
from .curvature import gradient, hessian_vector_product, jacobian, sample_gradients, two_jet
from .dense import fisher, gauss_newton, hessian
from .diagonals import diagonal, diagonal_methods

# what needs SciPy, whose import takes longer than all of this: imported when it is asked for
_WITH_SCIPY = {"CurvatureOperator": "operators", "FisherOperator": "operators",
               "GaussNewtonOperator": "operators", "HessianOperator": "operators",
               "Objective": "objectives", "objective": "objectives",
               "Eigenpairs": "spectra.eigenpairs", "eigenpairs": "spectra.eigenpairs",
               "Posterior": "spectra.posterior", "posterior": "spectra.posterior",
               "Solution": "spectra.solving", "solve": "spectra.solving",
               "SpectralDensity": "spectra.densities", "spectral_density": "spectra.densities",
               "Trace": "spectra.traces", "trace": "spectra.traces"}

__all__ = ["diagonal", "diagonal_methods", "finite_differences", "fisher", "gauss_newton",
           "gradient", "hessian", "hessian_vector_product", "jacobian", "sample_gradients",
           "two_jet", *_WITH_SCIPY]


def __getattr__(name):
    if name not in _WITH_SCIPY:
        raise close_names.error(__name__, name)
    value = getattr(importlib.import_module(f".{_WITH_SCIPY[name]}", __name__), name)
    globals()[name] = value
    return value
