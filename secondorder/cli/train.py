"""`secondorder train`: one network, one data set, one optimizer."""

import inspect
import sys
import time

from secondorder import files
from secondorder.checks import lookup
from secondorder.papers import rooms

from .parsing import (add_table_options, force_option, fraction_below_one, natural,
                      non_negative_number, not_empty, positive, positive_number, positive_or_all,
                      setting, table_options, tell_written)

EXAMPLES = """\
  secondorder train                                          digits, 64-32-10, Adam
  secondorder train --data wine --hidden 16 8 --optimizer truncated-newton --batch-size all
  secondorder train --data diabetes --activation softplus --epochs 50 --out run
  secondorder train --autoencoder --hidden 64 2 64 --output tanh --l2 0.01 \\
      --optimizer residual-partitioning --set cross=True --learning-rate 10
  secondorder train --optimizer cubic-regularization --base momentum --set sigma=10
  secondorder train --activation sigmoid --optimizer ea-cg --set solver=ea-closed \\
      --set curvature=pch-2
  secondorder train --reversible 2 --hidden 600 --activation relu --optimizer gauss-newton \\
      --batch-size 256
  secondorder train --optimizer gauss-newton --set inverse=moore-penrose --learning-rate 0.5
  secondorder train --data csv:wine.csv --target cultivar --classify --checkpoint run.npz --resume
  secondorder train --data idx:mnist-subset --hidden 100   your files; see secondorder data --help

Inputs are scaled to [-1, 1] where the format sets their range. Other inputs, and the targets of a
regression, are standardised by the training part.

--out writes history.json, parameters.npz and learning-curves.png. It also writes what was recorded
before a signal (Ctrl-C, SIGTERM), which ends the run after the running step, or before the loss
stopped being finite. Files that are there already are replaced with --force or --resume only.

--checkpoint FILE --resume continues a run of the same command with the same bits, whatever ended
it. The exit status is 0 only if the training loss ends at no more than twice its first value.
"""
OPTIMIZERS = {"sgd": "SGD", "momentum": "Momentum", "adagrad": "Adagrad", "adadelta": "Adadelta",
              "adam": "Adam", "truncated-newton": "TruncatedNewton",
              **{name: method for room in rooms().values()
                 for name, method in room.methods.items()}}
LOSSES = {"cross-entropy": "SoftmaxCrossEntropy", "squared-error": "SquaredError",
          "bounded": "BoundedCriterion", "tukey": "TukeyBiweight"}
#: The files of --out.
WRITTEN = ("history.json", "parameters.npz", "learning-curves.png")
#: Arguments of an optimizer that are given by something else than --set.
GIVEN = ("network", "loss", "learning_rate", "l2", "base")
DATA = "digits, wine, diabetes, idx:FOLDER, cifar-10:FOLDER, csv:FILE (default: digits)"
ACTIVATIONS = ("relu, leaky_relu, elu, gelu, silu, tanh, sigmoid, softplus, sin, identity "
               "(default: tanh)")
WITH_VALUE = {
    "--data": {"default": "digits", "metavar": "DATA", "help": DATA},
    "--hidden": {"type": positive, "nargs": "*", "default": [32],
                 "help": "widths of the hidden layers (default: 32)"},
    "--reversible": {"type": positive, "metavar": "BLOCKS",
                     "help": "a reversible network with this number of blocks; --hidden gives "
                             "its bottleneck"},
    "--activation": {"default": "tanh", "help": ACTIVATIONS},
    "--output": {"default": "identity",
                 "help": "activation after the last layer (default: identity)"},
    "--loss": {"help": f"{', '.join(LOSSES)} (default: cross-entropy for classes, else "
                       "squared-error)"},
    "--optimizer": {"default": "adam", "help": f"{', '.join(OPTIMIZERS)} (default: adam)"},
    "--set": {"type": setting, "action": "append", "default": [], "metavar": "NAME=VALUE",
              "help": "an option of the optimizer, such as rho=0.9; repeatable"},
    "--base": {"help": "the method that cubic-regularization wraps (default: sgd)"},
    "--learning-rate": {"type": positive_number,
                        "help": "learning rate (default: the optimizer's)"},
    "--epochs": {"type": positive, "default": 20, "help": "passes over the data (default: 20)"},
    "--batch-size": {"type": positive_or_all, "default": 100,
                     "help": "samples a step, or 'all' for the whole set (default: 100)"},
    "--last-batch": {"default": "merge", "choices": ("merge", "keep", "drop"),
                     "help": "what to do with a last batch that is too short (default: merge it "
                             "with the batch before)"},
    "--l2": {"type": non_negative_number, "default": 0.0,
             "help": "penalty (l2 / 2) |theta|^2 (default: 0)"},
    "--validation": {"type": fraction_below_one, "default": 0.2,
                     "help": "fraction held out; 0 trains on all data (default: 0.2)"},
    "--dtype": {"default": "float64", "choices": ("float64", "float32"),
                "help": "precision (default: float64)"},
    "--seed": {"type": natural, "default": 0,
               "help": "seed of split, weights, batches, and of what the optimizer draws "
                       "(default: 0)"},
    "--out": {"type": not_empty, "metavar": "DIR",
              "help": "write history, parameters and figure into this directory"},
    "--checkpoint": {"type": not_empty, "metavar": "FILE",
                     "help": "after every epoch, save in this file all that --resume needs"},
}


def add(commands):
    """Add the parser of this command."""
    about = "Train a fully-connected network and record every epoch."
    parser = commands.add_parser("train", help="train a network on embedded data or on your files",
                                 description=about, examples=EXAMPLES)
    for name, kind in WITH_VALUE.items():
        letter = {} if "choices" in kind or "metavar" in kind else {"metavar": "N" if "type" in kind
                                                                    else "NAME"}
        parser.add_argument(name, **letter, **kind)
    parser.add_argument("--autoencoder", action="store_true",
                        help="learn to reproduce the inputs, not the targets")
    parser.add_argument("--resume", action="store_true",
                        help="continue from the checkpoint if there is one")
    force_option(parser)
    parser.add_argument("--json", action="store_true", help="print settings and history as JSON")
    add_table_options(parser)
    parser.set_defaults(run=run)


def run(options):
    """Train, write files where asked, print the end; also of a run that was interrupted."""
    import numpy as np

    import secondorder as so
    from secondorder.files import environment

    started = time.perf_counter()
    for_split, for_weights, for_batches, for_method = np.random.default_rng(options.seed).spawn(4)
    (x, y), validation, classes = _data(options, for_split)
    loss = _loss(options, classes)
    outputs = y.shape[1] if y.ndim == 2 else classes
    network = _network(options, x.shape[1], outputs, for_weights)
    optimizer = _optimizer(options, network, loss, for_method)
    def results_of(history):
        return {"command": "train", "settings": _settings(options), "network": repr(network),
                "parameters": network.size, "environment": environment(), **history.to_dict(),
                "seconds": time.perf_counter() - started}

    def finish(history):
        """Files first: they are not to be lost to a reader that goes away."""
        results = results_of(history)
        written = _write(out, results, history, network) if out is not None else []
        _report(results, history, json=options.json)
        tell_written(written, sys.stderr if options.json else sys.stdout)

    out = files.outputs(options.out, WRITTEN, options.force or options.resume)
    try:
        history = so.train(optimizer, x, y, epochs=options.epochs, batch_size=options.batch_size,
                           last_batch=options.last_batch, validation=validation, rng=for_batches,
                           checkpoint=options.checkpoint, resume=options.resume,
                           recipe=_recipe(options))
    except BaseException as error:  # keep what was recorded; the error itself is for main
        history = getattr(error, "history", None)
        if history is not None and history.records:
            finish(history)
        raise
    finish(history)
    return _status(history)


def _status(history):
    """1 where the loss, as training warned, has risen to more than twice what it was."""
    first, last = history.records[0].train_loss, history.records[-1].train_loss
    return int(last > 2 * max(first, 0))


def _settings(options):
    settings = {name: value for name, value in vars(options).items()
                if name not in ("run", "json", "traceback", "command", "force")}
    return settings | {"set": dict(options.set)}


def _recipe(options):
    """The options that decide the numbers of a run, as they are spelled on the command line."""
    apart = ("epochs", "out", "checkpoint", "resume")
    return {f"--{name.replace('_', '-')}": [list(pair) for pair in value.items()]
            if isinstance(value, dict) else value
            for name, value in _settings(options).items() if name not in apart}


def _data(options, rng):
    """Scaled training arrays, validation arrays (None where nothing is held out), and the number
    of classes (None without classes).
    """
    from secondorder import datasets

    data = datasets.load(options.data, **table_options(options))
    classes = None if options.autoencoder else data.classes
    if data.input_range is not None:
        data = datasets.scale(data, (-1.0, 1.0))
    parts = datasets.split(data, options.validation, rng) if options.validation else (data,)
    pairs = [[part.inputs, part.targets] for part in parts]
    if data.input_range is None:
        _standardise(pairs, 0)
    if options.autoencoder:
        pairs = [[x, x] for x, _ in pairs]
    elif classes is None:
        _standardise(pairs, 1)
    training, *held_out = map(tuple, pairs)
    return training, held_out[0] if held_out else None, classes


def _standardise(pairs, place):
    from secondorder.datasets import Standardisation

    rule = Standardisation.fit(pairs[0][place])
    for pair in pairs:
        pair[place] = rule.apply(pair[place])


def _network(options, inputs, outputs, rng):
    """A fully-connected network, or a reversible one."""
    import secondorder as so

    if options.reversible is None:
        return so.mlp([inputs, *options.hidden, outputs], activation=options.activation,
                      output=options.output, rng=rng, dtype=options.dtype)
    if len(options.hidden) > 1 or options.output != "identity":
        raise ValueError("--reversible takes one number after --hidden, its bottleneck (or none), "
                         "and no --output")
    return so.reversible_gauss_newton.RevMLP(
        inputs, options.reversible, options.hidden[0] if options.hidden else None,
        activation=options.activation, outputs=outputs, bias=True, rng=rng, dtype=options.dtype)


def _loss(options, classes):
    import secondorder as so

    name = options.loss or ("squared-error" if classes is None else "cross-entropy")
    loss = getattr(so, lookup(LOSSES, name, "loss"))()
    if (classes is None) != (name in ("squared-error", "tukey")):
        task = "real targets" if classes is None else "class labels"
        raise ValueError(f"loss {name!r} does not fit a data set with {task}")
    return loss


def _optimizer(options, network, loss, rng):
    """The optimizer, around its base if it takes one; --set goes to the optimizer itself. What it
    draws comes from `rng`.
    """
    import secondorder as so

    method = getattr(so, lookup(OPTIMIZERS, options.optimizer, "optimizer"))
    parameters = inspect.signature(method).parameters
    own = {key: key for key in parameters if key not in GIVEN}
    for name, _ in options.set:
        lookup(own, name, f"option of {options.optimizer}")
    rate = {} if options.learning_rate is None else {"learning_rate": options.learning_rate}
    if "base" in parameters:
        alone = {name: value for name, value in OPTIMIZERS.items() if name != options.optimizer}
        base = getattr(so, lookup(alone, options.base or "sgd", "base"))
        _require_reversible(options, base)
        return method(base(network, loss, l2=options.l2, **rate, **_drawn(base, rng)),
                      **dict(options.set))
    if options.base is not None:
        raise ValueError(f"--base is for cubic-regularization, not for {options.optimizer}")
    _require_reversible(options, method, **dict(options.set))
    return method(network, loss, l2=options.l2, **rate, **_drawn(method, rng) | dict(options.set))


def _drawn(method, rng):
    """The argument `rng` of a method that draws."""
    return {"rng": rng} if "rng" in inspect.signature(method).parameters else {}


def _require_reversible(options, method, inverse="right", **others):
    """ValueError, in this command's words, for a right inverse of another kind of network."""
    if method.__name__ == "GaussNewton" and inverse == "right" and options.reversible is None:
        other = "" if options.base else ", or --set inverse=moore-penrose"
        raise ValueError("the right inverse of gauss-newton needs a reversible network: give "
                         f"--reversible BLOCKS{other}")


def _report(results, history, json):
    if json:
        print(files.to_json(results))
        return
    print(f"{results['parameters']} parameters, {results['method']}")
    last = len(history) - 1
    for place in sorted({*range(0, last, max(1, last // 10)), last}):
        record = history.records[place]
        accuracy = _both(record, "accuracy", lambda value: f"{value:.3f}")
        print(f"epoch {record.epoch:4}   loss {_both(record, 'loss', _brief)}"
              + (f"   accuracy {accuracy}" if accuracy else ""))
    print("(training / validation)" if "validation_loss" in history.records[0] else
          "(training; nothing is held out)")


def _both(record, quantity, shown):
    """A quantity of the training set, and of the validation set where there is one."""
    names = (f"train_{quantity}", f"validation_{quantity}")
    return " / ".join(shown(record[name]) for name in names if name in record)


def _brief(value):
    """Five decimals, or an exponent where the number is large."""
    return f"{value:.5f}" if abs(value) < 1e6 else f"{value:.5e}"


def _write(out, results, history, network):
    """Write the three files, what cannot be drawn again first; returns their paths."""
    written = [out / name for name in WRITTEN]
    files.write_json(written[0], results)
    files.write_arrays(written[1], theta=network.theta)

    from matplotlib.figure import Figure

    from secondorder import plots

    axes = plots.learning_curves({results["method"]: history},
                                 Figure(figsize=(8, 5), layout="constrained").add_subplot())
    files.write_figure(written[2], axes.figure)
    return written
