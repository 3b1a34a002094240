# %% [markdown]
# # 08 Flows and kernels
#
# **Question.** Two right inverses of the Jacobian give two different steps. When do they train the
# network alike, and on which inputs?
#
# **Time.** 15 minutes.
#
# **Before it.** 07; Euler's method for differential equations.
#
# **Belongs to.** Grosse's course on training dynamics, the chapters on linear models of training
# and on infinite width (tangent kernels); Boyd and Vandenberghe, *Convex Optimization*, chapter 9
# (gradient descent and Newton's method on a convex function, here of the outputs). The paper is
# `reversible-gauss-newton`, Eqs. (3)-(11), Theorem 4.3.
#
# As a script: `python tutorials/08_flows_and_kernels.py [FOLDER FOR THE FIGURES]`

# %%
import warnings

import numpy as np

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()
wine = so.datasets.load_wine()
inputs = so.datasets.Standardisation.fit(wine.inputs).apply(wine.inputs)
inputs = np.column_stack([inputs, np.zeros(len(inputs))])     # 14 columns: two halves of 7
targets = np.eye(3)[wine.targets]
order = np.random.default_rng(0).permutation(len(inputs))
seen, unseen = order[:24], order[24:]
loss = so.SquaredError()

# %% [markdown]
# ## 1. The flow of the outputs
#
# Let the rate go to zero: steps become a flow $\dot\theta = d(\theta)$, and the outputs on the
# training set move by the chain rule, $\dot f = J \dot\theta$. With gradient descent, $\dot\theta =
# -J^T \epsilon$,
#
# $$\dot f = -J J^T \epsilon = -K(\theta)\, \epsilon ,$$
#
# where $K = J J^T$ is the **tangent kernel**: how the outputs move depends on the network, and
# changes as it trains. With any right inverse, $\dot\theta = -J^{\dashv} \epsilon$,
#
# $$\dot f = -J J^{\dashv} \epsilon = -\epsilon(f) \qquad
#   \text{[reversible-gauss-newton] Eqs. (3), (4), (8), (11)} .$$
#
# No kernel and no $\theta$ is left: the flow of $f$ knows $f$ alone. For half the squared error
# $\epsilon = f - y$, so that $f(t) - y = e^{-t} (f(0) - y)$ whatever the network.
#
# Steps at rate $\alpha$ are Euler's method for this flow. After a fixed time $T$, which is
# $T / \alpha$ steps, the error is $O(\alpha)$ for each of the two; so is the gap between them (9).
# That is Theorem 4.3.
#
# **Predict first.** Take the right inverse of the paper and the Moore-Penrose inverse to $T = 1$
# with $\alpha = 1/2, 1/4, \dots, 1/64$. By which factor does the gap of the outputs fall each time?
# And the gap on wines that are not in the training set?

# %%
RATES = 2.0 ** -np.arange(1, 7)


def flow(rate, inverse, bottleneck=40, time=1.0):
    """The network after time / rate steps."""
    net = so.reversible_gauss_newton.RevMLP(14, 2, bottleneck, outputs=3, activation="tanh", rng=0)
    for _ in range(round(time / rate)):
        net.theta += rate * so.reversible_gauss_newton.direction(
            net, loss, inputs[seen], targets[seen], inverse=inverse,
            pseudo_inverse="exact")
    return net


def kernel(net):
    """The tangent kernel on the training set, (72, 72)."""
    K = so.reversible_gauss_newton.ntk(net, inputs[seen])
    return K.reshape(3 * len(seen), -1)


def gaps(bottleneck=40):
    """Between the two inverses, by rate: outputs seen and unseen, kernels."""
    found = []
    for rate in RATES:
        a, b = (flow(rate, inverse, bottleneck) for inverse in ("right", "moore-penrose"))
        found.append([np.linalg.norm(a(inputs[seen]) - b(inputs[seen])),
                      np.linalg.norm(a(inputs[unseen]) - b(inputs[unseen])),
                      np.linalg.norm(kernel(a) - kernel(b)) / np.linalg.norm(kernel(b))])
    return np.array(found).T


agree = gaps()
print("rate     ", *(f"1/{1 / rate:<6.0f}" for rate in RATES))
for name, row in zip(("training ", "unseen   ", "kernels  "), agree):
    print(name, *(f"{value:<8.4f}" for value in row))
slope = np.polyfit(np.log(RATES[2:]), np.log(agree[0, 2:]), 1)[0]
print(f"slope of the gap on the training set, from rate 1/8 on: {slope:.3f}")

# %% [markdown]
# Half the rate, half the gap: **slope 1** on the training set. On unseen wines the gap stays, and
# so does the gap of the kernels. The two flows go to two different networks, which happen to agree
# on 24 inputs. This is tutorial 07 once more. A theorem about training losses is silent about
# tests.
#
# ## 2. What the theorem asks for
#
# $J$ must have independent rows all along (Assumption 4.1). Here it has them if the features of a
# half block are independent from sample to sample.
#
# **Predict first.** With a bottleneck of 16 there are 16 features for 24 wines. What becomes of the
# slope?

# %%
with warnings.catch_warnings():                      # the package says that the rank is too low
    warnings.simplefilter("ignore", so.reversible_gauss_newton.RankWarning)
    narrow = gaps(bottleneck=16)
print("bottleneck 16, training:", *(f"{value:<8.4f}" for value in narrow[0]))

# %% [markdown]
# The gap stays. What is computed is no longer a right inverse, $J J^{\dashv} \ne I$, and the flow
# of $f$ depends on the network again.
#
# ## 3. Who needs the kernel?
#
# Gradient descent does. In the eigenvectors of $K$ each part of the error falls at the rate of its
# own eigenvalue. The smallest eigenvalues decide how long it takes. For Gauss-Newton every part
# falls like $e^{-t}$.
#
# **Predict first.** Run gradient descent for the time in which the fastest part would fall by
# $e^{-10}$. How much of the whole error is left?

# %%
net = flow(1.0, "right", time=0)                     # no step: the start
K = kernel(net)
values, vectors = np.linalg.eigh(K)
times = np.linspace(0, 10, 201)
error = (net(inputs[seen]) - targets[seen]).ravel()


def run(direction, count, time):
    """Parts of the error in the eigenvectors of the first kernel along a flow, by Euler steps."""
    net, parts = flow(1.0, "right", time=0), []
    for _ in range(count + 1):
        parts.append(vectors.T @ (net(inputs[seen]) - targets[seen]).ravel())
        net.theta += time / count * direction(net)
    return np.array(parts)


def descent(net):
    """Of the sum of the losses, in units of time in which the fastest part falls by e."""
    return -len(seen) * so.exact.gradient(net, loss, inputs[seen], targets[seen]) / values[-1]


def gauss_newton(net):
    return so.reversible_gauss_newton.direction(net, loss, inputs[seen], targets[seen],
                                                pseudo_inverse="exact")


by_descent, by_newton = run(descent, 200, 10.0), run(gauss_newton, 200, 10.0)
left_over = [np.linalg.norm(parts[-1]) / np.linalg.norm(error) for parts in (by_descent, by_newton)]
print(f"eigenvalues of the kernel from {values[0]:.2g} to {values[-1]:.2g}")
print(f"left of the error at t = 10: {left_over[0]:.2g} by gradient descent, "
      f"{left_over[1]:.1g} by Gauss-Newton, exp(-10) = {np.exp(-10):.1g}")



def parts_over_time(parts, title):
    """A picture of three parts of the error along a flow."""
    ranks = {"largest eigenvalue": -1, "20th": -20, "smallest": 0}
    return lambda ax: plots.lines(
        {name: (times, np.abs(parts[:, rank] / parts[0, rank])) for name, rank in ranks.items()},
        ax, references={"exp(-t)": (times, np.exp(-times))}, logarithmic="y", y_limits=(1e-6, 3),
        x_label="time", y_label="part of the error, of its start", title=title,
        show_legend="below")


figures.show(plots.row(
    lambda ax: plots.lines(
        {"training set": (RATES, agree[0]), "unseen wines": (RATES, agree[1]),
         "training set, 16 features for 24 wines": (RATES, narrow[0])}, ax,
        references={"slope 1": (RATES, agree[0, -1] * RATES / RATES[-1])}, logarithmic="xy",
        x_label="rate", y_label="gap of the outputs at T = 1", title="two right inverses",
        show_legend="below"),
    parts_over_time(by_descent, "gradient descent: each part its own rate"),
    parts_over_time(by_newton, "Gauss-Newton: all parts alike")), "flows")

# %% [markdown]
# Gradient descent has more than a third of the error left; Gauss-Newton a ten-thousandth of it.
# That is what a kernel costs, and why the paper's method is fast in training. The largest part does
# not fall quite like $e^{-t}$, as its eigenvalue changes on the way. None of this helps elsewhere:
# the flow of $f$ says nothing of inputs that are not in it.
#
# ## What this tutorial claims

# %%
halvings = agree[0, 1:-1] / agree[0, 2:]
assert abs(slope - 1) < 0.05 and np.all(np.abs(halvings[1:] - 2) < 0.1), "slope 1 (Theorem 4.3)"
assert np.ptp(agree[1, 2:]) < 0.02 * agree[1, -1], "on unseen inputs the gap does not shrink"
assert agree[2, -1] > 0.4, "two networks with two kernels"
assert narrow[0, -1] > 0.9 * narrow[0, -3], "without independent rows it does not shrink at all"

# at the start gradient descent moves the outputs by -K eps, Gauss-Newton by -eps
J = so.exact.jacobian(net, inputs[seen]).reshape(-1, net.size)
assert np.allclose(J @ J.T, K, rtol=0, atol=1e-10 * values[-1])
assert np.allclose(J @ descent(net) * values[-1], -K @ error, rtol=0, atol=1e-9 * values[-1])
assert np.allclose(J @ gauss_newton(net), -error, rtol=0, atol=1e-9 * np.abs(error).max())

assert left_over[0] > 0.2 and left_over[1] < 1.2 * np.exp(-10)
