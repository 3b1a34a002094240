# %% [markdown]
# # 09 Curvatures compared
#
# **Question.** Fourteen curvature matrices of one net at one point: which is near the Hessian,
# which bounds it, and whose step gets furthest?
#
# **Time.** 10 minutes.
#
# **Before it.** 02 and 03; 04 to 07 say where the rows come from.
#
# **Belongs to.** Martens' thesis, the chapters on curvature matrices and on damping; Nocedal and
# Wright, chapter 3 (a step is judged by its decrease).
#
# As a script: `python tutorials/09_curvatures_compared.py [FOLDER FOR THE FIGURES]`. The same from
# the command line: `secondorder compare --out curvatures`.

# %%
import numpy as np

import secondorder as so
from secondorder.lessons import Figures

figures = Figures()

# %% [markdown]
# ## 1. One net, one point, one rule
#
# Digits as 4 x 4 pixels, a 16-3-3-10 net, three epochs of Adam: neither the start nor the end, so
# that the curvatures differ. Every row's step is
#
# $$d = -\big(M + (s + \delta) I\big)^{-1} g, \qquad s = \max(0, -\lambda_{\min}(M)),$$
#
# with *the same* $\delta$ for all: a fifth of the mean absolute eigenvalue of the Hessian. Another
# damping gives another winner; this table is one point, not a race.

# %%
digits = so.datasets.scale(so.datasets.load_digits(), (-1, 1))
x = digits.inputs.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)[:400]
y, loss = digits.targets[:400], so.SoftmaxCrossEntropy()
net = so.mlp([16, 3, 3, 10], activation="tanh", rng=0)
so.train(so.Adam(net, loss, learning_rate=0.01), x, y, epochs=3, batch_size=50, rng=0)

# %% [markdown]
# **Predict first.**
#
# 1. Which rows are the same matrix as another row?
# 2. Which rows have no negative eigenvalue?
# 3. The diagonal bound of [residual-partitioning]: is $M - H$ positive semidefinite, without and
#    with the cross terms of (4)?
# 4. Does the step of the row with the smallest error take most off the loss?

# %%
found = so.compare(net, loss, x, y, caption="digits, 400 samples; 16-3-3-10, tanh; three epochs")
print(found.table())

# %% [markdown]
# ## 2. Read aloud
#
# - **Hessian** and **low-rank factors** ([low-rank] (78)-(80)): one matrix, two ways. A sample's
#   factors are small, but there is one set a sample: at 400 samples and 103 parameters they take
#   more bytes than the matrix. They pay where $P$ is large and the batch small.
# - **Gauss-Newton** and **Fisher, exact**: one matrix, by tutorial 02. **J'J / S**
#   ([reversible-gauss-newton] (8)) leaves the Hessian of the loss out and is several times too
#   large.
# - **Fisher, empirical** ([ea-cg] u-fisher) is far off in entries; its step is fair.
# - **Diagonal bound** ([residual-partitioning] (3), algorithm 1): entries dozens of times too
#   large. That is what a bound costs. Without cross terms it is promised to bound
#   `bounded_hessian`, and nothing more. At this point it happens to bound the Hessian as well;
#   tutorial 00 has a net where it does not. With cross terms it always does.
# - **PCH-1, PCH-2** ([ea-cg] (8)), **KFRA** (u-kfra), **KFAC** (u-kfi, (12)): blocks of layers, in
#   a few kilobytes. PCH keeps the part of the curvature that Gauss-Newton drops, with its sign
#   corrected. At this point PCH-1 and PCH-2 agree: no mean bend is negative.
# - **|H|** bounds the Hessian by construction: $|\lambda| \ge \lambda$.
# - **identity**: gradient descent.

# %%
figures.show(found.figure(), "curvatures-compared", dpi=130)

# %% [markdown]
# ## 3. Nearness is not quality
#
# **Predict first.** Sort the rows by error, and by decrease at their best rate. How well do the two
# orders agree? And the angle to the Hessian's own step: is a small angle a good sign?

# %%
rows = {row["name"]: row for row in found.rows}
by_error = sorted(rows, key=lambda name: rows[name]["error"])
by_decrease = sorted(rows, key=lambda name: -rows[name]["best_decrease"])
print(f"{'nearest to the Hessian':<30}{'furthest down, best rate'}")
for near, deep in zip(by_error, by_decrease):
    print(f"{near:<30}{deep:<30}{rows[deep]['best_decrease']:.3f} at rate "
          f"{rows[deep]['best_rate']:.2g}, angle {rows[deep]['angle']:.0f}")

# %% [markdown]
# The Hessian's own damped step is not the best one: its shift above the negative eigenvalue makes
# it short everywhere. $|H|$ is nearest to $H$ of all other matrices, and near the end in decrease.
# The diagonal bound has the largest error of all. At *its* best rate, a hundred, it takes off
# nearly as much as the Hessian. At rate 1, the rate of its theory, it takes off almost nothing. The
# identity is at nearly the same angle as PCH, with a third of the decrease.
#
# ## 4. Does it pay?
#
# **Predict first.** EA-CG uses the curvature of layers. On a classifier for MNIST, does it end
# below Adam after equal work, and after equal CPU seconds? `secondorder race --recorded` has the
# answer over ten seeds. `secondorder race --minutes 3` races live, every method tuned alike, with
# your own method by `--load FILE.py`.
#
# ## What this tutorial claims

# %%
def above(name):
    """Whether M - H is positive semidefinite, by its eigenvalues."""
    difference = found.matrices[name] - found.matrices["Hessian"]
    return np.linalg.eigvalsh(difference)[0] > -1e-10 * np.abs(difference).max()


assert found.ok, [one for one in found.promises if not one["ok"]]
assert rows["low-rank factors"]["error"] < 1e-12
assert np.allclose(found.matrices["Fisher, exact"], found.matrices["Gauss-Newton"], atol=1e-12)
assert rows["Hessian"]["negative"] > 0
positive = [name for name, row in rows.items() if row["negative"] == 0]
assert set(rows) - set(positive) == {"Hessian", "low-rank factors"}, "all others are positive"
assert above("diagonal bound, cross terms") and above("|H|"), "these two are bounds by right"
assert not above("Gauss-Newton") and not above("PCH-1"), "positive is not the same as above"
assert rows["diagonal bound"]["error"] > 10 > rows["PCH-1"]["error"]
assert rows["diagonal bound"]["decrease"] < 0.05 < rows["diagonal bound"]["best_decrease"]
assert by_error.index("|H|") < 4 and by_decrease.index("|H|") > 8, "near, and yet not far down"
assert rows["PCH-1"]["best_decrease"] > rows["Hessian"]["best_decrease"]
assert abs(rows["identity"]["angle"] - rows["PCH-1"]["angle"]) < 5
assert rows["identity"]["best_decrease"] < rows["PCH-1"]["best_decrease"] / 2
assert np.array_equal(found.matrices["PCH-1"], found.matrices["PCH-2"]), "no negative bend"
