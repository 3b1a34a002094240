"""Deep Residual Partitioning: a diagonal bound, how tight it is, what it does not bound, and
training with it.

Run it as it stands:  python tutorials/04_residual_partitioning.py [DIRECTORY FOR THE FIGURES]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import secondorder as so
from secondorder import plots

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="secondorder-"))
folder.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(0)


def smallest_eigenvalue(matrix):
    return np.linalg.eigvalsh(matrix)[0]


# 1. The bound. At any point the method gives the gradient and one non-negative number per
#    parameter, its `curvature`. The quadratic with that diagonal lies above the second-order model
#    for EVERY step: diag(curvature) - Hessian has no negative eigenvalue.
net = so.mlp([5, 4, 3], activation="tanh", rng=1)
x, y = rng.standard_normal((20, 5)), rng.integers(0, 3, 20)
loss = so.SoftmaxCrossEntropy()
bound = so.residual_partitioning.bound(net, loss, x, y, output="pairwise")
hessian = so.residual_partitioning.bounded_hessian(net, loss, x, y)
gap = np.diag(bound.curvature) - hessian
print(f"1. bound - Hessian: smallest eigenvalue {smallest_eigenvalue(gap):.2e}")
print(f"   largest curvature {bound.curvature.max():.2e}")
assert smallest_eigenvalue(gap) >= -1e-12 * bound.curvature.max()
assert np.allclose(
    bound.gradient, so.exact.gradient(net, loss, x, y), rtol=1e-12, atol=1e-15
), "the gradient is the exact one"

figure = Figure(figsize=(13, 4.4), layout="constrained")
plots.bound_beside_hessian(hessian, bound.curvature, net, figure)
figure.savefig(folder / "bound-beside-hessian.png", dpi=110)

# 2. How tight? Jensen's inequality becomes an equality when all shares of a change move together.
#    One linear layer with one output and one sample: a step along sign(x) uses the whole bound, a
#    random step only a part.
line = so.mlp([6, 1], bias=False, rng=2)
x1, y1 = rng.standard_normal((1, 6)), np.array([[0.3]])
tight = so.residual_partitioning.bound(line, so.SquaredError(), x1, y1)
model = so.exact.hessian(line, so.SquaredError(), x1, y1)
signs, random = np.sign(x1[0]), rng.standard_normal(6)
along_signs = (signs @ model @ signs) / (tight.curvature @ signs**2)
along_random = (random @ model @ random) / (tight.curvature @ random**2)
print(
    f"2. share of the bound that a step uses: {along_signs:.15f} along sign(x), {along_random:.3f} "
    f"along a random step"
)
assert abs(along_signs - 1) < 1e-12 and 0 <= along_random < 1

# 3. What is NOT bounded. The derivation drops products of a change of a weight and a change of its
#    input, so the bounded Hessian is not the true one. The smallest example: y = w2 w1 x with all
#    weights at zero, x = 1, target 1. Only b2 has curvature in the bound, yet the loss falls when
#    w1 and w2 grow together, and rises when they part.
two = so.mlp([1, 1, 1], activation="identity", rng=0)
two.theta = np.zeros(two.size)  # order: w1, b1, w2, b2
one, target = np.ones((1, 1)), np.ones((1, 1))
true = so.exact.hessian(two, so.SquaredError(), one, target)
at_zero = so.residual_partitioning.bound(two, so.SquaredError(), one, target)
part = np.array([1.0, 0.0, -1.0, 0.0])
quadratic = at_zero.loss + at_zero.gradient @ part + 0.5 * part @ true @ part
print(
    f"3. y = w2 w1 x at zero: curvature {at_zero.curvature}, true Hessian minus bound: eigenvalue "
    f"{-smallest_eigenvalue(np.diag(at_zero.curvature) - true):.4f} above"
)
print(f"   along w1 = -w2 the second-order model is {quadratic}, the bound says "
      f"{at_zero.value(part)}")
assert np.array_equal(at_zero.curvature, [0, 0, 0, 1])
assert abs(smallest_eigenvalue(np.diag(at_zero.curvature) - true) + np.sqrt(2)) < 1e-12
assert quadratic > at_zero.value(part)

#    `cross=True` puts the dropped products back, for one more matrix product a layer, and bounds
#    the true Hessian.
whole = so.residual_partitioning.bound(net, loss, x, y, output="pairwise", cross=True)
true = so.exact.hessian(net, loss, x, y)
least = smallest_eigenvalue(np.diag(whole.curvature) - true)
print(f"   with cross=True, against the true Hessian: smallest eigenvalue {least:.2e}")
assert least >= -1e-12 * whole.curvature.max()

# 4. Training. The step is -rate * gradient / curvature, parameter by parameter; no other state.
#    Useful rates lie far above 1: the bound is loose where a change is shared by many weights. An
#    autoencoder of digits with a bottleneck of two units:
digits = so.datasets.scale(so.datasets.load_digits(), (-1, 1))
training, validation = so.datasets.split(digits, validation=397, rng=0)
methods = {
    "residual partitioning, rate 1": (so.ResidualPartitioning, 1.0),
    "residual partitioning, rate 10": (so.ResidualPartitioning, 10.0),
    "SGD, rate 0.1": (so.SGD, 0.1),
}
histories = {}
for name, (method, rate) in methods.items():
    autoencoder = so.mlp([64, 64, 2, 64, 64], activation="tanh", output="tanh", rng=1)
    optimizer = method(autoencoder, so.SquaredError(), learning_rate=rate, l2=1e-2)
    histories[name] = so.train(
        optimizer,
        training.inputs,
        training.inputs,
        epochs=40,
        batch_size=100,
        validation=(validation.inputs, validation.inputs),
        rng=1,
    )
    last = histories[name].records[-1]
    print(f"4. {name:>30}: training {last.train_loss:.2f}, validation {last.validation_loss:.2f} "
          f"after 40 epochs")
axes = plots.learning_curves(
    histories, Figure(figsize=(8, 5), layout="constrained").add_subplot(),
    y_label="half squared error", title="autoencoder 64-64-2-64-64 on digits"
)
axes.figure.savefig(folder / "autoencoder.png", dpi=110)
print(f"figures: {folder}")

final = {name: history.records[-1].validation_loss for name, history in histories.items()}
mean_only = 0.5 * np.sum((validation.inputs - training.inputs.mean(axis=0)) ** 2, axis=1).mean()
assert final["residual partitioning, rate 10"] < final["residual partitioning, rate 1"]
assert final["residual partitioning, rate 10"] < 0.9 * mean_only, (
    "better than answering with the mean image"
)
