"""A plugin for pytest: the fastest file first, and in it the fastest test; writes down how long
each test took.

`random_mutations.py` runs it. The durations stand in the file that the environment variable
`TEST_DURATIONS` names.
"""

import json
import os
from pathlib import Path

DURATIONS = "TEST_DURATIONS"
_measured = {}


def _path():
    return Path(os.environ[DURATIONS])


def pytest_collection_modifyitems(items):
    if not _path().exists():
        return
    known = json.loads(_path().read_text(encoding="utf-8"))
    files = {}
    for item in items:
        files[item.path] = files.get(item.path, 0.0) + known.get(item.nodeid, 0.0)
    items.sort(key=lambda item: (files[item.path], str(item.path), known.get(item.nodeid, 0.0)))


def pytest_runtest_logreport(report):
    _measured[report.nodeid] = _measured.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish():
    if not _path().exists():
        _path().write_text(json.dumps(_measured), encoding="utf-8")
