# %% [markdown]
# # 13 Check a loss of your own
#
# **Question.** You derived a loss. Are its gradient and Hessian right, does it keep its promises,
# and does it train?
#
# **Time.** 15 minutes.
#
# **Before it.** 02 and 11.
#
# **Belongs to.** Boyd and Vandenberghe, chapter 6.1 (penalty functions, robust regression) and 3.1
# (convexity by the second derivative).
#
# As a script: `python tutorials/13_check_your_own_loss.py [FOLDER FOR THE FIGURES]`

# %%
import math

import numpy as np

import secondorder as so
from secondorder import plots
from secondorder.checks import labels
from secondorder.lessons import Figures

figures = Figures()

# %% [markdown]
# ## 1. Log-cosh in three methods
#
# With $r = p - y$ the loss of a sample is $\sum_i \ln \cosh r_i$: like $\tfrac12 r^2$ near zero,
# like $|r|$ far out. Its gradient and Hessian:
#
# $$\frac{\partial \ell}{\partial p_i} = \tanh r_i, \qquad
#   \frac{\partial^2 \ell}{\partial p_i^2} = \frac{1}{\cosh^2 r_i} = 1 - \tanh^2 r_i.$$
#
# `np.cosh` overflows at $r = 711$; the form $|r| + \ln(1 + e^{-2|r|}) - \ln 2$ never does. NumPy's
# own numbers would turn float32 into float64. That is why `math.log` stands here, and why `np.eye`
# has a dtype. `help(so.Loss)` says what the package asks of a loss.
#
# **Predict first.** Far out the Hessian is nearly zero. What will a Newton step do with a sample
# whose target is badly wrong?

# %%
class LogCosh(so.Loss):
    """sum_i log cosh(p_i - target_i)."""

    diagonal_hessian = True  # a promise: every output has a term of its own
    convex = True  # a promise: no negative eigenvalue, wherever p is

    def value(self, p, target):
        r = np.abs(p - target)
        return np.sum(r + np.log1p(np.exp(-2 * r)) - math.log(2), axis=1)

    def gradient(self, p, target):
        return np.tanh(p - target)

    def hessian(self, p, target):
        diagonal = 1 - np.tanh(p - target) ** 2
        return diagonal[:, :, None] * np.eye(p.shape[1], dtype=p.dtype)


r = np.linspace(-4, 4, 81)
value = LogCosh().value(r[:, None], np.zeros((81, 1)))
figures.show(plots.lines({"log cosh r": (r, value)}, x_label="r", y_label="loss", y_limits=(0, 5),
                         references={"half the square": (r, r**2 / 2), "|r|": (r, np.abs(r))}
                         ).figure, "log-cosh")
report = so.verify.loss(LogCosh())
print(report, "\n")
assert report.ok

# %% [markdown]
# ## 2. A factor
#
# Someone remembered that the derivative of a square brings down a 2.
#
# **Predict first.** What will the checker say, of which method, and with which ratio?

# %%
class Doubled(LogCosh):
    def hessian(self, p, target):
        return 2 * super().hessian(p, target)


report = so.verify.loss(Doubled())
print(report, "\n")
assert "a factor 2 too much" in str(report) and report.findings[0].pass_name == "hessian"

# %% [markdown]
# ## 3. Right in float64 only
#
# `np.log(2.0)` is a float64 number of NumPy's and pulls everything along.
#
# **Predict first.** Is anything wrong with the *values*?

# %%
class Promoting(LogCosh):
    def value(self, p, target):
        r = np.abs(p - target)
        return np.sum(r + np.log1p(np.exp(-2 * r)) - np.log(2.0), axis=1)


report = so.verify.loss(Promoting())
print(report, "\n")
assert "right in float64; promotes float32 in value" in str(report)

# %% [markdown]
# ## 4. Far out
#
# The literal formula is right, and of no use at $p = 1000$, where a badly started net may well be.

# %%
class Literal(LogCosh):
    def value(self, p, target):
        return np.sum(np.log(np.cosh(p - target)), axis=1)


report = so.verify.loss(Literal())
print(report, "\n")
assert "not finite" in str(report)

# %% [markdown]
# ## 5. A promise that is not kept
#
# $\ln(1 + r^2)$ is even more robust. Its second derivative, $2 (1 - r^2) / (1 + r^2)^2$, is
# negative for $|r| > 1$. A method that takes the square root of a "convex" Hessian would compute
# nonsense, and Gauss-Newton would not be positive semidefinite. [ea-cg] u-gn says so of its bounded
# criterion.
#
# **Predict first.** Gradient and Hessian are right. What is there to find?

# %%
class Cauchy(so.Loss):
    """sum_i log(1 + (p_i - target_i)^2)."""

    diagonal_hessian = True
    convex = True

    def value(self, p, target):
        return np.sum(np.log1p((p - target) ** 2), axis=1)

    def gradient(self, p, target):
        r = p - target
        return 2 * r / (1 + r**2)

    def hessian(self, p, target):
        r = p - target
        diagonal = 2 * (1 - r**2) / (1 + r**2) ** 2
        return diagonal[:, :, None] * np.eye(p.shape[1], dtype=p.dtype)


report = so.verify.loss(Cauchy())
print(report, "\n")
assert "convex is True, but the Hessian of a sample has the eigenvalue" in str(report)

# %% [markdown]
# ## 6. Labels
#
# A loss takes targets as rows $(S, C)$ of real numbers unless `prepare_target` says otherwise. For
# integer labels $(S,)$ it is one line, and `labels` refuses those that are no class.
#
# **Predict first.** What does NumPy make of the label $-1$, if nobody refuses it?

# %%
def one_hot(p, target):
    return np.eye(p.shape[1], dtype=p.dtype)[target]


class OfLabels(LogCosh):
    """sum_i log cosh(p_i - e_i), where e is 1 at the label and 0 elsewhere."""

    def prepare_target(self, target, shape, dtype):
        return labels(target, shape)

    def value(self, p, target):
        return super().value(p, one_hot(p, target))

    def gradient(self, p, target):
        return super().gradient(p, one_hot(p, target))

    def hessian(self, p, target):
        return super().hessian(p, one_hot(p, target))


class Careless(OfLabels):
    def prepare_target(self, target, shape, dtype):
        return target


assert so.verify.loss(OfLabels()).ok
report = so.verify.loss(Careless())
print(report, "\n")
assert "takes the label -1, with classes 0 to 3" in str(report)

# %% [markdown]
# ## 7. What passes trains
#
# Patients' disease progression, a tenth of the targets spoiled: 30 standard deviations are added to
# them. The gradient $\tanh r$ is at most 1, so that spoiled targets pull no harder than others.
#
# **Predict first.** The median error on patients that were not seen: by which factor is it smaller
# than with the squared error?

# %%
data = so.datasets.load_diabetes()
rng = np.random.default_rng(0)
x = so.datasets.Standardisation.fit(data.inputs).apply(data.inputs)
clean = so.datasets.Standardisation.fit(data.targets).apply(data.targets)
spoiled = clean + 30 * (rng.random(clean.shape) < 0.1)
errors = {}
for loss in (so.SquaredError(), LogCosh()):
    net = so.mlp([10, 8, 1], rng=0)
    method = so.TruncatedNewton(net, loss, l2=0.01)
    so.train(method, x[:300], spoiled[:300], epochs=40, batch_size="all", rng=0)
    errors[repr(loss)] = np.median(np.abs(net(x[300:]) - clean[300:]))
print("median error on patients not seen:",
      {name: round(float(e), 3) for name, e in errors.items()})

# %% [markdown]
# The promise `diagonal_hessian` makes it fit for residual partitioning as well ((45) takes the
# second derivatives output by output).

# %%
net = so.mlp([10, 8, 1], rng=0)
method = so.ResidualPartitioning(net, LogCosh(), l2=0.01)
history = so.train(method, x[:300], spoiled[:300], epochs=40, batch_size=50, rng=0)

# %% [markdown]
# ## What this tutorial claims

# %%
assert so.verify.loss(LogCosh()).ok
assert not any(so.verify.loss(wrong()).ok for wrong in (Doubled, Promoting, Literal, Cauchy))
assert errors["LogCosh()"] < 0.5 * errors["SquaredError()"], "spoiled targets pull less"
assert history.records[-1].train_loss < history.records[0].train_loss
