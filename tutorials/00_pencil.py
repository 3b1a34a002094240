# %% [markdown]
# # 00 Pencil and paper
#
# **Question.** A net with one input, one hidden unit and one output has two weights. What are the
# numbers of all papers there, computed by hand?
#
# **Time.** 10 minutes, with a pencil.
#
# **Before it.** The chain rule.
#
# **Belongs to.** The first hour of any course: Nocedal and Wright, chapter 2, or Boyd and
# Vandenberghe, appendix A.4 (gradients, Hessians, the chain rule).
#
# As a script: `python tutorials/00_pencil.py [FOLDER FOR THE FIGURES]`

# %%
import numpy as np
from matplotlib.figure import Figure

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures

figures = Figures()
values = []


def agree(name, by_hand, package):
    """Note a value computed by hand beside what the package computes."""
    number = len(values) + 1
    values.append((name, np.asarray(by_hand, float), np.asarray(package, float)))
    print(f"{number:2}. {name}: by hand {np.round(by_hand, 6).tolist()}, "
          f"package {np.round(package, 6).tolist()}")


# %% [markdown]
# ## The net
#
# $$z = w_1 x, \qquad h = \tanh z, \qquad p = w_2 h, \qquad L = \tfrac12 (p - y)^2.$$
#
# The numbers are chosen so that everything is a fraction: $x = 2$, $w_1 = \tfrac14 \ln 3$,
# $w_2 = 2$, $y = -1$. Then $z = \tfrac12 \ln 3$ and
#
# $$h = \frac{3 - 1}{3 + 1} = \tfrac12, \qquad h' = 1 - h^2 = \tfrac34, \qquad
#   h'' = -2 h h' = -\tfrac34.$$
#
# The output is $p = 2 \cdot \tfrac12 = 1$, the residual $r = p - y = 2$, the loss
# $\tfrac12 \cdot 2^2 = 2$.
#
# **Predict first.** Everything below: cover what follows, compute, and only then look.

# %%
net, loss = so.mlp([1, 1, 1], activation="tanh", bias=False, rng=0), so.SquaredError()
net.theta = np.array([np.log(3) / 4, 2.0])
x, y = np.array([[2.0]]), np.array([[-1.0]])
point = net.evaluate(loss, x, y)
agree("output and loss", [1, 2], [point.outputs[0, 0], point.loss])

# %% [markdown]
# ## Gradient, Hessian, Gauss-Newton, Fisher
#
# The Jacobian of the output: $J = (w_2 h' x,\; h) = (2 \cdot \tfrac34 \cdot 2,\; \tfrac12) =
# (3, \tfrac12)$. The gradient is $g = r J = (6, 1)$.

# %%
g = so.exact.gradient(net, loss, x, y)
agree("gradient", [6, 1], g)

# %% [markdown]
# Gauss-Newton is $J^\top J$, as the second derivative of $L$ in $p$ is 1:
# $9,\; \tfrac32;\; \tfrac32,\; \tfrac14$. The Hessian adds $r \nabla^2 p$ with
#
# $$\nabla^2 p = \begin{pmatrix} w_2 h'' x^2 & h' x \\ h' x & 0 \end{pmatrix}
#              = \begin{pmatrix} -6 & \tfrac32 \\ \tfrac32 & 0 \end{pmatrix}, \qquad
#   H = \begin{pmatrix} 9 - 12 & \tfrac32 + 3 \\ \tfrac32 + 3 & \tfrac14 \end{pmatrix}
#     = \begin{pmatrix} -3 & \tfrac92 \\ \tfrac92 & \tfrac14 \end{pmatrix}.$$
#
# Its determinant is $-\tfrac34 - \tfrac{81}{4} = -21$: one eigenvalue is negative.

# %%
G = so.exact.gauss_newton(net, loss, x, y)
H = so.exact.hessian(net, loss, x, y)
agree("Gauss-Newton", [[9, 1.5], [1.5, 0.25]], G)
agree("Hessian", [[-3, 4.5], [4.5, 0.25]], H)

# %% [markdown]
# The Fisher matrix is $E[\tilde g \tilde g^\top]$, where $\tilde g = \tilde r J$ and $\tilde r$ is
# drawn from the model: for the squared error a normal variable of variance 1. So it is
# $E[\tilde r^2] J^\top J = J^\top J$, the Gauss-Newton matrix. The *empirical* Fisher matrix takes
# the residual of the data instead: $r^2 J^\top J = 4 J^\top J$. Here it is four times too large.

# %%
agree("Fisher, exact and empirical", [[[9, 1.5], [1.5, 0.25]], [[36, 6], [6, 1]]],
      [so.exact.fisher(net, loss, x, y, kind=kind) for kind in ("exact", "empirical")])

# %% [markdown]
# Newton's step solves $H d = -g$:
#
# $$d = -\frac{1}{-21} \begin{pmatrix} \tfrac14 & -\tfrac92 \\ -\tfrac92 & -3 \end{pmatrix}
#       \begin{pmatrix} 6 \\ 1 \end{pmatrix}
#     = \frac{1}{21} \begin{pmatrix} -3 \\ -30 \end{pmatrix}
#     = \begin{pmatrix} -\tfrac17 \\ -\tfrac{10}{7} \end{pmatrix}.$$
#
# It goes downhill here ($g^\top d = -\tfrac{16}{7}$), but that is luck: $H$ is indefinite.

# %%
agree("Newton's step", [-1 / 7, -10 / 7], np.linalg.solve(H, -g))

# %% [markdown]
# ## Low rank: the same Hessian block by block
#
# [low-rank] writes $f_p = r = 2$, $f_{pp} = 1$, $u = w_2$, $v^{(1)} = h$, and by (23) $\eta =
# \partial v^{(1)} / \partial z = \tfrac34$.
#
# - (3), output with output: $f_{pp}\, v\, v = \tfrac12 \cdot \tfrac12 = \tfrac14$.
# - (4), output with hidden: $f_{pp}\, v \cdot u \eta x + f_p\, \eta x = \tfrac12 \cdot 3 + 2 \cdot
#   \tfrac32 = \tfrac92$.
# - (5), hidden with hidden: $f_{pp} (u \eta x)^2 = 9$ for an activation that does not bend. The
#   tanh bends, and the appendix, (80), adds $f_p\, u\, h'' x^2 = -12$: together $-3$.
#
# **Predict first.** The layers are one unit wide. What is the rank of this sample's Hessian?

# %%
sample = so.low_rank.SampleHessian(net, loss, x, y)
agree("blocks (3), (4), (5) with bend, rank", [0.25, 4.5, -3, 2],
      [sample.dense()[1, 1], sample.dense()[0, 1], sample.dense()[0, 0], sample.rank()])

# %% [markdown]
# ## Low rank: a cubic step length
#
# Along $d = (-1, 0)$ the slope is $a = g^\top d = -6$ and the curvature $h = d^\top H d = -3$.
# Newton along this line would take $-a / h = -2$: *backwards*, uphill. The cubic model (8) with
# $\sigma = 6$ has its minimum where $a + h s + \tfrac12 \sigma |d|^3 s^2 = -6 - 3 s + 3 s^2 = 0$,
# that is $s^2 - s - 2 = 0$, $s = 2$ (or $-1$, the other root of (9)). (37) gives the positive root:
#
# $$s = \frac{-h + \sqrt{h^2 - 2 a \sigma}}{\sigma} = \frac{3 + \sqrt{9 + 72}}{6} = 2.$$

# %%
slope, curvature = so.low_rank.directional_curvature(net, loss, x, y, np.array([-1.0, 0.0]))
agree("slope, curvature, cubic step length (37)", [-6, -3, 2],
      [slope, curvature, so.low_rank.step_length(slope, curvature, 1.0, sigma=6.0)])

# %% [markdown]
# ## Residual partitioning: a diagonal bound
#
# The total gradient (11) goes forward: how far can a unit move if every weight moves by at most 1?
#
# $$u_z = |x| = 2, \qquad u_h = |h'| u_z = \tfrac32, \qquad u_p = |h| + |w_2| u_h = \tfrac12 + 3 =
#   \tfrac72.$$
#
# Curvature goes backward. At the output it is $f_{pp} = 1$, times its total gradient $\tfrac72$.
# With the fractions (10), (9) gives for $w_2$: $|h| \cdot \tfrac72 = \tfrac74$. Below the layer it
# is $|w_2| \cdot \tfrac72 = 7$, and below the activation, by (41), $|h'| \cdot 7 + h''\, (r w_2)\,
# u_z = \tfrac{21}{4} - \tfrac34 \cdot 4 \cdot 2 = -\tfrac34$. Negative, and therefore corrected to
# $\tfrac34$. Finally $w_1$: $|x| \cdot \tfrac34 = \tfrac32$.

# %%
bound = so.residual_partitioning.bound(net, loss, x, y)
agree("diagonal bound", [1.5, 1.75], bound.curvature)

# %% [markdown]
# **Predict first.** Does this diagonal lie above the Hessian, that is, is $\operatorname{diag} - H$
# positive semidefinite?
#
# $$\begin{pmatrix} \tfrac32 + 3 & -\tfrac92 \\ -\tfrac92 & \tfrac74 - \tfrac14 \end{pmatrix},
#   \qquad \det = \tfrac92 \cdot \tfrac32 - \tfrac{81}{4} = -\tfrac{27}{2}: \text{ no.}$$
#
# (4) is the reason: it drops the product of a change of a weight and a change of its input. That is
# the 3 in $H_{12} = \tfrac32 + 3$. Without it the determinant is $\tfrac{27}{4} - \tfrac94 =
# \tfrac92$, and the bound holds. With `cross=True` the dropped product is bounded too. It adds $|r|
# u_h = 3$ to $w_2$, and $|r| = 2$ to the 7 below the layer. This gives $\tfrac34 \cdot 9 - 6 =
# \tfrac34$, again $\tfrac32$ for $w_1$. The determinant is then $\tfrac92 \cdot \tfrac92 -
# \tfrac{81}{4} = 0$: a bound of the true Hessian, and it touches.

# %%
bounded = so.residual_partitioning.bounded_hessian(net, loss, x, y)
crossed = so.residual_partitioning.bound(net, loss, x, y, cross=True)
agree("determinants of what is left above H, above H without (4)'s product, with cross terms",
      [-13.5, 4.5, 0],
      [np.linalg.det(np.diag(one) - matrix) for one, matrix in
       ((bound.curvature, H), (bound.curvature, bounded), (crossed.curvature, H))])

# %% [markdown]
# ## EA-CG: a block and a step
#
# (4b) carries the curvature of the output, 1, down to the hidden unit: $h'^2 w_2^2 \cdot 1 + h''\,
# w_2 r = \tfrac94 - 3 = -\tfrac34$. (8b) corrects the second term where it is negative. PCH-1 takes
# its absolute value, $\tfrac94 + 3 = \tfrac{21}{4}$. PCH-2 sets it to zero, $\tfrac94$, which is
# the Gauss-Newton block.
#
# The block of the weight (8c) is $x^2$ times that, $4 \cdot \tfrac{21}{4} = 21$, seven times the
# size of the true $-3$. The step (9) with $\alpha = \tfrac1{10}$:
#
# $$\big(\tfrac9{10} \cdot 21 + \tfrac1{10}\big)\, d_1 = -6, \quad d_1 = -\tfrac{6}{19}; \qquad
#   \big(\tfrac9{10} \cdot \tfrac14 + \tfrac1{10}\big)\, d_2 = -1, \quad d_2 = -\tfrac{40}{13}.$$

# %%
blocks = [so.eacg.bias_curvatures(net, loss, x, y, curvature=name)[0].item()
          for name in ("hessian", "pch-1", "pch-2")]
step = so.eacg.direction(net, loss, x, y, curvature="pch-1", solver="exact", alpha=0.1)
agree("EA-CG: hidden block exact, PCH-1, PCH-2, and the step",
      [-0.75, 5.25, 2.25, -6 / 19, -40 / 13], [*blocks, *step])

# %% [markdown]
# ## Reversible Gauss-Newton: two steps of one effect
#
# In function space the step shall move the output by $-\varepsilon = -r = -2$, to first order:
# $J d = -2$, one equation for two weights. The Moore-Penrose inverse (5) takes the shortest:
#
# $$d = -J^\top (J J^\top)^{-1} \varepsilon = -\frac{2}{9 + \frac14} \begin{pmatrix} 3 \\ \tfrac12
#       \end{pmatrix} = -\tfrac{1}{37} \begin{pmatrix} 24 \\ 4 \end{pmatrix}.$$
#
# Another right inverse (8) is $R = (0, 2)^\top$, as $J R = 1$: it moves $w_2$ alone, $d = (0, -4)$.
# Both have $J d = -2$, and yet they are different steps; tutorial 07 asks which one is better.

# %%
shortest = so.reversible_gauss_newton.direction(net, loss, x, y, inverse="moore-penrose",
                                                pseudo_inverse="exact")
J, other = so.exact.jacobian(net, x)[0, 0], np.array([0.0, -4.0])
agree("Gauss-Newton step in function space, J d of it and of the other",
      [-24 / 37, -4 / 37, -2, -2], [*shortest, J @ shortest, J @ other])

# %% [markdown]
# ## The net with its numbers

# %%
def diagram():
    """The net as a drawing: nodes, edges, and the numbers of both."""
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(-0.7, 9.7), ylim=(-1.6, 1.4),
             title="forward above, backward and curvature below")
    axes.axis("off")
    nodes = [(0, "x", "2", ""), (3, "z, h", "z = ½ ln 3\nh = 1/2", "h' = 3/4\nh'' = −3/4"),
             (6, "p", "p = 1", "∂L/∂p = 2\ncurvature 1"),
             (9, "L", "L = 2", "target −1\nresidual 2")]
    for place, name, above, below in nodes:
        axes.scatter(place, 0, s=1700, color="white", edgecolor=plots.BLUE, linewidth=2, zorder=3)
        axes.text(place, 0, name, ha="center", va="center", fontsize=12, zorder=4)
        axes.text(place, 0.65, above, ha="center", va="bottom", color=plots.BLUE)
        axes.text(place, -0.65, below, ha="center", va="top", color=plots.VERMILION)
    edges = [(1.5, "$w_1$ = ¼ ln 3", "gradient 6\nH −3,  GN 9\nbound 3/2\nPCH-1 21"),
             (4.5, "$w_2$ = 2", "gradient 1\nH 1/4,  GN 1/4\nbound 7/4\nPCH-1 1/4"),
             (7.5, "½(p − y)²", "H off the diagonal 9/2\nGN there 3/2")]
    for place, above, below in edges:
        axes.annotate("", (place + 0.95, 0), (place - 0.95, 0),
                      arrowprops={"arrowstyle": "->", "linewidth": 1.5})
        axes.text(place, 0.18, above, ha="center", va="bottom", fontsize=10)
        axes.text(place, -0.18, below, ha="center", va="top", fontsize=9, color=plots.VERMILION)
    return figure


figures.show(diagram(), "pencil")

# %% [markdown]
# ## What you read is what runs
#
# Open `secondorder/nets/layers/linear.py`: `Linear.forward` is the formula of a linear layer, and
# the network calls it. A breakpoint in it stops there. Without a debugger, put a function with
# a `print` around it.
#
# A few inner loops, such as the tanh of many numbers, are compiled. Set `NUMBA_DISABLE_JIT=1`
# before Python starts, and they run in Python too.

# %%
forward, seen = so.Linear.forward, []


def told(self, x):
    """`Linear.forward`, and a line about it."""
    y, saved = forward(self, x)
    seen.append(y.item())
    print(f"Linear.forward: {self.weight.item():.4f} * {x.item():g} = {y.item():.4f}")
    return y, saved


so.Linear.forward = told
output = net(x)
so.Linear.forward = forward
np.testing.assert_allclose(seen, [np.log(3) / 2, 1])

# %% [markdown]
# ## What this tutorial claims

# %%
assert len(values) == 12
for name, by_hand, package in values:
    np.testing.assert_allclose(package, by_hand, rtol=1e-12, atol=1e-12, err_msg=name)
assert np.linalg.eigvalsh(H)[0] < 0 <= np.linalg.eigvalsh(G)[0] + 1e-15
assert np.linalg.eigvalsh(np.diag(bound.curvature) - H)[0] < -1, "the plain bound does not hold"
assert np.linalg.eigvalsh(np.diag(crossed.curvature) - H)[0] > -1e-12, "with cross terms it does"
assert seen[-1] == output.item(), "what was read is what ran"
