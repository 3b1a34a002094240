"""How loops are compiled, and where what was compiled is kept."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import secondorder
from secondorder.kernels import compiling


def test_numba_is_loaded_only_when_needed():
    said = run("import sys, secondorder as so, secondorder.training; net = so.mlp([2, 2], rng=0)\n"
               "sgd = so.SGD(net, so.SquaredError()); net.summary(); net([[1.0, 2.0]])\n"
               "print('numba' in sys.modules)\n"
               "so.Activation('tanh').forward(net.theta); print('numba' in sys.modules)")
    assert said.split()[-2:] == ["False", "True"]


def run(code, *arguments, **variables):
    """What code prints in another interpreter, with these variables; it says no error."""
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)],
                          env=kept | {name: str(value) for name, value in variables.items()},
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


def folder_of_cache(**variables):
    """Where the loops say that they are kept, after one of them ran with these variables."""
    return Path(run("import numpy as np; from secondorder.kernels.losses import all_but; "
                    "all_but(np.ones(3), 0); print(all_but.compiled().stats.cache_path)",
                    **variables).strip())


def beside_the_sources():
    """Compiled loops that stand in the package's folder."""
    package = Path(secondorder.__file__).parent
    return [file for pattern in ("*.nbi", "*.nbc") for file in package.rglob(pattern)]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the place is Linux's")
def test_loops_are_kept_in_the_users_folder_and_never_beside_the_sources(tmp_path):
    said = folder_of_cache(XDG_CACHE_HOME=tmp_path)
    version = said.relative_to(tmp_path / "secondorder" / "kernels").parts[0]
    assert version.startswith(secondorder.__version__) and f"numba{numba.__version__}" in version
    assert list(said.glob("*.nbi")) and not beside_the_sources()


@pytest.mark.slow
def test_the_folder_that_the_user_names_is_taken(tmp_path):
    said = folder_of_cache(NUMBA_CACHE_DIR=tmp_path / "mine")
    assert said.is_relative_to(tmp_path / "mine") and list(said.glob("*.nbi"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the place is Linux's")
@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "NUMBA_CACHE_DIR"])
def test_without_a_folder_to_write_to_loops_live_in_memory(variable, tmp_path):
    (tmp_path / "file").write_text("no folder can be made in here")
    folder_of_cache(**{variable: tmp_path / "file" / "cache"})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert not beside_the_sources()


def test_the_setting_of_numba_stays_what_it_was():
    before = numba.config.CACHE_DIR
    compiling.loop(lambda x: x).compiled()
    assert numba.config.CACHE_DIR == before


def test_a_changed_loop_has_another_folder(monkeypatch, tmp_path):
    """numba would not notice a change in a function that another one calls."""
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "compiling.py"))
    (tmp_path / "exponential.py").write_text("a = 1")
    first = compiling.cache_folder.__wrapped__()
    assert compiling.cache_folder.__wrapped__() == first
    (tmp_path / "exponential.py").write_text("a = 2")
    assert compiling.cache_folder.__wrapped__() != first


def test_a_loop_is_copied_and_pickled_as_itself():
    code = ("import copy, pickle; from secondorder.kernels import outer as module; "
            "k = module.outer; assert copy.deepcopy(k) is k and pickle.loads(pickle.dumps(k)) is k")
    run(code)


ON_A_FULL_DISK = """
import errno, os, resource, signal, sys
import numpy as np, secondorder as so, numba.core.caching as caching
net = so.mlp([3, 4, 2], rng=0)
optimizer = so.Adam(net, so.SquaredError())
limit, number = int(sys.argv[1]), int(sys.argv[2])
if limit >= 0:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
else:
    def full(*arguments):
        raise OSError(number, os.strerror(number))
    caching.IndexDataCacheFile._save_data = full
for _ in range(2):
    optimizer.step(np.ones((2, 3)), np.ones((2, 2)))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(net.theta.tobytes().hex())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="limits of files are Linux's")
def test_with_a_full_cache_disk_loops_live_in_memory(tmp_path):
    """File too large (27) for any file, for those of loops, and a disk or a quota that is full (28,
    122) only as the loops are written."""
    right = run(ON_A_FULL_DISK, 10**9, 0, NUMBA_CACHE_DIR=tmp_path / "large")
    assert list((tmp_path / "large").rglob("*.nbc"))
    for limit, number in ((0, 0), (4000, 0), (-1, errno.ENOSPC), (-1, errno.EDQUOT)):
        folder = tmp_path / f"{limit} {number}"
        assert run(ON_A_FULL_DISK, limit, number, NUMBA_CACHE_DIR=folder) == right
        assert not [path for path in folder.rglob("*") if ".tmp." in path.name]
        indices = {path.stem for path in folder.rglob("*.nbi")}
        kept = {path.name.rpartition(".")[0].rpartition(".")[0] for path in folder.rglob("*.nbc")}
        assert indices <= kept, "no index names loops that are not there"
        assert run(ON_A_FULL_DISK, 10**9, 0, NUMBA_CACHE_DIR=folder) == right
    assert not beside_the_sources()


@pytest.mark.slow
def test_code_for_other_types_is_not_taken(tmp_path):
    """Two processes that write at the same time may give their files the same number."""
    code = ("import numpy as np; from secondorder.kernels.losses import all_but\n"
            "for dtype in ('float64', 'float32'):\n"
            "    print(all_but(np.full(4, 3, dtype), 0), len(all_but.compiled().stats.cache_hits))")
    assert run(code, NUMBA_CACHE_DIR=tmp_path) == "9.0 0\n9.0 0\n"
    one, other = (path for path in tmp_path.rglob("*.all_but-*.nbc"))
    swapped = one.read_bytes(), other.read_bytes()
    other.write_bytes(swapped[0])
    one.write_bytes(swapped[1])
    assert run(code, NUMBA_CACHE_DIR=tmp_path) == "9.0 0\n9.0 0\n"
    assert run(code, NUMBA_CACHE_DIR=tmp_path) == "9.0 1\n9.0 2\n", "written anew"


@pytest.mark.slow
@pytest.mark.parametrize("ending, damaged", [(".nbi", lambda raw: raw[: len(raw) // 2]),
                                             (".nbc", lambda raw: b"\x80nonsense" * 20)])
def test_a_damaged_cache_of_compiled_loops_is_made_anew(tmp_path, ending, damaged):
    code = ("import numpy as np; from secondorder.kernels import outer; a = np.ones((1, 2)); "
            "b = np.empty((1, 2, 2)); outer.outer(a, 2 * a, b)\n"
            "assert b.tolist() == [[[2, 2], [2, 2]]]; print('right')")
    assert run(code, NUMBA_CACHE_DIR=tmp_path) == "right\n"
    for file in tmp_path.rglob(f"*{ending}"):
        file.write_bytes(damaged(file.read_bytes()))
    for _ in range(2):
        assert run(code, NUMBA_CACHE_DIR=tmp_path) == "right\n"


def test_a_folder_that_is_there_is_written_to(tmp_path):
    for folder in (tmp_path, tmp_path / "new"):
        assert compiling._writable.__wrapped__(str(folder))
    (tmp_path / "file").write_text("")
    assert not compiling._writable.__wrapped__(str(tmp_path / "file" / "below"))
