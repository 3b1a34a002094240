"""The sections of the tour: real digits, exact curvature, every derivative checked, and what the
papers' methods do, in under a minute.

Each takes the folder for its figures, training and validation digits, the seed and where to say
what it finds; it returns its name and plain results.
"""

import numpy as np
from matplotlib.figure import Figure

import secondorder as so
from secondorder import files, plots

from secondorder.papers.eacg.figures.error_tables import errors_at
from secondorder.papers.low_rank.figures import plateau

from . import rates
from .derivative_checks import check_derivatives, table
from .trainings import Method, compare, with_work

BATCH = 100
EPOCHS = 20  # of truncated Newton
AUTOENCODER_EPOCHS, CLASSIFIER_EPOCHS = 100, 40
LOOK = 2  # epochs between two looks at the whole sets, which cost a third of an epoch
CURVATURE_EPOCHS = 10
PLATEAU_ITERATIONS, SIGMA = 400, 10.0  # sigma 100, as in the paper, takes twice as long to leave
DEEP = {"layers": 12, "width": 128, "half_width": 0.1}  # the paper's network that starts there
L2 = 1e-2  # the paper's penalty, for its two networks
SIGMOIDS = (64, 32, 16, 10)
REVERSIBLE, BOTTLENECK = 96, 160  # digits in one batch; features of the reversible network
NOT_BELOW = -1e-12  # smallest eigenvalue of bound minus Hessian, relative to the largest curvature


def _pooled(data):
    """Digits at 4 x 4 pixels, (N, 16), means of 2 x 2: a whole Hessian fits on the screen."""
    return data.inputs.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)


def _small_network(training, seed):
    network = so.mlp([16, 6, 10], activation="tanh", rng=seed)
    optimizer = so.TruncatedNewton(network, so.SoftmaxCrossEntropy(), l2=1e-3)
    for _ in range(8):
        optimizer.step(_pooled(training), training.targets)
    return network


def _histories(runs):
    return {name: result["records"] for name, result in runs.items()}


def _panels(width, height, **options):
    """A new figure, and two panels side by side."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, *figure.subplots(1, 2, **options)


def _written(out, name, figure, shows):
    """Write a figure; what tour.json says of it."""
    files.write_figure(out / name, figure)
    return [{"file": name, "shows": shows}]


def _first_order(rate, adam, epochs):
    """SGD and Adam at their rates."""
    return {f"{name}, rate {rate:g}": Method(method, {"learning_rate": rate}, BATCH, epochs, LOOK)
            for name, method, rate in (("SGD", so.SGD, rate), ("Adam", so.Adam, adam))}


def derivatives(out, training, validation, seed, say):
    """Exact Hessian of a small net as a picture, and the table of checked derivatives."""
    network, loss = _small_network(training, seed), so.SoftmaxCrossEntropy()
    x, y = _pooled(training), training.targets
    hessian = so.exact.hessian(network, loss, x, y)
    eigenvalues = np.linalg.eigvalsh(hessian)
    zero = np.abs(eigenvalues).max() * 1e-12
    figure, left, right = _panels(13, 5.4)
    plots.hessian_heat_map(hessian, network, left,
                           f"exact Hessian of a 16-6-10 network, {network.size} x {network.size}")
    plots.spectrum(eigenvalues, right, zero=zero, title="its eigenvalues")
    checks = check_derivatives(network, loss, x[:40], y[:40], l2=1e-3, rng=seed)
    say(f"16-6-10 network on digits at 4 x 4 pixels: {network.size} parameters, loss "
        f"{network.evaluate(loss, x, y).loss:.3f} after 8 truncated Newton steps")
    say(f"exact Hessian: eigenvalues {eigenvalues[0]:.2e} to {eigenvalues[-1]:.2e}, "
        f"{np.sum(eigenvalues < -zero)} negative, {np.sum(np.abs(eigenvalues) <= zero)} zero")
    say(table(checks))
    return "derivatives", {
        "ok": all(check.ok for check in checks),
        "checks": [check.to_dict() for check in checks],
        "eigenvalues": eigenvalues,
        "settings": {"network": [16, 6, 10], "activation": "tanh", "l2": 1e-3, "samples": 40},
        "figures": _written(out, "exact-hessian.png", figure, "exact Hessian of a small network, "
                            "block by block, and its spectrum")}


def classifier(out, training, validation, seed, say):
    """Digits with SGD, Adam and truncated Newton on exact Hessian-vector products."""
    methods = _first_order(0.1, 0.003, 10 * EPOCHS) | {
        "truncated Newton": Method(so.TruncatedNewton, {}, len(training), EPOCHS)}
    say(f"64-32-10 tanh classifier, {len(training)} digits; truncated Newton sees all of them in "
        f"every step, the others batches of {BATCH}.\nA step of truncated Newton costs about ten "
        "gradients, so the others train ten times as long.")
    runs = compare(methods, lambda: so.mlp([64, 32, 10], activation="tanh", rng=seed),
                   so.SoftmaxCrossEntropy(), (training.inputs, training.targets),
                   (validation.inputs, validation.targets), l2=1e-3, seed=seed, say=say)
    figure, left, right = _panels(13, 5, sharey=True)
    for result in runs.values():
        result["records"] = with_work(result["records"])
    histories = _histories(runs)
    say("  work, in gradients over the whole training set: "
        + ", ".join(f"{name} {records[-1]['work']:.0f}" for name, records in histories.items()))
    start = {name: [record for record in records if record["epoch"] <= EPOCHS]
             for name, records in histories.items()}
    plots.learning_curves(start, left, x_label="epochs (passes over the training set)",
                          y_label="cross-entropy", title=f"the first {EPOCHS} epochs",
                          show_legend=False)
    plots.learning_curves(histories, right, x="work", y_label="", title="the same runs by work",
                          x_label="work: full gradients, a Hessian-vector product counted as two")
    return "classifier", {
        "runs": runs,
        "settings": {"network": [64, 32, 10], "activation": "tanh", "l2": 1e-3, "dtype": "float64"},
        "figures": _written(out, "learning-curves.png", figure, "SGD, Adam and truncated Newton on "
                            "digits, by epochs and by work")}


def residual_partitioning(out, training, validation, seed, say):
    """The autoencoder and the classifier of Deep Residual Partitioning, at 64 inputs."""
    figure, left, right = _panels(17, 5)
    sizes, loss = [64, 64, 2, 64, 64], so.SquaredError()
    say(f"autoencoder {'-'.join(map(str, sizes))}, tanh; half squared error summed over pixels; l2 "
        f"{L2}")
    autoencoder = compare(
        {"residual partitioning, rate 10": Method(so.ResidualPartitioning, {"learning_rate": 10.0},
                                                  BATCH, AUTOENCODER_EPOCHS, LOOK),
         **_first_order(0.1, 0.003, AUTOENCODER_EPOCHS)},
        lambda: so.mlp(sizes, activation="tanh", output="tanh", rng=seed, dtype="float32"), loss,
        (training.inputs, training.inputs), (validation.inputs, validation.inputs), l2=L2,
        seed=seed, say=say)
    plots.learning_curves(_histories(autoencoder), left, y_label="half squared error")
    left.set_title("autoencoder " + "-".join(map(str, sizes)) + ", tanh")
    widths = [64, 400, 100, 36, 10]
    say(f"classifier {'-'.join(map(str, widths))}, softplus; cross-entropy; l2 {L2}")
    classes = compare(
        {"residual partitioning, rate 100": Method(so.ResidualPartitioning,
                                                   {"learning_rate": 100.0, "output": "jensen"},
                                                   BATCH, CLASSIFIER_EPOCHS, LOOK),
         **_first_order(0.1, 0.001, CLASSIFIER_EPOCHS)},
        lambda: so.mlp(widths, activation="softplus", rng=seed, dtype="float32"),
        so.SoftmaxCrossEntropy(), (training.inputs, training.targets),
        (validation.inputs, validation.targets), l2=L2, seed=seed, say=say)
    plots.learning_curves(_histories(classes), right, y_label="cross-entropy")
    right.set_title("classifier " + "-".join(map(str, widths)) + ", softplus")
    return "residual_partitioning", {
        "autoencoder": autoencoder,
        "classifier": classes,
        "settings": {"autoencoder": sizes, "classifier": widths, "l2": L2, "batch": BATCH,
                     "dtype": "float32"},
        "figures": _written(out, "residual-partitioning.png", figure, "residual partitioning "
                            "beside SGD and Adam on the paper's two networks")}


def bound(out, training, validation, seed, say):
    """The diagonal bound beside the Hessian that it bounds."""
    network, loss = _small_network(training, seed), so.SoftmaxCrossEntropy()
    x, y = _pooled(training)[:200], training.targets[:200]
    diagonal = so.residual_partitioning.bound(network, loss, x, y, output="pairwise")
    hessian = so.residual_partitioning.bounded_hessian(network, loss, x, y)
    smallest = np.linalg.eigvalsh(np.diag(diagonal.curvature) - hessian)[0]
    largest = diagonal.curvature.max()
    figure = Figure(figsize=(13.5, 4.4), layout="constrained")
    plots.bound_beside_hessian(hessian, diagonal.curvature, network, figure)
    ok = bool(smallest >= NOT_BELOW * largest)
    diagonal_of = np.abs(np.diag(hessian))
    loose = float(np.median((diagonal.curvature / diagonal_of)[diagonal_of > 0]))
    say("bound minus the Hessian it bounds (without the products that Eq. (4) drops), 16-6-10 "
        f"network:\n  smallest eigenvalue {smallest:.2e}, largest curvature {largest:.2e}: "
        f"{'ok, a bound for every step' if ok else 'FAILED'}\n  half of its entries are more than "
        f"{loose:.0f} times as large as the Hessian's own on the diagonal")
    return "bound", {"ok": ok,
                     "smallest_eigenvalue": smallest,
                     "largest_curvature": largest,
                     "median_ratio": loose,
                     "settings": {"output": "pairwise", "samples": 200},
                     "figures": _written(out, "diagonal-bound.png", figure, "the diagonal bound "
                                         "beside the Hessian that it bounds")}


def reversible_gauss_newton(out, training, validation, seed, say):
    """Gauss-Newton through both inverses, Adam and SGD: like losses, different accuracies."""
    x, y = training.inputs[:REVERSIBLE], training.targets[:REVERSIBLE]
    say(f"reversible network, two blocks with a bottleneck of {BOTTLENECK}, {len(x)} digits in one "
        "batch.\nA Gauss-Newton step moves the outputs alike with each inverse of the Jacobian.")
    exact = {"learning_rate": 1.0, "pseudo_inverse": "exact", "measure": False}
    methods = {"right inverse (the paper's)": Method(so.GaussNewton, exact, len(x), 20),
               "Moore-Penrose inverse": Method(so.GaussNewton, exact | {"inverse": "moore-penrose"},
                                               len(x), 20),
               "Adam, rate 0.003": Method(so.Adam, {"learning_rate": 0.003}, len(x), 20),
               "SGD, rate 1": Method(so.SGD, {"learning_rate": 1.0}, len(x), 20)}
    runs = compare(
        methods, lambda: so.reversible_gauss_newton.RevMLP(64, 2, BOTTLENECK, outputs=10, rng=seed),
        so.SoftmaxCrossEntropy(), (x, y), (validation.inputs, validation.targets), l2=0.0,
        seed=seed, say=say)
    figure, left, right = _panels(13, 5)
    training_only = {name: [{"epoch": r["epoch"], "train_loss": r["train_loss"]}
                            for r in records] for name, records in _histories(runs).items()}
    plots.learning_curves(training_only, left, x_label="steps", y_label="cross-entropy",
                          title="training loss", show_legend=False)
    plots.learning_curves(_histories(runs), right, quantity="accuracy", x_label="steps",
                          y_label="accuracy",
                          title="accuracy: training (solid), validation (dashed)")
    return "reversible_gauss_newton", {
        "runs": runs,
        "settings": {"blocks": 2, "bottleneck": BOTTLENECK, "samples": len(x),
                     "readout": "orthonormal"},
        "figures": _written(out, "reversible-gauss-newton.png", figure, "Gauss-Newton through both "
                            "inverses beside Adam and SGD: loss and accuracy")}


def _errors_while_training(training, seed):
    """Curvature -> errors by step and layer, every few steps of EA-CG with PCH-1, and the steps;
    under ``"norm"`` the norms of the exact blocks.
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
    return {name: np.array(values) for name, values in errors.items()}, steps


def curvature_errors(out, training, validation, seed, say):
    """Fisher, Gauss-Newton and PCH against the true Hessian, layer by layer, while digits train."""
    sizes = SIGMOIDS
    errors, steps = _errors_while_training(training, seed)
    totals = {name: so.eacg.total_error(values) for name, values in errors.items()}
    norm = totals.pop("norm")
    means = {name: errors[name].mean(axis=0) for name in totals}
    say(f"{'-'.join(map(str, sizes))} sigmoid classifier trained by EA-CG with PCH-1; distance "
        f"from the exact mean Hessian,\nabsolute eigenvalues, mean over {steps[-1]} steps (Tables "
        "2-5):")
    for name, values in means.items():
        by_layer = "  ".join(f"{value:.4f}" for value in values)
        say(f"  {name:<14} layers {by_layer}   total {so.eacg.total_error(values):.4f}")
    figure, left, right = _panels(13, 5)
    plots.errors_over_steps(steps, totals, left, norm, "error of the curvature while training")
    plots.errors_by_layer(means, right, "layer by layer", y_label="error, mean over the run")
    return "curvature_errors", {
        "errors": means,
        "totals": {name: float(so.eacg.total_error(values)) for name, values in means.items()},
        "settings": {"network": sizes, "activation": "sigmoid", "batch": BATCH,
                     "epochs": CURVATURE_EPOCHS},
        "figures": _written(out, "curvature-errors.png", figure, "Fisher, Gauss-Newton and PCH "
                            "against the true Hessian, by layer")}


def cubic_regularization(out, training, validation, seed, say):
    """SGD on a plateau, alone and with the step length of a cubic model."""
    say(f"64-12x128-10 ReLU classifier, weights within +-0.1, batches of {plateau.BATCH}, "
        f"{PLATEAU_ITERATIONS} iterations")
    figure = Figure(figsize=(8, 7), layout="constrained")
    axes, runs = figure.subplots(2, 1, sharex=True), {}
    for label, curvature in (("SGD", "none"), (f"SGD, cubic steps, sigma {SIGMA:g}", "exact")):
        run = plateau.train(seed, "digits", "sgd", plateau.RATES["sgd"], curvature, SIGMA,
                            watched=500, iterations=PLATEAU_ITERATIONS, **DEEP)
        rates.draw(run, label, *axes)
        left, rate = rates.leaving(run), plateau.start_rate(run)
        runs[label] = {"exit": left, "rate_on_plateau": rate, "loss": run["loss"],
                       "rate": run["rate"]}
        gone = "never" if left is None else f"first at iteration {left}"
        say(f"  {label}: loss below {plateau.EXIT:g} {gone}; rate at the start {rate:.3g}, "
            f"loss {run['loss'][-1]:.3f}")
    rates.finish(*axes)
    axes[0].set_title("a deep network that starts on a plateau")
    return "plateau", {
        "runs": runs,
        "settings": {**DEEP, "batch": plateau.BATCH, "dtype": "float32"},
        "figures": _written(out, "plateau.png", figure, "SGD on a plateau, alone and with the step "
                            "length of a cubic model")}


#: Title, section, and what its reader saw.
SECTIONS = (
    ("every derivative of a small network, checked another way", derivatives, """\
each derivative beside a second way to it. A difference quotient is measured by the error that it
must have; two exact routes differ by rounding alone. A wrong sign in one layer fails several rows.
"""),
    ("digits with first- and second-order methods", classifier, """\
a step of truncated Newton goes far and costs much. Counted by epochs (left) it is far ahead;
counted by work (right) it is a rival. Ask of every second-order curve which of the two it counts.
"""),
    ("Deep Residual Partitioning: training with a diagonal bound", residual_partitioning, """\
a method that divides the gradient by a diagonal of curvatures, at the price of a gradient. A rate
of 100 is no misprint: rate 1 is the step that its bound allows, and the next section shows how far
the bound lies above the curvature. Useful rates lie as far above 1. Tutorial 04 chooses them.
"""),
    ("what that bound looks like", bound, """\
a diagonal that is above the Hessian along every direction. It has to hold for all of them at once,
so that it is far too large along most: hence the rates above.
"""),
    ("cubic step lengths: leaving a plateau", cubic_regularization, """\
a gradient so small that SGD stands still. A cubic model of the loss chooses the length of every
step anew, and begins with hundreds of times the rate. Tutorial 15 asks what it is that leaves.
"""),
    ("exact Gauss-Newton in a reversible network: which inverse?", reversible_gauss_newton, """\
two steps that do the same to the outputs of the batch, and lead to different networks: compare the
accuracies of validation. Tutorial 16 asks whether the right inverse is to blame.
"""),
    ("EA-CG: how far curvatures are from the true Hessian", curvature_errors, """\
what each approximation drops, layer by layer: the smaller the number, the nearer. Near is not yet
good: secondorder compare says how far a step with each matrix gets.
"""))
