"""The figures and claims of the paper; each file reads as the claim that it decides.

`training` trains the paper's networks on images and records what the claims are about; `compared`
are the runs of Figure 2, which most other studies share. Every other file is one study; see
:mod:`secondorder.studies`.
"""

from . import figure_1, figure_2, figure_3, figure_4, figure_5, figure_6  # noqa: F401
from . import figure_7, figure_8, figure_9, figure_10, figure_11, figure_12  # noqa: F401
from . import figure_13, figure_14, figure_15  # noqa: F401
from . import poor_generalisation, features_or_logits, exactness, theorem, regularisation  # noqa: F401
from . import batch_overfit, lazy_explains, cost  # noqa: F401
