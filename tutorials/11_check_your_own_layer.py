# %% [markdown]
# # 11 Check a layer of your own
#
# **Question.** You derived a layer by hand. Which entry of which derivative is wrong?
#
# **Time.** 15 minutes.
#
# **Before it.** 01.
#
# **Belongs to.** Nocedal and Wright, chapter 8 (automatic differentiation, and derivatives by
# differences to check it).
#
# As a script: `python tutorials/11_check_your_own_layer.py [FOLDER FOR THE FIGURES]`

# %%
import numpy as np

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()

# %% [markdown]
# ## 1. A layer in seven passes
#
# $y_i = s_i x_i$, one trainable number per unit. It is linear in $x$ and in $s$, but not in both
# together. Along a line on which both move,
#
# $$\dot y = \dot s\, x + s\, \dot x, \qquad \ddot y = s\, \ddot x + 2\, \dot s\, \dot x
#   \quad (\ddot s = 0).$$
#
# Each pass is a line or two. A tangent that is None is zero.
#
# **Predict first.** The package asks for seven passes. In which of them does the product $\dot s\,
# \dot x$, the mixed second derivative, show? It is easily forgotten.

# %%
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


# %% [markdown]
# ## 2. Three mistakes that people really make
#
# The same layer, wrong in three ways: without the factor 2 in $\ddot y$; with a mean over the batch
# for a sum; without the mixed term in the pass behind Hessian-vector products.
#
# **Predict first.** The checker compares with differences and prints ratios. Which ratio belongs to
# the forgotten factor, and which to the mean, with a batch of 4?

# %%
class ForgottenTwo(Scale):
    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        half = None if theta_tangent is None else theta_tangent / 2
        return super().second_tangent(saved, x_tangent, x_second, half)


class MeanForSum(Scale):
    def backward(self, saved, y_bar):
        x_bar, theta_bar = super().backward(saved, y_bar)
        return x_bar, theta_bar / len(y_bar)


class MissingTerm(Scale):
    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        return self.backward(saved, y_bar_tangent)


reports = {}
for broken in (ForgottenTwo, MeanForSum, MissingTerm):
    reports[broken.__name__] = report = so.verify.layer(broken(5), samples=4)
    print(report, "\n")


# %% [markdown]
# ## 3. An activation
#
# An activation needs its value and two derivatives. Swish is $x\, p(x)$ with $p = 1 / (1 +
# e^{-x})$, so that
#
# $$h' = p + x\, p (1 - p), \qquad h'' = p (1 - p)\, \big(2 + x (1 - 2p)\big).$$
#
# A sign is planted in $h''$.
#
# **Predict first.** $1 - 2p$ vanishes at $x = 0$. Where does the wrong sign hurt least? (A check at
# a few points near 0 might let it pass.)

# %%
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

# %% [markdown]
# ## 4. What is right works at once
#
# Exact curvature of a net that contains both, by two routes that use different passes: products
# $Hv$, and $v^\top H w = \tfrac12 [q(v + w) - q(v) - q(w)]$ with $q(v) = v^\top H v$.

# %%
net = so.Network([so.Linear(4, 5, rng=0), so.Activation(Swish()), Scale(5), so.Linear(5, 3, rng=1)])
rng = np.random.default_rng(0)
x, y, v = rng.standard_normal((8, 4)), rng.integers(0, 3, 8), rng.standard_normal(net.size)
loss = so.SoftmaxCrossEntropy()
by_products = so.exact.hessian(net, loss, x, y, method="products")
by_polarisation = so.exact.hessian(net, loss, x, y, method="polarisation")
print(f"Hessian of a network with both: two routes differ by "
      f"{np.abs(by_products - by_polarisation).max():.1e}")

# %% [markdown]
# ## 5. The picture behind a finding
#
# Where a derivative is right, the error of central differences falls with the square of the step
# until rounding dominates. Where it is wrong, the error stays.
#
# **Predict first.** On doubly logarithmic axes: which slopes, from large steps to small ones?

# %%
figures.show(plots.row(good.plot, bad.plot, height=5, share_y=True), "error-against-step")


def wrong_passes(report):
    return {finding.pass_name for finding in report.findings}


# %% [markdown]
# The checker has its limits: it sees a layer in the middle of small random nets, at random points.
# A mistake that shows only for large inputs, or for shapes that were not tried, stays.
# `so.verify.layer` takes `input_shape` and `samples` for that reason.
#
# ## What this tutorial claims

# %%
assert wrong_passes(reports["ForgottenTwo"]) == {"second_tangent"}
assert "backward" in wrong_passes(reports["MeanForSum"])
assert wrong_passes(reports["MissingTerm"]) == {"backward_tangent"}
assert good.ok and wrong_passes(bad) == {"curvature"}
assert np.abs(by_products - by_polarisation).max() < 1e-12 * np.abs(by_products).max()
