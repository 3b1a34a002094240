"""Run cases, and print what came of it."""

import statistics
import tracemalloc
from typing import NamedTuple

from secondorder import exact

from .contest import contest, ratio
from .problems import Problem, Setting
from .products import bound


class Effort(NamedTuple):
    """How long to measure: turns a contender, seconds a turn, seconds of pause between turns."""

    blocks: int = 9
    seconds: float = 0.1
    pause: float = 0.06  # a BLAS thread goes on spinning, and in the way, for up to 0.03


def measure(case, setting, effort=Effort(), against=None, seed=0):
    """Time one case at one setting.

    Parameters
    ----------
    case : Case
    setting : Setting
    effort : Effort
    against : {None, "torch"}
    seed : int
        Of the data.

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
    problem = Problem(setting, seed)
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
    """Results as text of at most 80 columns, a headline wherever the setting changes.

    Parameters
    ----------
    results : list of dict
        As `measure` returns them.
    first : int
        Only the lines of the results from there on, for those who print as results come in.

    Returns
    -------
    str
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
