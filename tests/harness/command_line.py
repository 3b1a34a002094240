"""The fixture `run`: the command line, called from a folder of its own."""

import pytest


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
