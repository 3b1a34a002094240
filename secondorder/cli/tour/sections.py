"""The sections of the tour: real digits, exact curvature, every derivative checked, and what the
papers' methods do.

Each takes training and validation digits, the seed and where to say what it finds; it returns its
figure and its numbers.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import secondorder as so
from secondorder import plots
from secondorder.exact.finite_differences import (complex_step, gradient_of_objective, objective,
                                                  outputs_of)
from secondorder.papers.eacg.figures.error_tables import errors_at
from secondorder.papers.low_rank.figures import plateau

BATCH = 100
EPOCHS = 20  # of truncated Newton
CLASSIFIER_EPOCHS = 40
LOOK = 2  # epochs between two looks at the whole sets, which cost a third of an epoch
CURVATURE_EPOCHS = 10
PLATEAU_ITERATIONS, SIGMA = 400, 10.0  # sigma 100, as in the paper, takes twice as long to leave
DEEP = {"layers": 12, "width": 128, "half_width": 0.1}  # the paper's network that starts there
L2 = 1e-2  # the paper's penalty
SIGMOIDS = (64, 32, 16, 10)
REVERSIBLE, BOTTLENECK = 96, 160  # digits in one batch; features of the reversible network
NOT_BELOW = -1e-12  # smallest eigenvalue of bound minus Hessian, relative to the largest curvature


class Section(NamedTuple):
    """One section: the key of its numbers, what it is, its picture, and what its reader saw."""

    key: str
    title: str
    function: object
    picture: str
    saw: str


def _pooled(data):
    """Digits at 4 x 4 pixels, (N, 16), means of 2 x 2: a whole Hessian fits on the screen."""
    return data.inputs.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)


def _small_network(training, seed):
    network = so.mlp([16, 6, 10], activation="tanh", rng=seed)
    optimizer = so.TruncatedNewton(network, so.SoftmaxCrossEntropy(), l2=1e-3)
    for _ in range(8):
        optimizer.step(_pooled(training), training.targets)
    return network


def _panels(width, height, **options):
    """A new figure, and two panels side by side."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, *figure.subplots(1, 2, **options)


def _trained(methods, make_network, loss, training, validation, seed, say, l2=0.0):
    """Train a fresh network by every method, and say how it ended: name -> its records.

    A method is its class, its options, its batch size and its epochs.
    """
    runs = {}
    for name, (method, options, batch, epochs) in methods.items():
        history = so.train(method(make_network(), loss, l2=l2, **options), *training, epochs=epochs,
                           batch_size=batch, validation=validation, rng=seed,
                           evaluate_every=1 if batch == len(training[0]) else LOOK)
        runs[name], last = history.records, history.records[-1]
        accuracy = (f"   accuracy {last.validation_accuracy:.3f}" if "validation_accuracy" in last
                    else "")
        say(f"  {name:<32} train {last.train_loss:7.4f} validation "
            f"{last.validation_loss:7.4f}{accuracy}   {last.epoch:3} epochs, "
            f"{1e3 * last.seconds / last.step:5.2f} ms a step")
    return runs


def _first_order(rate, adam, epochs):
    """SGD and Adam at their rates."""
    return {f"{name}, rate {rate:g}": (method, {"learning_rate": rate}, BATCH, epochs)
            for name, method, rate in (("SGD", so.SGD, rate), ("Adam", so.Adam, adam))}


def check_derivatives(network, loss, x, y, l2, rng):
    """The checker's report on each exact derivative of a small smooth network, by name.

    Each is compared with differences of the function that it is the derivative of. Gauss-Newton is
    the Hessian where the outputs are replaced by their tangents.
    """
    model, theta, check = (network, loss, x, y), network.theta, so.verify.derivative
    value, slope = objective(*model, l2), gradient_of_objective(*model, l2)
    outputs, v = outputs_of(network, x), np.random.default_rng(rng).standard_normal(network.size)
    gradient, jacobian = so.exact.gradient(*model, l2=l2), so.exact.jacobian(network, x)
    p, J = network(x), complex_step(outputs, theta)
    target = loss.prepare_target(y, p.shape, p.dtype)

    def slope_of_tangents(at):
        moved = loss.gradient(p + J @ (at - theta), target)
        return np.einsum("scp,sc->p", J, moved) / len(x) + l2 * at

    hessians = {f"Hessian by {method}, from the gradient": check(
        slope, so.exact.hessian(*model, method=method, l2=l2), theta)
        for method in ("blocks", "products")}
    return {
        "gradient, from the loss": check(value, gradient, theta),
        "Jacobian, from the outputs": check(outputs, jacobian, theta), **hessians,
        "Hessian-vector product, from the gradient along v":
            check(lambda t: slope(theta + t * v),
                  so.exact.hessian_vector_product(*model, v, l2=l2), 0.0),
        "v'Hv by forward passes only, from the slope along v":
            check(lambda t: slope(theta + t * v) @ v, so.exact.two_jet(*model, v, l2=l2)[2], 0.0),
        "Gauss-Newton matrix, from the outputs' tangents":
            check(slope_of_tangents, so.exact.gauss_newton(*model, l2=l2), theta)}


def derivatives(training, validation, seed, say):
    """Exact Hessian of a small net as a picture, and the checker's word on every derivative."""
    network, loss = _small_network(training, seed), so.SoftmaxCrossEntropy()
    x, y = _pooled(training), training.targets
    hessian = so.exact.hessian(network, loss, x, y)
    eigenvalues = np.linalg.eigvalsh(hessian)
    zero = np.abs(eigenvalues).max() * 1e-12
    figure, left, right = _panels(13, 5.4)
    plots.hessian_heat_map(hessian, network, left,
                           f"exact Hessian of a 16-6-10 network, {network.size} x {network.size}")
    plots.spectrum(eigenvalues, right, zero=zero, title="its eigenvalues")
    say(f"16-6-10 network on digits at 4 x 4 pixels: {network.size} parameters, loss "
        f"{network.evaluate(loss, x, y).loss:.3f} after 8 truncated Newton steps")
    say(f"exact Hessian: eigenvalues {eigenvalues[0]:.2e} to {eigenvalues[-1]:.2e}, "
        f"{np.sum(eigenvalues < -zero)} negative, {np.sum(np.abs(eigenvalues) <= zero)} zero")
    reports = check_derivatives(network, loss, x[:40], y[:40], 1e-3, seed)
    for name, report in reports.items():
        say(f"  {name:<54} {'ok' if report else report}")
    return figure, {"ok": all(reports.values()), "eigenvalues": eigenvalues,
                    "checks": {name: bool(report) for name, report in reports.items()}}


def with_work(records):
    """Records with ``work`` added, in gradients over the training set.

    A gradient is three matrix products a layer, a Hessian-vector product six and a forward pass
    one. Truncated Newton adds its conjugate gradient iterations, one product for the predicted
    decrease, and a forward pass for every trial of its step length.
    """
    work, before, result = 0.0, 0, []
    for record in records:
        products = record["cg_iterations"] + 1 if "cg_iterations" in record else 0
        trials = record["halvings"] + 1 if "halvings" in record else 0
        work += (record["epoch"] - before) * (1 + 2 * products + trials / 3)
        before = record["epoch"]
        result.append(dict(record) | {"work": work})
    return result


def classifier(training, validation, seed, say):
    """Digits with SGD, Adam and truncated Newton on exact Hessian-vector products."""
    methods = _first_order(0.1, 0.003, 10 * EPOCHS) | {
        "truncated Newton": (so.TruncatedNewton, {}, len(training), EPOCHS)}
    say(f"64-32-10 tanh classifier, {len(training)} digits; truncated Newton sees all of them in "
        f"every step, the others batches of {BATCH}.\nA step of truncated Newton costs about ten "
        "gradients, so the others train ten times as long.")
    runs = _trained(methods, lambda: so.mlp([64, 32, 10], activation="tanh", rng=seed),
                    so.SoftmaxCrossEntropy(), (training.inputs, training.targets),
                    (validation.inputs, validation.targets), seed, say, l2=1e-3)
    runs = {name: with_work(records) for name, records in runs.items()}
    say("  work, in gradients over the whole training set: "
        + ", ".join(f"{name} {records[-1]['work']:.0f}" for name, records in runs.items()))
    figure, left, right = _panels(13, 5, sharey=True)
    start = {name: [record for record in records if record["epoch"] <= EPOCHS]
             for name, records in runs.items()}
    plots.learning_curves(start, left, x_label="epochs (passes over the training set)",
                          y_label="cross-entropy", title=f"the first {EPOCHS} epochs",
                          show_legend=False)
    plots.learning_curves(runs, right, x="work", y_label="", title="the same runs by work",
                          x_label="work: full gradients, a Hessian-vector product counted as two")
    return figure, {"runs": runs}


def residual_partitioning(training, validation, seed, say):
    """The classifier of Deep Residual Partitioning, at 64 inputs."""
    widths = [64, 400, 100, 36, 10]
    title = f"classifier {'-'.join(map(str, widths))}, softplus"
    say(f"{title}; cross-entropy; l2 {L2}")
    runs = _trained(
        {"residual partitioning, rate 100": (so.ResidualPartitioning,
                                             {"learning_rate": 100.0, "output": "jensen"}, BATCH,
                                             CLASSIFIER_EPOCHS),
         **_first_order(0.1, 0.001, CLASSIFIER_EPOCHS)},
        lambda: so.mlp(widths, activation="softplus", rng=seed, dtype="float32"),
        so.SoftmaxCrossEntropy(), (training.inputs, training.targets),
        (validation.inputs, validation.targets), seed, say, l2=L2)
    figure = Figure(figsize=(9, 5), layout="constrained")
    plots.learning_curves(runs, figure.subplots(), y_label="cross-entropy", title=title)
    return figure, {"runs": runs}


def bound(training, validation, seed, say):
    """The diagonal bound beside the Hessian that it bounds."""
    network, loss = _small_network(training, seed), so.SoftmaxCrossEntropy()
    x, y = _pooled(training)[:200], training.targets[:200]
    curvature = so.residual_partitioning.bound(network, loss, x, y, output="pairwise").curvature
    hessian = so.residual_partitioning.bounded_hessian(network, loss, x, y)
    smallest, largest = np.linalg.eigvalsh(np.diag(curvature) - hessian)[0], curvature.max()
    figure = Figure(figsize=(13.5, 4.4), layout="constrained")
    plots.bound_beside_hessian(hessian, curvature, network, figure)
    ok = bool(smallest >= NOT_BELOW * largest)
    diagonal = np.abs(np.diag(hessian))
    loose = float(np.median((curvature / diagonal)[diagonal > 0]))
    say("bound minus the Hessian it bounds (without the products that Eq. (4) drops), 16-6-10 "
        f"network:\n  smallest eigenvalue {smallest:.2e}, largest curvature {largest:.2e}: "
        f"{'ok, a bound for every step' if ok else 'FAILED'}\n  half of its entries are more than "
        f"{loose:.0f} times as large as the Hessian's own on the diagonal")
    return figure, {"ok": ok, "smallest_eigenvalue": smallest, "largest_curvature": largest,
                    "median_ratio": loose}


def cubic_regularization(training, validation, seed, say):
    """SGD on a plateau, alone and with the step length of a cubic model."""
    say(f"64-12x128-10 ReLU classifier, weights within +-0.1, batches of {plateau.BATCH}, "
        f"{PLATEAU_ITERATIONS} iterations")
    figure, runs = Figure(figsize=(8, 7), layout="constrained"), {}
    above, below = figure.subplots(2, 1, sharex=True)
    for label, curvature in (("SGD", "none"), (f"SGD, cubic steps, sigma {SIGMA:g}", "exact")):
        run = plateau.train(seed, "digits", "sgd", plateau.RATES["sgd"], curvature, SIGMA,
                            watched=500, iterations=PLATEAU_ITERATIONS, **DEEP)
        left, rate = plateau.first_below(run, plateau.EXIT, never=None), plateau.start_rate(run)
        runs[label] = {"exit": left, "rate_on_plateau": rate, "loss": run["loss"],
                       "rate": run["rate"]}
        gone = "never" if left is None else f"first at iteration {left}"
        say(f"  {label}: loss below {plateau.EXIT:g} {gone}; rate at the start {rate:.3g}, "
            f"loss {run['loss'][-1]:.3f}")
        above.plot(plateau.EVERY * np.arange(len(run["loss"])), run["loss"], label=label)
        below.semilogy(run["rate"], ".", markersize=2)
    above.axhline(plateau.EXIT, color="black", linewidth=0.6)
    above.set(title="a deep network that starts on a plateau", ylabel="cross-entropy")
    above.legend(fontsize=8)
    below.set(title="the rate of every step", xlabel="iteration", ylabel="rate")
    return figure, {"runs": runs}


def reversible_gauss_newton(training, validation, seed, say):
    """Gauss-Newton through both inverses, Adam and SGD: like losses, different accuracies."""
    x, y = training.inputs[:REVERSIBLE], training.targets[:REVERSIBLE]
    say(f"reversible network, two blocks with a bottleneck of {BOTTLENECK}, {len(x)} digits in one "
        "batch.\nA Gauss-Newton step moves the outputs alike with each inverse of the Jacobian.")
    exact = {"learning_rate": 1.0, "pseudo_inverse": "exact", "measure": False}
    methods = {"right inverse (the paper's)": (so.GaussNewton, exact),
               "Moore-Penrose inverse": (so.GaussNewton, exact | {"inverse": "moore-penrose"}),
               "Adam, rate 0.003": (so.Adam, {"learning_rate": 0.003}),
               "SGD, rate 1": (so.SGD, {"learning_rate": 1.0})}
    runs = _trained(
        {name: (*method, len(x), 20) for name, method in methods.items()},
        lambda: so.reversible_gauss_newton.RevMLP(64, 2, BOTTLENECK, outputs=10, rng=seed),
        so.SoftmaxCrossEntropy(), (x, y), (validation.inputs, validation.targets), seed, say)
    figure, left, right = _panels(13, 5)
    training_only = {name: [{"epoch": r["epoch"], "train_loss": r["train_loss"]} for r in records]
                     for name, records in runs.items()}
    plots.learning_curves(training_only, left, x_label="steps", y_label="cross-entropy",
                          title="training loss", show_legend=False)
    plots.learning_curves(runs, right, quantity="accuracy", x_label="steps", y_label="accuracy",
                          title="accuracy: training (solid), validation (dashed)")
    return figure, {"runs": runs}


def curvature_errors(training, validation, seed, say):
    """Fisher, Gauss-Newton and PCH against the true Hessian, layer by layer, every few steps while
    digits are trained by EA-CG with PCH-1.
    """
    network, loss = so.mlp(SIGMOIDS, "sigmoid", init="xavier", rng=seed), so.SoftmaxCrossEntropy()
    optimizer = so.EACG(network, loss, learning_rate=0.1, alpha=0.02, curvature="pch-1")
    rng, errors = np.random.default_rng([seed, 1]), {}
    batches = [rows for _ in range(CURVATURE_EPOCHS)
               for rows in np.array_split(rng.permutation(len(training)), len(training) // BATCH)]
    steps = np.arange(0, len(batches), 7)
    for step, rows in enumerate(batches):
        x, y = training.inputs[rows], training.targets[rows]
        if step in steps:
            for name, values in errors_at(network, loss, x, y, "cross-entropy").items():
                errors.setdefault(name, []).append(values)
        optimizer.step(x, y)
    totals = {name: so.eacg.total_error(np.array(values)) for name, values in errors.items()}
    norm = totals.pop("norm")  # of the exact blocks
    means = {name: np.mean(errors[name], axis=0) for name in totals}
    say(f"{'-'.join(map(str, SIGMOIDS))} sigmoid classifier trained by EA-CG with PCH-1; distance "
        f"from the exact mean Hessian,\nabsolute eigenvalues, mean over {steps[-1]} steps (Tables "
        "2-5):")
    for name, values in means.items():
        by_layer = "  ".join(f"{value:.4f}" for value in values)
        say(f"  {name:<14} layers {by_layer}   total {so.eacg.total_error(values):.4f}")
    figure, left, right = _panels(13, 5)
    plots.lines({name: (steps, values) for name, values in totals.items()}, left,
                {"norm of the true Hessian": (steps, norm)}, "y", "step", "error, all layers",
                title="error of the curvature while training")
    plots.errors_by_layer(means, right, "layer by layer", y_label="error, mean over the run")
    return figure, {"errors": means}


SECTIONS = (
    Section("derivatives", "every derivative of a small network, checked another way", derivatives,
            "exact-hessian.png", """\
so.verify.derivative at work, the checker for derivatives of your own. It predicts the error of
its differences. A wrong sign in one layer fails several rows, and the checker says which entries
are wrong and by which factor.
"""),
    Section("classifier", "digits with first- and second-order methods", classifier,
            "learning-curves.png", """\
a step of truncated Newton goes far and costs much. Counted by epochs (left) it is far ahead;
counted by work (right) it is a rival. Ask of every second-order curve which of the two it counts.
"""),
    Section("residual_partitioning", "Deep Residual Partitioning: training with a diagonal bound",
            residual_partitioning, "residual-partitioning.png", """\
a method that divides the gradient by a diagonal of curvatures, at the price of a gradient. A rate
of 100 is no misprint: rate 1 is the step that its bound allows, and the next section shows how far
the bound lies above the curvature. Useful rates lie as far above 1. Tutorial 04 chooses them.
"""),
    Section("bound", "what that bound looks like", bound, "diagonal-bound.png", """\
a diagonal that is above the Hessian along every direction. It has to hold for all of them at once,
so that it is far too large along most: hence the rates above.
"""),
    Section("plateau", "cubic step lengths: leaving a plateau", cubic_regularization,
            "plateau.png", """\
a gradient so small that SGD stands still. A cubic model of the loss chooses the length of every
step anew, and begins with hundreds of times the rate. Tutorial 15 asks what it is that leaves.
"""),
    Section("reversible_gauss_newton", "exact Gauss-Newton in a reversible network: which inverse?",
            reversible_gauss_newton, "reversible-gauss-newton.png", """\
two steps that do the same to the outputs of the batch, and lead to different networks: compare the
accuracies of validation. Tutorial 16 asks whether the right inverse is to blame.
"""),
    Section("curvature_errors", "EA-CG: how far curvatures are from the true Hessian",
            curvature_errors, "curvature-errors.png", """\
what each approximation drops, layer by layer: the smaller the number, the nearer. Near is not yet
good: secondorder compare says how far a step with each matrix gets.
"""))
