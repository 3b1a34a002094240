"""What is measured, and how: a case makes the work for a problem, contenders take turns, a table
says what came of it.
"""

import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

import secondorder as so
from secondorder import exact
from secondorder.checks import lookup

from .products import bound

LOSSES = {"cross-entropy": so.SoftmaxCrossEntropy, "squared-error": so.SquaredError}
CASES = {}


@dataclass(frozen=True)
class Setting:
    """Widths such as ``"64-32-10"``, batch, dtype, activation and loss.

    ``"64-3x32-10"`` has three hidden layers of 32.
    """

    widths: str = "64-32-10"
    batch: int = 100
    dtype: str = "float64"
    activation: str = "tanh"
    loss: str = "cross-entropy"

    def __post_init__(self):
        if len(self.sizes) < 2 or min(self.sizes) < 1:
            raise ValueError("widths must be at least two whole numbers from 1, such as 64-32-10; "
                             f"given {self.widths!r}")
        if self.batch < 1:
            raise ValueError(f"batch must be a whole number from 1, given {self.batch}")
        lookup(LOSSES, self.loss, "loss")

    @property
    def sizes(self):
        """Widths as a list of integers."""
        try:
            pairs = [part.rpartition("x") for part in self.widths.split("-")]
            return [int(width) for times, _, width in pairs for _ in range(int(times or 1))]
        except ValueError:
            raise ValueError("expected widths such as 64-32-10 or 64-3x32-10, given "
                             f"{self.widths!r}") from None

    def changed(self, **changes):
        """The setting with what is given here and is not None."""
        return replace(self,
                       **{name: value for name, value in changes.items() if value is not None})

    def __str__(self):
        return f"{self.widths} {self.activation}, {self.loss}, batch {self.batch}, {self.dtype}"


class Problem:
    """A network with random weights, and a random batch; unpacks into ``network, loss, x, y``."""

    def __init__(self, setting, seed=0):
        self.setting, self.rng = setting, np.random.default_rng(seed)
        sizes, batch = setting.sizes, setting.batch
        self.loss = LOSSES[setting.loss]()
        self.x = self.rng.standard_normal((batch, sizes[0])).astype(setting.dtype)
        if setting.loss == "cross-entropy":
            self.y = self.rng.integers(0, sizes[-1], batch)
        else:
            self.y = self.rng.standard_normal((batch, sizes[-1])).astype(setting.dtype)

    @cached_property
    def network(self):
        """The fully-connected network; a method with one of its own does not pay for it."""
        return self.new_network()

    def new_network(self):
        """Another network with the same weights, for a contender that trains."""
        return so.mlp(self.setting.sizes, activation=self.setting.activation, rng=0,
                      dtype=self.setting.dtype)

    def __iter__(self):
        return iter((self.network, self.loss, self.x, self.y))


# -- cases -----------------------------------------------------------------------------------------


@dataclass
class Work:
    """What a case returns.

    Attributes
    ----------
    run : callable
        Does the work once; without arguments. Whatever it returns is dropped (tests compare it
        with that of PyTorch).
    products : list of Product
        The GEMM-bound; see `products`.
    rivals : dict of str to callable
        What else is timed beside it.
    torch : callable, optional
        Takes a `pytorch.Twin` of the problem, returns a function without arguments that does the
        same in PyTorch.
    gradient : bool
        Whether one gradient of the problem's network is timed as well.
    """

    run: Callable
    products: list = field(default_factory=list)
    rivals: dict = field(default_factory=dict)
    torch: Callable | None = None
    gradient: bool = True


@dataclass(frozen=True)
class Case:
    """A registered case: its name, the function that makes its `Work`, and what it is measured on.

    `smallest` is the smallest setting of its curves in the figure; None keeps it out.
    """

    name: str
    make: Callable
    settings: tuple
    smallest: Setting | None

    @property
    def about(self):
        """First line of the function's docstring."""
        return (self.make.__doc__ or "").strip().partition("\n")[0]


def case(name, *settings, smallest=Setting("32-32-32-10", batch=25)):
    """Decorator: register a function ``make(problem) -> Work`` as a case.

    Parameters
    ----------
    name : str
        A few words, each case its own.
    *settings : Setting
        What `bench` measures where the user asks for nothing else.
    smallest : Setting or None
        Where the curves of the figure begin: widths, depth and batch grow from there. None: no
        curves.
    """

    def register(make):
        if name in CASES:
            raise ValueError(f"two cases are called {name!r}")
        CASES[name] = Case(name, make, settings or (Setting(),), smallest)
        return make

    return register


# -- time: contenders take turns in short blocks ---------------------------------------------------


def contest(contenders, blocks=9, seconds=0.1, pause=0.06, clock=time.perf_counter,
            sleep=time.sleep):
    """Time functions against each other: name -> seconds a call, one number a block.

    In every block each contender has its turn: a call that is not counted, then calls for
    `seconds`, of which the median is kept, then a pause. Every other block takes them in the
    opposite order. A contender whose first call takes longer than `seconds` is called once a block.
    """
    times = {name: [] for name in contenders}
    for block in range(blocks):
        for name in list(contenders)[:: 1 if block % 2 == 0 else -1]:
            times[name].append(_turn(contenders[name], seconds, clock))
            sleep(pause)
    return times


def _turn(function, seconds, clock):
    """Median seconds of a call."""
    took = _seconds(function, clock)
    if took >= seconds:
        return took
    calls, end = [], clock() + seconds
    while not calls or clock() < end:
        calls.append(_seconds(function, clock))
    return statistics.median(calls)


def _seconds(function, clock):
    start = clock()
    function()
    return clock() - start


def ratio(times, name, other):
    """Median over the blocks of the time of `name` in units of that of `other`."""
    return statistics.median(a / b for a, b in zip(times[name], times[other]))


# -- results ---------------------------------------------------------------------------------------


class Effort(NamedTuple):
    """How long to measure: turns a contender, seconds a turn, seconds of pause between turns."""

    blocks: int = 9
    seconds: float = 0.1
    pause: float = 0.06  # a BLAS thread goes on spinning, and in the way, for up to 0.03


def measure(case, setting, effort=Effort(), against=None):
    """Time one case at one setting.

    Parameters
    ----------
    case : Case
    setting : Setting
    effort : Effort
    against : {None, "torch"}

    Returns
    -------
    dict
        ``case``, ``setting``, ``parameters``, ``samples``, ``seconds`` (median of every
        contender; "ours" is the case), ``ratios`` (ours to every other), ``flops`` (of the
        products), ``peak_bytes`` (of every contender in NumPy).

    Raises
    ------
    MemoryError
        If the case needs more than it allows itself.
    """
    problem = Problem(setting)
    work = case.make(problem)
    contenders = {"ours": work.run} | _others(problem, work)
    peaks = {name: _peak(function) for name, function in contenders.items()}
    if against == "torch" and work.torch is not None:
        from .pytorch import Twin

        contenders["torch"] = work.torch(Twin(problem))
    times = contest(contenders, *effort)
    return {"case": case.name,
            "setting": {name: getattr(setting, name) for name in setting.__dataclass_fields__},
            "parameters": problem.network.size if work.gradient else None,
            "flops": sum(product.flops for product in work.products),
            "seconds": {name: statistics.median(taken) for name, taken in times.items()},
            "ratios": {name: ratio(times, "ours", name) for name in times if name != "ours"},
            "peak_bytes": peaks}


def _others(problem, work):
    others = {}
    if work.products:
        others["products"] = bound(work.products, problem.setting.dtype)
    if work.gradient:
        others["gradient"] = lambda: exact.gradient(*problem)
    return others | work.rivals


def _peak(function):
    """Most bytes that a second call holds at a time beyond what was there before."""
    function()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


COLUMNS = ("products", "gradient", "torch")
HEAD = ("ms", "/products", "/gradient", "/torch", "peak MiB")


def table(results, first=0):
    """Results of `measure` as text of at most 80 columns, a headline wherever the setting changes.

    Only the lines of the results from `first` on, for those who print as results come in.
    """
    lines = []
    for number in range(first, len(results)):
        result = results[number]
        if number == 0 or result["setting"] != results[number - 1]["setting"]:
            lines += ["", str(Setting(**result["setting"])), _row("", *HEAD)]
        lines += _lines(result)
    return "\n".join(lines)


def _lines(result):
    """A row, and a line for every rival without a column."""
    ratios = result["ratios"]
    peaks = {name: f"{peak / 2**20:.3g}" for name, peak in result["peak_bytes"].items()}
    numbers = [f"{ratios[name]:.2f}" if name in ratios else "-" for name in COLUMNS]
    yield _row(result["case"], f"{1e3 * result['seconds']['ours']:.3g}", *numbers, peaks["ours"])
    for name, value in ratios.items():
        if name not in COLUMNS:
            yield f"    {value:.2f} of {name} (peak {peaks[name]} MiB)"


def _row(name, *entries):
    return f"{name:<28}" + "".join(f"{entry:>10}" for entry in entries)
