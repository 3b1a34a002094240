# %% [markdown]
# # 02 Gauss-Newton and the Fisher matrices
#
# **Question.** Hessian, Gauss-Newton, and three matrices that are all called Fisher: which is
# which, and when are they one?
#
# **Time.** 20 minutes.
#
# **Before it.** 01; what an expectation is.
#
# **Belongs to.** Martens' thesis, the chapters on the generalised Gauss-Newton matrix and on the
# natural gradient; Grosse's course on neural net training dynamics, the chapter on metrics.
#
# As a script: `python tutorials/02_gauss_newton_and_fishers.py [FOLDER FOR THE FIGURES]`

# %%
import numpy as np
from matplotlib.figure import Figure

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()

# %% [markdown]
# ## 1. Five matrices
#
# A net gives outputs $f(x_s)$, softmax makes probabilities $p_s$ of them, the loss is
# $\ell_s = -\ln p_{s, y_s}$. With $J_s$ the Jacobian of the outputs in the parameters:
#
# - **Hessian**: $\frac1S \sum_s \nabla^2 \ell_s$. It uses the labels of the data.
# - **Gauss-Newton**: $\frac1S \sum_s J_s^\top H^\ell_s J_s$ with $H^\ell_s = \mathrm{diag}(p_s) -
#   p_s p_s^\top$. It uses no labels, as it turns out.
# - **Fisher, exact**: $\frac1S \sum_s \sum_c p_{sc}\, g_{sc} g_{sc}^\top$, where $g_{sc}$ is the
#   gradient if the label were $c$. It uses all labels, weighted by the model.
# - **Fisher, sampled**: $\frac1S \sum_s g_{sc} g_{sc}^\top$ with one label $c$ drawn from $p_s$ for
#   each sample.
# - **Fisher, empirical**: $\frac1S \sum_s g_{s y_s} g_{s y_s}^\top$. It uses the data's labels.
#
# [ea-cg] prints the empirical matrix and calls it the Fisher matrix (label u-fisher-labels), as
# many programs do. KFAC ([ea-cg] (12)) was derived for the exact one.
#
# The wines of tutorial 01, a 4-3-3 net, at a random start.

# %%
wine = so.datasets.load_wine()
columns = [wine.names.index(name)
           for name in ("alcohol", "flavanoids", "color_intensity", "proline")]
x = so.datasets.Standardisation.fit(wine.inputs[:, columns]).apply(wine.inputs[:, columns])
y = wine.targets
net, loss = so.mlp([4, 3, 3], activation="tanh", rng=0), so.SoftmaxCrossEntropy()


def five(net, loss, x, y):
    return {
        "Hessian": so.exact.hessian(net, loss, x, y),
        "Gauss-Newton": so.exact.gauss_newton(net, loss, x, y),
        "Fisher, exact": so.exact.fisher(net, loss, x, y, kind="exact"),
        "Fisher, sampled": so.exact.fisher(net, loss, x, y, kind="sampled", rng=0),
        "Fisher, empirical": so.exact.fisher(net, loss, x, y, kind="empirical"),
    }


def distance(matrix, reference):
    """Frobenius norm of the difference over that of the reference."""
    return np.linalg.norm(matrix - reference) / np.linalg.norm(reference)


# %% [markdown]
# **Predict first.** Two of the five are the same, entry for entry. Which? And which of the five can
# have a negative eigenvalue?

# %%
start = five(net, loss, x, y)
for name, matrix in start.items():
    print(f"{name:>18}: distance to Gauss-Newton {distance(matrix, start['Gauss-Newton']):8.1e}, "
          f"smallest eigenvalue {np.linalg.eigvalsh(matrix)[0]:9.1e}")

# %% [markdown]
# ## 2. Why Fisher is Gauss-Newton here
#
# The gradient for a label $c$ is $g_{sc} = J_s^\top (p_s - e_c)$. Its outer product, averaged over
# labels drawn from the model, is
#
# $$\sum_c p_{sc}\, g_{sc} g_{sc}^\top
#   = J_s^\top \Big[ \sum_c p_{sc} (p_s - e_c)(p_s - e_c)^\top \Big] J_s
#   = J_s^\top \big[ \mathrm{diag}(p_s) - p_s p_s^\top \big] J_s,$$
#
# as $\sum_c p_{sc} e_c = p_s$. The bracket is the Hessian of $\ell$ in the outputs, whatever the
# label is. This is special about softmax with cross-entropy, and about the squared error, where
# both are $I$. It is not true of every loss.
#
# Here is the sum as it stands, index by index, with no line of the package's Fisher in it.

# %%
by_hand = np.zeros((net.size, net.size))
J = so.exact.jacobian(net, x)  # (S, C, P)
exponentials = np.exp(net(x))
p = exponentials / exponentials.sum(axis=1, keepdims=True)
for s in range(len(x)):
    for c in range(3):
        g = J[s].T @ (p[s] - np.eye(3)[c])
        by_hand += p[s, c] * np.outer(g, g) / len(x)
off_by_hand = distance(by_hand, start["Gauss-Newton"])
print(f"sum over samples and labels: distance to Gauss-Newton {off_by_hand:.1e}")

# %% [markdown]
# ## 3. The sampled one is right on average
#
# **Predict first.** Draw the labels $n$ times and average the $n$ matrices. One draw is off by
# about a tenth. With 100 draws, by which factor is the error smaller?

# %%
rng = np.random.default_rng(0)
many = np.array([so.exact.fisher(net, loss, x, y, kind="sampled", rng=rng) for _ in range(1024)])
draws, sampled_errors = np.array([1, 4, 16, 64, 256]), []
for n in draws:  # means of n draws each, and how far they are off, root mean square
    means = many.reshape(-1, n, *many[0].shape).mean(axis=1)
    off = [distance(mean, start["Fisher, exact"]) for mean in means]
    sampled_errors.append(np.sqrt(np.mean(np.square(off))))
rate = np.polyfit(np.log(draws), np.log(sampled_errors), 1)[0]
print("error of the mean of n draws:",
      {int(n): round(float(error), 3) for n, error in zip(draws, sampled_errors)})
print(f"it falls like n to the power {rate:.2f}")

# %% [markdown]
# The error of a mean of independent draws falls with the square root: 100 draws buy a factor of 10.
#
# ## 4. The empirical one is another matrix
#
# Labels of the data are not drawn from the model. The empirical Fisher matrix is the second moment
# of the gradients that the data give. Its trace is the mean squared length of a sample's gradient,
# which goes with the *square* of the residuals. Let $p$ be the probability of the true label. Per
# sample, the bracket of section 2 is of size $p (1 - p)$, the empirical bracket of size $(1 -
# p)^2$. For $p$ near 1 the second size is much smaller.
#
# They can agree where the model is right: if labels follow $p_s$, the sum over the data is a sum
# over draws. We try it below, with labels drawn from the trained model for many copies of the
# inputs.
#
# **Predict first.** Train. The fit gets good, and the model knows the labels. Will the empirical
# Fisher come closer to Gauss-Newton, or move away?

# %%
points, states = [0, 10, 30, 100, 300, 1000], []
done = 0
for steps in points:
    for _ in range(steps - done):
        net.theta -= 0.5 * so.exact.gradient(net, loss, x, y)
    done = steps
    found = five(net, loss, x, y)
    states.append({"loss": net.evaluate(loss, x, y).loss,
                   "Hessian": distance(found["Hessian"], found["Gauss-Newton"]),
                   "empirical": distance(found["Fisher, empirical"], found["Gauss-Newton"]),
                   "share": np.trace(found["Fisher, empirical"])
                   / np.trace(found["Gauss-Newton"])})
    print(f"after {steps:4} steps: loss {states[-1]['loss']:.3f}; distance to Gauss-Newton: "
          f"Hessian {states[-1]['Hessian']:.2f}, empirical Fisher {states[-1]['empirical']:.2f}; "
          f"its trace over that of Gauss-Newton {states[-1]['share']:.2f}")

copies = np.repeat(x, 200, axis=0)
exponentials = np.exp(net(copies))
p = exponentials / exponentials.sum(axis=1, keepdims=True)
drawn = (p.cumsum(axis=1) < np.random.default_rng(1).random((len(p), 1))).sum(axis=1)
of_right_model = distance(so.exact.fisher(net, loss, copies, drawn, kind="empirical"),
                          so.exact.gauss_newton(net, loss, copies, drawn))
print(f"labels that follow the model: distance {of_right_model:.2f}")

# %% [markdown]
# The distance of the Hessian to Gauss-Newton falls from twice its size to a tenth, and stays there.
# With cross-entropy the residuals vanish, but Gauss-Newton vanishes with them, at the same rate.
#
# The empirical Fisher stays off by about a half. A net that fits its training data has smaller
# gradients than its own uncertainty predicts. Where labels follow the model it is close, up to
# sampling noise. The condition is "the model is right", not "the fit is good".
#
# ## 5. On one scale
#
# The same five matrices, before training, one signed colour scale for all.

# %%
figures.show(plots.matrices(
    start, so.mlp([4, 3, 3], activation="tanh", rng=0), columns=5,
    figure=Figure(figsize=(19, 4.2), layout="constrained")).flat[0].figure, "five-matrices")

at = [state["loss"] for state in states]
figures.show(plots.row(
    lambda ax: plots.lines(
        {"mean of n sampled matrices": (draws, sampled_errors)}, ax,
        references={"one over the square root of n": (draws, sampled_errors[0] / np.sqrt(draws))},
        logarithmic="xy", x_label="draws n", y_label="distance to the exact Fisher matrix",
        title="sampled", show_legend="below"),
    lambda ax: plots.lines(
        {"Hessian": (at, [state["Hessian"] for state in states]),
         "empirical Fisher": (at, [state["empirical"] for state in states])}, ax,
        logarithmic="x", x_label="loss (training goes to the left)",
        y_label="distance to Gauss-Newton", title="along training", show_legend="below")),
    "fishers-along-training")

# %% [markdown]
# ## What this tutorial claims

# %%
assert distance(start["Fisher, exact"], start["Gauss-Newton"]) < 1e-13
assert off_by_hand < 1e-13
assert np.linalg.eigvalsh(start["Hessian"])[0] < -0.1, "only the Hessian can be indefinite"
assert all(np.linalg.eigvalsh(matrix)[0] > -1e-14 for name, matrix in start.items()
           if name != "Hessian")
assert -0.55 < rate < -0.45, "the error of a mean of draws"
assert states[-1]["Hessian"] < 0.1 * states[0]["Hessian"], "residuals shrink"
assert states[-1]["empirical"] > 0.3, "the empirical Fisher matrix stays another one"
assert of_right_model < 0.15, "unless labels follow the model"
