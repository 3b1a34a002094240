"""The training loop: batches, history, progress, and a clear stop when the loss is no longer finite."""

import sys
import time

import numpy as np

from .checks import boolean, did_you_mean, whole_number
from .nets import Workspace
from .optimizers.base import Optimizer
from .randomness import generator

CHUNK = 1024  # samples in one forward pass of an evaluation


class Record(dict):
    """One row of a history: a dict whose entries can be read as attributes too."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(f"this record holds {', '.join(self)}; not {name!r}")

    def __dir__(self):
        return [*super().__dir__(), *self]


class History:
    """What a training run leaves behind.

    Attributes
    ----------
    records : list of Record
        The first one is of the state before training, epoch 0.
    method : str
        Name of the optimizer's class.
    stopped : str or None
        Why training ended before the last epoch, or None if it did not.
    """

    def __init__(self, method, records=(), stopped=None):
        self.method, self.records, self.stopped = method, list(records), stopped

    @property
    def names(self):
        """Every name that occurs in a record, in order of first occurrence."""
        return list(dict.fromkeys(name for record in self.records for name in record))

    def column(self, name):
        """The values of one quantity as an array (len(records),); NaN where a record does not have it.

        Raises
        ------
        ValueError
            If no record has it; the message names close matches.
        """
        names = self.names
        if name not in names:
            raise ValueError(f"no record holds {name!r}: {did_you_mean(name, names)}there are {', '.join(names)}")
        return np.array([record.get(name, np.nan) for record in self.records])

    def to_dict(self):
        """Plain dicts, lists, numbers and strings, ready for JSON."""
        return {"method": self.method, "stopped": self.stopped, "records": [dict(record) for record in self.records]}

    def __len__(self):
        return len(self.records)

    def __repr__(self):
        return f"History({self.method!r}, {len(self)} records)"


class TrainingStopped(FloatingPointError):
    """Training met numbers that are not finite.

    Attributes
    ----------
    history : History
        Everything recorded before.
    epoch, step : int
        Where it happened, counted from 1 (0: before training); step counts from the start of the run.
    """

    def __init__(self, message, history=None, epoch=None, step=None):
        super().__init__(message)
        self.history, self.epoch, self.step = history, epoch, step

    def __reduce__(self):
        return type(self), (str(self), self.history, self.epoch, self.step)


def train(optimizer, x, y, epochs=10, batch_size=100, validation=None, rng=None, callback=None, progress=None,
          evaluate_every=1, shuffle=True):
    """Train the optimizer's network, in place.

    Parameters
    ----------
    optimizer : Optimizer
        It holds the network and the loss; it goes on from where it stands.
    x : (N, *input_shape) array
    y : targets of N samples, in the form that the loss takes
    epochs : int
        Passes through the data, at least 1.
    batch_size : int
        Samples a step, at least 1. Where it does not divide N the last batch of an epoch is shorter.
    validation : (xv, yv), optional
        Data that is only looked at.
    rng : None, int or numpy.random.Generator
        Draws the order of the samples.
    callback : callable, optional
        ``callback(intermediate_result)`` is called with every record (a copy; entries as items or attributes). It may
        raise StopIteration to end training; the history then says ``stopped = "callback"``.
    progress : bool, optional
        Whether to keep one line on the standard error up to date; by default only where that is a terminal.
    evaluate_every : int
        Epochs between two records. The first (epoch 0) and the last epoch always have one.
    shuffle : bool
        Whether each epoch draws a new order.

    Returns
    -------
    History
        Records hold ``epoch``, ``step``, ``seconds`` (spent in steps so far, evaluation excluded), ``train_loss`` and
        ``validation_loss`` (mean over the whole set, no penalty), for integer labels ``train_accuracy`` and
        ``validation_accuracy``, and, from the second record on, the mean since the last record of every number
        that the optimizer's steps report (``gradient_norm``, ``step_norm``, ``cg_iterations``, ...) but for the loss
        and the objective of the mini-batches.

    Raises
    ------
    TypeError, ValueError
        Bad arguments or data, before any work.
    TrainingStopped
        A FloatingPointError that names epoch, step and cause. The network is left at the last parameters at which a
        loss was finite, the exception's ``history`` holds all records.
    KeyboardInterrupt
        Passes through, with the records so far in its attribute ``history``; the network keeps its last finished step.

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
        raise TypeError(f"optimizer must be an Optimizer such as Adam(network, loss), got {optimizer!r}")
    epochs, batch_size = whole_number(epochs, "epochs", 1), whole_number(batch_size, "batch_size", 1)
    evaluate_every, shuffle = whole_number(evaluate_every, "evaluate_every", 1), boolean(shuffle, "shuffle")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of one record, got {callback!r}")
    sets = {"train": checked_set(optimizer, x, y, "")}
    if validation is not None:
        if not isinstance(validation, (tuple, list)) or len(validation) != 2:
            raise TypeError(f"validation must be a pair (inputs, targets), got {type(validation).__name__}")
        sets["validation"] = checked_set(optimizer, *validation, "validation: ")
    run = _Run(optimizer, sets, generator(rng), callback, Progress(epochs, progress))
    return run(epochs, batch_size, evaluate_every, shuffle)


class _Run:
    """One call of `train` after its arguments have been checked."""

    def __init__(self, optimizer, sets, rng, callback, progress):
        self.optimizer, self.sets, self.rng, self.callback, self.progress = optimizer, sets, rng, callback, progress
        self.history = History(type(optimizer).__name__)
        self.epoch = self.step = 0
        self.seconds, self.infos = 0.0, []
        self.last_finite = optimizer.network.theta.copy()
        self.workspace = Workspace()

    def __call__(self, epochs, batch_size, evaluate_every, shuffle):
        try:
            self.record()
            while self.epoch < epochs and self.history.stopped is None:
                self.epoch += 1
                self.guarded(self.pass_through, batch_size, shuffle)
                if self.epoch % evaluate_every == 0 or self.epoch == epochs:
                    self.record()
        except KeyboardInterrupt as interrupt:
            self.history.stopped = "interrupt"
            interrupt.history = self.history
            raise
        finally:
            self.progress.close()
        return self.history

    def guarded(self, work, *arguments):
        """Do some work; where it meets numbers that are not finite, go back and raise TrainingStopped."""
        try:
            return work(*arguments)
        except (FloatingPointError, OverflowError) as error:
            self.optimizer.network.theta = self.last_finite
            raise TrainingStopped(f"training stopped in epoch {self.epoch}, step {self.step}: {error}", self.history,
                                  self.epoch, self.step) from error

    def pass_through(self, batch_size, shuffle):
        """One epoch of steps."""
        x, y = self.sets["train"]
        order = self.rng.permutation(len(x)) if shuffle else np.arange(len(x))
        started = time.perf_counter()
        for start in range(0, len(x), batch_size):
            chosen = order[start:start + batch_size]
            before = self.optimizer.network.theta.copy()
            self.step += 1
            info = self.optimizer.step(x[chosen], y[chosen])
            if not np.isfinite(info["loss"]):
                raise FloatingPointError(f"the loss is {info['loss']}")
            self.last_finite = before
            self.infos.append(info)
        self.seconds += time.perf_counter() - started

    def record(self):
        """Evaluate all sets, write a record, tell the callback."""
        record = Record(epoch=self.epoch, step=self.step, seconds=self.seconds, **self.guarded(self.evaluate_sets))
        record.update((name, mean) for name, mean in means(self.infos).items() if name not in record)
        self.infos = []
        self.last_finite = self.optimizer.network.theta.copy()
        self.history.records.append(record)
        self.progress.show(record)
        if self.callback is None:
            return
        try:
            self.callback(Record(record))
        except StopIteration:
            self.history.stopped = "callback"

    def evaluate_sets(self):
        results = {}
        for name, (x, y) in self.sets.items():
            loss, accuracy = evaluate(self.optimizer.network, self.optimizer.loss, x, y, self.workspace)
            results[f"{name}_loss"] = loss
            if accuracy is not None:
                results[f"{name}_accuracy"] = accuracy
        return results


def checked_set(optimizer, x, y, where):
    """Inputs in the network's dtype and targets as an array, checked against network and loss."""
    network = optimizer.network
    x, y = np.asarray(x), np.asarray(y)
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


def evaluate(network, loss, x, y, workspace=None):
    """Mean loss over a whole set, in chunks, and the accuracy where the targets are integer labels.

    Parameters
    ----------
    network : Network
    loss : Loss
    x : (N, *input_shape) array
    y : targets of N samples
    workspace : Workspace, optional
        Where the layers' arrays go, chunk after chunk; one of its own by default.

    Returns
    -------
    loss : float
        Without penalty.
    accuracy : float or None
        Part of the samples whose largest output is that of their label; None unless y is (N,) of integers.

    Raises
    ------
    FloatingPointError
        If outputs or losses are not finite.
    """
    labels = np.ndim(y) == 1 and np.asarray(y).dtype.kind in "iu"
    total, right, workspace = 0.0, 0, Workspace() if workspace is None else workspace
    for start in range(0, len(x), CHUNK):
        part = slice(start, start + CHUNK)
        evaluation = network.evaluate(loss, x[part], y[part], workspace)
        total += evaluation.loss * evaluation.samples
        if labels:
            right += int(np.count_nonzero(evaluation.outputs.argmax(axis=1) == y[part]))
    return total / len(x), right / len(x) if labels else None


def means(infos):
    """Mean of every number and boolean in a list of dicts, over the dicts that have it, as floats."""
    names = dict.fromkeys(name for info in infos for name in info if name not in ("loss", "objective"))
    result = {}
    for name in names:
        values = [info[name] for info in infos if name in info]
        if all(isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)) for value in values):
            result[name] = float(np.mean(values, dtype=np.float64))
    return result


class Progress:
    """One line on the standard error that is written over.

    Parameters
    ----------
    epochs : int
    shown : bool or None
        None: only where the standard error is a terminal.
    """

    def __init__(self, epochs, shown=None):
        self.epochs, self.stream, self.width = epochs, sys.stderr, 0
        self.shown = self.stream is not None and self.stream.isatty() if shown is None else boolean(shown, "progress")

    def show(self, record):
        """Write a record over the line."""
        if not self.shown:
            return
        parts = [f"epoch {record['epoch']}/{self.epochs}", f"step {record['step']}"]
        parts += [f"{name.replace('_', ' ')} {record[name]:.4g}" for name in
                  ("train_loss", "validation_loss", "train_accuracy", "validation_accuracy") if name in record]
        line = "  ".join(parts)
        self.stream.write("\r" + line.ljust(self.width))
        self.stream.flush()
        self.width = len(line)

    def close(self):
        """End the line."""
        if self.width:
            self.stream.write("\n")
            self.stream.flush()
