"""The command, called in this process."""

import pytest

from secondorder import cli, datasets


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Call the command in a directory of its own; gives status, output, errors."""
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
