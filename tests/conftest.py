"""BLAS on one thread; what the garbage collector may skip; runs on a copy of the package; which
tests run every day; several processes; slow tests within a budget.
"""

import collections
import datetime
import gc
import os
import random
import signal
import time
from pathlib import Path

import pytest

from harness import processes
from harness.everyday import LIMIT, Everyday

# NumPy reads it when it is loaded. The networks are small: a second thread gains nothing, and costs
# much on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell starts its background jobs, and nohup all of its own, with these ignored; tests of Ctrl-C
# need what a terminal gives.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for _name in ("SIGHUP", "SIGTERM"):
    if signal.getsignal(getattr(signal, _name, signal.SIGINT)) is signal.SIG_IGN:
        signal.signal(getattr(signal, _name), signal.SIG_DFL)

COPY = "SECONDORDER_COPY"  # set by test_mutations.py


def pytest_configure(config):
    """Choose the everyday tests; share them among processes; in a run on a copy of the package,
    test the copy.
    """
    processes.configure(config)
    config.pluginmanager.register(Everyday(config.getoption("--everyday-seconds")), "everyday")
    folder = os.environ.get(COPY)
    if folder is None:
        return
    import secondorder

    found = Path(secondorder.__file__).resolve()
    if not found.is_relative_to(Path(folder).resolve()):
        raise pytest.UsageError(
            f"the tests of the copy {folder} found another secondorder: {found}"
        )


# -- garbage ---------------------------------------------------------------------------------------
# Modules and thousands of tests live to the end. Every full collection walks through them again,
# and finds nothing: a fifth of a second each.


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    gc.disable()
    yield
    gc.enable()
    gc.freeze()


# -- options, a budget for slow tests --------------------------------------------------------------


def pytest_addoption(parser):
    processes.add_option(parser)
    parser.addoption("--everyday-seconds", type=float, metavar="SECONDS", default=LIMIT,
                     help="processor time of everyday tests above which the longest are named")
    parser.addoption(
        "--slow-seconds",
        type=float,
        metavar="SECONDS",
        help="of the slow tests that come in long lists (mutations, sabotage), begin none "
        "after this time; the others are run all",
    )


class Budget:
    """Puts long lists of slow tests last, in an order that is another one every day, and leaves out
    what time does not allow.
    """

    LONG = 30

    def __init__(self, seconds):
        self.seconds, self.began = seconds, time.monotonic()
        self.lists, self.run, self.left_out = set(), 0, 0

    def is_sampled(self, item):
        return getattr(item, "function", None) in self.lists

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        slow = collections.Counter(item.function for item in items
                                   if item.get_closest_marker("slow"))
        self.lists = {function for function, count in slow.items() if count >= self.LONG}
        sampled = [item for item in items if self.is_sampled(item)]
        random.Random(datetime.date.today().toordinal()).shuffle(sampled)
        items[:] = [item for item in items if not self.is_sampled(item)] + sampled

    def pytest_runtest_setup(self, item):
        if not self.is_sampled(item):
            return
        if time.monotonic() - self.began > self.seconds:
            self.left_out += 1
            pytest.skip("left out: the time for slow tests is over")
        self.run += 1

    def pytest_terminal_summary(self, terminalreporter):
        names = " and ".join(sorted(function.__name__ for function in self.lists))
        terminalreporter.write_line(f"of {names}, {self.run} run, {self.left_out} left out after "
                                    f"{self.seconds:g} s")


def pytest_cmdline_main(config):
    seconds = config.getoption("--slow-seconds")
    if seconds is not None:
        config.pluginmanager.register(Budget(seconds), "slow-budget")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Call the command in a directory of its own; gives status, output, errors."""
    from secondorder import cli, datasets

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(datasets.DATA_VARIABLE, raising=False)

    def call(*words):
        try:
            status = cli.main([str(word) for word in words])
        except SystemExit as stop:
            status = stop.code
        said = capsys.readouterr()
        return status, said.out, said.err

    return call
