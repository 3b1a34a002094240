"""Every numbered equation, theorem, algorithm and claim of the paper as a check that runs.

The modules stand in the paper's order and bear its sections; then come what the paper says in words
only, and what follows for other layers, losses and penalties. What they share: ``reference`` (the
sums index by index), ``cases`` (random cases) and ``claims``. Importing this package registers all
of them with :mod:`secondorder.ledger`.
"""

# In the paper's order, which is the order of the tables.
from . import section_3_theorem_1, section_3_1_affine_layers, section_4_theorem_2  # noqa: F401
from . import section_7_1_and_2_ends, section_7_3_lemma_3  # noqa: F401
from . import section_7_3_affine_layers, section_7_3_other_layers  # noqa: F401
from . import section_7_algorithm_1, what_the_text_says, extensions  # noqa: F401
