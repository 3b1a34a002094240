"""Every numbered equation, theorem, algorithm and claim of the paper as a check that runs.

The modules stand in the paper's order: ``objective`` (1)-(3) holds the objective and the bound as a whole; ``bounding``
(4)-(9) goes through affine layers; ``partitioning`` (10)-(11) holds the chosen fractions; ``ends`` (12)-(18) the loss
and the first layer; ``lemma_3`` (19)-(24) the simplex; ``induction`` and ``theorem_2`` (25)-(46) the proof that the
fractions are optimal; ``algorithm`` Algorithm 1; ``claims`` what the paper says in words; ``extensions`` and
``options`` what follows for other layers, losses and penalties. ``cases`` and ``fractions`` hold what the checks share.
Importing this package registers all of them with :mod:`secondorder.ledger`.
"""

from . import (objective, bounding, partitioning, ends, lemma_3, induction, theorem_2, algorithm, claims,  # noqa: F401
               extensions, options)  # in the paper's order, which is the order of the tables
