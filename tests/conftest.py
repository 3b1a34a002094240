"""BLAS on one thread; and, for a run on a copy of the package, make sure that it is the copy that is tested."""

import os
from pathlib import Path

import pytest

# NumPy reads it when it is loaded. The networks are small: a second thread gains nothing, and costs much on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

COPY = "SECONDORDER_COPY"  # set by test_mutations.py


def pytest_configure(config):
    folder = os.environ.get(COPY)
    if folder is None:
        return
    import secondorder

    if not Path(secondorder.__file__).resolve().is_relative_to(Path(folder).resolve()):
        raise pytest.UsageError(f"the tests of the copy {folder} found another secondorder: {secondorder.__file__}")
