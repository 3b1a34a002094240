"""`secondorder train`: one network, one data set, one optimizer."""

import inspect
import sys
import time

from secondorder import files
from secondorder.checks import lookup
from secondorder.papers import rooms

from .parsing import (add_table_options, force_option, json_option, natural, number_or_text,
                      positive, positive_number, setting, table_options, tell_written)

EXAMPLES = """\
  secondorder train                                          digits, 64-32-10, Adam
  secondorder train --data wine --hidden 16 8 --optimizer truncated-newton --batch-size all
  secondorder train --autoencoder --hidden 64 2 64 --output tanh --l2 0.01 \\
      --optimizer residual-partitioning --set cross=True --learning-rate 10
  secondorder train --optimizer cubic-regularization --base momentum --set sigma=10
  secondorder train --activation sigmoid --optimizer ea-cg --set solver=ea-closed \\
      --set curvature=pch-2
  secondorder train --reversible 2 --hidden 600 --activation relu --optimizer gauss-newton \\
      --batch-size 256
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
                     "help": "a reversible network with this number of blocks, as gauss-newton "
                             "needs it for its right inverse; --hidden gives its bottleneck"},
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
    "--batch-size": {"type": number_or_text, "default": 100,
                     "help": "samples a step, or 'all' for the whole set (default: 100)"},
    "--l2": {"type": float, "default": 0.0,
             "help": "penalty (l2 / 2) |theta|^2 (default: 0)"},
    "--validation": {"type": float, "default": 0.2,
                     "help": "fraction held out; 0 trains on all data (default: 0.2)"},
    "--dtype": {"default": "float64", "choices": ("float64", "float32"),
                "help": "precision (default: float64)"},
    "--seed": {"type": natural, "default": 0,
               "help": "seed of split, weights, batches, and of what the optimizer draws "
                       "(default: 0)"},
    "--out": {"metavar": "DIR", "help": "write history, parameters and figure there"},
    "--checkpoint": {"metavar": "FILE",
                     "help": "after every epoch, save in this file all that --resume needs"},
}


def add(commands):
    """Add the parser of this command."""
    about = "Train a fully-connected network and record every epoch."
    parser = commands.add_parser("train", help="train a network on embedded data or on your files",
                                 description=about, examples=EXAMPLES)
    for name, kind in WITH_VALUE.items():
        letter = {"metavar": "N" if "type" in kind else "NAME"}
        parser.add_argument(name, **({} if "choices" in kind else letter) | kind)
    parser.add_argument("--autoencoder", action="store_true",
                        help="learn to reproduce the inputs, not the targets")
    parser.add_argument("--resume", action="store_true",
                        help="continue from the checkpoint if there is one")
    force_option(parser)
    json_option(parser)
    add_table_options(parser)
    parser.set_defaults(run=run)


def run(options):
    """Train, write files where asked, print the end; also of a run that was interrupted."""
    import numpy as np

    import secondorder as so

    started = time.perf_counter()
    for_split, for_weights, for_batches, for_method = np.random.default_rng(options.seed).spawn(4)
    (x, y), validation, classes = _data(options, for_split)
    loss = _loss(options, classes)
    network = _network(options, x.shape[1], y.shape[1] if y.ndim == 2 else classes, for_weights)
    optimizer = _optimizer(options, network, loss, for_method)
    settings = {name: value for name, value in vars(options).items()
                if name not in ("run", "json", "traceback", "command", "force")}
    recipe = {f"--{name.replace('_', '-')}": value for name, value in settings.items()
              if name not in ("epochs", "out", "checkpoint", "resume")}
    out = files.outputs(options.out, WRITTEN, options.force or options.resume)

    def finish(history):
        """Files first: they are not to be lost to a reader that goes away."""
        results = {"command": "train", "settings": settings | {"set": dict(options.set)},
                   "network": repr(network), "parameters": network.size,
                   "environment": files.environment(), **history.to_dict(),
                   "seconds": time.perf_counter() - started}
        written = [] if out is None else _write(out, results, history, network)
        print(files.to_json(results) if options.json else _report(results, history.records))
        tell_written(written, sys.stderr if options.json else sys.stdout)

    try:
        history = so.train(optimizer, x, y, epochs=options.epochs, batch_size=options.batch_size,
                           validation=validation, rng=for_batches, checkpoint=options.checkpoint,
                           resume=options.resume, recipe=recipe)
    except BaseException as error:  # keep what was recorded; the error itself is for main
        history = getattr(error, "history", None)
        if history is not None and history.records:
            finish(history)
        raise
    finish(history)
    # as training warned, the loss has risen to more than twice what it was
    return int(history.records[-1].train_loss > 2 * max(history.records[0].train_loss, 0))


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
    x, y = [part.inputs for part in parts], [part.targets for part in parts]
    if data.input_range is None:
        x = _standardised(x)
    if options.autoencoder:
        y = x
    elif classes is None:
        y = _standardised(y)
    training, *held_out = zip(x, y)
    return training, held_out[0] if held_out else None, classes


def _standardised(parts):
    from secondorder.datasets import Standardisation

    return list(map(Standardisation.fit(parts[0]).apply, parts))


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
        return method(base(network, loss, l2=options.l2, **rate, **_drawn(base, rng)),
                      **dict(options.set))
    if options.base is not None:
        raise ValueError(f"--base is for cubic-regularization, not for {options.optimizer}")
    return method(network, loss, l2=options.l2, **rate, **_drawn(method, rng) | dict(options.set))


def _drawn(method, rng):
    """The argument `rng` of a method that draws."""
    return {"rng": rng} if "rng" in inspect.signature(method).parameters else {}


def _report(results, records):
    """About ten lines of the history, as text."""
    lines, last = [f"{results['parameters']} parameters, {results['method']}"], len(records) - 1
    for record in (records[place] for place in sorted({*range(0, last, max(1, last // 10)), last})):
        line = f"epoch {record.epoch:4}"
        for what in ("loss", "accuracy"):
            names = (f"train_{what}", f"validation_{what}")
            shown = " / ".join(f"{record[name]:.5g}" for name in names if name in record)
            line += f"   {what} {shown}" if shown else ""
        lines.append(line)
    return "\n".join([*lines, "(training / validation)" if "validation_loss" in records[0] else
                      "(training; nothing is held out)"])


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
