# %% [markdown]
# # 05 Low rank and plateaus
#
# **Question.** Why does the Hessian of *one* sample have low rank, whatever the size of the
# network? Its curvature along a direction is cheap: how long a step does it tell us to take?
#
# **Time.** 20 minutes.
#
# **Before it.** 01; outer products and the chain rule.
#
# **Belongs to.** Nocedal and Wright, *Numerical Optimization*, chapter 3 (how long a step) and
# chapter 4 (models that limit the step). The paper is `low-rank`, Eqs. (1)-(9) and (37)-(41).
#
# As a script: `python tutorials/05_low_rank_and_plateaus.py [FOLDER FOR THE FIGURES]`

# %%
import numpy as np

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()
loss = so.SoftmaxCrossEntropy()
digits = so.datasets.scale(so.datasets.load_digits(), (0, 1))

# %% [markdown]
# ## 1. One sample, one matrix of outer products
#
# A network of linear layers without biases, $z^{(k)} = w^{(k)} v^{(k-1)}$ with
# $v^{(k)} = \max(z^{(k)}, 0)$, ends in outputs $p = u v^{(n)}$. Let $\delta^{(k)}$ be the gradient
# of the loss $f$ in $z^{(k)}$. Eqs. (1) and (2) of the paper say that the gradient in every weight
# matrix is *one* outer product,
#
# $$\frac{\partial f}{\partial u} = \frac{\partial f}{\partial p}\, (v^{(n)})^T, \qquad
#   \frac{\partial f}{\partial w^{(k)}} = \delta^{(k)} (v^{(k-1)})^T .$$
#
# Differentiate once more. By Eqs. (3)-(5) a block of the Hessian has two kinds of terms:
#
# $$\frac{\partial^2 f}{\partial w^{(k)}_{ij}\, \partial w^{(r)}_{st}} =
#   M^{(k,r)}_{is}\; v^{(k-1)}_j v^{(r-1)}_t
#   \;+\; \delta^{(r)}_s\, \eta^{(r-1,k)}_{ti}\; v^{(k-1)}_j \qquad (r > k),$$
#
# where $\eta^{(r-1,k)}$ is the Jacobian of $v^{(r-1)}$ in $z^{(k)}$ and $M^{(k,r)}$ is the Hessian
# of the outputs, taken back to $z^{(k)}$ and $z^{(r)}$. Now multiply by a direction with one piece
# $P^{(k)}$ a layer, of the shape of its weights $(d, m)$. The Hessian sees of this piece nothing
# but the $d$ numbers $P^{(k)} v^{(k-1)}$ and the $m$ numbers $(P^{(k)})^T \delta^{(k)}$, and they
# have one number in common, $(\delta^{(k)})^T P^{(k)} v^{(k-1)}$. So $d\, m$ weights leave at most
# $d + m - 1$ dimensions. Units that are not active have slope zero and do not count. With $a_k$
# active units in layer $k$ and $C$ classes,
#
# $$\operatorname{rank} H \;\le\; a_1 + \sum_{k=2}^{n} (a_k + a_{k-1} - 1) + (C - 1) + (a_n - 1).$$
#
# The first layer adds $a_1$ only: below it nothing moves. The outputs add $C - 1$, because softmax
# does not see a constant that is added to all of them.
#
# **Predict first.** The network below has 16 inputs (digits of 4 x 4 pixels), three hidden layers
# of 12 units and 10 outputs: $16 \cdot 12 + 12 \cdot 12 + 12 \cdot 12 + 12 \cdot 10 = 600$ weights.
# Is the rank of one sample's Hessian nearer to 500, to 200 or to 50? What do 64 samples do to it?

# %%
pooled = digits.inputs.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
small = so.mlp([16, 12, 12, 12, 10], activation="relu", bias=False, rng=0)


def active_units(network, sample):
    """Number of units above zero in every hidden layer."""
    v, counts = sample, []
    for layer in network.layers:
        v = layer.forward(v)[0]
        if isinstance(layer, so.Activation):
            counts.append(int(np.count_nonzero(v)))
    return counts


def rank_bound(active, classes):
    """The bound above."""
    inner = sum(above + below - 1 for above, below in zip(active[1:], active[:-1]))
    return active[0] + inner + (classes - 1) + (active[-1] - 1)


def rank(matrix):
    values = np.abs(np.linalg.eigvalsh(matrix))
    return int(np.sum(values > 1e-10 * values.max()))


ranks, bounds = [], []
for s in range(12):
    x, y = pooled[s:s + 1], digits.targets[s:s + 1]
    ranks.append(rank(so.exact.hessian(small, loss, x, y, method="products")))
    bounds.append(rank_bound(active_units(small, x), 10))
print("parameters       ", small.size)
print("rank of a sample ", ranks)
print("bound            ", bounds)

# %% [markdown]
# The Hessians were built column by column from products with unit vectors, by passes that know
# nothing of factors. The bound is tight: these 600 x 600 matrices have a rank near 50.
#
# So there is no need to form them. `SampleHessian` keeps the vectors $v$ and $\delta$ and the small
# matrices $M$ and $\eta$, multiplies by them, and takes eigenvalues of a small matrix.

# %%
one = so.low_rank.SampleHessian(small, loss, pooled[:1], digits.targets[:1])
print(one)
print("rank from the factors:", one.rank())

# %% [markdown]
# **A mean of low-rank matrices does not have low rank.** The same network, with more and more
# samples:

# %%
batches = [1, 2, 4, 8, 16, 32, 64]
batch_ranks = [rank(so.exact.hessian(small, loss, pooled[:n], digits.targets[:n]))
               for n in batches]
print("samples", batches)
print("rank   ", batch_ranks)

# %% [markdown]
# The paper says the same: its structure is one of *samples*. One number survives the mean: the
# curvature $g^T H g$ along one direction. It is the mean of the samples' curvatures, and each of
# these needs the vectors only. It costs about as much as a gradient.
#
# ## 2. How long a step?
#
# Along a direction $g$ the paper takes a cubic model (8) of the loss,
#
# $$m(\alpha) = f + \alpha\, g^T \nabla f + \tfrac12 \alpha^2\, g^T H g
#             + \tfrac16 \sigma \alpha^3 \|g\|^3 ,$$
#
# and steps to its minimum, Eqs. (9) and (37):
#
# $$\alpha = \frac{-g^T H g + \sqrt{(g^T H g)^2 - 2\, (g^T \nabla f)\, \sigma \|g\|^3}}
#                 {\sigma \|g\|^3} .$$
#
# It needs no convexity. Where curvature dominates, $\alpha$ is about $|g^T \nabla f| / g^T H g$,
# Newton's step. Where there is no curvature and $g = -\nabla f$, $\alpha \|g\|$ is about $\sqrt{2
# \|g\| / \sigma}$. So the rate $\alpha$ grows like $1/\sqrt{\|g\|}$ where the gradient is tiny
# (41).
#
# A deep ReLU network whose weights lie within $\pm 0.1$ starts on a **plateau**. Its outputs are
# nearly zero whatever the image: the loss is $\ln 10$ and the gradient almost vanishes.
#
# **Predict first.** SGD gets any fixed rate that you like, from 0.1 to 10. Which rate leaves the
# plateau first? Which rate is still good after it?

# %%
HIDDEN, STEPS, LOOK = [64] * 6, 400, 20


def train(make, seed):
    """Losses on 500 images (a look every 20 steps) and the rate of every step."""
    net = so.mlp([64, *HIDDEN, 10], activation="relu", bias=False, init=0.1, rng=seed)
    optimizer, rng = make(net), np.random.default_rng([seed, 1])
    losses, rates = [], []
    try:
        for step in range(STEPS + 1):
            if step % LOOK == 0:
                losses.append(net.evaluate(loss, digits.inputs[:500], digits.targets[:500]).loss)
            chosen = rng.choice(len(digits.inputs), 32, replace=False)
            info = optimizer.step(digits.inputs[chosen], digits.targets[chosen])
            rates.append(info.get("rate", info["learning_rate"]))
    except FloatingPointError:
        pass                                                    # it diverged
    return np.array(losses), np.array(rates)


def left(losses, level=2.2):
    """The first look with a loss below `level`, in steps; None if there is none."""
    below = np.flatnonzero(losses < level)
    return int(below[0]) * LOOK if below.size else None


methods = {f"SGD, rate {rate:g}": lambda net, rate=rate: so.SGD(net, loss, learning_rate=rate)
           for rate in (0.1, 0.3, 1.0, 3.0, 10.0)}
methods["cubic, sigma 10"] = lambda net: so.CubicRegularization(so.SGD(net, loss), sigma=10.0)
methods["Adam, rate 0.001"] = lambda net: so.Adam(net, loss)
runs = {}
for name, make in methods.items():
    runs[name] = [train(make, seed) for seed in (0, 1, 2)]
    ends = ["diverged" if len(losses) <= STEPS / LOOK else f"{losses[-1]:.2f}"
            for losses, _ in runs[name]]
    print(f"{name:>17}: left after", [left(losses) for losses, _ in runs[name]],
          "steps; loss at the end", *ends)

# %% [markdown]
# No fixed rate is good. Small rates do not move. Large rates move at last, and are then far too
# large: the network returns to $\ln 10$, as its units die, or diverges. The cubic step changes its
# rate by itself:

# %%
for seed, (losses, rates) in enumerate(runs["cubic, sigma 10"]):
    print(f"seed {seed}: median rate of the first 20 steps {np.median(rates[:20]):.2g}, "
          f"of the last 100 {np.median(rates[-100:]):.2g}")

looks = ("SGD, rate 0.1", "SGD, rate 1", "SGD, rate 3", "cubic, sigma 10", "Adam, rate 0.001")
losses, rates = ({name: runs[name][0][part] for name in looks} for part in (0, 1))
del rates["Adam, rate 0.001"]               # it multiplies another direction
figures.show(plots.row(
    lambda ax: plots.lines(
        {"rank of the mean Hessian": (batches, batch_ranks),
         "single samples": (np.ones(len(ranks)), ranks)}, ax,
        references={f"{small.size} parameters": (batches, np.full(len(batches), small.size))},
        logarithmic="xy", x_label="samples", y_label="rank",
        title="thin one by one, not together", show_legend="below"),
    lambda ax: plots.lines(
        {name: (LOOK * np.arange(len(run)), run) for name, run in losses.items()}, ax,
        references={"ln 10": ((0, STEPS), np.log([10.0, 10.0]))}, x_label="steps", y_label="loss",
        y_limits=(0, 3), title="off the plateau (seed 0)", show_legend="below"),
    lambda ax: plots.lines(rates, ax, logarithmic="y", x_label="steps", y_label="rate",
                           title="the rate that it chooses", show_legend="below")),
    "low-rank-and-plateaus")

# %% [markdown]
# ## 3. Where the method loses
#
# Look at Adam. It divides every entry of the gradient by its own size, so that a plateau is no
# plateau for it. It leaves first and ends lowest, without any curvature. The cubic step helps plain
# gradient descent; the paper itself saw no gain on top of Adam. Tutorial 15 asks what it is that
# leaves. And $\sigma$ matters on the plateau, as $\alpha \sim \sigma^{-1/2}$ there: try 1 and 100.
#
# One more thing to know: Eq. (39), which computes $g^T H g$, lacks terms as it is printed (tutorial
# 10, and `secondorder show low-rank 39`). Here the curvature is exact.
#
# ## What this tutorial claims

# %%
assert ranks == bounds, "the bound on the rank is met by every sample"
assert one.rank() == ranks[0]
assert all(a < b for a, b in zip(batch_ranks, batch_ranks[1:])) and batch_ranks[-1] > 8 * ranks[0]

# the step is where the slope of the cubic model is zero
slope, bend, length, sigma = -0.3, -0.7, 2.0, 10.0
alpha = so.low_rank.step_length(slope, bend, length, sigma)
assert abs(slope + alpha * bend + sigma * alpha**2 * length**3 / 2) < 1e-14

# the curvature along the gradient is that of the whole Hessian
x, y = pooled[:32], digits.targets[:32]
g = -so.exact.gradient(small, loss, x, y)
by_vectors = so.low_rank.directional_curvature(small, loss, x, y, g)[1]
assert abs(by_vectors - g @ so.exact.hessian(small, loss, x, y) @ g) < 1e-12 * abs(by_vectors)

# off the plateau: the cubic rate always, within 200 steps; no fixed rate below 2
cubic = [left(losses) for losses, _ in runs["cubic, sigma 10"]]
assert all(steps is not None and steps <= 200 for steps in cubic)
for rate in ("0.1", "0.3", "1", "3", "10"):
    assert not any(losses[-1] < 2.0 for losses, _ in runs[f"SGD, rate {rate}"])
assert all(rates[:20].min() > 10 * np.median(rates[-100:])
           for _, rates in runs["cubic, sigma 10"]), "large on the plateau, small behind it"
# and the honest part: Adam ends lower
assert all(a[0][-1] < c[0][-1] for a, c in zip(runs["Adam, rate 0.001"], runs["cubic, sigma 10"]))
