"""Loops where NumPy would go over memory several times: each is its formula for one entry.

A kernel takes arrays and numbers, never a layer or a network. It is compiled by numba at its first
call; ``NUMBA_DISABLE_JIT=1``, set before that, runs it in Python, where breakpoints fire. All take
their scalars in the dtype of their arrays. For complex numbers, as the complex step needs them, a
pass keeps its formula in NumPy beside a kernel that compares or takes exponentials.

``compiling``      the decorators `loop`, `elementwise` and `in_loops`
``exponential``    exp and log1p as formulas that become SIMD code
``activations``    value and slope, curvature of the activation functions
``windows``        what a convolution sees of an image, and the way back
``pooling``        means and maxima of windows
``normalisation``  `LayerNorm`
``outer``          outer products, one a sample
``losses``         values and derivatives of losses
``updates``        steps of the optimizers
"""

from .compiling import elementwise, in_loops, loop

__all__ = ["elementwise", "in_loops", "loop"]
