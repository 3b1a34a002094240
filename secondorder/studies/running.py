"""Running studies: through any executor, one file a run, so that nothing is lost or repeated."""

import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
import time
from dataclasses import asdict

from .. import files
from ..checks import whole_number
from ..files import environment
from . import results as files_of_runs
from .data import missing, replaced
from .pictures import plain_logarithms
from .results import DIVERGED, Results
from .verdicts import undecided

DPI = 220  # of a figure, of which pages show half: for screens with two pixels in place of one
COLOURS = 64  # of a figure


class Sweep:
    """The runs of studies in one folder.

    Parameters
    ----------
    out : path
        A folder of the user's; runs go to ``runs/`` in it, and those on stand-ins for data that
        are not here to a folder that names these (``runs-without-mnist/``).
    executor : concurrent.futures.Executor, optional
        Where the runs are made. Default: in this process, one after the other.
    say : callable
        Takes a line of text.
    known : dict of str to dict
        Runs that need not be made, name -> run: those recorded with the package, say.
    """

    def __init__(self, out, executor=None, say=print, known=()):
        self.out = files.output_directory(out)
        self.executor, self.say, self.known = executor, say, dict(known)

    def present(self, study, runs):
        """Those of a study's runs that have a file."""
        return [run for run in runs if self._path(study, run).exists()]

    def complete(self, study, settings):
        """Make all runs of a study that have no file yet and are not known; return their
        :class:`Results`.
        """
        results = Results()
        while wanted := [run for run in study.runs(settings, results) if run not in results]:
            for run in wanted:
                if run.name in self.known:
                    results.add(run.name, self.known[run.name])
            for run in self.present(study, wanted):
                results.add(run.name, files_of_runs.read(self._path(study, run)))
            lacking = [run for run in wanted if run not in results]
            if lacking:
                self._make(lacking, study, results)
        return results

    def _make(self, runs, study, results):
        began, total = time.monotonic(), len(runs)
        files.output_directory(self._folder(study))
        self.say(f"  {study.key}: {total} run{'s' * (total > 1)} to make; each ends with a line")
        varied = [name for name in runs[0].arguments
                  if len({str(run.arguments.get(name)) for run in runs}) > 1]
        for done, (run, (result, seconds)) in enumerate(self._outcomes(runs), 1):
            path = self._path(study, run)
            files_of_runs.write(path, run, result, seconds, environment())
            results.add(run.name, files_of_runs.read(path))
            left = (time.monotonic() - began) / done * (total - done)
            told = " ".join(f"{name}={run.arguments.get(name)}" for name in varied) or "one run"
            ending = f"  diverged: {result[DIVERGED]}" if DIVERGED in result else ""
            self.say(f"  {study.key}: {done}/{total} runs, {duration(left)} left  ({told}: "
                     f"{seconds:.1f} s){ending}")

    def _outcomes(self, runs):
        if self.executor is None:
            for run in runs:
                yield run, timed(run.function, run.arguments)
            return
        pending = {self.executor.submit(timed, run.function, run.arguments): run for run in runs}
        try:
            for future in concurrent.futures.as_completed(pending):
                yield pending[future], future.result()
        except (concurrent.futures.BrokenExecutor, concurrent.futures.CancelledError) as error:
            raise ChildProcessError(
                "a worker process ended in the middle of a run, or the scheduler did (killed, or "
                "out of memory?). Finished runs are kept: --resume goes on") from error
        finally:
            for future in pending:
                future.cancel()

    def _path(self, study, run):
        return self._folder(study) / f"{run.name}.json"

    def _folder(self, study):
        """Of the runs on the data that are here: a stand-in's are never taken for a set's."""
        absent = missing(study.needs)
        return self.out / (f"runs-without-{'-'.join(absent)}" if absent else "runs")


def timed(function, arguments):
    """What a run returns, and its seconds; numbers that are not finite end a run, not a sweep."""
    began = time.perf_counter()
    try:
        result = function(**arguments)
    except FloatingPointError as error:
        result = {DIVERGED: str(error)}
    return result, time.perf_counter() - began


def reproduce(study, sweep, quick=False, seeds=None):
    """Run a study, judge it and draw it.

    Parameters
    ----------
    study : Study
    sweep : Sweep
    quick : bool
        The quick setting checks that everything works and decides nothing.
    seeds : int, optional
        Number of seeds; default: those of the setting.

    Returns
    -------
    dict
        What is written to ``KEY.json`` beside the figure ``KEY.png``: settings, one entry a claim,
        versions, seconds. All runs stand in ``KEY.runs.json.gz``.
    """
    settings = study.settings(quick, seeds)
    absent = missing(study.needs)
    results = sweep.complete(study, settings)
    verdicts = study.judge(results, settings)
    if set(verdicts) != set(study.claims):
        raise RuntimeError(f"[{study.paper}] {study.key} judged {sorted(verdicts)} but claims "
                           f"{sorted(study.claims)}")
    reason = "the quick setting decides nothing" if quick else replaced(absent)
    if quick or absent:
        verdicts = {letter: undecided(reason, one.seeds, one.effect)
                    for letter, one in verdicts.items()}
    picture = sweep.out / f"{study.key}.png"
    draw(study, results, picture, settings, "quick setting" if quick else "")
    record = {"paper": study.paper, "key": study.key, "shows": study.shows, "settings": settings,
              "quick": quick, "stand_ins": absent,
              "runs": len(results), "run_seconds": results.seconds,
              "figure": picture.name, "environment": environment(),
              "claims": [{"letter": letter, "claim": text, **asdict(verdicts[letter])}
                         for letter, text in study.claims.items()]}
    files_of_runs.write_all(sweep.out / f"{study.key}.runs.json.gz", results, study.packed)
    files.write_json(sweep.out / f"{study.key}.json", record)
    return record


def names(study):
    """The files that `reproduce` writes."""
    return [f"{study.key}{ending}" for ending in (".json", ".png", ".runs.json.gz")]


def draw(study, results, path, settings, note=""):
    """Write the figure of a study."""
    from matplotlib.figure import Figure  # here, so that listing studies does not wait for it

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    study.draw(results, figure, settings)
    plain_logarithms(figure)
    if note:
        # in a corner that no legend below the panels reaches
        figure.text(0.002, 0.005, note, ha="left", va="bottom", rotation=90, fontsize=7,
                    color="0.4")
    files.write_figure(path, figure, dpi=DPI, colours=COLOURS)


@contextlib.contextmanager
def processes(jobs):
    """An executor of `jobs` processes, each with one BLAS thread; they end with the block.

    One job gives no executor: the runs are made in this process.
    """
    if whole_number(jobs, "jobs", 1) == 1:
        yield None
        return
    context = multiprocessing.get_context("spawn")  # BLAS reads the number of threads when loaded
    before = {name: os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
                                                      "MKL_NUM_THREADS")}
    os.environ.update(dict.fromkeys(before, "1"))
    pool = concurrent.futures.ProcessPoolExecutor(jobs, context, initializer=_leave_signals)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        workers = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()
        raise
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _leave_signals():
    """Ctrl-C reaches all processes of a terminal: the one that collects the results decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def duration(seconds):
    """A time as a person says it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
