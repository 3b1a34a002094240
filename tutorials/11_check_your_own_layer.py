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
# ## 1. Two passes, then seven
#
# $y_i = s_i x_i + b_i$, two trainable numbers per unit. `forward` returns the output and whatever
# the way back needs. `backward` gets that again, with the derivative of a scalar in the output, and
# returns the same in the input and in every parameter, in the order of `declare`. These two are
# judged at once.

# %%
class ScaleAndShift(so.Layer):
    """y_i = s_i x_i + b_i."""

    def __init__(self, width):
        super().__init__()
        self.input_shape = (width,)
        self.declare("scale", np.ones(width))
        self.declare("shift", np.zeros(width))

    def forward(self, x):
        return x * self.scale + self.shift, x

    def backward(self, x, y_bar):
        """x_bar_sj = y_bar_sj s_j;  s_bar_j = sum_s y_bar_sj x_sj;  b_bar_j = sum_s y_bar_sj"""
        return y_bar * self.scale, (y_bar * x).sum(axis=0), y_bar.sum(axis=0)


two_passes = so.verify.layer(ScaleAndShift(5))
print(two_passes, "\n")

# %% [markdown]
# The layer is linear in $x$ and in $s$, but not in both together. Along a line on which both move,
#
# $$\dot y = \dot s\, x + s\, \dot x + \dot b, \qquad \ddot y = s\, \ddot x + 2\, \dot s\, \dot x
#   \quad (\ddot s = \ddot b = 0).$$
#
# Five more passes, a line or two each, make the second derivatives exact. Two of them get `moved`:
# how the input and the parameters move.
#
# **Predict first.** In which of the seven passes does the product $\dot s\, \dot x$, the mixed
# second derivative, show? It is easily forgotten.

# %%
class Scale(ScaleAndShift):
    """The same in seven passes."""

    def parameter_gradients(self, x, y_bar):
        return y_bar * x, y_bar

    def tangent(self, x, x_tangent, s_tangent, b_tangent):
        return s_tangent * x + self.scale * x_tangent + b_tangent

    def second_tangent(self, x, moved, x_second):
        s_tangent, b_tangent = moved.theta_tangents
        return self.scale * x_second + 2 * s_tangent * moved.x_tangent

    def backward_tangent(self, x, moved, y_bar, y_bar_tangent):
        s_tangent, b_tangent = moved.theta_tangents
        x_bar_tangent, s_bar_tangent, b_bar_tangent = self.backward(x, y_bar_tangent)
        return (x_bar_tangent + y_bar * s_tangent,
                s_bar_tangent + (y_bar * moved.x_tangent).sum(axis=0), b_bar_tangent)

    def input_hessian(self, x, y_bar, H_y):
        s = self.scale
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
    def second_tangent(self, x, moved, x_second):
        s_tangent, b_tangent = moved.theta_tangents
        return self.scale * x_second + s_tangent * moved.x_tangent


class MeanForSum(Scale):
    def backward(self, x, y_bar):
        return y_bar * self.scale, (y_bar * x).mean(axis=0), y_bar.mean(axis=0)


class MissingTerm(Scale):
    def backward_tangent(self, x, moved, y_bar, y_bar_tangent):
        return self.backward(x, y_bar_tangent)


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
steps, errors = 10.0 ** np.arange(0, -13, -0.5), {}
for name, function in {"right": Swish(), "sign planted": WrongSign()}.items():
    differences = (function.slope(0.7 + steps) - function.slope(0.7 - steps)) / (2 * steps)
    errors[name] = (steps, np.abs(differences - function.curvature(0.7)))
figures.show(plots.lines(errors, references={"square of the step": (steps[:10], steps[:10] ** 2)},
                         logarithmic="xy", x_label="step", y_label="error",
                         title="h'' at 0.7 against central differences of h'").figure,
             "error-against-step")


def wrong_passes(report):
    return {finding.pass_name for finding in report.findings}


# %% [markdown]
# The checker has its limits: it sees a layer in the middle of small random nets, at random points.
# A mistake that shows only for large inputs, or for shapes that were not tried, stays.
# `so.verify.layer` takes `input_shape` and `samples` for that reason.
#
# ## What this tutorial claims

# %%
assert two_passes.ok and "does not write them by hand: tangent" in str(two_passes)
assert wrong_passes(reports["ForgottenTwo"]) == {"second_tangent"}
assert "backward" in wrong_passes(reports["MeanForSum"])
assert wrong_passes(reports["MissingTerm"]) == {"backward_tangent"}
assert good.ok and wrong_passes(bad) == {"curvature"}
assert np.abs(by_products - by_polarisation).max() < 1e-12 * np.abs(by_products).max()
