# %% [markdown]
# # 06 EA-CG: from the block of a layer to conjugate gradients
#
# **Question.** EA-CG solves a damped Newton system for every layer and costs little more than a
# gradient. It gets there in five steps, and each step drops something. What, and how much?
#
# **Time.** 25 minutes.
#
# **Before it.** 01 and 02; Kronecker products and covariances.
#
# **Belongs to.** Martens' thesis, *Second-order optimization for neural networks*, the parts on
# Hessian-free optimisation and on Kronecker factors; Nocedal and Wright, *Numerical Optimization*,
# chapter 5 (conjugate gradients). The paper is `ea-cg`, Eqs. (4a)-(12).
#
# As a script: `python tutorials/06_ea_cg.py [FOLDER FOR THE FIGURES]`

# %%
import numpy as np

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()
loss = so.SoftmaxCrossEntropy()
digits = so.datasets.scale(so.datasets.load_digits(), (0, 1))
x = digits.inputs.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)[:1000]  # 4 x 4 pixels
y = digits.targets[:1000]

# %% [markdown]
# ## 1. The block of a layer, and five steps
#
# Layer $t$ computes $z = W^t h^{t-1} + b^t$. Because $W^t$ meets the loss only through $z$, its
# Hessian for sample $i$ is a Kronecker product (4c), with $H_i^t = \nabla^2_{b^t} \xi_i$:
#
# $$\nabla^2_{W^t} \xi_i = h_i^{t-1} (h_i^{t-1})^T \otimes H_i^t .$$
#
# This is exact. Training needs the mean over samples, damped and solved (9):
#
# $$\big( (1 - \alpha)\, B + \alpha I \big)\, d = -g .$$
#
# | step | what stands for the block | what is dropped |
# |---|---|---|
# | layers apart | $E_i[\nabla^2_{W^t} \xi_i]$ | all blocks between two layers |
# | (5) | $E[h h^T] \otimes E[H_i^t]$ | the covariance of inputs and curvature |
# | (6) | $E[H_i^t]$ carried down from the mean above | the covariance of curvature and slopes |
# | (8b) | Pos-Eig: the part of (6) from the second derivatives, made positive | its sign |
# | (11b) | $E[h]\, E[h]^T \otimes B^t$ | the covariance of the inputs |
#
# The system with (11b) is then solved by conjugate gradients, which here is exact after a few
# iterations.
#
# **Predict first.** Which of these drops is the largest in the first layer, where inputs are
# pixels? And which is the largest in the last layer, where there is nothing above to carry down?

# %%
net = so.mlp([16, 14, 12, 10], activation="sigmoid", init="xavier", rng=0)
linear = [layer for layer in net.layers if isinstance(layer, so.Linear)]


def inputs_of_layers():
    """h^0, h^1, h^2 for all samples."""
    h = [x]
    for layer in linear[:-1]:
        h.append(1 / (1 + np.exp(-(h[-1] @ layer.weight.T + layer.bias))))
    return h


def weights_of_layers():
    """Where the weights of every layer stand in theta (weight, then bias, layer by layer)."""
    found, start = [], 0
    for layer in linear:
        found.append(slice(start, start + layer.weight.size))
        start += layer.weight.size + layer.bias.size
    return found


def stages():
    """The exact block of every layer, and what stands for it after each step."""
    hessian, found = so.exact.hessian(net, loss, x, y), []
    names = {"(5)": "hessian", "(6)": "expectation", "(8b)": "pch-1"}
    B = {label: so.eacg.bias_curvatures(net, loss, x, y, name) for label, name in names.items()}
    for t, (h, where) in enumerate(zip(inputs_of_layers(), weights_of_layers())):
        # theta holds W row by row, so that here the factor of the outputs comes first
        layer = {"exact": hessian[where, where]}
        layer |= {label: np.kron(B[label][t], h.T @ h / len(h)) for label in names}
        layer["(11b)"] = np.kron(B["(8b)"][t], np.outer(h.mean(axis=0), h.mean(axis=0)))
        found.append(layer)
    return found


LABELS = ("(5)", "(6)", "(8b)", "(11b)")


def errors(found):
    """Relative error of every stage by layer, (3, 4)."""
    return np.array([[np.linalg.norm(layer[label] - layer["exact"])
                      / np.linalg.norm(layer["exact"]) for label in LABELS] for layer in found])


def table(title, values, form):
    print(title)
    for t, row in enumerate(values):
        print(f"  layer {t + 1}:", "  ".join(f"{label} {value:{form}}"
                                            for label, value in zip(LABELS, row)))


start = stages()
table("relative errors at the start", errors(start), ".2f")
so.train(so.Adam(net, loss, learning_rate=1e-2), x, y, epochs=33, batch_size=100, rng=0)
trained = stages()
table(f"relative errors at a loss of {net.evaluate(loss, x, y).loss:.2f}", errors(trained), ".2f")

# %% [markdown]
# Three things to see.
#
# - The last layer's $H_i$ comes straight from the loss, so that (6) and (8b) drop nothing there.
#   What grows with training is (5). A well classified sample has no curvature left, so that inputs
#   and curvature become dependent.
# - Lower layers inherit (6), and at the start the cost of Pos-Eig. Below sigmoids the true
#   curvature is partly negative, and its absolute value is another matrix. After training this
#   error is small.
# - The step that gives the method its name, (11b), adds almost nothing to the error of the
#   *matrix*.
#
# ## 2. From matrices to directions
#
# A small error of the matrix says little about the direction. (11b) has rank $n_t$, out of
# $n_t\, n_{t-1}$; everywhere else the damping $\alpha I$ alone decides. Write $m = E[h^{t-1}]$, and
# the gradient and the direction as matrices $G, D$ of the shape of $W^t$. Then (9) with (11b) is
#
# $$(1 - \alpha)\, B D\, m m^T + \alpha D = -G .$$
#
# **Predict first.** Multiply by a vector that is orthogonal to $m$. What is $D$ there? Multiply by
# $m$. What is it there?

# %%
ALPHAS = np.logspace(-4, -0.05, 16)


def angle(a, b):
    return np.degrees(np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1)))


def damped(matrix, g, alpha):
    """The direction (9), with absolute values where an eigenvalue is negative."""
    values, vectors = np.linalg.eigh(matrix)
    return -vectors @ ((vectors.T @ g) / ((1 - alpha) * np.abs(values) + alpha))


def angles(alpha):
    """By layer: EA-CG's direction to the gradient's, and to Newton's on the exact block."""
    g = so.exact.gradient(net, loss, x, y)
    d = so.eacg.direction(net, loss, x, y, curvature="pch-1", solver="ea-cg", alpha=alpha)
    return [(angle(d[where], -g[where]), angle(d[where], damped(layer["exact"], g[where], alpha)))
            for layer, where in zip(trained, weights_of_layers())]


found = np.array([angles(alpha) for alpha in ALPHAS])                        # (16, 3, 2)
for t in range(3):
    print(f"layer {t + 1}, damping 0.05: {angles(0.05)[t][0]:.0f} degrees from the gradient, "
          f"{angles(0.05)[t][1]:.0f} from the damped Newton direction")

DROPPED = ("(5) inputs with curvature", "(6) and curvature with slopes",
           "(8b) and its sign (Pos-Eig)", "(11b) and inputs with each other")


def bars(found, title):
    """The relative errors of the blocks as a picture, by what was dropped."""
    return lambda ax: plots.errors_by_layer(dict(zip(DROPPED, errors(found).T)), ax, title,
                                            "relative error of the block").set(ylim=(0, 1.4))


figures.show(plots.row(
    bars(start, "dropped at the start"), bars(trained, "dropped after training"),
    lambda ax: plots.lines(
        {f"layer {t + 1} to {name}": (ALPHAS, found[:, t, k])
         for k, name in enumerate(("the gradient", "Newton")) for t in range(3)}, ax,
        logarithmic="x", x_label="damping", y_label="degrees", title="angle of EA-CG's direction",
        show_legend="below")), "ea-cg")

# %% [markdown]
# ## 3. Where it is SGD, where it is Newton
#
# **SGD** orthogonally to the mean input, $D = -G / \alpha$, gradient descent at rate
# $1 / \alpha$. **Newton** along the mean input, where $u = D m$ solves
#
# $$\big( (1 - \alpha)\, |m|^2 B + \alpha I \big)\, u = -G m .$$
#
# So EA-CG with rate $\eta$ is gradient descent with rate $\eta / \alpha$ and *one* corrected
# direction (of $n_{t-1}$) a layer. A fair rival is therefore SGD at rate $\eta / \alpha$, not at
# $\eta$.
#
# **Predict first.** With $\eta = 0.2$ and $\alpha = 0.05$ the rival has rate 4, with $\alpha =
# 0.01$ rate 20. Is a single corrected direction worth anything?

# %%
def trained_to(make, seed):
    fresh = so.mlp([16, 14, 12, 10], activation="sigmoid", init="xavier", rng=seed)
    so.train(make(fresh), x, y, epochs=30, batch_size=100, rng=seed)
    return fresh.evaluate(loss, x, y).loss


def eacg(solver, alpha):
    return lambda net: so.EACG(net, loss, curvature="pch-1", solver=solver, alpha=alpha,
                               learning_rate=0.2)


ends = {}
for alpha in (0.05, 0.01):
    rivals = {"EA-CG, (11b)": eacg("ea-cg", alpha), "KFI, (12)": eacg("kfi", alpha),
              "SGD at eta": lambda net: so.SGD(net, loss, learning_rate=0.2),
              "SGD at eta/alpha": lambda net, r=0.2 / alpha: so.SGD(net, loss, learning_rate=r)}
    for name, make in rivals.items():
        ends[alpha, name] = [trained_to(make, seed) for seed in (0, 1, 2)]
        print(f"damping {alpha}: {name:>17}, loss after 30 epochs:", np.round(ends[alpha, name], 2))

# %% [markdown]
# It is. Inputs between 0 and 1 have a large mean, along which the loss bends most. With this
# direction corrected, rates work at which gradient descent diverges. Most of the distance to SGD
# *at the same* $\eta$, though, is the rate $\eta / \alpha$ and not curvature. At the small damping
# the Kronecker factors of (12) do better on two seeds of three, as they see every direction. There
# the directions that (11b) leaves to the gradient begin to count: the angle to Newton grows in the
# figure.
#
# ## What this tutorial claims

# %%
first, last = errors(start), errors(trained)
assert first[0, 2] > 2 * first[0, 1], "at the start Pos-Eig is the largest drop of the first layer"
assert np.allclose(last[2, :3], last[2, 0]) and first[2, 2] < 0.02, "the last layer drops (5) only"
assert last[2, 0] > 20 * first[2, 0], "which grows with training"
assert np.all(np.abs(last[:, 3] - last[:, 2]) < 0.05), "(11b) adds almost nothing to the matrix"

alpha, g = 0.05, so.exact.gradient(net, loss, x, y)
d = so.eacg.direction(net, loss, x, y, curvature="pch-1", solver="ea-cg", alpha=alpha)
for h, where, B in zip(inputs_of_layers(), weights_of_layers(),
                       so.eacg.bias_curvatures(net, loss, x, y, "pch-1")):
    m = h.mean(axis=0)
    G, D = g[where].reshape(len(B), -1), d[where].reshape(len(B), -1)
    away = np.eye(len(m)) - np.outer(m, m) / (m @ m)                          # orthogonal to m
    assert np.linalg.norm(D @ away + G @ away / alpha) < 1e-9 * np.linalg.norm(D), "SGD"
    newton = np.linalg.solve((1 - alpha) * (m @ m) * B + alpha * np.eye(len(B)), -G @ m)
    assert np.linalg.norm(D @ m - newton) < 1e-9 * np.linalg.norm(newton), "Newton"

assert found[-1, :, 0].max() < 2, "strong damping: the gradient's direction"
for alpha in (0.05, 0.01):
    assert max(ends[alpha, "EA-CG, (11b)"]) < min(ends[alpha, "SGD at eta/alpha"])
    assert min(ends[alpha, "SGD at eta"]) > 2.2
assert min(ends[0.01, "SGD at eta/alpha"]) > np.log(10), "rate 20 is too much for SGD"
assert np.mean(ends[0.01, "KFI, (12)"]) < np.mean(ends[0.01, "EA-CG, (11b)"]), "where it loses"
