"""Files: whole or not there, and a damaged one is named."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from secondorder import files


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    target = tmp_path / "a.json"
    files.write_json(target,
                     {"x": np.arange(2), "y": np.float32(0.5), "z": float("nan"), "p": Path("q")})
    assert json.loads(target.read_text()) == {"x": [0, 1], "y": 0.5, "z": None, "p": "q"}
    (tmp_path / "link").symlink_to(target)

    def broken(old, new):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", broken)
        with pytest.raises(OSError, match="link"):
            files.write_text(tmp_path / "link", "half")
    assert json.loads(target.read_text())["y"] == 0.5
    assert sorted(os.listdir(tmp_path)) == ["a.json", "link"]
    files.write_text(tmp_path / "link", "whole")
    assert target.read_text() == "whole" and (tmp_path / "link").is_symlink()
    with pytest.raises(FileNotFoundError, match="none"):
        files.write_text(tmp_path / "none" / "b", "")


def test_a_damaged_archive_is_named(tmp_path):
    path = tmp_path / "a.npz"
    files.write_arrays(path, x=np.arange(200.0))
    whole = path.read_bytes()
    assert files.read_arrays(path, "numbers")["x"][3] == 3
    for raw in (whole[:-30], whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], b"text"):
        path.write_bytes(raw)
        with pytest.raises(files.Damaged, match="a.npz: not numbers, or a damaged one"):
            files.read_arrays(path, "numbers")
