"""One run: steps on a CPU clock, with the losses looked at while the clock stands still."""

import time
import warnings

import numpy as np

from .entrants import ENTRANTS
from .problems import PROBLEMS
from .work import step_work

WARM = 3  # steps of a copy before the clock starts: loops are compiled, files are read
PART = 2000  # samples whose loss is taken at once
LOOKS = 14  # marks on the way to a limit, each sqrt(2) further than the one before
RATIO = 2**0.5
BEYOND = 1e3  # times the loss at the start: a run that is as far up has diverged


def run(seed, problem, method, first, second, seconds, work, looks=LOOKS):
    """Train until so many CPU seconds of steps and so much work, in gradients, have both gone by.

    The seed decides split, weights and batches. `first` and `second` are the tuned numbers;
    `second` is None where there is none. `looks` are the marks on the way to each limit.

    Returns ``loss`` and ``held_out`` at every look, from the start on, with the ``steps``,
    ``seconds`` and ``work`` that they took. Of a run that diverged what came before, and
    ``diverged``.
    """
    problem = PROBLEMS[problem]
    make = ENTRANTS[method].make
    return ride(problem, seed, lambda network: make(network, problem.loss, first, second),
                lambda network, samples: step_work(method, network, samples), seconds, work,
                Marks(seconds, work, looks))


def measure(seed, problem, firsts, most):
    """T and the work that Adam makes in it: ``seconds``, ``work``, ``rate``, and ``reached``,
    whether T was no later than `most`.

    T is the least time, over the rates `firsts`, in which Adam comes down to the problem's level,
    looked at after every epoch. Without a level it is the time of the problem's epochs at the first
    rate. It is at most `most` CPU seconds.
    """
    problem, adam = PROBLEMS[problem], ENTRANTS["adam"]
    best = {"seconds": most, "work": None, "rate": None, "reached": False}
    for rate in firsts if problem.level else firsts[:1]:
        track = Track(problem, seed)
        updates = len(track.x) // track.rows
        steps = updates * problem.epochs if problem.epochs else np.inf
        record = ride(problem, seed,
                      lambda network: adam.make(network, problem.loss, rate, None),
                      lambda network, samples: step_work("adam", network, samples),
                      best["seconds"], 0, Every(updates),
                      lambda record: (record["steps"][-1] >= steps if problem.level is None
                                      else record["loss"][-1] <= problem.level))
        there = (record["loss"][-1] <= problem.level if problem.level
                 else record["steps"][-1] >= steps)
        if there and record["seconds"][-1] < best["seconds"]:
            best = {"seconds": record["seconds"][-1], "work": record["work"][-1], "rate": rate,
                    "reached": True}
        elif best["work"] is None and "diverged" not in record:
            best.update(work=record["work"][-1], rate=rate)
    return best


def ride(problem, seed, make, work_of, seconds, work, marks, look=None):
    """`run` for any optimizer that `make` builds for a network.

    `work_of` takes the network and the samples, and returns the work of a step as a function of
    what the step reports. ``marks.passed(steps, seconds, work)`` says when to look. `look` takes
    the record after every look; True ends the run.
    """
    track = Track(problem, seed)
    warm(make, track)
    optimizer = make(track.network)
    price = work_of(track.network, track.rows)
    record = {name: [] for name in ("steps", "seconds", "work", "loss", "held_out")}
    spent = done = 0.0
    steps = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            track.look(record, steps, spent, done)
            for x, y in track.batches():
                began = time.process_time()
                info = optimizer.step(x, y)
                spent += time.process_time() - began
                done += price(info)
                steps += 1
                if marks.passed(steps, spent, done):
                    track.look(record, steps, spent, done)
                    if look is not None and look(record):
                        break
                if spent >= seconds and done >= work:
                    break
        except FloatingPointError as error:
            return record | {"diverged": f"step {steps + 1}: {error}"[:200]}
    return record


def warm(make, track):
    """Some steps of a copy, so that nothing is compiled or loaded while the clock runs."""
    network = track.network.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            optimizer = make(network)
            for k in range(WARM):
                optimizer.step(track.x[:track.rows], track.y[:track.rows])
        except FloatingPointError:
            pass  # the run itself will tell


class Track:
    """Data and network of a problem for one seed."""

    def __init__(self, problem, seed):
        (self.x, self.y), self.held_out = problem.parts(seed)
        self.problem, self.seed, self.network = problem, seed, problem.network(seed)
        self.rows = problem.rows(len(self.x))
        self.evaluated = self.x
        if problem.noise:
            rng = np.random.default_rng([seed, 4])
            self.evaluated = self.x + self.noise(rng, self.x.shape)

    def noise(self, rng, shape):
        return (self.problem.noise * rng.standard_normal(shape)).astype(self.x.dtype)

    def batches(self):
        """Batch after batch, shuffled in every epoch, without end; a short last one is dropped."""
        rng = np.random.default_rng([self.seed, 2])
        while True:
            order = rng.permutation(len(self.x))
            for start in range(0, len(self.x) - self.rows + 1, self.rows):
                part = order[start:start + self.rows]
                x = self.x[part]
                yield x + self.noise(rng, x.shape) if self.problem.noise else x, self.y[part]

    def look(self, record, steps, seconds, work):
        """Put both losses and what they took into a record."""
        loss = mean_loss(self.network, self.problem.loss, self.evaluated, self.y)
        if record["loss"] and not loss <= BEYOND * record["loss"][0]:
            raise FloatingPointError(f"a training loss of {loss:g}")
        record["loss"].append(loss)
        record["held_out"].append(mean_loss(self.network, self.problem.loss, *self.held_out))
        for name, value in (("steps", steps), ("seconds", round(seconds, 5)),
                            ("work", round(work, 3))):
            record[name].append(value)


class Marks:
    """When to look: on the way to both limits, and at every step count that is a power of 2."""

    def __init__(self, seconds, work, looks):
        powers = [RATIO**-k for k in range(looks - 1, -1, -1)]
        self.waiting = [[limit * power for power in powers] for limit in (seconds, work)]
        self.waiting.append([2**k for k in range(32)] if looks == LOOKS else [])

    def passed(self, steps, seconds, work):
        """Whether a mark has been passed since it was last asked."""
        met = False
        for marks, value in zip(self.waiting, (seconds, work, steps)):
            while marks and value >= marks[0]:
                marks.pop(0)
                met = True
        return met


class Every:
    """Look after every so many steps."""

    def __init__(self, steps):
        self.steps = steps

    def passed(self, steps, seconds, work):
        return steps % self.steps == 0


def mean_loss(network, loss, x, y):
    """Mean loss over all samples, six digits."""
    total = sum(network.evaluate(loss, x[k:k + PART], y[k:k + PART]).loss * len(x[k:k + PART])
                for k in range(0, len(x), PART))
    return float(f"{total / len(x):.6g}")
