# %% [markdown]
# # 17 Layers of strangers
#
# **Question.** You bring a layer from elsewhere: its forward and its backward pass, nothing else.
# Which of the mistakes that everybody makes in it would be found? And what of second order can be
# had from two passes?
#
# **Time.** 25 minutes.
#
# **Before it.** 01 and 11.
#
# **Belongs to.** Goodfellow, Bengio and Courville, chapters 6 (back-propagation), 8 (batch
# normalisation) and 10 (LSTM); any course's week on attention.
#
# As a script: `python tutorials/17_layers_of_strangers.py [FOLDER FOR THE FIGURES]`

# %%
import numpy as np

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()
reports = {}


def judged(layer):
    """Print what the checker says, of a wrong layer its first finding."""
    name = type(layer).__name__
    reports[name] = report = so.verify.layer(layer)
    print(f"{name}: {'right' if report else 'wrong'}")
    if not report:
        print(report.findings[0], "\n")


# %% [markdown]
# ## 1. Batch normalisation, statistics fixed
#
# In use, a batch normalisation has a mean $m$ and a variance $v$ for each unit, and two trained
# numbers:
#
# $$z = r\,(x - m), \qquad r = \frac{1}{\sqrt{v + \epsilon}}, \qquad y = g\, z + b.$$
#
# $m$ and $r$ are no parameters: they stay what they are. So the way back is short,
# $\bar x = r\, g\, \bar y$, and $\bar g = \sum_s \bar y_s z_s$, $\bar b = \sum_s \bar y_s$.

# %%
class BatchNorm(so.Layer):
    def __init__(self, mean, variance, epsilon=1e-5):
        super().__init__()
        self.m, self.r = np.array(mean), 1 / np.sqrt(np.array(variance) + epsilon)
        self.input_shape = self.m.shape
        self.declare("g", np.ones(self.m.shape))
        self.declare("b", np.zeros(self.m.shape))

    def forward(self, x):
        z = (x - self.m.astype(x.dtype)) * self.r.astype(x.dtype)
        return self.g * z + self.b, z

    def backward(self, z, y_bar):
        return y_bar * self.g * self.r.astype(z.dtype), (y_bar * z).sum(axis=0), y_bar.sum(axis=0)


statistics = [0.5, -1.0, 0.2, 2.0], [0.3, 2.0, 1.1, 0.6]
judged(BatchNorm(*statistics))
print(reports["BatchNorm"], "\n")

# %% [markdown]
# The notes say which five passes nobody wrote. A network takes them from differences of these two,
# and the report tells how good that is.
#
# Three mistakes. `WithoutScale` passes $\bar y g$ down, without $r$. `OfInput` forms $\bar g$ with
# $x$ in place of $z$. `OfBatch` takes mean and variance of the batch at hand, as in training.
#
# **Predict first.** `WithoutScale` has ratios between what it returns and what is right. Are they
# all the same? And `OfBatch` has no derivative that is wrong by itself: what can a checker that
# knows nothing of batch normalisation say of it?

# %%
class WithoutScale(BatchNorm):
    def backward(self, z, y_bar):
        return y_bar * self.g, (y_bar * z).sum(axis=0), y_bar.sum(axis=0)


class OfInput(BatchNorm):
    def backward(self, z, y_bar):
        x = z / self.r.astype(z.dtype) + self.m.astype(z.dtype)
        x_bar, _, b_bar = super().backward(z, y_bar)
        return x_bar, (y_bar * x).sum(axis=0), b_bar


class OfBatch(BatchNorm):
    def forward(self, x):
        z = (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)
        return self.g * z + self.b, z


for broken in (WithoutScale, OfInput, OfBatch):
    judged(broken(*statistics))

# %% [markdown]
# A layer of this house acts row by row. `OfBatch` is told before any derivative is taken.
#
# ## 2. A softmax attention head
#
# From a sequence $x$ (T, d): queries, keys and values, and weights that sum to 1 in each row,
#
# $$q = x Q, \quad k = x K, \quad v = x V, \qquad A = \mathrm{softmax}\!\left(\frac{q k^\top}
#   {\sqrt{h}}\right), \qquad y = A v.$$
#
# Back through the softmax, row by row: $\bar s = A \odot \big(\bar A - \sum_j A_j \bar A_j\big)$.

# %%
class Attention(so.Layer):
    def __init__(self, steps, d, h, rng=0):
        super().__init__()
        self.input_shape, self.h = (steps, d), h
        rng = np.random.default_rng(rng)
        for name in "QKV":
            self.declare(name, rng.normal(size=(d, h)) / np.sqrt(d))

    def output_shape(self, input_shape):
        return (input_shape[0], self.h)

    def forward(self, x):
        q, k, v = x @ self.Q, x @ self.K, x @ self.V
        s = q @ k.swapaxes(1, 2) / float(np.sqrt(self.h))
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        A = e / e.sum(axis=-1, keepdims=True)
        return A @ v, (x, q, k, v, A)

    def through_softmax(self, A, A_bar):
        return A * (A_bar - (A * A_bar).sum(axis=-1, keepdims=True))

    def backward(self, saved, y_bar):
        x, q, k, v, A = saved
        s_bar = self.through_softmax(A, y_bar @ v.swapaxes(1, 2)) / float(np.sqrt(self.h))
        bars = s_bar @ k, s_bar.swapaxes(1, 2) @ q, A.swapaxes(1, 2) @ y_bar
        x_bar = sum(bar @ M.T for bar, M in zip(bars, (self.Q, self.K, self.V)))
        return x_bar, *(np.einsum("std,sth->dh", x, bar) for bar in bars)


judged(Attention(3, 4, 2))

# %% [markdown]
# `DiagonalSoftmax` takes $A (1 - A)$ for the whole Jacobian of the softmax. `Unscaled` forgets
# $1 / \sqrt{h}$ on the way back; here $h = 4$. `Swapped` returns what belongs to $K$ for $Q$, and
# the other way round.
#
# **Predict first.** For one of the three the checker prints the same ratio for every entry of two
# arrays, and none for $\bar x$. Which one, which ratio, and why not for $\bar x$?

# %%
class DiagonalSoftmax(Attention):
    def through_softmax(self, A, A_bar):
        return A * (1 - A) * A_bar


class Unscaled(Attention):
    def through_softmax(self, A, A_bar):
        return super().through_softmax(A, A_bar) * float(np.sqrt(self.h))


class Swapped(Attention):
    def backward(self, saved, y_bar):
        x_bar, Q_bar, K_bar, V_bar = super().backward(saved, y_bar)
        return x_bar, K_bar, Q_bar, V_bar


for broken in (DiagonalSoftmax, Unscaled, Swapped):
    judged(broken(3, 5, 4))
print(*(finding for finding in reports["Unscaled"].findings[1:]), sep="\n")

# %% [markdown]
# The values $v$ reach the output without the scores, so $V$ has a right gradient, and $\bar x$ is a
# sum of right and wrong terms: no common ratio.
#
# ## 3. An LSTM cell
#
# Input, state and cell in one vector $[x, h, c]$, out comes $[h^+, c^+]$. With four gates
# $a = W [x, h] + b$, cut into $a_i, a_f, a_g, a_o$,
#
# $$i = \sigma(a_i), \quad f = \sigma(a_f), \quad g = \tanh(a_g), \quad o = \sigma(a_o), \qquad
#   c^+ = f c + i g, \qquad h^+ = o \tanh(c^+).$$
#
# What comes back along $c^+$ has two sources: $c^+$ itself, and $h^+$.

# %%
def sigmoid(a):
    return 1 / (1 + np.exp(-a))


class LSTMCell(so.Layer):
    def __init__(self, d, h, rng=0):
        super().__init__()
        self.d, self.h, self.input_shape = d, h, (d + 2 * h,)
        rng = np.random.default_rng(rng)
        self.declare("W", rng.normal(size=(4 * h, d + h)) / np.sqrt(d + h))
        self.declare("b", np.zeros(4 * h))

    def output_shape(self, input_shape):
        return (2 * self.h,)

    def forward(self, xhc):
        xh, c = np.split(xhc, [self.d + self.h], axis=1)
        a_i, a_f, a_g, a_o = np.split(xh @ self.W.T + self.b, 4, axis=1)
        i, f, g, o = sigmoid(a_i), sigmoid(a_f), np.tanh(a_g), sigmoid(a_o)
        c_new = f * c + i * g
        return np.concatenate([o * np.tanh(c_new), c_new], axis=1), (xh, c, i, f, g, o, c_new)

    def into_cell(self, h_bar, c_bar, o, t):
        """What comes back along the new cell: from itself, and from h = o t with t = tanh(c)."""
        return c_bar + h_bar * o * (1 - t**2)

    def backward(self, saved, y_bar):
        xh, c, i, f, g, o, c_new = saved
        h_bar, c_bar = np.split(y_bar, 2, axis=1)
        t = np.tanh(c_new)
        c_bar = self.into_cell(h_bar, c_bar, o, t)
        a_bar = np.concatenate([c_bar * g * i * (1 - i), c_bar * c * f * (1 - f),
                                c_bar * i * (1 - g**2), h_bar * t * o * (1 - o)], axis=1)
        return (np.concatenate([a_bar @ self.W, c_bar * f], axis=1), a_bar.T @ xh,
                a_bar.sum(axis=0))


judged(LSTMCell(2, 3))

# %% [markdown]
# `OnlyThroughOutput` forgets that the next cell state is an output as well. `NewCell` uses $c^+$
# where the forget gate met the old $c$: both have the same shape.
#
# **Predict first.** The weights of the four gates are blocks of rows of $W$. For `NewCell`: which
# part of $\bar b$ is wrong, and which entries is it for three hidden units?

# %%
class OnlyThroughOutput(LSTMCell):
    def into_cell(self, h_bar, c_bar, o, t):
        return h_bar * o * (1 - t**2)


class NewCell(LSTMCell):
    def backward(self, saved, y_bar):
        xh, _, *gates, c_new = saved
        return super().backward((xh, c_new, *gates, c_new), y_bar)


for broken in (OnlyThroughOutput, NewCell):
    judged(broken(2, 3))
print(next(finding for finding in reports["NewCell"].findings if "b_bar" in finding.compared))

# %% [markdown]
# Only entries 3, 4 and 5 differ: the forget gate's.
#
# ## 4. Why such mistakes live for years
#
# The same small network with a right and with a wrong attention head, trained by gradient descent
# to tell which of three steps holds the largest number.
#
# **Predict first.** The gradient of `DiagonalSoftmax` is wrong in most of its entries. Does the
# training loss go up, stay, or fall?

# %%
def network(head, rng=1):
    return so.Network([head, so.Flatten(), so.Linear(12, 3, rng=rng)])


rng = np.random.default_rng(0)
x = rng.normal(size=(200, 3, 5))
y, loss, histories = x[:, :, 0].argmax(axis=1), so.SoftmaxCrossEntropy(), {}
for head in (Attention(3, 5, 4), DiagonalSoftmax(3, 5, 4), Unscaled(3, 5, 4)):
    name = type(head).__name__
    histories[name] = so.train(so.SGD(network(head), loss, learning_rate=0.15), x, y, epochs=40,
                               batch_size=20, rng=0)
    print(f"{name:>16}: training loss {histories[name].records[0].train_loss:.3f} at first, "
          f"{histories[name].records[-1].train_loss:.3f} in the end")

# %% [markdown]
# All three fall, and one of the wrong ones as fast as the right one. A curve that falls raises no
# suspicion; where it flattens, one tries another rate or another optimizer, and the mistake stays.
#
# ## 5. From two passes to the Hessian
#
# A Hessian is different. Its product with a vector is a derivative of the gradient, and a matrix of
# second derivatives is symmetric. A vector field that is the gradient of nothing has no symmetric
# derivative.
#
# **Predict first.** All five other passes are taken from differences. To how many digits is the
# Hessian right? And for `DiagonalSoftmax`: how large is $v^\top H w - w^\top H v$, compared with
# the two?

# %%
def case(layer, outputs):
    """A small network around a layer, with data and its gradient as a function of theta."""
    rng = np.random.default_rng(2)
    width = int(np.prod(layer.input_shape))
    net = so.Network([so.Linear(3, width, rng=0), so.Reshape(width, layer.input_shape), layer,
                      so.Flatten(), so.Linear(outputs, 2, rng=1)])
    return net, so.SquaredError(), rng.normal(size=(10, 3)), rng.normal(size=(10, 2))


def by_differences(net, loss, x, y, h=1e-5):
    """The Hessian from gradients alone, column by column."""
    theta, columns = net.theta.copy(), []
    for k in range(net.size):
        sides = []
        for step in (h, -h):
            net.theta = theta + step * (np.arange(net.size) == k)
            sides.append(so.exact.gradient(net, loss, x, y))
        columns.append((sides[0] - sides[1]) / (2 * h))
    net.theta = theta
    return np.array(columns).T


cases = {"batch norm": case(BatchNorm(*statistics), 4), "attention": case(Attention(2, 3, 2), 4),
         "LSTM cell": case(LSTMCell(2, 2), 4)}
hessians, off = {}, {}
for name, problem in cases.items():
    hessians[name] = H = so.exact.hessian(*problem)
    off[name] = np.abs(H - by_differences(*problem)).max() / np.abs(H).max()
    values = np.linalg.eigvalsh(H)
    print(f"{name:>11}: {len(H)} parameters, Hessian off by {off[name]:.0e}, eigenvalues from "
          f"{values[0]:.3g} to {values[-1]:.3g}, {(values < -1e-8 * values[-1]).sum()} negative")


def asymmetry(problem):
    """|v^T H w - w^T H v| for two random directions, relative to the larger."""
    v, w = np.random.default_rng(3).normal(size=(2, problem[0].size))
    one = v @ so.exact.hessian_vector_product(*problem, w)
    other = w @ so.exact.hessian_vector_product(*problem, v)
    return abs(one - other) / max(abs(one), abs(other))


skew = {head: asymmetry(case(head(2, 3, 2), 4)) for head in (Attention, DiagonalSoftmax)}
for head, size in skew.items():
    print(f"{head.__name__:>16}: v' H w and w' H v differ by {size:.1e}")

figures.show(plots.row(
    lambda ax: plots.learning_curves(histories, ax, y_label="cross-entropy",
                                     title="wrong gradients that learn"),
    *[lambda ax, name=name: plots.hessian_heat_map(hessians[name], cases[name][0], ax,
                                                   title=name, colour_bar=False)
      for name in hessians], widths=(1.6, 1, 1, 1)), "layers-of-strangers")

# %% [markdown]
# Where speed counts, one writes the five passes as well, one after the other: each is judged alone
# (`so.verify.layer(layer, passes=["tangent"])`), and replaces its differences.
#
# ## What this tutorial claims

# %%
for right in ("BatchNorm", "Attention", "LSTMCell"):
    assert reports[right].ok and "does not write them by hand: tangent" in str(reports[right])
for broken in set(reports) - {"BatchNorm", "Attention", "LSTMCell", "OfBatch"}:
    assert {finding.pass_name for finding in reports[broken].findings} == {"backward"}, broken
assert "depends on the second index alone" in str(reports["WithoutScale"])
assert "statistics over the batch cannot be expressed" in str(reports["OfBatch"])
assert "the ratio is 2 everywhere: a factor 2 too much" in str(reports["Unscaled"].findings[1])
assert "this is what belongs to K" in str(reports["Swapped"])
first, last = ([history.records[place].train_loss for history in histories.values()]
               for place in (0, -1))
assert np.all(np.array(last) < 0.4 * np.array(first)), "wrong gradients learn, too"
assert last[2] < 1.1 * last[0] < last[1]
assert max(off.values()) < 1e-6
assert skew[Attention] < 1e-8 and skew[DiagonalSoftmax] > 1e-2
