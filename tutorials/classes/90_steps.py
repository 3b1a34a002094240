# %% [markdown] tags=["slide"]
# # A class of 90 minutes: how long a step?

# %% [markdown] tags=["notes"]
# **Goal.** The students can say what a rate, a bound and a cubic model promise about one step. They
# can test whether the promise was kept.
#
# **They know.** The chain rule, Taylor polynomials, gradient descent. Python is no condition.
#
# **You need.** This notebook on a projector; a pencil for everybody; a laptop for every two, for
# the exercise. A clone of the repository has the solutions in plain sight, so do not hand it out:
# `pip wheel --no-deps .` makes a file in it that `pip install` takes on each laptop, and
# `secondorder notebook handout 06_step 07_what` makes the folder that you hand out.
#
# **How.** Ask for the prediction, let everybody write it down, vote by hand, then run the cell.
# Wrong votes are the lesson. The cell of part 4 takes about ten seconds: start it, then ask.
#
# Answers are collapsed: a click on the three dots opens one. `common_mistakes.md` beside this
# notebook has what usually goes wrong in the exercises. As slides, with these words as the
# speaker's notes:
#
# ```
# jupyter nbconvert --to slides --no-input --execute 90_steps.ipynb \
#     --SlidesExporter.reveal_width=800 --SlidesExporter.reveal_height=500
# ```
#
# As a script: `python tutorials/classes/90_steps.py [FOLDER FOR THE FIGURES]`

# %% [markdown] tags=["below"]
# | part | minutes |
# |---|---|
# | 1. Along one line | 15 |
# | 2. Newton's length, by pencil | 15 |
# | 3. A bound | 15 |
# | 4. The plateau | 20 |
# | 5. Exercise | 15 |
# | 6. Did the model tell the truth? | 10 |

# %% tags=["skip"]
import numpy as np
from matplotlib.figure import Figure

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()

# %% [markdown] tags=["slide"]
# ## 1. Along one line (15 minutes)
#
# On the board: along $d = -g$ the loss is a function of one number, and near $0$
#
# $$L(\theta + t d) \approx L + t\, g^\top d + \tfrac12 t^2\, d^\top H d .$$
#
# The parabola is lowest at $t^* = -g^\top d / d^\top H d$. One product $H d$ is enough to know it,
# at about the price of two gradients.
#
# The net is a 4-3-3 net that looks at wines, after 30 steps of gradient descent.
#
# **Predict first.** Is the best rate on this line 0.1, 1 or 10? Is the true lowest point before or
# behind $t^*$?

# %% tags=["below"]
wine = so.datasets.load_wine()
columns = [wine.names.index(name)
           for name in ("alcohol", "flavanoids", "color_intensity", "proline")]
x = so.datasets.Standardisation.fit(wine.inputs[:, columns]).apply(wine.inputs[:, columns])
y = wine.targets
net, loss = so.mlp([4, 3, 3], activation="tanh", rng=0), so.SoftmaxCrossEntropy()
for _ in range(30):
    net.theta -= 0.5 * so.exact.gradient(net, loss, x, y)


def after(d):
    there = net.copy()
    there.theta = net.theta + d
    return there.evaluate(loss, x, y).loss


g = so.exact.gradient(net, loss, x, y)
curvature = g @ so.exact.hessian_vector_product(net, loss, x, y, g)
best = (g @ g) / curvature
ts = np.linspace(0, 4 * best, 201)
losses = np.array([after(-t * g) for t in ts])
lowest = ts[losses.argmin()]
print(f"curvature {curvature:.4f}; the parabola is lowest at {best:.2f}, the loss at {lowest:.2f}")

# %% tags=["below"]
figure = Figure(layout="constrained")
plots.along(net, loss, x, y, -g, steps=ts, ax=figure.subplots(),
            title="the loss along minus the gradient")
figures.project(figure, "class-one-line")

# %% [markdown] tags=["notes"]
# **Project.** The figure. Where do the two curves part?

# %% [markdown] tags=["answer"]
# **Answer.**
#
# More than 10. The parabola is lowest at 12.8, the loss at about 23. The model sees the
# curvature of one point; further on the loss bends less. No textbook rate comes near.

# %% [markdown] tags=["slide"]
# ## 2. Newton's length, by pencil (15 minutes)
#
# On the board: the smallest net, of tutorial 00, $p = w_2 \tanh(w_1 x)$. Along $d = (-1, 0)$ its
# slope is $a = -6$ and its curvature $h = -3$.
#
# **Predict first.** Everybody computes $t^* = -a / h$. Would you take this step?
#
# Then write the cubic model with $\sigma = 6$, $|d| = 1$: its slope is $a + h s + \tfrac12 \sigma
# s^2 = -6 - 3 s + 3 s^2$. Everybody solves it.

# %% tags=["below"]
unit = so.mlp([1, 1, 1], activation="tanh", bias=False, rng=0)
unit.theta = np.array([np.log(3) / 4, 2.0])
point = unit, so.SquaredError(), np.array([[2.0]]), np.array([[-1.0]])
a, h = so.low_rank.directional_curvature(*point, np.array([-1.0, 0.0]))
newton, cubic = -a / h, so.low_rank.step_length(a, h, 1.0, sigma=6.0)
print(f"slope {a:.0f}, curvature {h:.0f}: Newton {newton:.0f}, cubic {cubic:.0f}")
s = np.linspace(-2.5, 3.5, 121)
along = []
for step in s:
    there = unit.copy()
    there.theta = unit.theta + step * np.array([-1.0, 0.0])
    along.append(there.evaluate(*point[1:]).loss)

# %% tags=["below"]
figure = Figure(layout="constrained")
axes = plots.cubic_model(s, along, a, h, 1.0, 6.0, ax=figure.subplots(),
                         title="a parabola that opens downwards")
axes.set_ylim(-9, 9)  # the models leave the range of the loss
figures.project(figure, "class-cubic-model")

# %% [markdown] tags=["notes"]
# **Project.** The figure: tangent, parabola, cubic model, loss.

# %% [markdown] tags=["answer"]
# **Answer.**
#
# $t^* = -2$: backwards, to the *highest* point of the parabola. The cubic model gives
# $s^2 - s - 2 = 0$, $s = 2$, forwards; the other root is $-1$. The model promises $-8$ there, and
# the loss falls from 2 to 0.5 only: part 6 says how to notice.

# %% [markdown] tags=["slide"]
# ## 3. A bound (15 minutes)
#
# A parabola *above* the loss gives a guarantee: where it falls, the loss falls at least as far. The
# paper residual-partitioning builds such a parabola with a diagonal curvature, from one pass
# forward and one backward.
#
# **Predict first.** Back to the wines, where the best rate was 12.8 by the parabola. What rate will
# the bound allow: 10, 1 or 0.1?

# %% tags=["below"]
bound = so.residual_partitioning.bound(net, loss, x, y, cross=True)
allowed = (g @ g) / (g * bound.curvature @ g)
here = after(0 * g)
promised, kept = here - bound.value(-allowed * g), here - after(-allowed * g)
print(f"the bound allows rate {allowed:.2f}: it promises a decrease of {promised:.4f}, the loss "
      f"falls by {kept:.4f}; at rate {best:.1f} by {here - after(-best * g):.4f}")

# %% tags=["below"]
figure = Figure(layout="constrained")
plots.along(net, loss, x, y, -g, steps=np.linspace(0, 4, 101), models={"bound": bound.value},
            ax=figure.subplots(), title="the bound holds, and its step is short")
figures.project(figure, "class-bound")

# %% [markdown] tags=["notes"]
# **Project.** The figure.

# %% [markdown] tags=["answer"]
# **Answer.**
#
# About 1: fifteen times shorter than the parabola. A promise for *every* step of that
# size costs length.

# %% [markdown] tags=["slide"]
# ## 4. The plateau (20 minutes)
#
# On the board: a deep ReLU net whose weights lie within $\pm 0.1$ starts at the loss $\ln 10$ with
# a gradient of nearly nothing. Every rule multiplies the same gradient:
#
# - gradient descent: rate 1
# - cubic: $\alpha = \frac1c \big(-h + \sqrt{h^2 - 2 a c}\big)$, $c = \sigma |g|^3$, $\sigma = 10$
# - cubic with $h = 0$: $\alpha = \sqrt{2 / (\sigma |g|)}$
# - a fixed length: $\alpha = 0.3 / |g|$

# %% [markdown] tags=["below"]
# **Predict first.** Start the cell. Who leaves first? Who leaves at all? Is it the curvature $h$
# that leaves the plateau?

# %% tags=["below"]
digits = so.datasets.scale(so.datasets.load_digits(), (0, 1))
pixels, classes = digits.inputs.astype("float32"), digits.targets
RULES = {"rate 1": lambda a, h, length: 1.0,
         "cubic": lambda a, h, length: so.low_rank.step_length(a, h, length, 10.0),
         "cubic, h = 0": lambda a, h, length: np.sqrt(2 / (10.0 * length)),
         "fixed length": lambda a, h, length: 0.3 / length}


def plateau(rule, seed, steps=80):
    """Loss on 200 digits before every fifth step."""
    deep = so.mlp([64, *[64] * 6, 10], activation="relu", bias=False, init=0.1, rng=seed,
                  dtype="float32")
    rng, losses = np.random.default_rng([seed, 1]), []
    for step in range(steps + 1):
        if step % 5 == 0:
            losses.append(deep.evaluate(loss, pixels[:200], classes[:200]).loss)
        batch = rng.choice(len(pixels), 32, replace=False)
        data = deep, loss, pixels[batch], classes[batch]
        gradient = so.exact.gradient(*data)
        length, h = float(np.linalg.norm(gradient)), 0.0
        if rule == "cubic":
            h = so.low_rank.directional_curvature(*data, -gradient)[1]
        deep.theta -= np.float32(RULES[rule](-length**2, h, length)) * gradient
    return np.array(losses)


runs = {rule: [plateau(rule, seed) for seed in range(3)] for rule in RULES}
leaves = {rule: [5 * int(np.argmax(one < 2.2)) if one.min() < 2.2 else None for one in found]
          for rule, found in runs.items()}
print("steps to leave:", leaves)

# %% tags=["below"]
figure = Figure(layout="constrained")
axes = figure.subplots()
for number, (rule, found) in enumerate(runs.items()):
    axes.plot(5 * np.arange(len(found[0])), np.median(found, axis=0), color=plots.COLOURS[number],
              marker=plots.MARKERS[number], label=rule)
axes.set(xlabel="steps", ylabel="loss, median of three", title="off a plateau")
axes.legend()
figures.project(figure, "class-plateau")

# %% [markdown] tags=["notes"]
# **Project.** The figure, and ask again for the last vote.

# %% [markdown] tags=["answer"]
# **Answer.**
#
# All leave but gradient descent; with and without $h$ at nearly the same step. It is
# the length that leaves, not the second derivative. Three seeds show it, and tutorial 15 has eight,
# with intervals and limits.

# %% [markdown] tags=["slide"]
# ## 5. Exercise (15 minutes)
#
# **Exercise.** `06_step_without_cancellation`: the formula of part 2 is right and fails in floating
# point. Mend it.
#
# ```
# secondorder grade 06_step_without_cancellation.ipynb
# ```

# %% [markdown] tags=["notes"]
# The grader names the usual mistakes. At the end of the class `secondorder grade FOLDER --feedback
# TEXTS` grades all files into one table, and writes a text for each student. Whoever is done early
# takes `07_what_39_lacks`.

# %% [markdown] tags=["slide"]
# ## 6. Did the model tell the truth? (10 minutes)
#
# On the board: the ratio of actual to predicted decrease. Near 1 the model is good; below
# $\tfrac14$ the step was too long.
#
# The wine net before any training; the direction is $-(|H| + 0.05 I)^{-1} g$, where $|H|$ has the
# eigenvalues of $H$ without their signs.
#
# **Predict first.** The ratio is near 1 at a tenth of the step. What is it at the whole step, and
# at twice the step?

# %% tags=["below"]
net = so.mlp([4, 3, 3], activation="tanh", rng=0)
g, H = so.exact.gradient(net, loss, x, y), so.exact.hessian(net, loss, x, y)
values, vectors = np.linalg.eigh(H)
d = -vectors @ ((vectors.T @ g) / (np.abs(values) + 0.05))
ratios = {}
for t in (0.1, 0.5, 1.0, 2.0):
    predicted = -(t * (g @ d) + t**2 * (d @ H @ d) / 2)
    ratios[t] = (after(0 * d) - after(t * d)) / predicted
    print(f"{t} of the step: predicted decrease {predicted:.2f}, ratio {ratios[t]:.2f}")

# %% [markdown] tags=["answer"]
# **Answer.**
#
# About a half, and a tenth. Trust regions and Levenberg-Marquardt live on this number:
# one more loss a step, and no constant to guess.

# %% [markdown] tags=["slide"]
# **Home.** Tutorials 03, 05 and 15.

# %% [markdown] tags=["skip"]
# ## What this class claims

# %% tags=["skip"]
assert 12 < best < 14 < 20 < lowest < 26
assert np.allclose([a, h, newton, cubic], [-6, -3, -2, 2]) and 0.4 < along[90] < 0.6
assert 0.5 < allowed < 2 and best > 10 * allowed
assert 0 < promised < kept, "the bound keeps its promise"
assert leaves["rate 1"] == [None] * 3
assert all(one is not None for rule in list(RULES)[1:] for one in leaves[rule])
assert all(abs(one - other) <= 15 for one, other in zip(leaves["cubic"], leaves["cubic, h = 0"]))
assert ratios[0.1] > 0.9 and 0.4 < ratios[1.0] < 0.7 and ratios[2.0] < 0.25
