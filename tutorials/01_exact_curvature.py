# %% [markdown]
# # 01 Exact curvature
#
# **Question.** What does the Hessian of a whole network look like, and how do we know that it is
# right?
#
# **Time.** 20 minutes.
#
# **Before it.** 00, or a first course in calculus of several variables.
#
# **Belongs to.** Nocedal and Wright, *Numerical Optimization*, chapter 2 (what a Hessian tells of a
# minimum) and chapter 8 (derivatives by differences).
#
# As a script: `python tutorials/01_exact_curvature.py [FOLDER FOR THE FIGURES]`

# %%
import numpy as np
from scipy.optimize import minimize

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()

# %% [markdown]
# ## 1. A network whose whole Hessian fits on the screen
#
# A 4-3-3 network looks at wines, by the four measurements that tell three cultivars apart best. Its
# loss is the mean over the $S$ wines,
#
# $$L(\theta) = \frac1S \sum_{s=1}^S \ell\big(f(x_s; \theta), y_s\big),$$
#
# and the Hessian is the matrix $H_{ij} = \partial^2 L / \partial\theta_i\,\partial\theta_j$.
#
# **Predict first.** Weights and biases of layers 4 to 3 and 3 to 3: how many parameters? How many
# different numbers does a symmetric matrix of that size have?

# %%
wine = so.datasets.load_wine()
columns = [wine.names.index(name)
           for name in ("alcohol", "flavanoids", "color_intensity", "proline")]
x = so.datasets.Standardisation.fit(wine.inputs[:, columns]).apply(wine.inputs[:, columns])
y = wine.targets
net = so.mlp([4, 3, 3], activation="tanh", rng=0)
loss = so.SoftmaxCrossEntropy()
start = net.evaluate(loss, x, y).loss
print(f"{net.size} parameters, {net.size * (net.size + 1) // 2} second derivatives, "
      f"loss {start:.3f}")

# %% [markdown]
# ## 2. Four routes to the same matrix
#
# A matrix that was derived by hand must be checked by something that shares no code with it. Three
# routes use different passes of the layers:
#
# - *blocks*: the Hessian with respect to each layer's pre-activations, carried backwards
#   ([ea-cg] Eqs. (4a), (4b)), and outer products with the inputs;
# - *products*: $Hv$ for each unit vector $v$, forward mode over reverse mode;
# - *polarisation*: only second derivatives along straight lines,
#   $v^\top H w = \tfrac12\,[q(v + w) - q(v) - q(w)]$ with $q(v) = v^\top H v$.
#
# The fourth takes central differences of the gradient,
# $H e_j \approx [\nabla L(\theta + h e_j) - \nabla L(\theta - h e_j)] / 2h$, and knows the error
# that must be expected of them.
#
# **Predict first.** Doubles carry 16 digits. How far apart will the first three be? And the fourth?

# %%
hessians = {
    method: so.exact.hessian(net, loss, x, y, method=method)
    for method in ("blocks", "products", "polarisation")
}
reference = hessians["blocks"]
for method, hessian in hessians.items():
    print(f"{method:>12}: largest difference from blocks {np.abs(hessian - reference).max():.1e}")


def gradient_at(theta):
    copy = net.copy()
    copy.theta = theta
    return so.exact.gradient(copy, loss, x, y)


differences = so.exact.finite_differences.central(gradient_at, net.theta)
print(f" differences: {differences.excess(reference):.2f} of the predicted error")

# %% [markdown]
# ## 3. Gauss-Newton: the part that cannot be negative
#
# With $J_s$ the Jacobian of the outputs of sample $s$ and $H^\ell_s$ the Hessian of its loss with
# respect to the outputs,
#
# $$H = \underbrace{\frac1S \sum_s J_s^\top H^\ell_s J_s}_{\text{Gauss-Newton}}
#     + \frac1S \sum_s \sum_c \frac{\partial \ell_s}{\partial f_c} \nabla^2 f_c(x_s).$$
#
# The loss is convex in the outputs, so the first part has no negative eigenvalue. The second is
# weighted by the residuals $\partial \ell / \partial f$.
#
# **Predict first.** At a random start, does $H$ have negative eigenvalues? After training, will
# Gauss-Newton be nearer to $H$ or further from it?

# %%
gauss_newton = so.exact.gauss_newton(net, loss, x, y)
before = np.linalg.eigvalsh(reference)
gap_before = np.linalg.norm(reference - gauss_newton) / np.linalg.norm(reference)
print(f"before training: Hessian eigenvalues {before[0]:.3f} to {before[-1]:.3f}, "
      f"{np.sum(before < -1e-10)} negative; "
      f"smallest of Gauss-Newton {np.linalg.eigvalsh(gauss_newton)[0]:.1e}")

for _ in range(600):  # plain gradient descent on all wines, nothing hidden
    net.theta -= 0.5 * so.exact.gradient(net, loss, x, y)

end = net.evaluate(loss, x, y)
accuracy = np.mean(end.outputs.argmax(axis=1) == y)
trained = so.exact.hessian(net, loss, x, y)
after = np.linalg.eigvalsh(trained)
gauss_newton = so.exact.gauss_newton(net, loss, x, y)
gap_after = np.linalg.norm(trained - gauss_newton) / np.linalg.norm(trained)
print(f"after training: loss {end.loss:.3f}, accuracy {accuracy:.3f}, eigenvalues {after[0]:.1e} "
      f"to {after[-1]:.3f}")
print(f"relative distance of Gauss-Newton from the Hessian: {gap_before:.2f} before, "
      f"{gap_after:.2f} after training")

# %% [markdown]
# Nearer, and still not the same: a tenth of the Hessian is missing, and it has small negative
# eigenvalues that Gauss-Newton cannot have. "At a minimum Gauss-Newton is the Hessian" is true only
# where *all* residuals vanish.
#
# ## 4. Flat directions
#
# Softmax does not see a number added to all three outputs.
#
# **Predict first.** Which parameters can add the same number to all outputs without changing
# anything else? Each gives an eigenvalue that is exactly zero. How many are there?

# %%
flat = np.sum(np.abs(after) < 1e-12)
print(f"flat directions: {flat}: one for each of the 3 inputs of the last layer, one for its bias")

figures.show(plots.row(
    lambda ax: plots.hessian_heat_map(trained, net, ax, title="Hessian after training, 27 x 27"),
    lambda ax: plots.spectrum(after, ax, title="its eigenvalues"), height=5), "exact-curvature")

# %% [markdown]
# ## 5. Curvature along a line, without the matrix
#
# Along a unit vector $v$ the loss is
#
# $$L(\theta + t v) = L + t\, g^\top v + \tfrac12 t^2\, v^\top H v + O(t^3).$$
#
# One pass gives both numbers. At a rate above $2 / \lambda_{\max}$ a gradient step on the quadratic
# climbs. So the steepest eigenvector limits the rate of all parameters.
#
# **Predict first.** What is $v^\top H v$ along the eigenvector of the largest eigenvalue?

# %%
value, vector = after[-1], np.linalg.eigh(trained)[1][:, -1]
slope, curvature = so.exact.two_jet(net, loss, x, y, vector)[1:]
print(f"along the top eigenvector: curvature {curvature:.6f}, eigenvalue {value:.6f}; "
      f"rates above {2 / value:.2f} climb")

# %% [markdown]
# ## 6. Why not simply difference the gradient?
#
# The truncation error falls like $h^2$, the rounding error grows like $10^{-16}/h$.
#
# **Predict first.** At which step $h$ do they meet, and how many digits are left there?

# %%
exact_product = so.exact.hessian_vector_product(net, loss, x, y, vector)
steps, theta = np.logspace(-11, 0, 34), net.theta.copy()
errors = [
    np.abs((gradient_at(theta + h * vector) - gradient_at(theta - h * vector)) / (2 * h)
           - exact_product).max()
    for h in steps
]
off = np.abs(exact_product - value * vector).max()
figures.show(plots.row(lambda ax: plots.lines(
    {"central difference of the gradient": (steps, errors)}, ax,
    references={"exact product": (steps, np.full(len(steps), off))}, logarithmic="xy",
    x_label="step", y_label="error", title="a Hessian-vector product", show_legend="below"),
    height=5), "differences-against-exact")
print(f"best difference is off by {min(errors):.1e}, the exact product by {off:.1e}")

# %% [markdown]
# No step is good: large ones truncate, small ones round. The exact product has no step.
#
# ## 7. Which wine moved this prediction?
#
# Leave wine $s$ out, and its share $\ell_s / S$ of the objective is missing. To first order the
# minimum moves by $H^{-1} g_s / S$. The outputs for another wine move by their Jacobian times this
# change. These are influence functions (Koh and Liang, *Understanding black-box predictions via
# influence functions*, 2017). Two lines answer for all wines at once. A penalty makes $H$ positive
# definite; `solve` refuses what is not.
#
# **Predict first.** The net is least sure of one wine. Leave out the wine that matters most for it,
# and train again: how far from the true change is the estimate?

# %%
def at_minimum(x, y, l2):
    """The net, trained on from where it is until the objective stands still."""
    f = so.exact.objective(net, loss, x, y, l2=l2)
    there = net.copy()
    there.theta = minimize(f.fun, f.start, jac=f.jac, hess=f.hess, method="trust-exact",
                           options={"gtol": 1e-8}).x
    return there


l2, S = 0.01, len(x)
net = at_minimum(x, y, l2)
doubtful = x[[np.argmin(np.diff(np.sort(net(x)), axis=1)[:, -1])]]

s = so.exact.solve(net, loss, x, y, so.exact.jacobian(net, doubtful)[0].T, l2=l2)
influence = so.exact.sample_gradients(net, loss, x, y) @ s.solution / S  # a row for each wine

most = np.argsort(-np.abs(influence).max(axis=1))[:3]
ratios = []
for i in most:
    rest = np.arange(S) != i  # a mean over S - 1 wines: the penalty grows in proportion
    moved = (at_minimum(x[rest], y[rest], l2 * S / (S - 1))(doubtful) - net(doubtful))[0]
    ratios.append(influence[i] @ moved / (moved @ moved))
    print(f"without wine {i:3}: outputs move by {moved.round(3)}, "
          f"estimated {influence[i].round(3)}")

# %% [markdown]
# The estimate has the right direction and most of the length. It falls short, since without the
# wine the curvature is smaller too. For a linear model the factor is known: one minus the leverage.
#
# ## What this tutorial claims

# %%
assert all(np.abs(h - reference).max() <= 1e-12 * np.abs(reference).max()
           for h in hessians.values())
assert differences.excess(reference) <= 1.0
assert before[0] < 0, "at the start the loss is not convex here"
assert (
    np.linalg.eigvalsh(gauss_newton)[0] > -1e-12
), "Gauss-Newton is positive semidefinite: the loss is convex in the outputs"
assert end.loss < start / 5 and accuracy > 0.9
assert flat == 3 + 1
assert gap_after < gap_before, "as the residuals shrink, Gauss-Newton approaches the Hessian"
assert abs(curvature - value) < 1e-10
assert off < 1e-13 < min(errors)
assert s.residual < 1e-10
assert all(0.7 < ratio < 1.05 for ratio in ratios), "influence estimates what training anew shows"
