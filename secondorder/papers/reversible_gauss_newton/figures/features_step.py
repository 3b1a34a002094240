"""A control's step: Moore-Penrose for what the right inverse solves, x_L instead of the logits."""

import secondorder as so

from ..eq_16_17_right_inverse import at_features
from ..method import direction


class FeaturesGaussNewton(so.optimizers.Optimizer):
    """d = -J^+ e, with J (n d, P) the Jacobian of x_L and e = eps R^{+T}, as the right inverse has
    it.

    The half squared error of x_L against x_L - e has the gradient e in x_L, and J for Jacobian.
    """

    def direction(self, evaluation):
        network, x = evaluation.network, evaluation.x
        blocks = so.Network(network.copy().layers[:-1], dtype=network.dtype)
        eps = evaluation.loss_function.gradient(evaluation.outputs, evaluation.y)
        target = blocks(x) - at_features(network.readout, eps.T).T
        return direction(blocks, so.SquaredError(), x, target, inverse="moore-penrose",
                         pseudo_inverse="exact")
