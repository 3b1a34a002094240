"""Drawing only: a function takes results and perhaps matplotlib axes, draws, and returns the axes.
`along` and `plane` alone ask for their numbers themselves, those of a network along a direction and
in a plane. `row` puts pictures side by side.

Colours are Okabe and Ito's, which remain distinct under the common colour vision
deficiencies, and lines differ in their style or marker as well. Matplotlib is imported when the
first function is called.
"""

from ..checks import close_names
from .along import along
from .curves import learning_curves
from .errors import errors_by_layer, printed_and_corrected
from .kernels import kernels
from .lines import lines
from .matrices import bound_beside_hessian, hessian_heat_map, matrices, parameter_blocks
from .planes import plane
from .rays import cubic_model
from .rows import row
from .spectra import spectrum
from .style import BLACK, BLUE, COLOURS, GREEN, MARKERS, ORANGE, PURPLE, SKY, VERMILION

__all__ = ["BLACK", "BLUE", "COLOURS", "GREEN", "MARKERS", "ORANGE", "PURPLE", "SKY", "VERMILION",
           "along", "bound_beside_hessian", "cubic_model", "errors_by_layer", "hessian_heat_map",
           "kernels", "learning_curves", "lines", "matrices",
           "parameter_blocks", "plane", "printed_and_corrected", "row", "spectrum"]

__getattr__ = close_names.names(__name__)
