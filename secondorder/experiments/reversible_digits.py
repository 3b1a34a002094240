"""The laws of Gauss-Newton in reversible networks, on the embedded digits: minutes on one core.

    python -m secondorder.experiments.reversible_digits --out results --seeds 0 1 2
"""

import argparse
import time
import warnings

import numpy as np

import secondorder as so
from secondorder import files
from secondorder.experiments import environment
from secondorder.papers.reversible_gauss_newton import RankWarning, RevMLP

CROSS_ENTROPY, SQUARED = so.SoftmaxCrossEntropy(), so.SquaredError()
STEPS = (1, 5, 10, 20, 100)
EQUAL = 0.05  # training loss after 20 steps of Gauss-Newton at rate 1


def data(seed):
    """Digits, standardised by their global mean and deviation: training (1437) and test (360)
    images and labels.
    """
    digits = so.datasets.load_digits()
    x = (digits.inputs - digits.inputs.mean()) / digits.inputs.std()
    order = np.random.default_rng([seed, 1]).permutation(len(x))
    train, test = order[:1437], order[1437:]
    return (x[train], digits.targets[train]), (x[test], digits.targets[test])


def network(seed, bottleneck=600, **options):
    """Two blocks on 64 inputs, ReLU, with a fixed orthonormal readout of ten classes."""
    return RevMLP(64, 2, bottleneck, outputs=10, rng=seed, **options)


def accuracy(net, x, labels):
    """Fraction of right classes."""
    return float((net(x).argmax(axis=1) == labels).mean())


def loss_of(net, x, labels):
    """Mean cross-entropy."""
    return net.evaluate(CROSS_ENTROPY, x, labels).loss


def descent_on_logits(logits, labels, rate, steps):
    """Losses of gradient descent on the logits themselves: what full-batch Gauss-Newton follows, up
    to O(rate).
    """
    f, y, losses = logits.copy(), np.eye(logits.shape[1])[labels], []
    for _ in range(steps):
        losses.append(float(CROSS_ENTROPY.value(f, y).mean()))
        f -= rate * CROSS_ENTROPY.gradient(f, y)
    return losses + [float(CROSS_ENTROPY.value(f, y).mean())]


def logit_law(seed, samples=512, steps=100):
    """Losses after 1, 5, ..., 100 full-batch steps at rate 1, of Gauss-Newton and of descent on
    logits; test accuracies.
    """
    (x, labels), test = data(seed)
    x, labels, net = x[:samples], labels[:samples], network(seed)
    pure = descent_on_logits(net(x), labels, 1.0, steps)
    found = {"logits": [pure[k] for k in STEPS]}
    for name, options in (("exact", {}), ("truncated", {"pseudo_inverse": "truncate"})):
        at = net.copy()
        optimizer = so.GaussNewton(at, CROSS_ENTROPY, 1.0, measure=False, **options)
        losses = [optimizer.step(x, labels)["loss"] for _ in range(steps)] + [loss_of(at, x,
                                                                                      labels)]
        found[name] = [losses[k] for k in STEPS]
        found[f"{name} test accuracy"] = accuracy(at, *test)
        found[f"{name} rank"] = optimizer.details["ranks"]
    return found


def square_loss(seed, samples=512, steps=6):
    """Mean half squared errors at rates 1 (quadratic convergence) and 0.5 (a factor of 4 a step).
    """
    (x, labels), _ = data(seed)
    x, y, found = x[:samples], np.eye(10)[labels[:samples]], {}
    for rate in (1.0, 0.5):
        optimizer = so.GaussNewton(network(seed, 1200), SQUARED, rate, measure=False)
        found[f"rate {rate:g}"] = [optimizer.step(x, y)["loss"] for _ in range(steps + 1)]
    return found


NOISY = {"exact, rate 1": (so.GaussNewton, {"learning_rate": 1.0, "measure": False}),
         "exact, rate 0.5": (so.GaussNewton, {"learning_rate": 0.5, "measure": False}),
         "truncated, rate 1": (so.GaussNewton, {"learning_rate": 1.0, "measure": False,
                                                "pseudo_inverse": "truncate"}),
         "moore-penrose, rate 1": (so.GaussNewton, {"learning_rate": 1.0, "measure": False,
                                                    "inverse": "moore-penrose"}),
         "Adam, 3e-3": (so.Adam, {"learning_rate": 3e-3}),
         "SGD, 0.3": (so.SGD, {"learning_rate": 0.3})}


def fresh_noise(seed, epochs=40, batch=256, marks=(5, 10, 20, 40), methods=tuple(NOISY)):
    """Mini-batches with new input noise (deviation 1) at every step: nothing can be learnt by
    heart.

    Training loss before the update, averaged over an epoch; percentage by which a step changes the
    loss of its own batch; loss and accuracy on test images with one draw of the noise.
    """
    (x, labels), (x_test, y_test) = data(seed)
    x_test = x_test + np.random.default_rng([seed, 2]).normal(size=x_test.shape)
    found = {}
    for name in methods:
        kind, options = NOISY[name]
        net, rng = network(seed), np.random.default_rng([seed, 3])
        optimizer, curve, changes = kind(net, CROSS_ENTROPY, **options), [], []
        for _ in range(epochs):
            order, losses = rng.permutation(len(x)), []
            for start in range(0, len(x) - batch + 1, batch):
                part = order[start:start + batch]
                noisy = x[part] + rng.normal(size=(batch, x.shape[1]))
                losses.append(optimizer.step(noisy, labels[part])["loss"])
                changes.append(100 * (loss_of(net, noisy, labels[part]) / losses[-1] - 1))
            curve.append(float(np.mean(losses)))
        found[name] = {"training": [curve[k - 1] for k in marks],
                       "change": float(np.mean(changes)),
                       "first epoch change": float(np.mean(changes[: len(x) // batch])),
                       "test loss": loss_of(net, x_test, y_test),
                       "test accuracy": accuracy(net, x_test, y_test)}
    return found


def two_inverses(seed, samples=96, steps=20, widths=(120, 400)):
    """Right inverse and Moore-Penrose inverse from the same start: training loss, test accuracy,
    distance travelled.
    """
    (x, labels), test = data(seed)
    x, labels, found = x[:samples], labels[:samples], {}
    methods = {
        "right": (so.GaussNewton, {"measure": False}, steps),
        "right, shortest": (so.GaussNewton, {"measure": False, "block_weights": "shortest"}, steps),
        "right, truncated": (so.GaussNewton,
                             {"measure": False, "pseudo_inverse": "truncate"}, steps),
        "moore-penrose": (so.GaussNewton, {"measure": False, "inverse": "moore-penrose"}, steps),
        "Adam, 3e-3": (so.Adam, {"learning_rate": 3e-3}, 3 * steps),
        # as far as 20 steps of Gauss-Newton come
        "Adam, 3e-3, equal loss": (so.Adam, {"learning_rate": 3e-3}, None)}
    for width in widths:
        for name, (kind, options, count) in methods.items():
            net = network(seed, width)
            start, optimizer = net.theta.copy(), kind(net, CROSS_ENTROPY, **options)
            if count is None:
                while optimizer.step(x, labels)["loss"] > EQUAL:
                    pass
            for _ in range(count or 0):
                optimizer.step(x, labels)
            found[f"{width}, {name}"] = {"training": loss_of(net, x, labels),
                                         "test accuracy": accuracy(net, *test),
                                         "travelled": float(np.linalg.norm(net.theta - start))}
    return found


EXPERIMENTS = {"logit-law": logit_law,
               "square-loss": square_loss,
               "fresh-noise": fresh_noise,
               "two-inverses": two_inverses}


def main(arguments=None):
    """Run the experiments over seeds and write ``reversible-digits.json``."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=tuple(EXPERIMENTS), default=tuple(EXPERIMENTS))
    options = parser.parse_args(arguments)
    out, results = files.output_directory(options.out), {"environment": environment()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        for name in options.only:
            started = time.perf_counter()
            results[name] = {str(seed): EXPERIMENTS[name](seed) for seed in options.seeds}
            print(name, f"({time.perf_counter() - started:.0f} s)", files.to_json(results[name]),
                  flush=True)
    files.write_json(out / "reversible-digits.json", results)


if __name__ == "__main__":
    main()
