# %% [markdown]
# # 03 Damping
#
# **Question.** Why do plain Newton steps fail, and what repairs them?
#
# **Time.** 20 minutes.
#
# **Before it.** 01; 02 helps.
#
# **Belongs to.** Nocedal and Wright, chapters 3 (line searches) and 4 (trust regions); Boyd and
# Vandenberghe, chapter 9 (Newton's method where the function is convex); Martens' thesis, the
# chapter on damping.
#
# As a script: `python tutorials/03_damping.py [FOLDER FOR THE FIGURES]`

# %%
import numpy as np

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()

# %% [markdown]
# ## 1. Newton's step goes uphill
#
# The quadratic model of the loss at a point is
#
# $$m(d) = L + g^\top d + \tfrac12 d^\top H d.$$
#
# Its derivative vanishes at $d = -H^{-1} g$ ([ea-cg], label u-newton). This is a minimum only if
# $H$ has no negative eigenvalue. Otherwise it is a saddle point of the model, and along negative
# curvature the step goes *up* to it. In the eigenvectors $v_i$ of $H$,
#
# $$d = - \sum_i \frac{v_i^\top g}{\lambda_i} v_i, \qquad
#   g^\top d = - \sum_i \frac{(v_i^\top g)^2}{\lambda_i}:$$
#
# a negative $\lambda_i$ turns its part round, and a small one makes it long. Four wine measurements
# and a 4-3-3 net again, with a small penalty so that flat directions have curvature `l2`.
#
# **Predict first.** At a random start: is $g^\top d$ of Newton's step negative? How long is it,
# beside the gradient?

# %%
wine = so.datasets.load_wine()
columns = [wine.names.index(name)
           for name in ("alcohol", "flavanoids", "color_intensity", "proline")]
x = so.datasets.Standardisation.fit(wine.inputs[:, columns]).apply(wine.inputs[:, columns])
y, l2 = wine.targets, 1e-3
loss = so.SoftmaxCrossEntropy()


def new_net():
    return so.mlp([4, 3, 3], activation="tanh", rng=0)


def objective(net, theta=None):
    there = net.copy()
    if theta is not None:
        there.theta = theta
    return there.evaluate(loss, x, y).loss + l2 / 2 * np.sum(there.theta**2)


net = new_net()
g = so.exact.gradient(net, loss, x, y, l2=l2)
H = so.exact.hessian(net, loss, x, y, l2=l2)
G = so.exact.gauss_newton(net, loss, x, y, l2=l2)
values, vectors = np.linalg.eigh(H)
identity = np.eye(net.size)


def positive(values):
    return (vectors * values) @ vectors.T


directions = {
    "gradient": -g,
    "Newton": -np.linalg.solve(H, g),
    "Newton, H + 0.8 I": -np.linalg.solve(H + 0.8 * identity, g),
    "|H|, damped": -np.linalg.solve(positive(np.abs(values)) + 0.05 * identity, g),
    "Gauss-Newton, damped": -np.linalg.solve(G + 0.05 * identity, g),
}
for name, d in directions.items():
    print(f"{name:>21}: slope {g @ d:8.3f}, length {np.linalg.norm(d):6.2f}, change of the loss at "
          f"rate 1: {objective(net, net.theta + d) - objective(net):7.3f}")

# %% [markdown]
# Newton's step points uphill here, and is twelve times as long as the gradient. No small positive
# rate makes it a good step. The table holds three cures.
#
# - **Add to the diagonal.** $H + \lambda I$ with $\lambda$ above $-\lambda_{\min}$ is positive
#   definite: a descent direction. [ea-cg] (9) writes it as a weighted mean, $(1 - \alpha) H +
#   \alpha I$. With $\lambda = \alpha / (1 - \alpha)$ this is the same direction, of another length.
# - **Take the eigenvalues without their signs.** $|H|$ leaves the steep directions as they are.
#   Pos-Eig in [ea-cg] does that to small blocks.
# - **Take a matrix that cannot be negative**: Gauss-Newton, a Fisher matrix, a diagonal bound.
#
# None is free. Here $\lambda$ must be above 0.62. So large a number makes the step short in *every*
# direction, also where the model was good.

# %%
figures.show(plots.row(lambda ax: plots.along(
    net, loss, x, y, directions, np.linspace(-0.5, 2.0, 51), l2=l2, ax=ax,
    title="five steps and their quadratic models").set(
        xlabel="rate along its own step", ylim=(0, 2.2)), height=5), "loss-along-directions")

# %% [markdown]
# ## 2. How far does the model tell the truth?
#
# A quadratic model is a Taylor polynomial: right near the point, and off by $O(|d|^3)$. So there is
# a radius $\Delta$ inside which it can be trusted, and the best step in that ball is
#
# $$\min_{|d| \le \Delta} m(d): \qquad (H + \lambda I)\, d = -g, \quad \lambda \ge \max(0,
#   -\lambda_{\min}), \quad \lambda\,(\Delta - |d|) = 0$$
#
# (Nocedal and Wright, theorem 4.1). Damping and trust radius are one thing: a large $\lambda$ is a
# short step. The length $|d(\lambda)|$ falls as $\lambda$ rises, so that bisection finds it.
#
# **Predict first.** As $\Delta$ goes to zero, $d(\lambda) \approx -g / \lambda$: which method is
# that? As $\Delta$ grows, where does the path of all these steps end, if $H$ is indefinite?

# %%
def trust_region_step(values, vectors, g, radius):
    """The best step of length `radius` at most, by bisection on lambda; (d, lambda).

    The "hard case", a gradient without any part along the lowest eigenvector, is left out.
    """
    parts = vectors.T @ g

    def at(damping):
        return -vectors @ (parts / (values + damping))

    if values[0] > 0 and np.linalg.norm(at(0.0)) <= radius:
        return at(0.0), 0.0
    low = max(0.0, -values[0])
    high = low + np.linalg.norm(g) / radius
    for _ in range(200):
        middle = (low + high) / 2
        if np.linalg.norm(at(middle)) > radius:
            low = middle
        else:
            high = middle
    return at(high), high


radii = np.geomspace(0.02, 8, 40)
path = [trust_region_step(values, vectors, g, radius) for radius in radii]
predicted = [-(g @ d + d @ H @ d / 2) for d, _ in path]
actual = [objective(net) - objective(net, net.theta + d) for d, _ in path]
trusted = np.array(actual) / np.array(predicted)
for k in range(0, len(radii), 6):
    print(f"radius {radii[k]:5.2f}: lambda {path[k][1]:7.3f}, decrease: predicted "
          f"{predicted[k]:.3f}, actual {actual[k]:6.3f}, ratio {trusted[k]:5.2f}")

# %% [markdown]
# ## 3. The ratio test
#
# No constant is right at all points. The step itself tells whether the model could be trusted:
#
# $$\rho = \frac{L(\theta) - L(\theta + d)}{m(0) - m(d)} = \frac{\text{actual decrease}}
#   {\text{predicted decrease}}.$$
#
# Near 1 the model is good: grow the radius. Below $\tfrac14$: shrink it. Negative: do not even take
# the step. (Levenberg and Marquardt do the same to $\lambda$.) It costs one more evaluation of the
# loss.
#
# **Predict first.** Three runs of 40 steps from the same start: Newton as it is; Newton with fixed
# damping $\lambda = 0.8$; the ratio test. Which is fastest? Does plain Newton end in a minimum?

# %%
def train(rule, steps=40):
    """Objective after every step, and the net."""
    net, radius = new_net(), 0.5
    told = [{"objective": objective(net), "radius": radius, "ratio": np.nan}]
    for _ in range(steps):
        g = so.exact.gradient(net, loss, x, y, l2=l2)
        H = so.exact.hessian(net, loss, x, y, l2=l2)
        values, vectors = np.linalg.eigh(H)
        before, ratio = objective(net), np.nan
        if rule == "plain":
            net.theta += -np.linalg.solve(H, g)
        elif rule == "fixed":
            net.theta += -np.linalg.solve(H + 0.8 * np.eye(net.size), g)
        else:
            d, _ = trust_region_step(values, vectors, g, radius)
            ratio = ((before - objective(net, net.theta + d)) / -(g @ d + d @ H @ d / 2)
                     if np.linalg.norm(g) > 1e-9 else 1.0)
            if ratio > 0:
                net.theta += d
            if ratio < 0.25:
                radius /= 4
            elif ratio > 0.75 and np.linalg.norm(d) > 0.9 * radius:
                radius *= 2
        told.append({"objective": objective(net), "radius": radius, "ratio": ratio})
    return told, net


runs = {"Newton, plain": train("plain"), "Newton, H + 0.8 I": train("fixed"),
        "trust region, ratio test": train("ratio")}
ends = {}
for name, (told, trained) in runs.items():
    slope = np.linalg.norm(so.exact.gradient(trained, loss, x, y, l2=l2))
    lowest = np.linalg.eigvalsh(so.exact.hessian(trained, loss, x, y, l2=l2))[0]
    ends[name] = told[-1]["objective"], slope, lowest
    print(f"{name:>25}: objective {told[-1]['objective']:.4f}, |gradient| {slope:.1e}, smallest "
          f"eigenvalue {lowest:.1e}")

# %%
figures.show(plots.row(lambda ax: plots.lines(
    {"predicted decrease": (radii, predicted), "actual decrease": (radii, actual)}, ax,
    logarithmic="x", x_label="trust radius", y_label="decrease of the objective",
    y_limits=(-0.5, 2.5), title="the model tells the truth inside a ball", show_legend="below")),
    "trust-radius")

# %% [markdown]
# The path in a plane that can be drawn: the gradient across, and the eigenvector of the most
# negative eigenvalue upwards. Contours are the true objective.

# %%
downhill = -np.sign(vectors[:, 0] @ g) * vectors[:, 0]
figures.show(plots.row(
    lambda ax: plots.plane(
        net, loss, x, y, -g, downhill, ax=ax, l2=l2, title="trust-region path",
        points={"trust-region steps, radius 0.02 to 8": np.array([d for d, _ in path]),
                "Newton's step (most of it leaves this plane)": directions["Newton"]},
        x_steps=np.linspace(-1, 4.5, 56), y_steps=np.linspace(-2.5, 7.5, 51)).set(
            xlabel="along minus the gradient", ylabel="along negative curvature"),
    lambda ax: plots.lines(
        {name: np.array([one["objective"] for one in told]) for name, (told, _) in runs.items()},
        ax, logarithmic="y", x_label="steps", y_label="objective",
        title="three runs from one start", show_legend="below")), "trust-region-path")

# %% [markdown]
# Plain Newton fails: it is drawn to saddle points as much as to minima. Fixed damping goes downhill
# at every step here. After 40 steps it has not arrived, because $\lambda = 0.8$ is far above the
# curvature near the minimum. The ratio test ends in a minimum, with a gradient of rounding size:
# its last steps are undamped, and converge quadratically.
#
# Its *first* step is not the best. Damped Gauss-Newton takes more off the loss in one step (table
# of section 1), as its model is convex and reaches further. Each step here costs an
# eigendecomposition of a $P \times P$ matrix. `so.TruncatedNewton` needs only products $Hv$ and
# conjugate gradients, with the same ratio test on $\lambda$. On small batches the ratio is measured
# on the batch that made the model, and is too optimistic.
#
# ## What this tutorial claims

# %%
newton, fixed, ratio_test = (ends[name] for name in runs)
told = runs["trust region, ratio test"][0]
assert g @ directions["Newton"] > 0, "Newton's step goes uphill at the start"
assert all(g @ d < 0 for name, d in directions.items() if name != "Newton")
assert abs(trusted[0] - 1) < 0.01 and trusted[-1] < 0.25, "true in a small ball, not in a large one"
assert np.all(np.diff([damping for _, damping in path]) < 0), "large damping, short step"
assert newton[0] > 1, "plain Newton fails"
assert ratio_test[0] < fixed[0] < 0.2 and ratio_test[1] < 1e-10 and ratio_test[2] > 0, "a minimum"
assert all(later["objective"] <= earlier["objective"] + 1e-15
           for earlier, later in zip(told, told[1:])), "a step that fails the test is not taken"
assert min(objective(net, net.theta + d) for d, _ in path) > objective(
    net, net.theta + directions["Gauss-Newton, damped"]), "one step of Gauss-Newton goes further"
