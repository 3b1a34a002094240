"""You derived a layer by hand. Which entry of which derivative is wrong?

Run it as it stands:  python tutorials/11_check_your_own_layer.py [DIRECTORY FOR THE FIGURES]

We write a layer (a trainable scale for every unit), an activation (swish), plant the mistakes that
people really make, and let the checker find them: it names the pass, the entries, and the ratio to
what they should be.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import secondorder as so

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="secondorder-"))
folder.mkdir(parents=True, exist_ok=True)


# 1. A layer: y = s * x, one trainable number per unit. Seven passes, each a line or two. It is
#    linear in x and in s, but not in both together: the mixed second derivative is what one
#    forgets.
class Scale(so.Layer):
    """y_i = s_i x_i."""

    def __init__(self, width):
        super().__init__()
        self.input_shape = (width,)
        self.declare("scale", np.ones(width))

    def forward(self, x):
        y = x * self.parameters["scale"]
        return y, so.nets.LinearSaved(x, y)

    def backward(self, saved, y_bar):
        return y_bar * self.parameters["scale"], (y_bar * saved.input).sum(axis=0)

    def parameter_gradients(self, saved, y_bar):
        return y_bar * saved.input

    def tangent(self, saved, x_tangent, theta_tangent):
        y_tangent = np.zeros_like(saved.output)
        if x_tangent is not None:
            y_tangent = y_tangent + x_tangent * self.parameters["scale"]
        if theta_tangent is not None:
            y_tangent = y_tangent + saved.input * theta_tangent
        return y_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        y_second = np.zeros_like(saved.output)
        if x_second is not None:
            y_second = y_second + x_second * self.parameters["scale"]
        if x_tangent is not None and theta_tangent is not None:
            y_second = y_second + 2 * x_tangent * theta_tangent
        return y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        x_bar_tangent, theta_bar_tangent = self.backward(saved, y_bar_tangent)
        if theta_tangent is not None:
            x_bar_tangent = x_bar_tangent + y_bar * theta_tangent
        if x_tangent is not None:
            theta_bar_tangent = theta_bar_tangent + (y_bar * x_tangent).sum(axis=0)
        return x_bar_tangent, theta_bar_tangent

    def input_hessian(self, saved, y_bar, H_y):
        s = self.parameters["scale"]
        return s[:, None] * H_y * s

    def __repr__(self):
        return f"{type(self).__name__}({self.input_shape[0]})"


right = so.verify.layer(Scale(5))
print(right, "\n")
assert right.ok


# 2. The same layer with a forgotten factor: d2y/dt2 of a product of two moving things has a 2 in
#    it.
class ForgottenTwo(Scale):
    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        half = None if theta_tangent is None else theta_tangent / 2
        return super().second_tangent(saved, x_tangent, x_second, half)


# ... with a mean over the batch where a sum is meant,
class MeanForSum(Scale):
    def backward(self, saved, y_bar):
        x_bar, theta_bar = super().backward(saved, y_bar)
        return x_bar, theta_bar / len(y_bar)


# ... and with the mixed term missing in the pass behind Hessian-vector products.
class MissingTerm(Scale):
    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        return self.backward(saved, y_bar_tangent)


reports = {}
for broken in (ForgottenTwo, MeanForSum, MissingTerm):
    reports[broken.__name__] = report = so.verify.layer(broken(5), samples=4)
    print(report, "\n")


# 3. An activation needs its value and two derivatives. Swish: x times sigmoid(x); the sign in its
#    second derivative is planted wrong.
class Swish(so.ActivationFunction):
    name = "swish"

    def value(self, x):
        return x / (1 + np.exp(-x))

    def slope(self, x):
        p = 1 / (1 + np.exp(-x))
        return p + x * p * (1 - p)

    def curvature(self, x):
        p = 1 / (1 + np.exp(-x))
        return p * (1 - p) * (2 + x * (1 - 2 * p))


class WrongSign(Swish):
    def curvature(self, x):
        p = 1 / (1 + np.exp(-x))
        return p * (1 - p) * (2 - x * (1 - 2 * p))


good, bad = so.verify.activation(Swish()), so.verify.activation(WrongSign())
print(bad, "\n")

# 4. What is right works at once: exact curvature of a network that contains both.
net = so.Network([so.Linear(4, 5, rng=0), so.Activation(Swish()), Scale(5), so.Linear(5, 3, rng=1)])
rng = np.random.default_rng(0)
x, y, v = rng.standard_normal((8, 4)), rng.integers(0, 3, 8), rng.standard_normal(net.size)
loss = so.SoftmaxCrossEntropy()
by_products = so.exact.hessian(net, loss, x, y, method="products")
by_polarisation = so.exact.hessian(net, loss, x, y, method="polarisation")
print(f"Hessian of a network with both: two routes differ by "
      f"{np.abs(by_products - by_polarisation).max():.1e}")

# 5. The picture behind a finding: where a derivative is right, the error of central differences
#    falls with the square of the step until rounding takes over; where it is wrong, the error
#    stays.
figure = Figure(figsize=(13, 5), layout="constrained")
axes = figure.subplots(1, 2, sharey=True)
good.plot(axes[0])
bad.plot(axes[1])
figure.savefig(folder / "error-against-step.png", dpi=110)
print(f"figure: {folder / 'error-against-step.png'}")


def wrong_passes(report):
    return {finding.pass_name for finding in report.findings}


# What this script claims.
assert wrong_passes(reports["ForgottenTwo"]) == {"second_tangent"}
assert "backward" in wrong_passes(reports["MeanForSum"])
assert wrong_passes(reports["MissingTerm"]) == {"backward_tangent"}
assert good.ok and wrong_passes(bad) == {"curvature"}
assert np.abs(by_products - by_polarisation).max() < 1e-12 * np.abs(by_products).max()
