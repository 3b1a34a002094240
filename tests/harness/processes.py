"""`pytest --processes auto`: as many processes as there are cores share the files of tests.

This process collects the tests, forks the workers and prints what they report: one progress, one
summary and one exit status, whatever the options. The tests of a file run in one process and in
their order, and so do the files that share the runs of a ledger; a worker that is done takes the
next file, those with most tests first. Where a worker dies, its test has failed, and another worker
goes on behind it.
"""

import collections
import contextlib
import itertools
import multiprocessing
import multiprocessing.connection
import os
import signal

import pytest


def add_option(parser):
    parser.addoption("--processes", metavar="N", default="1",
                     help="share the files of tests among N processes; auto: one for each core")


def configure(config):
    """Share the tests if the options ask for it."""
    count = _count(config.getoption("--processes"))
    if count == 1 or config.option.collectonly:
        return
    for name, given in (("--pdb", config.option.usepdb), ("--trace", config.option.trace),
                        ("--slow-seconds", config.getoption("--slow-seconds") is not None)):
        if given:
            raise pytest.UsageError(f"{name} needs a single process: leave out --processes")
    config.pluginmanager.register(Sharing(config, count), "sharing")


def _count(text):
    if text != "auto" and not (text.isdecimal() and int(text)):
        raise pytest.UsageError(f"--processes is auto or a whole number from 1 on, not {text!r}")
    if "fork" not in multiprocessing.get_all_start_methods():  # on Windows
        return 1
    if text != "auto":
        return int(text)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


# -- in a worker -----------------------------------------------------------------------------------


def _work(session, pipe, parents_end):
    """Run the tests from one place of `session.items` up to another, again and again."""
    parents_end.close()  # else the end of the parent would not be noticed
    plugins = session.config.pluginmanager
    capture = plugins.get_plugin("capturemanager")
    capture.stop_global_capturing()  # the files that take what is printed are the parent's
    capture.start_global_capturing()
    plugins.unregister(name="terminalreporter")
    telling = Telling(session.config)
    plugins.register(telling)  # which hears the warnings so far; the parent knows them
    telling.pipe = pipe
    try:
        while places := pipe.recv():
            first, end = places
            for place in range(first, end):
                item = session.items[place]
                following = session.items[place + 1] if place + 1 < end else None
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            pipe.send(None)
    except (EOFError, OSError, KeyboardInterrupt, pytest.exit.Exception):
        pass  # the parent has gone or stops, or is told by the end of this process
    finally:
        capture.stop_global_capturing()


class Telling:
    """Sends to the parent which hooks were called, and with what."""

    def __init__(self, config):
        self.config, self.pipe = config, None

    def pytest_runtest_logstart(self, nodeid, location):
        self.pipe.send(("pytest_runtest_logstart", {"nodeid": nodeid, "location": location}))

    def pytest_runtest_logreport(self, report):
        told = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.pipe.send(("pytest_runtest_logreport", {"report": told}))

    def pytest_runtest_logfinish(self, nodeid, location):
        self.pipe.send(("pytest_runtest_logfinish", {"nodeid": nodeid, "location": location}))

    def pytest_warning_recorded(self, warning_message, when, nodeid, location):
        if self.pipe:
            self.pipe.send(("pytest_warning_recorded", {
                "warning_message": warning_message, "when": when, "nodeid": nodeid,
                "location": location}))


# -- in the parent ---------------------------------------------------------------------------------


class Worker:
    """A worker as the parent sees it: its process, its tests and what it told of their file."""

    fork = multiprocessing.get_context("fork")

    def __init__(self, session):
        self.pipe, its_end = self.fork.Pipe()
        self.process = self.fork.Process(target=_work, args=(session, its_end, self.pipe))
        self.process.start()
        its_end.close()
        self.place = self.end = 0
        self.told = []

    def take(self, places):
        self.place, self.end = places
        self.pipe.send(places)

    def stop(self):
        """Let it end by itself, else interrupt it, else kill it."""
        with contextlib.suppress(OSError):
            self.pipe.send(None)
        self.pipe.close()
        self.process.join(0.5)
        if self.process.is_alive():
            os.kill(self.process.pid, signal.SIGINT)
            self.process.join(5)
        self.process.kill()
        self.process.join()


class Sharing:
    """The plugin of the parent: hands out files, and prints what is told of a file together."""

    def __init__(self, config, count):
        self.config, self.count = config, count

    @pytest.hookimpl
    def pytest_runtestloop(self, session):
        if session.testsfailed and not self.config.option.continue_on_collection_errors:
            return None  # pytest's own loop says so
        self.config._tmp_path_factory.getbasetemp()  # one folder, made before the workers
        self.config.pluginmanager.get_plugin("terminalreporter").flush()
        queue, workers = _files(session), []
        try:
            while queue or workers:
                while queue and len(workers) < self.count:
                    workers.append(Worker(session))
                    workers[-1].take(queue.popleft())
                for pipe in multiprocessing.connection.wait([one.pipe for one in workers]):
                    worker = next(one for one in workers if one.pipe is pipe)
                    if self._hear(worker, session, queue):
                        workers.remove(worker)
                    _stop_if_told(session)
        finally:
            for worker in workers:
                worker.stop()
        return True

    def _hear(self, worker, session, queue):
        """Take one message; whether the worker has ended."""
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError):
            self._bury(worker, session, queue)
            return True
        if message is None:
            self._print(worker)
            if queue:
                worker.take(queue.popleft())
                return False
            worker.stop()
            return True
        worker.told.append(message)
        name, given = message
        if name == "pytest_runtest_logfinish":
            worker.place += 1
        if name == "pytest_runtest_logreport" and given["report"]["outcome"] == "failed":
            self._print(worker)
        return False

    def _print(self, worker):
        """Call here the hooks that were called in the worker since the last time."""
        for name, given in worker.told:
            if name == "pytest_runtest_logreport":
                report = self.config.hook.pytest_report_from_serializable(
                    config=self.config, data=given["report"])
                self.config.hook.pytest_runtest_logreport(report=report)
            elif name == "pytest_warning_recorded":
                self.config.hook.pytest_warning_recorded.call_historic(kwargs=given)
            else:
                getattr(self.config.hook, name)(**given)
        worker.told.clear()

    def _bury(self, worker, session, queue):
        """The test of a worker that died has failed; those behind it are for another one."""
        self._print(worker)
        worker.stop()
        item = session.items[min(worker.place, worker.end - 1)]
        self.config.hook.pytest_runtest_logreport(report=pytest.TestReport(
            item.nodeid, item.location, {}, "failed", when="call",
            longrepr=f"{item.nodeid}: its process ended, status {worker.process.exitcode}"))
        if worker.place + 1 < worker.end:
            queue.appendleft((worker.place + 1, worker.end))


def _files(session):
    """Where the tests of each file begin and end in `session.items`; the largest files first."""
    files = collections.defaultdict(list)
    for item in session.items:
        files[_together(item)].append(item)
    largest = sorted(files.values(), key=len, reverse=True)
    session.items[:] = [item for group in largest for item in group]
    ends = [0, *itertools.accumulate(map(len, largest))]
    return collections.deque(itertools.pairwise(ends))


def _together(item):
    """What the tests of one process have in common: their file, or the runs of a ledger."""
    return "ledger_runs" if hasattr(item.module, "ledger_runs") else item.location[0]


def _stop_if_told(session):
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
