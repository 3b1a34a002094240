"""Every example of every `--help` is one, and what is quick works."""

import re
import shlex
import struct
from pathlib import Path

import numpy as np
import pytest

import secondorder as so
from harness import slow
from secondorder import cli, files
from secondorder.ledger.registry import REGISTRY

ROOT = Path(__file__).resolve().parents[2]
#: Commands that are run elsewhere, with all that makes them short.
ELSEWHERE = {"tour", "bench", "race", "reproduce", "book"}


def commands():
    """Name -> parser of every command."""
    return cli.parser()._subparsers._group_actions[0].choices


def examples():
    """The words of every line that begins with `secondorder` in the help of the program and of each
    command."""
    pages = [cli.parser().epilog, *(parser.epilog for parser in commands().values())]
    lines = re.findall(r"^  secondorder (.*)$", re.sub(r"\\\n +", " ", "\n".join(pages)), re.M)
    return [re.split(r"  +| \| ", line)[0] for line in lines if not line.startswith("COMMAND")]


EXAMPLES = examples()


def test_every_command_has_examples_in_its_help(run):
    for command, parser in commands().items():
        status, out, _ = run(command, "--help")
        assert status == 0 and parser.epilog in out and f"  secondorder {command}" in parser.epilog
    assert {line.split()[0] for line in EXAMPLES} == set(commands())
    for line in EXAMPLES:
        assert cli.parser().parse_args(shlex.split(line)).command == line.split()[0]


@pytest.fixture
def shelf(tmp_path):
    """The files of which the examples speak, with a few random images or rows each."""
    rng = np.random.default_rng(0)
    rows = [f"{k % 3},{a:.3f},{b:.3f}" for k, (a, b) in enumerate(rng.normal(size=(30, 2)))]
    (tmp_path / "wine.csv").write_text("\n".join(["cultivar,alcohol,ash", *rows]))
    images, labels = rng.integers(0, 256, (40, 4, 4), np.uint8), np.arange(40, dtype=np.uint8) % 10
    for name in ("mnist", "mnist-subset"):
        (tmp_path / name).mkdir()
        head = struct.pack(">HBB3I", 0, 8, 3, *images.shape)
        (tmp_path / name / "train-images-idx3-ubyte").write_bytes(head + images.tobytes())
        head = struct.pack(">HBBI", 0, 8, 1, 40)
        (tmp_path / name / "train-labels-idx1-ubyte").write_bytes(head + labels.tobytes())
    (tmp_path / "cifar-10-batches-bin").mkdir()
    rows = rng.integers(0, 10, (3, 3073), np.uint8)
    (tmp_path / "cifar-10-batches-bin" / "data_batch_1.bin").write_bytes(rows.tobytes())
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "paper.tex").write_text("Twice is $$2 x = x + x \\tag{7}$$")
    yield tmp_path
    REGISTRY.forget("my-paper")


MINE = """\
from secondorder import ledger

paper = ledger.paper("my-paper")


@paper.equation("1", statement="Twice.", formula="2 x", kind="claim", verdict="holds")
def equation_1(rng):
    x = rng.normal()
    return [ledger.Equal("twice", 2 * x, x + x, 1e-15)]
"""


HERE = [line for line in EXAMPLES if line.split()[0] not in ELSEWHERE]


@pytest.mark.parametrize("line", [*HERE[:3], *slow(HERE[3:])])
def test_example_works(run, shelf, monkeypatch, line):
    """With one epoch of training, and one equation in place of a whole paper."""
    from secondorder import ledger

    checked, known, train, written = so.verify.run, [], so.train, []  # it keeps the true one

    def short_run(paper=None, label=None, seed=0):
        known.append(ledger.registry.REGISTRY.select(paper, label))
        return checked("residual-partitioning", "9", seed)

    monkeypatch.setattr(ledger, "run", short_run)
    monkeypatch.setattr(so.datasets, "download", lambda name, say: "digits")  # needs a network
    if "--write" in line:
        monkeypatch.setattr(files, "write_text", lambda path, text: written.append(Path(path).name))
    monkeypatch.setattr(ledger, "markdown", lambda paper: f"# {paper}\n")
    monkeypatch.setattr(so, "train",
                        lambda *given, **named: train(*given, **(named | {"epochs": 1})))
    words = shlex.split(line)
    if "my-paper" in words and "--load" not in words and "new" not in words:
        so.edition.new("my-paper", shelf / "paper.tex", shelf)
    if words[0] == "grade":
        assert run("notebook", "lessons")[0] == 0
        assert run("notebook", "handed-in", "exercises/05")[0] == 0
        words[1] = words[1].replace("tutorials/", f"{ROOT}/tutorials/")
    status, out, err = run(*words)
    blank = words[0] == "grade" or words[:2] == ["edition", "test"]  # nothing is answered, checked
    assert status == int(blank) and out and "error" not in err, err
    if line.startswith("verify") and "--markdown" not in line:
        assert known and known[0]
    if "--write" in line:
        assert set(written) == {"EQUATIONS.md", "README.md", "CONTRIBUTING.md", "LETTERS.md"}
