"""One run: steps on a CPU clock, which stands still while the loss is looked at."""

import contextlib
import time
import warnings

import numpy as np

from .work import step_work

WARM = 3  # steps of a copy before the clock starts, so that loops are compiled
PART = 2000  # samples whose loss is taken at once
BEYOND = 1e3  # times the loss at the start: a run that is as far up has diverged
STEPS = tuple(4**k for k in range(12))  # numbers of steps at which every run is looked at
NUMERICAL = (ArithmeticError, np.linalg.LinAlgError)  # what a step raises where it diverges
LONGEST = 3  # times the seconds: then a judged run ends, whatever work it has made


def run(problem, method, numbers, seed, seconds, work, marks=1, longest=LONGEST,
        clock=time.process_time):
    """Train until so many CPU seconds of steps and so much work are both behind.

    The seconds are without evaluation, work is in gradients of the problem's batch; 0 asks for
    nothing. On the way to each limit there are as many looks as `marks`, every one sqrt(2) further
    than the one before; the last is the first step at which the limit is reached. A run ends after
    `longest` times the seconds, whatever work it has made. `numbers` are the tuned ones; the seed
    is that of images, weights and batches.

    Returns
    -------
    dict
        Lists ``steps``, ``seconds``, ``work`` and ``loss`` (of all training samples), one entry a
        look, the start first; ``held_out``, the last loss on held-out samples; of a run that
        diverged ``diverged``, which says how, and what came before.
    """
    (x, y), held_out = problem.parts(seed)
    network, rows = problem.network(seed), min(method.batch or problem.batch, len(x))
    optimizer, copy = (method.make(one, problem.loss, *numbers)
                       for one in (network, network.copy()))
    price = step_work(method, network, problem, rows)
    waiting = [[limit * 2**(-k / 2) for k in reversed(range(marks))] if limit else []
               for limit in (seconds, work)] + [list(STEPS)]
    record = {name: [] for name in ("steps", "seconds", "work", "loss")}
    made = 0, 0.0, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(*NUMERICAL):  # the run itself will tell
            for _ in range(WARM):
                copy.step(x[:rows], y[:rows])
        try:
            look(record, made, network, problem.loss, x, y)
            for batch in batches(len(x), rows, seed):
                began = clock()
                info = optimizer.step(x[batch], y[batch])
                made = made[0] + 1, made[1] + clock() - began, made[2] + price(info)
                if passed(waiting, (made[1], made[2], made[0])):
                    look(record, made, network, problem.loss, x, y)
                if made[1] >= seconds and (made[2] >= work or made[1] >= longest * seconds > 0):
                    break
            record["held_out"] = mean_loss(network, problem.loss, *held_out)
        except NUMERICAL as error:
            record["diverged"] = f"step {made[0] + 1}: {error}"[:200]
    return record


def batches(samples, rows, seed):
    """Rows of batch after batch, shuffled in every epoch, without end; a short last one is dropped.
    """
    rng = np.random.default_rng([seed, 2])
    while True:
        order = rng.permutation(samples)
        for start in range(0, samples - rows + 1, rows):
            yield order[start:start + rows]


def passed(waiting, values):
    """Whether one of the marks that wait for each value has been passed; those wait no longer."""
    met = False
    for marks, value in zip(waiting, values):
        while marks and value >= marks[0]:
            marks.pop(0)
            met = True
    return met


def look(record, made, network, loss, x, y):
    """Put the loss, and the steps, seconds and work that it took, into a record.

    Raises FloatingPointError if it is far above the start's.
    """
    value = mean_loss(network, loss, x, y)
    if record["loss"] and not value <= BEYOND * record["loss"][0]:
        raise FloatingPointError(f"a training loss of {value:g}")
    for name, number in zip(record, (made[0], round(made[1], 5), round(made[2], 3), value)):
        record[name].append(number)


def mean_loss(network, loss, x, y):
    """Mean loss over all samples, eight digits."""
    total = sum(network.evaluate(loss, x[k:k + PART], y[k:k + PART]).loss * len(x[k:k + PART])
                for k in range(0, len(x), PART))
    return float(f"{total / len(x):.8g}")


def loss_at(record, name, limit):
    """The loss at the first look at which so many ``seconds`` or so much ``work`` were behind;
    infinite where the run did not come so far.
    """
    behind = [loss for value, loss in zip(record[name], record["loss"])
              if value >= limit * (1 - 1e-6)]
    return behind[0] if behind else np.inf
