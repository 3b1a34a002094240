"""The figures and claims of the paper; each file reads as the claim that it decides.

`training` trains the paper's networks on images and records what the claims are about. Every other
file is one study; see :mod:`secondorder.studies`.
"""

from . import poor_generalisation  # noqa: F401
