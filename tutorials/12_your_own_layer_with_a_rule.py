# %% [markdown]
# # 12 A layer of your own, with a rule
#
# **Question.** What does a method of a paper ask of a new layer, beside its derivatives, and how is
# it checked? The example is a small convolution that residual partitioning can train.
#
# **Time.** 15 minutes.
#
# **Before it.** 04 and 11.
#
# **Belongs to.** Boyd and Vandenberghe, chapter 3 (Jensen's inequality, bounds by convexity); any
# course's week on convolutions.
#
# As a script: `python tutorials/12_your_own_layer_with_a_rule.py [FOLDER FOR THE FIGURES]`

# %%
import numpy as np

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()

# %% [markdown]
# ## 1. The layer
#
# $$y_{oab} = b_o + \sum_{c,p,q} W_{o,cpq}\, x_{c,a+p,b+q}.$$
#
# Gather all $k \times k$ patches of an image as rows, and the convolution is a matrix product with
# them. Its transpose adds rows of patches up into images. With these two, each of the seven passes
# is two or three lines.
#
# **Predict first.** A weight is used at every place of the output. What does that do to its
# gradient: a sum over places, or a mean?

# %%
class Convolution(so.Layer):
    """Images (C, H, W) to (outputs, H - k + 1, W - k + 1).

    y_oab = b_o + sum over c, p, q of W_o,cpq x_c,a+p,b+q.
    """

    def __init__(self, input_shape, outputs, k, rng=None):
        super().__init__()
        self.input_shape, self.k = tuple(input_shape), k
        self.made_shape = (outputs, input_shape[1] - k + 1, input_shape[2] - k + 1)
        fan_in = input_shape[0] * k * k
        self.declare("weight", np.random.default_rng(rng).uniform(-1, 1, (outputs, fan_in))
                     / np.sqrt(fan_in))
        self.declare("bias", np.zeros(outputs))

    def output_shape(self, input_shape):
        super().output_shape(input_shape)
        return self.made_shape

    # -- images, patches, and rows: one row for each place in the output --

    def patches(self, x):
        """(S, places, C k k)."""
        windows = np.lib.stride_tricks.sliding_window_view(x, (self.k, self.k), axis=(2, 3))
        return windows.transpose(0, 2, 3, 1, 4, 5).reshape(len(x), -1,
                                                           self.weight.shape[1])

    def add_up(self, rows):
        """The transpose of `patches`: (S, places, C k k) to images."""
        (_, height, width), k = self.made_shape, self.k
        parts = rows.reshape(len(rows), height, width, -1, k, k)
        images = np.zeros((len(rows), *self.input_shape), rows.dtype)
        for p in range(k):
            for q in range(k):
                images[:, :, p:p + height, q:q + width] += parts[..., p, q].transpose(0, 3, 1, 2)
        return images

    def rows(self, y):
        """(S, outputs, H, W) to (S, places, outputs)."""
        return y.reshape(len(y), len(y[0]), -1).transpose(0, 2, 1)

    def images(self, rows):
        return rows.transpose(0, 2, 1).reshape(len(rows), *self.made_shape)

    def gradients(self, y, patches):
        """Sums over places, a row a sample: of y_o patch_j for the weight, of y_o for the bias."""
        return np.einsum("spo,spj->soj", self.rows(y), patches), self.rows(y).sum(axis=1)

    # -- the seven passes --

    def forward(self, x):
        y = self.images(self.patches(x) @ self.weight.T + self.bias)
        return y, so.nets.LinearSaved(x, y)

    def backward(self, saved, y_bar):
        x_bar = self.add_up(self.rows(y_bar) @ self.weight)
        W_bars, b_bars = self.parameter_gradients(saved, y_bar)
        return x_bar, W_bars.sum(axis=0), b_bars.sum(axis=0)

    def parameter_gradients(self, saved, y_bar):
        return self.gradients(y_bar, self.patches(saved.input))

    def tangent(self, saved, x_tangent, W_tangent, b_tangent):
        return self.images(self.patches(x_tangent) @ self.weight.T
                           + self.patches(saved.input) @ W_tangent.T + b_tangent)

    def second_tangent(self, saved, moved, x_second):
        W_tangent, b_tangent = moved.theta_tangents
        return self.images(self.patches(x_second) @ self.weight.T
                           + 2 * self.patches(moved.x_tangent) @ W_tangent.T)

    def backward_tangent(self, saved, moved, y_bar, y_bar_tangent):
        W_tangent, b_tangent = moved.theta_tangents
        x_bar, W_bar, b_bar = self.backward(saved, y_bar_tangent)
        return (x_bar + self.add_up(self.rows(y_bar) @ W_tangent),
                W_bar + np.einsum("spo,spj->oj", self.rows(y_bar), self.patches(moved.x_tangent)),
                b_bar)

    def input_hessian(self, saved, y_bar, H_y):
        unit_images = np.eye(saved.input[0].size, dtype=H_y.dtype).reshape(-1, *self.input_shape)
        J = (self.patches(unit_images)
             @ self.weight.T).transpose(2, 1, 0).reshape(len(H_y[0]), -1)
        return J.T @ H_y @ J


# %% [markdown]
# ## 2. The rule
#
# [residual-partitioning] asks a layer for two more passes. Forward, the total gradient (11): how
# far an output moves if every weight moves by at most 1,
#
# $$u_{oab} = 1 + \sum_{c,p,q} |x_{c,a+p,b+q}| + \sum_{c,p,q} |W_{o,cpq}|\, u_{c,a+p,b+q}.$$
#
# Backward, a quadratic in the outputs becomes a quadratic in inputs and weights. Put the fractions
# (10) into (9), with $Z = \ddot Y u$. The weights get $\frac{1}{S} \sum_{s,a,b} Z_{oab}
# |x_{c,a+p,b+q}|$, and $Z$ is passed down by $|W|$. `cross=True` also bounds the product that (4)
# drops, with one more term each.
#
# **Predict first.** Everything is an absolute value and a sum. Where will the bound be tight?

# %%
@so.residual_partitioning.up.register(Convolution)
def up(layer, saved, u):
    sizes = np.abs(layer.patches(saved.input))
    rows = np.broadcast_to(sizes.sum(axis=2, keepdims=True) + 1, layer.rows(saved.output).shape)
    if u is not None:  # None: nothing below is trained, and u is 0
        rows = rows + layer.patches(u) @ np.abs(layer.weight).T
    return layer.images(rows)


@so.residual_partitioning.down.register(Convolution)
def down(layer, saved, u, Y_dot, Z, correct, cross):
    sizes, rows = np.abs(layer.patches(saved.input)), layer.rows(Z)
    W_ddot = np.einsum("spo,spj->oj", rows, sizes) / len(Z)
    b_ddot = rows.sum(axis=(0, 1)) / len(Z)
    if u is None:
        return None, [W_ddot, b_ddot]
    Z_in = layer.add_up(rows @ np.abs(layer.weight))
    if cross:  # a change of a weight meets a change of its input
        g = layer.rows(np.abs(Y_dot))
        W_ddot += np.einsum("spo,spj->oj", g, layer.patches(u)) / len(Z)
        Z_in = Z_in + layer.add_up(np.broadcast_to(g.sum(axis=2, keepdims=True), sizes.shape))
    return Z_in, [W_ddot, b_ddot]


# %% [markdown]
# ## 3. Judged
#
# Both on a small one: two channels, 4 x 4 pixels. `verify.layer` compares passes with differences;
# `verify.rule` asks whether the rule gives a bound for random steps, and whether the bound is
# attained anywhere.

# %%
small = Convolution((2, 4, 4), outputs=3, k=2, rng=0)
passes = so.verify.layer(small)
print(passes, "\n")
right = so.verify.rule(small)
print(right, "\n")


# %% [markdown]
# ## 4. What people get wrong
#
# A mean over places where a sum is meant.
#
# **Predict first.** 4 x 4 pixels and a kernel of 2: how many places has the output? So which ratio
# will the checker print?

# %%
class MeanForSum(Convolution):
    pass


so.residual_partitioning.up.register(MeanForSum)(up)


@so.residual_partitioning.down.register(MeanForSum)
def down_by_a_mean(layer, saved, u, Y_dot, Z, correct, cross):
    Z_in, W_ddot = down(layer, saved, u, Y_dot, Z, correct, cross)
    return Z_in, [part / layer.rows(Z).shape[1] for part in W_ddot]


wrong = so.verify.rule(MeanForSum((2, 4, 4), outputs=3, k=2, rng=0))
print(wrong, "\n")

# %% [markdown]
# ## 5. Digits
#
# A convolution, tanh, a linear layer, trained by residual partitioning and by Adam, at their
# default rates.
#
# **Predict first.** Which one has the lower training loss after 15 epochs? Which one is right on
# more digits that it has not seen?

# %%
digits = so.datasets.scale(so.datasets.load_digits(), (-1, 1))
training, validation = so.datasets.split(digits, validation=397, rng=0)
x, x_new = (part.inputs.reshape(-1, 1, 8, 8) for part in (training, validation))
loss, histories, networks = so.SoftmaxCrossEntropy(), {}, {}
for name, method in (("residual partitioning", so.ResidualPartitioning), ("Adam", so.Adam)):
    networks[name] = net = so.Network([
        Convolution((1, 8, 8), outputs=6, k=3, rng=0), so.Activation("tanh"),
        so.nets.Reshape((6, 6, 6), 216), so.Linear(216, 10, rng=1)])
    histories[name] = so.train(method(net, loss, l2=1e-4), x, training.targets, epochs=15,
                               batch_size=50, validation=(x_new, validation.targets), rng=0)

accuracy = {name: np.mean(net(x_new).argmax(axis=1) == validation.targets)
            for name, net in networks.items()}
for name, share in accuracy.items():
    last = histories[name].records[-1]
    print(f"{name:>21}: training {last.train_loss:.3f}, validation {last.validation_loss:.3f}, "
          f"right {share:.1%}")

kernels = networks["residual partitioning"].layers[0].weight.reshape(-1, 3, 3)
figures.show(plots.row(
    lambda ax: plots.learning_curves(histories, ax, y_label="cross-entropy",
                                     title="digits, by a convolution of one's own"),
    lambda ax: plots.kernels(kernels, ax, title="its kernels"), widths=(1.6, 1)),
    "your-own-convolution")

# %% [markdown]
# Here residual partitioning is ahead on both counts. That is one seed, 15 epochs and default rates.
# With a tuned rate Adam may come out first, and an epoch of the rule takes longer.
#
# ## What this tutorial claims

# %%
assert passes.ok and right.ok and "it is tight" in right.notes[0]
assert {finding.pass_name for finding in wrong.findings} == {"inequality", "W_ddot"}
assert "the ratio is 1/9 everywhere" in str(wrong), "a mean over nine places"
assert min(accuracy.values()) > 0.9
