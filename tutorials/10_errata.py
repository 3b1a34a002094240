# %% [markdown]
# # 10 Errata
#
# **Question.** A formula in print gives wrong numbers, or does it? How do you find a misprint, and
# how do you know that the mistake is not your own?
#
# **Time.** 20 minutes.
#
# **Before it.** 01; 05 and 06 help with the formulas.
#
# **Belongs to.** Nocedal and Wright, chapter 8 (derivatives checked by differences) and the
# appendix on Taylor's theorem. Any course in which students implement papers.
#
# As a script: `python tutorials/10_errata.py [FOLDER FOR THE FIGURES]`

# %%
import numpy as np

import secondorder as so
from secondorder import plots
from secondorder.lessons import Figures
from secondorder.papers.eacg.eq_08_pch import eq_8b_as_printed, eq_8b_pch_step
from secondorder.papers.low_rank.eq_10_26_network import eq_23_as_printed, eq_23_eta
from secondorder.papers.low_rank.eq_37_43_step_length import eq_41_flat_as_printed, eq_41_limits
from secondorder.papers.low_rank.layers import sample as low_rank_sample
from secondorder.papers.residual_partitioning.section_7_3_proof_of_theorem_2 import (
    eq_20_softmax, eq_22_as_printed, eq_22_gradient)
from secondorder.papers.reversible_gauss_newton.eq_23_32_two_flows import (
    eq_32_as_printed, eq_32_bound)

figures = Figures()
rng = np.random.default_rng(0)
found = {}


def off(made, reference):
    """Largest difference over the largest entry of the reference."""
    return float(np.abs(np.asarray(made) - reference).max() / np.abs(reference).max())


def note(name, as_printed, corrected):
    found[name] = as_printed, corrected
    print(f"{name}: off by {as_printed:.2g} as printed, by {corrected:.2g} as corrected")


# %% [markdown]
# Four papers, six equations, a method for each. The rules:
#
# - Execute the printed form **literally**, index by index, also where it cannot be right. A formula
#   that was silently repaired is no evidence.
# - Compare with something that shares nothing with it: differences, a sum by hand, a case where the
#   answer is known.
# - Show that the printed form fails *and* that the corrected form holds. A failure alone may be
#   your own.
#
# ## 1. Ratios: [residual-partitioning] (22)
#
# Lemma 3 minimises $\sum_i x_i^2 / p_i$ over the simplex, with $p = \mathrm{softmax}(\eta)$ (20).
# Its gradient, as printed in the last line of (22):
#
# $$\frac{\partial}{\partial \eta_i} \sum_{i'} \frac{x_{i'}^2}{p_{i'}}
#   = p_i \Big( \frac{x_i^2}{p_i^2} - \sum_{i'} p_{i'} \frac{x_{i'}^2}{p_{i'}^2} \Big).$$
#
# **Predict first.** Let $p_1 \to 0$: the sum goes to infinity, so that it must *fall* as $\eta_1$
# rises. Which sign does the printed form have there?

# %%
x, eta = rng.normal(size=5), rng.normal(size=5)


def spread(eta):
    return np.sum(x**2 / eq_20_softmax(eta))


h, p = 1e-6, eq_20_softmax(eta)
differences = np.array([(spread(eta + h * e) - spread(eta - h * e)) / (2 * h) for e in np.eye(5)])
print("ratios, printed over differences:  ",
      np.round(eq_22_as_printed(x, p) / differences, 6))
print("ratios, corrected over differences:", np.round(eq_22_gradient(x, p) / differences, 6))
note("(22)", off(eq_22_as_printed(x, p), differences),
     off(eq_22_gradient(x, p), differences))

# %% [markdown]
# The ratio is $-1$ *in every entry*: the sign. If one ratio stands everywhere, 2, $1/S$ or $-1$, it
# names the mistake. Ratios that differ mean a missing term or a wrong index. The lemma's conclusion
# survives, as a gradient of zero has no sign: a misprint, not a matter of substance.
#
# ## 2. Shapes: [low-rank] (23)
#
# $\eta^{(k,l)}$ shall be the Jacobian of layer $k$'s output in layer $l$'s pre-activation. Printed
# is $\eta_i^{(k,l),j} = \alpha_s^{(k,l),j}\, \gamma_i^{(k),s}$ with $\alpha^{(k,l)}$ of shape
# $(d_k, d_l)$ and $\gamma^{(k)}$, the slopes of layer $k$ on a diagonal, $(d_k, d_k)$.
#
# **Predict first.** Do these shapes conform? In which nets would nobody notice?

# %%
def sample_of(widths):
    net = so.mlp(widths, activation="tanh", rng=1)
    data = np.random.default_rng(2).normal(size=(1, widths[0])), np.array([0])
    return net, data, low_rank_sample(net.evaluate(so.SoftmaxCrossEntropy(), *data))


try:
    eq_23_as_printed(sample_of([3, 5, 4, 2])[2], 2, 1)
    conforms = True
except ValueError as error:
    conforms = False
    print(f"widths 5 and 4: {error}")

net, data, sample = sample_of([4, 4, 4, 2])


def second_output(shift):
    """v^(2) with the bias of layer 1, and so its pre-activation, shifted."""
    moved = net.copy()
    moved.layers[0].bias = moved.layers[0].bias + shift
    return low_rank_sample(moved.evaluate(so.SoftmaxCrossEntropy(), *data)).v[2][:4]


differences = np.array([(second_output(h * e) - second_output(-h * e)) / (2 * h)
                        for e in np.eye(4)]).T
# the last unit of every layer is always 1: its weights are the biases
as_printed, corrected = (form(sample, 2, 1)[:4, :4] for form in (eq_23_as_printed, eq_23_eta))
ratios = as_printed / differences
print("square layers, ratios of the printed form, column by column:", np.round(ratios[0], 3),
      "and again in the next row:", np.round(ratios[1], 3))
note("(23)", off(as_printed, differences), off(corrected, differences))

# %% [markdown]
# It does not conform unless layers are of one width, as in the paper's own experiments. There the
# ratios are the same in every row and differ from column to column. So the factor on the right is
# wrong: it must hold the slopes of layer $l$.
#
# ## 3. Taylor rates: [low-rank] (39)
#
# The curvature $g^\top H g$ along a direction. If it is right,
#
# $$R(t) = \big| L(\theta + t g) - L(\theta) - t\, g^\top \nabla L
#          - \tfrac12 t^2\, g^\top H g \big|$$
#
# falls like $t^3$; if not, like $t^2$. No step size has to be chosen: look at the *slope*.
#
# **Predict first.** (39) has $\partial^2 F / \partial p\, \partial p$ between $\omega$ and
# $\omega$, between $\omega$ and each $\phi^{(k)}$, and between each $\phi^{(k)}$ and itself. Which
# pairs are left? Of a net with one hidden layer, would you notice?

# %%
loss = so.SoftmaxCrossEntropy()
steps = np.geomspace(3e-4, 1e-2, 9)


def remainders(hidden, form):
    # no bends and no kinks: identity units, for which (39) is meant to be exact
    net = so.mlp([3, *hidden, 3], activation="identity", bias=False, rng=3)
    draw = np.random.default_rng(6)
    data, g = (draw.normal(size=(1, 3)), np.array([1])), draw.normal(size=net.size)
    slope, curvature = so.low_rank.directional_curvature(net, loss, *data, g, form=form)
    start, theta, told = net.evaluate(loss, *data).loss, net.theta.copy(), []
    for t in steps:
        net.theta = theta + t * g
        told.append(abs(net.evaluate(loss, *data).loss - start - t * slope - t**2 * curvature / 2))
    net.theta = theta
    true = g @ so.exact.hessian(net, loss, *data) @ g
    return np.array(told), abs(curvature - true) / abs(true)


def rate(remainder):
    return np.polyfit(np.log(steps), np.log(remainder), 1)[0]


curves = {"as printed, two hidden layers": remainders([4, 4], "printed"),
          "corrected, two hidden layers": remainders([4, 4], "exact"),
          "as printed, one hidden layer": remainders([4], "printed")}
for name, (remainder, _) in curves.items():
    print(f"{name}: the remainder falls like t to the power {rate(remainder):.2f}")
note("(39)", curves["as printed, two hidden layers"][1], curves["corrected, two hidden layers"][1])

# %% [markdown]
# Pairs of *different* hidden layers are missing. With one hidden layer there are none, and the
# printed form is right: a check on the smallest net would have let it pass. This erratum matters:
# it changes the step length.
#
# ## 4. Limits and units: [low-rank] (41)
#
# (41) gives the step length (37) where one of its terms dominates. With $a = g^\top \nabla f < 0$,
# $h = g^\top H g$, $c = \sigma |g|^3$ it says
#
# $$\alpha \approx |a| / h \ \text{ where } |h| \gg |a|\, c, \qquad
#   \alpha \approx \sqrt{2 a / c} \ \text{ where } |h| \ll |a|\, c.$$
#
# **Predict first.** Measure the loss in other units, a thousand times smaller: $a$, $h$, $c$ all
# grow by 1000. Does "$|h| \gg |a|\, c$" stay true? And what is $\sqrt{2a/c}$ for $a < 0$?

# %%
a, c = -1.0, 1e-6
h_ = 10 * abs(a) * c  # ten times |a| c: the print says that h dominates
exact = so.low_rank.step_length(a, h_, 1.0, c)
steep, flat, _ = eq_41_limits(a, h_, c)
print(f"exact {exact:.4g}; first limit {steep:.4g}; second limit, with |a|, {flat:.4g}; "
      f"second limit as printed {eq_41_flat_as_printed(a, h_, c)}")
print(f"h^2 over 2 |a| c = {h_**2 / (2 * abs(a) * c):.1e}: the second limit is the one to take")
note("(41)", abs(steep - exact) / exact, abs(flat - exact) / exact)

# %% [markdown]
# Quantities of different units cannot be compared; under the root of (37) $h^2$ stands beside $2
# |a| c$, and these have the same. An approximation is judged by its *predicted* error, here
# $-h / (c\,\alpha)$, half a per cent, and not by rounding.
#
# ## 5. Where both forms agree: [ea-cg] (8b)
#
# The diagonal of (8b) has $E[h''] \odot (W^\top E[g])$ as its brackets are printed: a product of
# means. Meant is $E[h'' \odot (W^\top g)]$, the mean of the products.
#
# **Predict first.** For which batch are they the same? How does one find out which one the authors
# meant?

# %%
def both(samples):
    draw = np.random.default_rng(5)
    W, B = draw.normal(size=(3, 4)), np.eye(3)
    g, slope, curvature = (draw.normal(size=(samples, n)) for n in (3, 4, 4))
    by_loops = np.zeros((4, 4))
    for s in range(samples):  # the mean over instances of one step (4b), and its diagonal corrected
        by_loops += (W.T @ B @ W) * np.outer(slope[s], slope[s]) / samples
    bend = sum(curvature[s] * (W.T @ g[s]) for s in range(samples)) / samples
    by_loops += np.diag(np.abs(bend))
    return (off(eq_8b_as_printed(W, B, g @ W, slope, curvature, -1.0), by_loops),
            off(eq_8b_pch_step(W, B, g @ W, slope, curvature, -1.0), by_loops))


for samples in (1, 2, 8, 64):
    print(f"batch of {samples:2}: printed off by {both(samples)[0]:.2g}, corrected by "
          f"{both(samples)[1]:.2g}")
note("(8b)", *both(8))

# %% [markdown]
# With a batch of one they agree, as they must. Which one is meant follows from where it comes from:
# the mean over instances of (4b), whose last term is $h'' \odot (W^\top g)$ instance by instance.
#
# ## 6. The worst case: [reversible-gauss-newton] (32)
#
# Two Euler iterations stay within $\frac{\alpha}{K}(e^{Lt} - 1)$ of their flows each, (28)-(29),
# and the flows have the same errors $\varepsilon$. The distance of the iterations is then at most
# the sum of both, (30). (32) has it once.
#
# **Predict first.** Find two iterations that err in *opposite* directions.

# %%
# one step of each: f'' = bend on the one flow and -bend on the other
alpha, bend, lipschitz = 1e-3, 8.0, 1e-3
apart = abs(0.5 * bend * alpha**2 - -0.5 * bend * alpha**2)
K = 2 * lipschitz / bend
bounds = [bound(alpha, K, K, lipschitz, lipschitz, 1.0, alpha)
          for bound in (eq_32_as_printed, eq_32_bound)]
print(f"apart {apart:.4g}; bound with the factor 2 {bounds[1]:.4g}; as printed {bounds[0]:.4g}")
note("(32)", *(max(0.0, apart / bound - 1) for bound in bounds))

# %% [markdown]
# An inequality is not tested by random cases, in which it has room to spare, but by the case in
# which it is tight. The distance is exactly twice what the print allows. The theorem's conclusion,
# $O(\alpha)$, does not change; its constant does.
#
# ## All six

# %%
where = {"(22)": "residual-partitioning", "(23)": "low-rank", "(39)": "low-rank",
         "(41)": "low-rank", "(8b)": "ea-cg", "(32)": "reversible-gauss-newton"}
figures.show(plots.row(
    lambda ax: plots.printed_and_corrected(
        {f"{where[name]} {name}": errors for name, errors in found.items()}, ax,
        title="six errata, executed"),
    lambda ax: plots.lines(
        {f"{name}: slope {rate(remainder):.2f}": (steps, remainder)
         for name, (remainder, _) in curves.items()}, ax, logarithmic="xy", x_label="step t",
        y_label="what is left of the loss", title="Taylor remainders of (39)",
        show_legend="below"), widths=(1.2, 1)), "errata")

# %% [markdown]
# All errata of the papers, with weights: `secondorder verify`; one of them on a screen:
# `secondorder show low-rank 39`. Exercises 02, 05, 07 and 09 ask for four of these six.
#
# ## What this tutorial claims

# %%
tolerances = {"(22)": 1e-7, "(23)": 1e-7, "(39)": 1e-12, "(41)": 0.01, "(8b)": 1e-13, "(32)": 1e-12}
for name, (as_printed_, corrected_) in found.items():
    assert as_printed_ > 0.05 and corrected_ <= tolerances[name], name
    assert so.verify.run(where[name], name)[0].verdict == "erratum"
assert not conforms, "shapes of (23)"
assert np.isnan(eq_41_flat_as_printed(a, h_, c)), "the root of a negative number"
assert 1.9 < rate(curves["as printed, two hidden layers"][0]) < 2.1
assert 2.9 < rate(curves["corrected, two hidden layers"][0]) < 3.1
assert curves["as printed, one hidden layer"][1] < 1e-12, "the smallest net does not tell"
assert both(1)[0] < 1e-14, "a batch of one does not tell"
assert abs(apart / bounds[0] - 2) < 1e-4, "exactly twice"
