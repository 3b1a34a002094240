"""You derived a loss. Are its gradient and Hessian right, does it keep its promises, and does it
train?

Run it as it stands:  python tutorials/13_check_your_own_loss.py [DIRECTORY FOR THE FIGURES]

We write log-cosh, a squared error that grows like |r| far out, plant the mistakes that people
really make, let the checker find them, and train with what passes. `help(so.Loss)` says what a
loss owes to the rest of the house.
"""

import math
import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import secondorder as so

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="secondorder-"))
folder.mkdir(parents=True, exist_ok=True)


# 1. The loss of a sample: the sum over outputs of log cosh(r), r = p - target. Three methods: its
#    value, its gradient tanh(r), its Hessian, a diagonal of 1 / cosh(r)^2 = 1 - tanh(r)^2.
#    log(cosh(r)) overflows at r = 711, the form below never does. Numbers that are not Python's own
#    would turn float32 into float64: hence math.log, and hence the dtype of np.eye.
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


report = so.verify.loss(LogCosh())
print(report, "\n")
assert report.ok


# 2. A factor: someone remembered that the derivative of a square brings down a 2.
class Doubled(LogCosh):
    def hessian(self, p, target):
        return 2 * super().hessian(p, target)


report = so.verify.loss(Doubled())
print(report, "\n")
assert "a factor 2 too much" in str(report) and report.findings[0].pass_name == "hessian"


# 3. Right in float64 only: np.log(2.0) and np.eye(C) are float64 and pull everything along.
class Promoting(LogCosh):
    def value(self, p, target):
        r = np.abs(p - target)
        return np.sum(r + np.log1p(np.exp(-2 * r)) - np.log(2.0), axis=1)


report = so.verify.loss(Promoting())
print(report, "\n")
assert "right in float64; promotes float32 in value" in str(report)


# 4. Far out: the literal formula is right and of no use at p = 1000, where a badly started network
#    may well be.
class Literal(LogCosh):
    def value(self, p, target):
        return np.sum(np.log(np.cosh(p - target)), axis=1)


report = so.verify.loss(Literal())
print(report, "\n")
assert "not finite" in str(report)


# 5. A promise that is not kept. log(1 + r^2) is even more robust, and bends downwards for |r| > 1;
#    a method that takes the square root of a "convex" Hessian would work with nonsense.
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

# 6. The error of a central difference over its step: it falls like step^2 for a right Hessian and
#    stays where it is for a wrong one.
figure = Figure(figsize=(13, 4), layout="constrained")
for axes, loss in zip(figure.subplots(1, 2, sharey=True), (LogCosh(), Doubled())):
    so.verify.loss(loss).plot(axes)
figure.savefig(folder / "log-cosh.png", dpi=110)

# 7. What passes trains: patients' disease progression, a tenth of the targets spoiled. The loss
#    grows like |r|, so that the spoiled ones pull no harder than the others.
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
assert errors["LogCosh()"] < 0.5 * errors["SquaredError()"]

#    The promise `diagonal_hessian` makes it fit for residual partitioning as well.
net = so.mlp([10, 8, 1], rng=0)
method = so.ResidualPartitioning(net, LogCosh(), l2=0.01)
history = so.train(method, x[:300], spoiled[:300], epochs=40, batch_size=50, rng=0)
assert history.records[-1].train_loss < history.records[0].train_loss
print(f"figures in {folder}")
