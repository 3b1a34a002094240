"""Every numbered equation, theorem, algorithm and claim of the paper as a check that runs.

The modules stand in the paper's order: ``objective`` (1)-(3) holds the objective and the bound as a
whole; ``affine_layers`` (4)-(9) goes through affine layers; ``choice`` (10)-(11) and Theorem 2
holds the chosen fractions; ``ends`` (12)-(18) the loss and the first layer; ``lemma_3`` (19)-(24)
the simplex; ``induction`` and ``theorem_2`` (25)-(46) the proof that the fractions are optimal;
``algorithm`` Algorithm 1; ``prose`` what the paper says in words; ``extensions`` and ``options``
what follows for other layers, losses and penalties. What they share: ``cases`` (random
cases), ``reference`` and ``dense_reference`` (the sums index by index), ``claims``,
``conditions``, ``minimiser``. Importing this package registers all of them with
:mod:`secondorder.ledger`.
"""

# noqa: F401
# In the paper's order, which is the order of the tables.
from . import objective  # noqa: F401
from . import affine_layers, choice, ends, lemma_3, induction, theorem_2  # noqa: F401
from . import algorithm, prose, extensions, options  # noqa: F401
