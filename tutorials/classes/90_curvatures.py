# %% [markdown] tags=["slide"]
# # A class of 90 minutes: Hessian, Gauss-Newton, Fisher, KFAC, PCH

# %% [markdown] tags=["notes"]
# **Goal.** The students can say which matrix is which and what each one drops. They know why the
# nearest matrix need not give the best step.
#
# **They know.** The chain rule, eigenvalues, what an expectation is. Python is no condition.
#
# **You need.** This notebook on a projector; a pencil for everybody; a laptop for every two, for
# the exercise. A clone of the repository has the solutions in plain sight, so do not hand it out:
# `pip wheel --no-deps .` makes a file in it that `pip install` takes on each laptop, and
# `secondorder notebook handout 09_mean 10_kron` makes the folder that you hand out.
#
# **How.** Ask for the prediction, let everybody write it down, vote by hand, then run the cell.
# Wrong votes are the lesson. All cells together take less than half a minute.
#
# Answers are collapsed: a click on the three dots opens one. `common_mistakes.md` beside this
# notebook has what usually goes wrong in the exercises. As slides, with these words as the
# speaker's notes:
#
# ```
# jupyter nbconvert --to slides --no-input --execute 90_curvatures.ipynb \
#     --SlidesExporter.reveal_width=800 --SlidesExporter.reveal_height=500
# ```
#
# As a script: `python tutorials/classes/90_curvatures.py [FOLDER FOR THE FIGURES]`

# %% [markdown] tags=["below"]
# | part | minutes |
# |---|---|
# | 1. One net, one gradient | 10 |
# | 2. The Hessian | 15 |
# | 3. Gauss-Newton and three Fishers | 20 |
# | 4. KFAC | 15 |
# | 5. PCH, by pencil | 10 |
# | 6. Exercise | 15 |
# | 7. Whose step goes furthest? | 5 |

# %% tags=["skip"]
import numpy as np
from matplotlib.figure import Figure

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()

# %% [markdown] tags=["slide"]
# ## 1. One net, one gradient (10 minutes)
#
# On the board: a 4-3-3 net with tanh looks at four measurements of a wine and tells three cultivars
# apart. The loss is the mean cross-entropy.
#
# **Predict first.** How many parameters has the net? What is the loss of a net that knows nothing?

# %% tags=["below"]
wine = so.datasets.load_wine()
columns = [wine.names.index(name)
           for name in ("alcohol", "flavanoids", "color_intensity", "proline")]
x = so.datasets.Standardisation.fit(wine.inputs[:, columns]).apply(wine.inputs[:, columns])
y = wine.targets
net, loss = so.mlp([4, 3, 3], activation="tanh", rng=0), so.SoftmaxCrossEntropy()
start = net.evaluate(loss, x, y).loss
print(f"{net.size} parameters; loss {start:.3f}, of a net that knows nothing {np.log(3):.3f}")

# %% [markdown] tags=["answer"]
# **Answer.**
#
# $4 \cdot 3 + 3 + 3 \cdot 3 + 3 = 27$ parameters; $\ln 3$.

# %% [markdown] tags=["slide"]
# ## 2. The Hessian (15 minutes)
#
# On the board: $H_{ij} = \partial^2 L / \partial\theta_i\, \partial\theta_j$.
#
# **Predict first.** How many of the 27 eigenvalues are negative: none, a few, a quarter, half?

# %% tags=["below"]
H = so.exact.hessian(net, loss, x, y)
values = np.linalg.eigvalsh(H)
negative = int(np.sum(values < -1e-12))
print(f"{negative} of {len(values)} eigenvalues are negative, the lowest is {values[0]:.2f}")

# %% tags=["below"]
figure = Figure(layout="constrained")
plots.hessian_heat_map(H, net, figure.subplots(), title="the whole Hessian")
figures.project(figure, "class-hessian")

# %% tags=["below"]
figure = Figure(layout="constrained")
plots.spectrum(values, figure.subplots(), title="its eigenvalues")
figures.project(figure, "class-spectrum")

# %% [markdown] tags=["notes"]
# **Project.** Both figures. Let them find the blocks $W_1, b_1, W_2, b_2$ in the first one.

# %% [markdown] tags=["answer"]
# **Answer.**
#
# Seven, a quarter. Four more are zero: softmax does not see a number that is added to
# all outputs. So $H$ has no inverse, and Newton's step $-H^{-1} g$ exists only in the other 23
# directions. Along the seven negative ones it goes *up*: it leads to a saddle point of the
# quadratic model.

# %% [markdown] tags=["slide"]
# ## 3. Gauss-Newton and three Fishers (20 minutes)
#
# On the board, with $J_s$ the Jacobian of the outputs, $p_s$ the probabilities, $g_{sc}$ the
# gradient of sample $s$ if its label were $c$:
#
# - Gauss-Newton: $\frac1S \sum_s J_s^\top [\mathrm{diag}(p_s) - p_s p_s^\top]\, J_s$
# - Fisher, exact: $\frac1S \sum_s \sum_c p_{sc}\, g_{sc} g_{sc}^\top$
# - Fisher, sampled: one label $c$ drawn from $p_s$ instead of the sum
# - Fisher, empirical: the label of the data, $c = y_s$

# %% [markdown] tags=["below"]
# **Predict first.** These four and the Hessian make five matrices. Which two are the same, entry
# for entry? Which can have a negative eigenvalue?

# %% tags=["below"]
five = {"Hessian": H, "Gauss-Newton": so.exact.gauss_newton(net, loss, x, y)}
for kind in ("exact", "sampled", "empirical"):
    five[f"Fisher, {kind}"] = so.exact.fisher(net, loss, x, y, kind=kind, rng=0)
G = five["Gauss-Newton"]


def distance(matrix, reference):
    return np.linalg.norm(matrix - reference) / np.linalg.norm(reference)


print(f"{'relative':>25}   lowest\n{'distance':>25}   eigenvalue")
for name, matrix in five.items():
    print(f"{name:>17} {distance(matrix, G):7.1e}   {np.linalg.eigvalsh(matrix)[0]:8.1e}")

# %% tags=["below"]
figure = Figure(layout="constrained")
for axes in plots.matrices(five, net, figure, columns=3):
    axes.set(xlabel="", ylabel="")
figure.axes[-1].set_ylabel("")
figures.project(figure, "class-five-matrices", size=13)

# %% [markdown] tags=["notes"]
# **Project.** The five matrices on one scale.

# %% [markdown] tags=["answer"]
# **Answer.**
#
# Gauss-Newton and the exact Fisher. Do the proof on the board: $g_{sc} = J_s^\top (p_s - e_c)$, and
#
# $$\sum_c p_{sc} (p_s - e_c)(p_s - e_c)^\top = \mathrm{diag}(p_s) - p_s p_s^\top .$$
#
# Only the Hessian has negative eigenvalues. The empirical Fisher is another matrix, and many
# programs call it the Fisher.

# %% [markdown] tags=["slide"]
# ## 4. KFAC (15 minutes)
#
# On the board: a layer $z = W h$ has, for one sample, the block $h h^\top \otimes H_z$. KFAC takes
# the product of the means for the mean of the products,
#
# $$E[h h^\top \otimes H_z] \approx E[h h^\top] \otimes E[H_z].$$
#
# **Predict first.** How many numbers does KFAC store for the 9 weights of $W_2$, and how many has
# the block? By how much is KFAC's block off: 1 %, 10 %, half?

# %% tags=["below"]
compared = so.compare(net, loss, x, y)
for name, begin, end in plots.parameter_blocks(net):
    block = slice(begin, end)
    off = distance(compared.matrices["KFAC"][block, block], G[block, block])
    print(f"{name}: KFAC is off the Gauss-Newton block by {off:.1%}")
off_whole = distance(compared.matrices["KFAC"], G)
print(f"whole matrix: off by {off_whole:.0%}, as KFAC has no blocks between layers")

# %% [markdown] tags=["answer"]
# **Answer.**
#
# Two symmetric $3 \times 3$ factors, 12 numbers, instead of a symmetric $9 \times 9$
# block, 45 numbers. At a random start the blocks of the weights are off by 4 % and 16 %, the blocks
# of the biases by nothing. Most of what KFAC drops stands *between* the layers. Tutorial 06 shows
# how this changes in training.

# %% [markdown] tags=["slide"]
# ## 5. PCH, by pencil (10 minutes)
#
# On the board: one input, one hidden tanh unit, one output; $h' = \tfrac34$, $h'' = -\tfrac34$,
# $w_2 = 2$, residual $2$. The curvature of the loss in the hidden unit is, by [ea-cg] (4b),
#
# $$h'^2 w_2^2 \cdot 1 + h'' w_2 r = \tfrac94 - 3 = -\tfrac34 .$$
#
# Gauss-Newton keeps the first term. PCH-1 adds the absolute value of the second term, PCH-2 adds it
# where it is positive.
#
# **Predict first.** Everybody computes the three numbers. Then run the cell.

# %% tags=["below"]
unit = so.mlp([1, 1, 1], activation="tanh", bias=False, rng=0)
unit.theta = np.array([np.log(3) / 4, 2.0])
point = unit, so.SquaredError(), np.array([[2.0]]), np.array([[-1.0]])
hidden = {name: so.eacg.bias_curvatures(*point, curvature=name)[0].item()
          for name in ("hessian", "gauss-newton", "pch-1", "pch-2")}
print("; ".join(f"{name} {value:.2f}" for name, value in hidden.items()))

# %% [markdown] tags=["answer"]
# **Answer.**
#
# $\tfrac94$, $\tfrac{21}4$, $\tfrac94$. A positive matrix is not the same as a near
# one: PCH-1 is seven times the size of the true curvature.

# %% [markdown] tags=["slide"]
# ## 6. Exercise (15 minutes)
#
# **Exercise.** `09_mean_of_products`: over which whole must the mean of (8b) be taken?
#
# ```
# secondorder grade 09_mean_of_products.ipynb
# ```

# %% [markdown] tags=["notes"]
# The grader names the usual mistakes. At the end of the class `secondorder grade FOLDER --feedback
# TEXTS` grades all files into one table, and writes a text for each student. Whoever is done early
# takes `10_kronecker_inverse`.

# %% [markdown] tags=["slide"]
# ## 7. Whose step goes furthest? (5 minutes)
#
# Every row's step is $-(M + \text{damping})^{-1} g$, with one damping for all, at its own best
# rate.
#
# **Predict first.** Vote: Hessian, Gauss-Newton, KFAC, PCH-2, or plain gradient descent?

# %% tags=["below"]
rows = {row["name"]: row for row in compared.rows}
names = ("Hessian", "Gauss-Newton", "KFAC", "PCH-1", "PCH-2", "identity")
for name in names:
    row = rows[name]
    print(f"{name:>13}: error {row['error']:4.2f}, takes {row['best_decrease']:.2f} off the loss")

# %% tags=["below"]
figure = Figure(layout="constrained")
axes = figure.subplots()
axes.barh(names, [rows[name]["best_decrease"] for name in names], color=plots.COLOURS[0])
axes.invert_yaxis()
axes.set(xlabel="decrease of the loss", title="one step, each at its own best rate")
figures.project(figure, "class-compared")

# %% [markdown] tags=["notes"]
# **Project.** The figure, and leave it there.

# %% [markdown] tags=["answer"]
# **Answer.**
#
# PCH-2 here. The Hessian itself comes last but one: its shift above the negative
# eigenvalue makes the step short everywhere. Nearness is not quality. This is one net at one point,
# and no race between methods.

# %% [markdown] tags=["slide"]
# **Home.** Tutorials 02, 06 and 09.

# %% [markdown] tags=["skip"]
# ## What this class claims

# %% tags=["skip"]
assert net.size == 27 and negative == 7 and np.sum(np.abs(values) < 1e-12) == 4
assert distance(five["Fisher, exact"], G) < 1e-13 < distance(five["Fisher, empirical"], G)
assert [name for name in five if np.linalg.eigvalsh(five[name])[0] < -1e-12] == ["Hessian"]
assert all(distance(compared.matrices["KFAC"][begin:end, begin:end], G[begin:end, begin:end]) < 0.2
           for _, begin, end in plots.parameter_blocks(net)) and off_whole > 0.3
np.testing.assert_allclose(list(hidden.values()), [-0.75, 2.25, 5.25, 2.25], rtol=1e-12)
assert rows["PCH-2"]["best_decrease"] == max(rows[name]["best_decrease"] for name in names)
assert rows["identity"]["best_decrease"] < rows["Hessian"]["best_decrease"] < min(
    rows[name]["best_decrease"] for name in ("Gauss-Newton", "KFAC", "PCH-1", "PCH-2"))
