"""The training loop."""

import copy
import json
import time
import warnings

import numpy as np

from .. import checks, files
from ..checks import boolean, instance_of, one_of, whole_number
from ..checks.randomness import generator
from ..optimizers.base import Optimizer
from .checkpoints import WHAT, read_checkpoint, write_checkpoint
from .evaluation import evaluate, means
from .facts import facts, fingerprint, require_same
from .history import History, Record, TrainingStopped
from .interrupts import heard_between_steps
from .progress import Line, told

LAST_BATCH = ("merge", "keep", "drop")


def train(optimizer, x, y, epochs=10, batch_size=100, validation=None, rng=None, callback=None,
          progress=None, evaluate_every=1, shuffle=True, last_batch="merge", checkpoint=None,
          resume=False, recipe=None):
    """Train the optimizer's network in-place.

    Parameters
    ----------
    optimizer : Optimizer
        It holds the network and the loss. Training continues from its present state.
    x : (N, *input_shape) array
    y : targets of N samples, in the form that the loss takes
    epochs : int
        Passes through the data, at least 1.
    batch_size : int or "all"
        Samples a step, at least 1; ``"all"`` takes the whole set in every step.
    validation : (xv, yv), optional
        Data that is only looked at.
    rng : None, int or numpy.random.Generator
        Draws the order of the samples.
    callback : callable, optional
        ``callback(intermediate_result)`` is called with every record (a copy; entries as items or
        attributes). It may raise StopIteration to end training; the history then says
        ``stopped = "callback"``.
    progress : bool, optional
        Whether to keep one line on the standard error up to date; by default only where that is a
        terminal.
    evaluate_every : int
        Epochs between two records. The first (epoch 0) and the last epoch always have one.
    shuffle : bool
        Whether each epoch draws a new order.
    last_batch : {"merge", "keep", "drop"}
        What to do with the samples that are left where `batch_size` does not divide N.
        With ``"merge"`` less than half a batch joins the batch before it, more is a separate batch.
        A second-order step fits the noise of a few samples exactly, and undoes the gain of the
        large batch before it. ``"keep"``: always a separate batch. ``"drop"``: left out of this
        epoch. A set smaller than one batch is always one batch.
    checkpoint : str or Path, optional
        File that is written with every record, atomically: whenever the process ends, by whatever
        signal, it holds the state at one of the records.
    resume : bool
        Whether to go on from the checkpoint if there is one, and to begin anew if there is none.
        Network, optimizer with its settings, data and arguments have to be the same. `epochs` may
        be larger, and must not be smaller than the epochs that were done. On the same machine and
        number of threads, the run then ends with the same bits as without interruption. The
        checkpoint of a different run is refused, and the message names the difference. Objects are
        compared by class and attributes, functions by name. `callback` gets no record twice.
    recipe : dict, optional
        Plain values by name that describe the run, such as ``{"seed": 0}``. The checkpoint holds
        them, and a run that goes on must have the same; what differs is named first (``seed 0, not
        1``).

    Returns
    -------
    History
        Records hold ``epoch``, ``step`` and ``seconds``, spent in steps so far, without evaluation
        (in a new environment the first step compiles its kernels, which takes a second or two).
        ``train_loss`` and ``validation_loss`` are means over the whole set,
        without penalty. Integer labels add ``train_accuracy`` and ``validation_accuracy``. From the
        second record on there are the numbers that the optimizer's steps report
        (``gradient_norm``, ``step_norm``, ``cg_iterations``, ...), each as its mean since the last
        record. The loss and the objective of the mini-batches are not among them.

    Raises
    ------
    TypeError, ValueError, OSError
        Bad arguments or data, before any work. Also a checkpoint that belongs to another run or has
        more epochs than `epochs`. Also one that another run is writing, or that is there although
        `resume` is false.
    TrainingStopped
        A FloatingPointError that names epoch, step and cause. The network is left at the last
        parameters at which a loss was finite.
    KeyboardInterrupt, or whatever `callback`, schedule or optimizer raise
        Passes through; the network keeps its last finished step. An interrupt (Ctrl-C) ends the run
        after the running step, a second one at once. So do SIGTERM and SIGHUP, where they have a
        handler in Python.

    Warns
    -----
    UserWarning
        If the run ends with a higher objective of the training set than it began with.

    Whatever ends a run that has begun carries the records so far in its attribute ``history``, and
    ``history.stopped`` says what it was.

    Examples
    --------
    >>> import secondorder as so
    >>> digits = so.datasets.load_digits()
    >>> net = so.mlp([64, 16, 10], rng=0)
    >>> optimizer = so.Adam(net, so.SoftmaxCrossEntropy(), learning_rate=0.01)
    >>> history = so.train(optimizer, digits.inputs / 16, digits.targets, epochs=3, rng=0)
    >>> history.column("epoch").tolist()
    [0, 1, 2, 3]
    >>> bool(history.records[-1].train_loss < history.records[0].train_loss)
    True
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError("optimizer must be an Optimizer, which holds the network and the loss, as "
                        "in so.train(so.Adam(network, loss), x, y), got "
                        f"{checks.shown(optimizer)}")
    epochs, evaluate_every = (whole_number(epochs, "epochs", 1),
                              whole_number(evaluate_every, "evaluate_every", 1))
    shuffle, resume = boolean(shuffle, "shuffle"), boolean(resume, "resume")
    progress = None if progress is None else boolean(progress, "progress")
    if callback is not None:
        checks.function_of(callback, "callback", 1, "a function of one record")
    recipe = {} if recipe is None else plain_recipe(recipe)
    sets = {"train": checked_set(optimizer, x, y, "")}
    if validation is not None:
        if not isinstance(validation, (tuple, list)) or len(validation) != 2:
            raise TypeError("validation must be a pair (inputs, targets), got "
                            f"{type(validation).__name__}")
        sets["validation"] = checked_set(optimizer, *validation, "validation: ")
    slices = batches(len(sets["train"][0]), batch_size, last_batch)
    run = _Run(optimizer, sets, slices, shuffle, generator(rng), callback,
               Line(progress))
    if checkpoint is None and resume:
        raise ValueError("resume goes together with checkpoint, the file to go on from")
    if checkpoint is not None:
        path = checks.path(checkpoint, "checkpoint")
        files.require_writable(path)
        made_with = recipe | {"batches": [slices[0].stop, last_batch],
                              "evaluate_every": evaluate_every}
        run.keep_at(path, resume, epochs, made_with)
    return run(epochs, evaluate_every)


def plain_recipe(value):
    """A recipe as a checkpoint keeps it; TypeError unless it holds plain values by name."""
    instance_of(value, dict, "recipe")
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError("recipe must hold numbers, texts, None, or lists and dicts of them, by "
                        f"name: {error}") from None


def batches(samples, batch_size, last_batch):
    """The slices of an epoch's batches; the arguments as in `train`."""
    if isinstance(batch_size, str):
        one_of(("all",), batch_size, "batch_size")
        size = samples
    else:
        size = whole_number(batch_size, "batch_size", 1)
    one_of(LAST_BATCH, last_batch, "last_batch")
    ends = [*range(size, samples, size), samples]
    rest = samples - size * (len(ends) - 1)
    if len(ends) > 1 and last_batch == "merge" and 2 * rest < size:
        del ends[-2]
    elif len(ends) > 1 and last_batch == "drop" and rest < size:
        del ends[-1]
    return [slice(start, end) for start, end in zip([0, *ends], ends)]


class _Run:
    """One call of `train` after its arguments have been checked."""

    def __init__(self, optimizer, sets, slices, shuffle, rng, callback, progress):
        self.optimizer, self.sets, self.slices, self.shuffle = optimizer, sets, slices, shuffle
        self.rng, self.callback, self.progress = rng, callback, progress
        self.history = History(type(optimizer).__name__)
        self.epoch = self.step = 0
        self.seconds, self.infos = 0.0, []
        self.last_finite = optimizer.network.theta.copy()
        self.checkpoint, self.between_steps = None, None

    def __call__(self, epochs, evaluate_every):
        self.epochs = epochs
        try:
            with heard_between_steps() as self.between_steps:
                if not self.history.records:
                    self.record()
                start = self.objective()
                while self.epoch < epochs and self.history.stopped is None:
                    self.epoch += 1
                    self.guarded(self.pass_through)
                    if self.epoch % evaluate_every == 0 or self.epoch == epochs:
                        self.record()
        except BaseException as error:
            interrupt = isinstance(error, KeyboardInterrupt)
            self.history.stopped = "interrupt" if interrupt else f"{type(error).__name__}: {error}"
            error.history = self.history
            raise
        finally:
            self.progress.close()
        end = self.objective()
        if end - start > 1e-6 * abs(start):  # more than rounding
            warnings.warn(f"the run ends above its start: the objective rose from {start:.4g} to "
                          f"{end:.4g}; a smaller learning rate may help", stacklevel=3)
        return self.history

    def objective(self):
        """Of the training set at the last record, penalty included."""
        return self.history.records[-1].train_loss + self.optimizer.penalty()

    def guarded(self, work):
        """Do some work; at numbers that are not finite, go back and raise TrainingStopped."""
        try:
            return work()
        except (FloatingPointError, OverflowError) as error:
            self.optimizer.network.theta = self.last_finite
            message = f"training stopped in epoch {self.epoch}, step {self.step}: {error}"
            raise TrainingStopped(message, self.history, self.epoch, self.step) from error

    def pass_through(self):
        """One epoch of steps."""
        x, y = self.sets["train"]
        order = self.rng.permutation(len(x)) if self.shuffle else np.arange(len(x))
        for part in self.slices:
            chosen = order[part]
            before = self.optimizer.network.theta.copy()
            self.step += 1
            started = time.perf_counter()
            info = self.optimizer.step(x[chosen], y[chosen])
            self.seconds += time.perf_counter() - started
            if not np.isfinite(info["loss"]):
                raise FloatingPointError(f"the loss is {info['loss']}")
            self.last_finite = before
            self.infos.append(info)
            self.between_steps()

    def record(self):
        """Evaluate all sets, write a record and a checkpoint, tell the callback."""
        results = self.guarded(self.evaluate_sets)
        record = Record(epoch=self.epoch, step=self.step, seconds=self.seconds, **results)
        record.update((name, mean) for name, mean in means(self.infos).items()
                      if name not in record)
        self.infos = []
        self.last_finite = self.optimizer.network.theta.copy()
        self.history.records.append(record)
        if self.checkpoint is not None:
            write_checkpoint(self.checkpoint, self.content())
        self.progress.show(told(record, self.epochs))
        if self.callback is not None:
            try:
                self.callback(Record(record))
            except StopIteration:
                self.history.stopped = "callback"
        self.between_steps()

    def evaluate_sets(self):
        results = {}
        for name, (x, y) in self.sets.items():
            loss, accuracy = evaluate(self.optimizer.network, self.optimizer.loss, x, y)
            results[f"{name}_loss"] = loss
            if accuracy is not None:
                results[f"{name}_accuracy"] = accuracy
        return results

    # -- checkpoints ------------------------------------------------------------------------------

    def keep_at(self, path, resume, epochs, arguments):
        """Write a checkpoint to `path` with every record, and go on from it if asked to."""
        self.made_with = arguments | {
            "shuffle": self.shuffle, "kind of generator": type(self.rng.bit_generator).__name__,
            **facts(self.optimizer), **{f"{name} data": fingerprint(*arrays)
                                        for name, arrays in self.sets.items()}}
        if path.exists():
            if not resume:
                raise FileExistsError(f"checkpoint {path} is there already: go on from it "
                                      "(resume), or remove it")
            content = read_checkpoint(path)
            require_same(self.made_with, content["made_with"], path)
            if content["epoch"] > epochs:
                raise ValueError(f"epochs is {epochs}, but checkpoint {path} holds a run of "
                                 f"{content['epoch']} epochs: give at least as many, or begin "
                                 "anew with another file")
            self.restore(content, path)
        self.checkpoint = path

    def content(self):
        return {"made_with": self.made_with,
                "theta": self.optimizer.network.theta,
                "state": self.optimizer.state_dict(),
                "generator": self.rng.bit_generator.state,
                "history": [dict(record) for record in self.history.records],
                "epoch": self.epoch,
                "step": self.step,
                "seconds": self.seconds}

    def restore(self, content, path):
        """Go back to where the run stood; nothing is changed if something does not fit."""
        with files.damage_told(path, WHAT):
            theta, trial = self.optimizer.network.theta, copy.deepcopy(self.rng.bit_generator)
            if content["theta"].dtype != theta.dtype:
                raise ValueError(f"its theta holds {content['theta'].dtype}, not {theta.dtype}")
            checks.fitting(content["theta"], theta, "theta")
            trial.state = content["generator"]
            self.optimizer.load_state_dict(content["state"])
        theta[...] = content["theta"]
        self.rng.bit_generator.state = content["generator"]
        self.history.records = [Record(record) for record in content["history"]]
        self.epoch, self.step, self.seconds = content["epoch"], content["step"], content["seconds"]
        self.last_finite = self.optimizer.network.theta.copy()


def checked_set(optimizer, x, y, where):
    """Inputs in the network's dtype and targets as an array, checked against network and loss."""
    network = optimizer.network
    x, y = checks.plain_array(x, f"{where}x"), checks.plain_array(y, f"{where}y")
    if x.ndim and y.ndim and len(x) != len(y):
        raise ValueError(f"{where}x holds {len(x)} samples, y {len(y)} targets")
    try:
        x = network.check_input(x)
        optimizer.loss.prepare_target(y, (len(x), *network.output_shape), network.dtype)
    except (TypeError, ValueError) as error:
        if not where:
            raise
        raise type(error)(f"{where}{error}") from error
    return x, y
