"""Which tests run every day, and whether they still take less than two minutes.

`pytest` alone runs what notices every listed mutation, and every equation at one seed. The rest is
marked, and runs with `pytest -m thorough`:

    @pytest.mark.thorough       a test, or one parameter (`pytest.param(..., marks=...)`)
    @pytest.mark.everyday(6)    six cases of a parametrised test run every day; the others are
                                thorough
    all_but(NAMES, "slow one")  for `parametrize`: all every day but those named

A new test needs no mark. When all everyday tests together take longer than `LIMIT` seconds of
processor time, compiling apart, the last lines of the run name the longest.
"""

import collections
import math
import os
import time

import pytest

LIMIT = 120  # seconds of processor time
LONGEST = 8  # tests that are named
NOT_EVERYDAY = ("thorough", "slow", "browser", "notebook")


def spread(count, total):
    """`count` of `range(total)`: the first, then steps that meet every value of every parameter.

    The step is near the golden section of `total` and has no factor with it in common, so that it
    does not stay at one value of a parameter.
    """
    step = next(step for step in range(max(1, round(0.618 * total)), 2 * total + 1)
                if math.gcd(step, total) == 1)
    return {k * step % total for k in range(min(count, total))}


def all_but(values, *long):
    """Values for `parametrize`, of which the long ones are thorough."""
    return [pytest.param(value, marks=pytest.mark.thorough) if value in long else value
            for value in values]


def choose(items):
    """Mark as thorough what `everyday(count)` leaves out."""
    cases = {}
    for item in items:
        marker = item.get_closest_marker("everyday")
        if marker and not any(map(item.get_closest_marker, NOT_EVERYDAY)):
            cases.setdefault(item.nodeid.partition("[")[0], (marker, []))[1].append(item)
    for marker, group in cases.values():
        kept = spread(*marker.args, len(group))
        for k, item in enumerate(group):
            if k not in kept:
                item.add_marker("thorough")


def compiling_clock():
    """Counts, in `seconds`, the processor time of numba's compiler, told by numba's own events."""
    from numba.core import event

    class Clock(event.Listener):
        seconds, depth, began = 0.0, 0, 0.0

        def on_start(self, _):
            self.began = self.began if self.depth else time.process_time()
            self.depth += 1

        def on_end(self, _):
            self.depth -= 1
            self.seconds += 0.0 if self.depth else time.process_time() - self.began

    clock = Clock()
    event.register("numba:compile", clock)
    return clock


def processor_time():
    """Of this process and of those that it started and saw end."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


class Everyday:
    """The plugin: chooses tests, adds up what the everyday ones take, and tells when it is much."""

    def __init__(self, limit):
        self.limit, self.mark = limit, 0.0
        self.spent, self.cases = collections.Counter(), collections.Counter()
        self.compiling = compiling_clock()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        choose(items)

    # A report takes the seconds with it, since the test may run in another process.

    def pytest_runtest_logstart(self):
        self.mark = processor_time() - self.compiling.seconds

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item):
        outcome = yield
        began, self.mark = self.mark, processor_time() - self.compiling.seconds
        if not any(map(item.get_closest_marker, NOT_EVERYDAY)):
            outcome.get_result().everyday_seconds = self.mark - began

    def pytest_runtest_logreport(self, report):
        if hasattr(report, "everyday_seconds"):
            name = report.nodeid.partition("[")[0]
            self.spent[name] += report.everyday_seconds
            self.cases[name] += report.when == "setup"

    def pytest_terminal_summary(self, terminalreporter):
        total = self.spent.total()
        if total <= self.limit:
            return
        say = terminalreporter.write_line
        say(f"No failure: the everyday tests take {total:.0f} s of processor time, compiling "
            f"apart; the aim is {self.limit:g} s. The longest:")
        for name, seconds in self.spent.most_common(LONGEST):
            say(f"{seconds:7.1f} s  {name} ({self.cases[name]})")
        say("Make them smaller, or leave some to `pytest -m thorough`: tests/harness/everyday.py")
