"""A function in a process of its own, and how much memory that one held."""

import multiprocessing
import resource
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def in_a_process(function, *arguments):
    """What `function` returns when a new process calls it; both must be picklable."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def peak_bytes():
    """Most memory that this process held since `forget_peak`, or since its start."""
    try:
        status = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
        return 1024 * int(status["VmHWM"].split()[0])
    except (OSError, KeyError):  # no such file outside Linux
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def forget_peak():
    """Begin to measure `peak_bytes` anew, where the system allows it."""
    try:
        CLEAR.write_text("5")
    except OSError:
        pass
