r"""Bridges: where two of the papers say the same of one object.

Every paper has its own notation, and now and then two have one matrix. Such places are equalities:
one side is computed by the room of the one paper, the other by the room of the other, and the rooms
share no code for it. This is the only place of the package that knows two rooms.

==============================  ==========================  ========================================
paper                           here                        meaning
==============================  ==========================  ========================================
\nabla^2_{W^t} \xi_i            ``layers``                  Hessian of one layer's weights: [ea-cg]
                                                            (4c), [low-rank] (5), (78)-(80)
h_i^{t-1}; v^(k-1)              ``h`` (S, m)                what enters the layer
\nabla^2_{b^t} \xi_i            ``H``                       Hessian in the layer's pre-activation:
                                                            (4b); M between a layer and itself
G^t                             ``step=fisher_step``        Gauss-Newton matrix, mean over samples:
                                                            [ea-cg]
J^T J; J J^T                    ``kernels``                 Gauss-Newton matrix and kernel, summed:
                                                            [reversible-gauss-newton]
n                               S                           number of samples: the sum is S times
                                                            the mean
alpha                           ``steps``                   damping of [ea-cg] (9)
\epsilon                        ``eps``                     gradient of the summed loss in outputs
\ddot W                         ``diagonals``               curvature of one weight in the bound of
                                                            [residual-partitioning]
==============================  ==========================  ========================================

Reading order: ``layers``, ``kernels``, ``steps``, ``diagonals``; ``equations`` runs them.
"""

PAPER = "bridges"
ABOUT = "Where two of the papers say the same of one object."
