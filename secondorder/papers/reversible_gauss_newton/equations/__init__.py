"""Every numbered equation, theorem, assumption and claim of the paper as a check that runs.

In the paper's order: ``background`` (1)-(7); ``theorem`` (8)-(11) and Theorem 4.3; ``blocks``
(12)-(17), Proposition 4.4; ``cost``; ``flows_of_the_loss`` (18)-(22); ``discretisation`` (23)-(32)
with ``two_flows``; ``proof`` (33)-(55); ``appendix_n`` (58)-(80); ``extensions`` what follows
beyond the paper. ``reference`` holds loops, complex steps and singular values that share no code
with the room, ``whole_networks`` the same for networks with biases and a readout; ``cases`` random
small cases, ``conditions`` the conditions by name. Importing this package registers all checks with
:mod:`secondorder.ledger`.
"""

from . import (  # noqa: F401
    background,
    theorem,
    blocks,
    cost,
    flows_of_the_loss,
    discretisation,
    proof,
    appendix_n,
    extensions,
)
