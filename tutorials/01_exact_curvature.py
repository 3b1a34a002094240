"""Exact curvature of a network whose whole Hessian fits on the screen.

Run it as it stands:  python tutorials/01_exact_curvature.py [DIRECTORY FOR THE FIGURES]

A 4-3-3 network looks at wines (the four measurements that tell cultivars apart best). We compute
the Hessian of its loss by three routes, look at its spectrum before and after training, and hold
the Gauss-Newton matrix against it.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import secondorder as so
from secondorder import plots
from secondorder.plots import style

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="secondorder-"))
folder.mkdir(parents=True, exist_ok=True)

# 1. Data and network. 27 parameters: a Hessian of 27 x 27 numbers.
wine = so.datasets.load_wine()
columns = [wine.names.index(name)
           for name in ("alcohol", "flavanoids", "color_intensity", "proline")]
x = so.datasets.Standardisation.fit(wine.inputs[:, columns]).apply(wine.inputs[:, columns])
y = wine.targets
net = so.mlp([4, 3, 3], activation="tanh", rng=0)
loss = so.SoftmaxCrossEntropy()
print(f"{net.size} parameters, loss {net.evaluate(loss, x, y).loss:.3f}")

# 2. Three routes to the same matrix. They use different passes of the layers, so agreement to
#    rounding means something.
hessians = {
    method: so.exact.hessian(net, loss, x, y, method=method)
    for method in ("blocks", "products", "polarisation")
}
reference = hessians["blocks"]
for method, hessian in hessians.items():
    print(f"  {method:>12}: largest difference from blocks {np.abs(hessian - reference).max():.1e}")


# ... and a fourth that shares no code with them: differences of the gradient, with the error that
# must be expected of them.
def gradient_at(theta):
    copy = net.copy()
    copy.theta = theta
    return so.exact.gradient(copy, loss, x, y)


differences = so.exact.finite_differences.central(gradient_at, net.theta)
print(f"   differences: {differences.excess(reference):.2f} of the predicted error")

# 3. The Hessian is the Gauss-Newton matrix plus what the residuals and the curvature of the network
#    add.
gauss_newton = so.exact.gauss_newton(net, loss, x, y)
before = np.linalg.eigvalsh(reference)
print(
    f"before training: Hessian eigenvalues {before[0]:.3f} to {before[-1]:.3f}, "
    f"{np.sum(before < -1e-10)} negative; "
    f"smallest of Gauss-Newton {np.linalg.eigvalsh(gauss_newton)[0]:.1e}"
)
gap_before = np.linalg.norm(reference - gauss_newton) / np.linalg.norm(reference)

# 4. Train with plain gradient descent: small steps, full batch, nothing hidden.
start = net.evaluate(loss, x, y).loss
for _ in range(600):
    net.theta -= 0.5 * so.exact.gradient(net, loss, x, y)
end = net.evaluate(loss, x, y)
accuracy = np.mean(end.outputs.argmax(axis=1) == y)
trained = so.exact.hessian(net, loss, x, y)
after = np.linalg.eigvalsh(trained)
gauss_newton = so.exact.gauss_newton(net, loss, x, y)
gap_after = np.linalg.norm(trained - gauss_newton) / np.linalg.norm(trained)
print(f"after training: loss {end.loss:.3f}, accuracy {accuracy:.3f}, eigenvalues {after[0]:.1e} "
      f"to {after[-1]:.3f}")
# Softmax does not see a constant added to all outputs: one flat direction for each input of the
# last layer and one for its bias.
flat = np.sum(np.abs(after) < 1e-12)
print(f"flat directions: {flat}")
print(f"relative distance of Gauss-Newton from the Hessian: {gap_before:.2f} before, "
      f"{gap_after:.2f} after training")

# 5. Why the step length is bounded: along the steepest eigenvector a step beyond 2 / (largest
#    eigenvalue) climbs in the quadratic model.
value, vector = after[-1], np.linalg.eigh(trained)[1][:, -1]
slope, curvature = so.exact.two_jet(net, loss, x, y, vector)[1:]
print(f"along the top eigenvector: curvature {curvature:.6f}, eigenvalue {value:.6f}")

figure = Figure(figsize=(13, 5), layout="constrained")
left, right = figure.subplots(1, 2)
plots.hessian_heat_map(trained, net, left, title="Hessian after training, 27 x 27")
plots.spectrum(after, right, title="its eigenvalues")
figure.savefig(folder / "exact-curvature.png", dpi=110)

# 6. Why not simply difference the gradient? Because no step is good: large ones truncate, small
#    ones round. The exact product has no step.
exact_product = so.exact.hessian_vector_product(net, loss, x, y, vector)
steps, theta = np.logspace(-11, 0, 34), net.theta.copy()
errors = [
    np.abs((gradient_at(theta + h * vector) - gradient_at(theta - h * vector)) / (2 * h)
           - exact_product).max()
    for h in steps
]
axes = plots.error_against_step(
    steps,
    errors,
    Figure(figsize=(7, 5), layout="constrained").add_subplot(),
    label="central difference of the gradient",
    title="a Hessian-vector product",
)
axes.axhline(np.abs(exact_product - value * vector).max(), color=plots.VERMILION, linestyle="--",
             label="exact product")
style.legend(axes)
axes.figure.savefig(folder / "differences-against-exact.png", dpi=110)
off = np.abs(exact_product - value * vector).max()
print(f"best difference is off by {min(errors):.1e}, the exact product by {off:.1e}")
print(f"figures: {folder}")

# What this script claims.
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
