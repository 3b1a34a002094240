"""BLAS on one thread; signals as a terminal gives them."""

import gc
import os
import signal

import pytest

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


# -- garbage ---------------------------------------------------------------------------------------
# Modules and thousands of tests live to the end. Every full collection walks through them again,
# and finds nothing: a fifth of a second each.


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    gc.disable()
    yield
    gc.enable()
    gc.freeze()


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
