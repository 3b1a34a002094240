"""The method: minus the gradient, times the step length (2)."""

from ...optimizers import Optimizer
from .eq_1_4_two_points import eq_1_changes, eq_2_long_step


class MyMethod(Optimizer):
    """direction = -a g with (2); -`first` g where the curvature between two points is not > 0."""

    state_names = ("theta_before", "gradient_before")

    def __init__(self, network, loss, learning_rate=1.0, l2=0.0, first=0.01):
        super().__init__(network, loss, learning_rate, l2)
        self.first, self.theta_before, self.gradient_before = first, None, None

    def direction(self, evaluation):
        theta, g = self.network.theta.copy(), self.gradient(evaluation).copy()
        length = self.first
        if self.theta_before is not None:
            s, y = eq_1_changes(theta, self.theta_before, g, self.gradient_before)
            if s @ y > 0:
                length = eq_2_long_step(s, y)
        self.theta_before, self.gradient_before = theta, g
        return -length * g
