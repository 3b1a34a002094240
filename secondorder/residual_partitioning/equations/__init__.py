"""Every numbered equation, theorem, algorithm and claim of the paper as a check that runs.

The checks stand in topic modules in the paper's order: ``bounding`` goes through affine layers and the loss, ``partitioning``
holds the simplex lemma and the optimal fractions, ``theorem_2`` the proof of their optimality and the algorithm,
``claims`` what the paper says in words, ``extensions`` what goes beyond it. ``cases`` draws the random networks they share.
Importing this package registers all of them with :mod:`secondorder.verify`.
"""

from . import bounding  # noqa: F401
