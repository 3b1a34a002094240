"""A step length from two points.

From one step to the next the parameters change by s and the gradient by y. The method goes along
minus the gradient as far as the curvature between the two points suggests.

=====  ================  ====================================================
paper  here              meaning
=====  ================  ====================================================
s      ``s`` (P,)        change of the parameters in the last step
y      ``y`` (P,)        change of the gradient in the last step
=====  ================  ====================================================

Start with ``eq_1_4_two_points``; ``method`` calls it.
"""

from .eq_1_4_two_points import eq_2_long_step, eq_3_short_step
from .method import MyMethod

PAPER = "my-paper"
TITLE = "A Step Length from Two Points"
AUTHORS = "the author of a test"
ABOUT = "A step length from the last two gradients."
VERSION = "written for a test"
METHODS = {"my-method": "MyMethod"}

__all__ = ["MyMethod", "eq_2_long_step", "eq_3_short_step"]
