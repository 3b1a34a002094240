# %% [markdown]
# # 14 An edition of your own paper
#
# **Question.** You have a note with formulas, your own or a friend's. Which of them are right, and
# how do you show it to whoever reads it next?
#
# **Time.** 20 minutes.
#
# **Before it.** 10; 01 helps with the derivatives.
#
# **Belongs to.** Boyd and Vandenberghe, chapter 9.5 (Newton's method); any seminar in which a paper
# is read with pencil in hand.
#
# As a script: `python tutorials/14_an_edition_of_your_own.py [FOLDER FOR THE FIGURES]`

# %%
import contextlib
import importlib
import io
import tempfile
from pathlib import Path

import numpy as np

from secondorder import cli, edition, ledger, plots
from secondorder.lessons import Figures

figures = Figures()
desk = Path(tempfile.mkdtemp())

# %% [markdown]
# ## 1. A note of two pages
#
# Newton's method for logistic regression: six displays, two of them wrong.
#
# **Predict first.** Read the note as a referee would. Which two?

# %%
NOTE = r"""
\documentclass[11pt]{article}
\usepackage{amsmath, amsthm}
\newtheorem{proposition}{Proposition}
\newcommand{\R}{\mathbb{R}}
\newcommand{\tp}{^{\top}}
\newcommand{\mean}[1]{\frac{1}{n} \sum_{i=1}^{n} #1}
\DeclareMathOperator*{\argmin}{arg\,min}
\title{Newton's method for logistic regression}
\begin{document}
\maketitle

\section{The objective}
Given are points $x_i \in \R^d$ with signs $y_i \in \{-1, 1\}$, $i = 1, \dots, n$, and a weight
$\lambda > 0$. We look for the parameters $w \in \R^d$ that minimise
\begin{equation} \label{eq:loss}
  f(w) = \mean{\log\bigl(1 + e^{-m_i}\bigr)} + \frac{\lambda}{2} w\tp w,
  \qquad m_i = y_i\, x_i\tp w.
\end{equation}
The numbers $m_i$ are called margins: a point with a large margin hardly counts. There is no closed
form of $\argmin_w f(w)$, so that one has to walk. With $\sigma(z) = 1 / (1 + e^{-z})$, the
derivatives of~\eqref{eq:loss} are
\begin{align}
  \nabla f(w) &= -\mean{y_i\, \sigma(-m_i)\, x_i} + \lambda w, \label{eq:gradient} \\
  \nabla^2 f(w) &= \mean{\sigma(m_i)\, \sigma(-m_i)\, x_i x_i\tp}. \label{eq:hessian}
\end{align}
% The signs go: y_i^2 = 1.

\section{How curved it can be}
A product of $\sigma(z)$ and $1 - \sigma(z)$ is at most one quarter. Hence the curvature along any
direction $v$ is bounded by
\begin{equation} \label{eq:bound}
  v\tp \nabla^2 f(w)\, v \le \frac{1}{4n} \sum_{i=1}^{n} (x_i\tp v)^2 + \lambda v\tp v,
\end{equation}
whatever $w$ is. The bound is reached at $w = 0$.

\section{The step}
Write $g = \nabla f(w)$ and $H = \nabla^2 f(w)$. By~\eqref{eq:hessian} the matrix $H$ has an
inverse, and Newton's step is $s = -H^{-1} g$. On the way the quadratic model of $f$ falls by
\begin{equation} \label{eq:decrease}
  f(w) - \Bigl( f(w) + g\tp s + \tfrac12 s\tp H s \Bigr) = g\tp H^{-1} g,
\end{equation}
twice which is often taken to decide when to stop. Far from the solution the full step may be too
long. Along any direction $d$ the model is lowest after
\begin{equation} \label{eq:length}
  t = -\frac{g\tp d}{d\tp H d}.
\end{equation}
\begin{proposition}[One step] Along Newton's direction $t = 1$. \end{proposition}
\end{document}
"""
(desk / "note.tex").write_text(NOTE, encoding="utf-8")

# %% [markdown]
# ## 2. A folder of it
#
# In a terminal: `secondorder edition new logistic-note --tex note.tex`. Here the same in Python.

# %%
made = edition.new("logistic-note", desk / "note.tex", out=desk)
print(sorted(path.name for path in made.folder.iterdir()))
for display in made.reading.displays:
    print(f"({display.label}), line {display.line}: {display.sentence}")
print("theorems:", *made.reading.theorems, "; not read:", list(made.unread) or "nothing")

# %% [markdown]
# Macros are expanded, the sentence before each display stays with it, and what cannot be read would
# be listed. Every display has a place for its check in `equations.py`; none has a verdict yet.

# %%
edition.load(made.folder)
print(ledger.show("logistic-note", "3"))
before = ledger.run("logistic-note")
print(ledger.summary(before))

# %% [markdown]
# ## 3. Formulas, literally as printed
#
# What a display says becomes a function in `formulas.py`. What looks wrong is written as it looks:
# a formula that was silently repaired is no evidence.

# %%
FORMULAS = r'''
import numpy as np


def sigma(z):
    """sigma(z) = 1 / (1 + e^-z)."""
    return 1 / (1 + np.exp(-z))


def loss(w, x, y, weight):
    """f(w) = 1/n sum_i log(1 + e^(-m_i)) + lambda/2 w^T w, (1)."""
    return np.mean(np.log(1 + np.exp(-y * (x @ w)))) + weight / 2 * (w @ w)


def gradient(w, x, y, weight):
    """g = -1/n sum_i y_i sigma(-m_i) x_i + lambda w, (2)."""
    m = y * (x @ w)
    return -np.mean((y * sigma(-m))[:, None] * x, axis=0) + weight * w


def hessian_as_printed(w, x, y, weight):
    """H = 1/n sum_i sigma(m_i) sigma(-m_i) x_i x_i^T, (3) as printed."""
    m = y * (x @ w)
    return (x.T * (sigma(m) * sigma(-m))) @ x / len(x)


def curvature_bound(v, x, weight):
    """1/(4n) sum_i (x_i^T v)^2 + lambda v^T v, (4)."""
    return np.mean((x @ v) ** 2) / 4 + weight * (v @ v)


def decrease_as_printed(g, H):
    """g^T H^-1 g, (5) as printed."""
    return g @ np.linalg.solve(H, g)


def step_length(g, d, H):
    """t = -g^T d / d^T H d, (6)."""
    return -(g @ d) / (d @ H @ d)
'''
formulas = made.folder / "formulas.py"
formulas.write_text(formulas.read_text(encoding="utf-8") + FORMULAS, encoding="utf-8")

# %% [markdown]
# ## 4. A first check names the slip
#
# A derivative needs no code for the other side: `Derivative(of=..., is_=..., at=...)` compares with
# a complex step, or with differences. Display (3) says that it is the Hessian. Let it try.

# %%
edition.load(made.folder)
own = importlib.import_module("edition_logistic_note.formulas")  # the module that `load` made
rng = np.random.default_rng(0)
x, y, w = rng.normal(size=(8, 3)), rng.choice([-1.0, 1.0], size=8), rng.normal(size=3)
first = ledger.Derivative(of=lambda w: own.gradient(w, x, y, 0.3),
                          is_=lambda w: own.hessian_as_printed(w, x, y, 0.3), at=w)
print(first.outcome())
print("what is missing:\n", np.round(first.right - first.left, 12))

# %% [markdown]
# The difference is $0.3\, I$: the penalty $\lambda I$ was lost. It matters: without it $H$ need not
# have an inverse, which the note goes on to use.
#
# ## 5. Six checks
#
# In `equations.py` each stub gets its check, its kind and its verdict. An erratum has the corrected
# form, must pass with it, and must *fail* as printed. Beside what is printed stands something
# computed another way: differences, a model evaluated along the step, a case in which a bound is
# tight.

# %%
MORE_FORMULAS = r'''

def hessian(w, x, y, weight):
    """H = 1/n sum_i sigma(m_i) sigma(-m_i) x_i x_i^T + lambda I: (3) corrected."""
    return hessian_as_printed(w, x, y, weight) + weight * np.eye(len(w))


def decrease(g, H):
    """g^T H^-1 g / 2: (5) corrected."""
    return g @ np.linalg.solve(H, g) / 2
'''
formulas.write_text(formulas.read_text(encoding="utf-8") + MORE_FORMULAS, encoding="utf-8")
CHECKS = r'''"""A check for every numbered display of the note."""

import math

import numpy as np

from secondorder.ledger import AtMost, Derivative, Equal, Printed

from . import PRINTED, formulas, paper


def case(rng):
    x, y = rng.normal(size=(8, 3)), rng.choice([-1.0, 1.0], size=8)
    return rng.normal(size=3), x, y, rng.uniform(0.1, 0.5)


@paper.equation("1", statement="The objective: mean logistic loss plus a penalty.",
                formula=PRINTED["1"], kind="identity", verdict="holds", implements=formulas.loss)
def equation_1(rng):
    w, x, y, weight = case(rng)
    terms = [math.log1p(math.exp(-y_i * sum(x_i * w))) for x_i, y_i in zip(x, y)]
    by_hand = math.fsum(terms) / 8 + weight * math.fsum(w_j**2 for w_j in w) / 2
    return [Equal("the objective, term by term", formulas.loss(w, x, y, weight), by_hand, 1e-13)]


@paper.equation("2", statement="The gradient of the objective.", formula=PRINTED["2"],
                kind="identity", verdict="holds", implements=(formulas.loss, formulas.gradient))
def equation_2(rng):
    w, *data = case(rng)
    return [Derivative(of=lambda w: formulas.loss(w, *data),
                       is_=lambda w: formulas.gradient(w, *data), at=w)]


@paper.equation("3", statement="The Hessian of the objective.", formula=PRINTED["3"],
                corrected=r"\nabla^2 f(w) = \frac{1}{n} \sum_{i=1}^{n} \sigma(m_i)\, \sigma(-m_i)\,"
                          r" x_i x_i^{\top} + \lambda I.",
                kind="identity", verdict="erratum", weight="substance", implements=formulas.hessian)
def equation_3(rng):
    w, *data = case(rng)
    right = Derivative(of=lambda w: formulas.gradient(w, *data),
                       is_=lambda w: formulas.hessian(w, *data), at=w)
    return [right, Printed(Equal("the Hessian without the penalty",
                                 formulas.hessian_as_printed(w, *data), right.right, 1e-8))]


@paper.equation("4", statement="The curvature along v has a bound that w is not in.",
                formula=PRINTED["4"], kind="inequality", verdict="holds",
                implements=formulas.curvature_bound)
def equation_4(rng):
    w, x, y, weight = case(rng)
    v = rng.normal(size=3)
    bound, flat = formulas.curvature_bound(v, x, weight), np.zeros(3)
    return [AtMost("curvature along v", v @ formulas.hessian(w, x, y, weight) @ v, bound),
            Equal("tight at w = 0", v @ formulas.hessian(flat, x, y, weight) @ v, bound, 1e-12)]


@paper.equation("5", statement="By how much the quadratic model falls in Newton's step.",
                formula=PRINTED["5"],
                corrected=r"f(w) - \big( f(w) + g^{\top} s + \tfrac12 s^{\top} H s \big)"
                          r" = \tfrac12 g^{\top} H^{-1} g,",
                kind="identity", verdict="erratum", weight="misprint", implements=formulas.decrease)
def equation_5(rng):
    w, *data = case(rng)
    g, H = formulas.gradient(w, *data), formulas.hessian(w, *data)
    s = -np.linalg.inv(H) @ g
    falls = -(g @ s + s @ H @ s / 2)
    return [Equal("the model after the step", formulas.decrease(g, H), falls, 1e-12),
            Printed(Equal("without the half", formulas.decrease_as_printed(g, H), falls, 1e-12))]


@paper.equation("6", statement="Along d the quadratic model is lowest after this step length.",
                formula=PRINTED["6"], kind="optimality", verdict="holds",
                implements=formulas.step_length)
def equation_6(rng):
    w, *data = case(rng)
    g, H, d = formulas.gradient(w, *data), formulas.hessian(w, *data), rng.normal(size=3)
    lowest = np.roots(np.polyder([d @ H @ d / 2, g @ d, 0.0]))[0]
    newton = formulas.step_length(g, -np.linalg.solve(H, g), H)
    return [Equal("the zero of the slope", formulas.step_length(g, d, H), lowest, 1e-12),
            Equal("one along Newton's direction", newton, np.ones(()), 1e-12)]
'''
(made.folder / "equations.py").write_text(CHECKS, encoding="utf-8")
edition.load(made.folder)
after = ledger.run("logistic-note")
print(ledger.table(after, width=100))

# %% [markdown]
# In a terminal: `secondorder verify logistic-note`, and `--strict` for a note that shall have no
# unchecked display. `secondorder show logistic-note 3` is for the reader.

# %%
print(ledger.show("logistic-note", "3"))

# %% [markdown]
# ## 6. Do the checks notice?
#
# A check that compares a function with itself passes, too. `secondorder edition test` spoils every
# function that a check names, by 0.1 %, in its largest entry, in its sign, and sees the check fail.
#
# **Predict first.** The check of (2) names `loss` and `gradient`. Which of the three ways of being
# wrong would go unnoticed in both at once?

# %%
told = io.StringIO()
with contextlib.redirect_stdout(told):
    status = cli.main(["edition", "test", "logistic-note", "--load", str(made.folder)])
print(told.getvalue().replace(str(desk), "."))

# %% [markdown]
# A loss and a gradient that are both 0.1 % too large fit each other. Only one is spoiled at a time,
# and the check of (1) holds the loss to the note. So a definition needs a check of its own.
#
# ## The six on one axis

# %%
figures.show(plots.row(lambda ax: plots.printed_and_corrected(
    {f"({result.labels[0]})": (result.printed_error, result.error) for result in after}, ax,
    title="a note of six displays, executed"), height=3.6), "edition")

# %% [markdown]
# `EQUATIONS.md` in the folder is the page to hand on; `secondorder book logistic-note --out book`
# has formula, code and evidence side by side.
#
# ## What this tutorial claims

# %%
assert [display.label for display in made.reading.displays] == list("123456") and not made.unread
assert all(result.verdict == "unchecked" and result.ok is None for result in before)
assert not first.holds and np.allclose(first.right - first.left, 0.3 * np.eye(3))
assert [result.verdict for result in after] == ["holds", "holds", "erratum", "holds", "erratum",
                                                "holds"]
assert all(result.ok for result in after)
assert abs(after[4].printed_error - 0.5) < 1e-12, "the half, of the larger side"
assert status == 0 and "0 ways of being wrong unnoticed" in told.getvalue()
assert "Errata of substance" in (made.folder / "EQUATIONS.md").read_text(encoding="utf-8")
