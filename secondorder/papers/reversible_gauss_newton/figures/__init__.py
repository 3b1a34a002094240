"""The figures and claims of the paper; each file reads as the claims that it decides.

`training` trains the paper's networks on images and records what the claims are about; `compared`
are the runs of Figure 2, which most other studies share. See :mod:`secondorder.studies`.
"""

from . import figures_1_to_4, figures_5_to_9, figures_10_to_14, figure_15  # noqa: F401
from . import poor_generalisation, exactness, theorem  # noqa: F401
from . import claims_on_figure_2, cost  # noqa: F401
