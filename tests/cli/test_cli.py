"""The command line: what it prints and writes, and that bad input ends in one clear line with
status 2."""

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import signal
import struct
import subprocess
import sys
import webbrowser
from pathlib import Path

import numpy as np
import pytest

import secondorder as so
from harness import ledger_runs
from secondorder import bench, book, cli, datasets, files
from secondorder.cli.tour import running as touring
from secondorder.cli.tour import sections, trainings
from secondorder.cli.tour.derivative_checks import PAIRS, _product_error, check_derivatives
from secondorder.cli.train import RACE_NAMES
from secondorder.exact.finite_differences import Difference
from secondorder.ledger.registry import REGISTRY

ROOT = Path(__file__).resolve().parents[2]


# -- verify and show -------------------------------------------------------------------------------


def test_verify_json(run):
    status, out, _ = run("verify", "residual-partitioning", "3", "--json", "--seed", 5)
    (entry,) = json.loads(out)
    assert (
        status == 0
        and entry["paper"] == "residual-partitioning"
        and "3" in entry["labels"]
        and entry["ok"] is True
    )
    assert 0 <= entry["error"] <= entry["tolerance"] and entry["implements"]


def test_verify_reports_failure_by_status(run, monkeypatch):
    from secondorder import ledger

    result = ledger.run("residual-partitioning", "3")[0]
    result.message = "planted"
    monkeypatch.setattr(ledger, "run", lambda *arguments: [result])
    status, out, _ = run("verify", "residual-partitioning", "3")
    assert status == 1 and "planted" in out
    monkeypatch.setattr(ledger, "run", lambda *arguments: [])
    assert run("verify")[0] == 1, "nothing checked is not success"


def test_verify_markdown(run, tmp_path, monkeypatch):
    import importlib.util

    from secondorder.cli import equations

    monkeypatch.setattr("secondorder.ledger.markdown", lambda paper: f"# page of {paper}\n")
    assert run("verify", "residual-partitioning",
               "--markdown")[1] == "# page of residual-partitioning\n"

    class Spec:
        origin = str(tmp_path / "__init__.py")

    monkeypatch.setattr(importlib.util, "find_spec",
                        {"secondorder.papers.residual_partitioning": Spec}.get)
    tables = []  # the README of this checkout is left alone
    monkeypatch.setattr(equations, "_write_readme", tables.append)
    status, out, _ = run("verify", "residual-partitioning", "--markdown", "--write")
    assert tables == [ROOT / "README.md"]
    assert status == 0 and (tmp_path
                            / "EQUATIONS.md").read_text() == "# page of residual-partitioning\n"
    assert os.listdir(tmp_path) == ["EQUATIONS.md"], "no temporary file is left"


def test_show(run):
    status, out, _ = run("show")
    assert status == 0 and "residual-partitioning" in out
    status, labels, _ = run("show", "residual-partitioning")
    assert status == 0 and any(line.startswith("3 ") for line in labels.splitlines())
    status, out, _ = run("show", "residual-partitioning", "3")
    assert status == 0 and "both sides (seed 0)" in out and "def " in out


@pytest.mark.thorough
def test_show_json_is_what_verify_says_and_the_formulas(run):
    for label in (["3"], ["Theorem", "1"]):
        status, out, _ = run("show", "residual-partitioning", *label, "--json", "--seed", 5)
        shown = json.loads(out)
        (checked,) = json.loads(run("verify", "residual-partitioning", *label, "--json",
                                    "--seed", 5)[1])
        assert status == 0 and set(shown) - set(checked) == {"formula", "corrected"}
        assert all(shown[name] == checked[name] for name in set(checked) - {"seconds"})
        with ledger_runs.shared():
            page = run("verify", "residual-partitioning", "--markdown")[1]
        assert "condition" in shown and shown["formula"] in page
    status, _, err = run("show", "residual-partitioning", "--json")
    assert status == 2 and "LABEL" in err


def test_a_command_s_errors_show_its_own_usage(run):
    for command in ("show", "verify", "train"):
        status, _, err = run(command, "--nothing")
        assert status == 2 and f"usage: secondorder {command} " in err and "--nothing" in err


def test_words_form_one_label_and_help_says_so(run):
    for command in ("show", "verify"):
        assert "several words are one label" in " ".join(run(command, "--help")[1].split())


# -- data and train --------------------------------------------------------------------------------


def test_data(run, tmp_path):
    status, out, _ = run("data")
    assert status == 0 and all(name in out for name in ("digits", "wine", "diabetes", "1797"))
    (tmp_path / "table.csv").write_text("1,2,3\n4,5,6\n")
    status, out, _ = run("data", "csv:table.csv", "--json")
    assert json.loads(out)[0]["rows"] == 2 and json.loads(out)[0]["classes"] is None


def test_train_writes_what_it_says(run, tmp_path):
    status, out, _ = run("train", "--data", "wine", "--hidden", 5, "--epochs", 3, "--batch-size",
                         30, "--out", "made")
    assert status == 0 and "written" in out
    assert sorted(os.listdir("made")) == ["history.json", "learning-curves.png", "parameters.npz"]
    history = json.loads(Path("made/history.json").read_text())
    assert history["settings"]["seed"] == 0 and history["environment"]["numpy"] == np.__version__
    losses = [record["train_loss"] for record in history["records"]]
    assert len(losses) == 4 and losses[-1] < losses[0]
    assert np.load("made/parameters.npz")["theta"].shape == (13 * 5 + 5 + 5 * 3 + 3,)


def test_train_is_decided_by_the_seed(run):
    def losses(*words):
        records = json.loads(run("train", "--data", "wine", "--epochs", 2, "--json",
                                 *words)[1])["records"]
        return [record["validation_loss"] for record in records]

    assert losses() == losses("--seed", 0) != losses("--seed", 1)


@pytest.mark.everyday(3)
@pytest.mark.parametrize(
    "optimizer", ["sgd", "momentum", "adagrad", "adadelta", "adam", "truncated-newton",
                  "residual-partitioning",
                  "cubic-regularization"]
)
def test_train_with_every_optimizer(run, optimizer):
    status, out, err = run(
        "train", "--data", "diabetes", "--hidden", 4, "--epochs", 2, "--optimizer", optimizer,
        "--json"
    )
    records = json.loads(out)["records"]
    assert status == 0 and err == "" and records[-1]["train_loss"] < records[0]["train_loss"]


@pytest.mark.parametrize("options", RACE_NAMES.values())
def test_train_as_an_error_about_the_race_tells(run, options):
    status, out, _ = run("train", "--hidden", 4, "--epochs", 2, "--optimizer", *options.split())
    assert status == 0 and "epoch    2" in out


def test_train_autoencoder_with_options(run):
    status, out, _ = run(
        "train",
        "--autoencoder",
        "--hidden",
        8,
        2,
        8,
        "--output",
        "tanh",
        "--epochs",
        1,
        "--optimizer",
        "residual-partitioning",
        "--set",
        "penalty=plain",
        "--set",
        "damping=1e-3",
        "--l2",
        "1e-2",
        "--json",
    )
    results = json.loads(out)
    assert status == 0 and results["settings"]["set"] == {"penalty": "plain", "damping": 1e-3}
    assert (
        "train_accuracy" not in results["records"][0] and results["records"][0]["train_loss"] > 5
    ), "summed over 64 pixels"


def test_train_without_hidden_layers(run):
    assert (
        json.loads(run("train", "--data", "wine", "--hidden", "--epochs", 1,
                       "--json")[1])["parameters"] == 13 * 3 + 3
    )


def test_diverging_training_keeps_what_was_recorded(run):
    status, _, err = run(
        "train", "--optimizer", "sgd", "--learning-rate", "1e200", "--activation", "relu", "--out",
        "made"
    )
    assert status == 2 and "step" in err and err.count("\n") == 1
    history = json.loads(Path("made/history.json").read_text())
    assert "step" in history["stopped"] and len(history["records"]) >= 1


class Interrupting(io.StringIO):
    """An error stream on a terminal where Ctrl-C is pressed once a line about an epoch appears."""

    epoch = 0

    def isatty(self):
        return True

    def write(self, text):
        if f"epoch {self.epoch}/" in text:
            signal.raise_signal(signal.SIGINT)
        return super().write(text)


@pytest.mark.parametrize("epoch", [0, 3])
def test_interrupted_training_keeps_what_was_recorded(run, monkeypatch, epoch):
    stream = Interrupting()
    stream.epoch = epoch
    monkeypatch.setattr("sys.stderr", stream)
    status, out, _ = run("train", "--data", "wine", "--hidden", 5, "--epochs", 1000, "--out",
                         "made")
    assert status == 130 and stream.getvalue().endswith("secondorder train: interrupted\n")
    assert sorted(os.listdir("made")) == ["history.json", "learning-curves.png", "parameters.npz"]
    history = json.loads(Path("made/history.json").read_text())
    assert history["stopped"] == "interrupt" and [r["epoch"] for r in history["records"]] == list(
        range(epoch + 1)
    )
    theta = np.load("made/parameters.npz")["theta"]
    assert theta.size == history["parameters"] == 13 * 5 + 5 + 5 * 3 + 3
    assert out.count("written: made") == 3 and f"epoch {epoch:4}" in out
    stream.epoch = -1
    run("train", "--data", "wine", "--hidden", 5, "--epochs", 3, "--out", "whole")
    assert np.array_equal(theta, np.load("whole/parameters.npz")["theta"]) == (epoch == 3)
    whole = json.loads(Path("whole/history.json").read_text())["records"]
    assert whole[epoch]["train_loss"] == history["records"][epoch]["train_loss"]


def test_interrupt_before_anything_was_recorded(run, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("secondorder.training.loop.evaluate", interrupt)
    status, out, err = run("train", "--data", "wine", "--out", "made")
    assert (status, out, err) == (130, "",
                                  "secondorder train: interrupted\n") and os.listdir("made") == []
    monkeypatch.setattr(datasets, "load", interrupt)
    assert run("train")[0] == 130


@pytest.mark.parametrize("data, more", [("wine", []), ("diabetes", []),
                                        ("wine", ["--autoencoder"])])
def test_training_on_all_data(run, data, more):
    words = ["train", "--data", data, *more, "--validation", "0", "--out", "made"]
    words += ["--epochs", "1", "--batch-size", "1"]
    status, out, err = run(*words)
    assert status == 0 and err == "" and "(training; nothing is held out)" in out
    assert " / " not in out.partition("(training")[0]
    record = json.loads(Path("made/history.json").read_text())["records"][-1]
    assert record["step"] == len(datasets.load(data)) and "validation_loss" not in record


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_training_that_stops_before_the_first_epoch(run, words):
    """A target far outside of what the training part shows: the loss of the validation part
    overflows at once."""
    rows = np.random.default_rng(0).normal(size=(40, 3))
    held_out = datasets.split((np.arange(40),), 0.2, np.random.default_rng(0).spawn(3)[0])[1][0][0]
    rows[held_out, 2] = 1e300
    np.savetxt("table.csv", rows, delimiter=",")
    Path("made").mkdir()
    files.write_json("made/history.json", {"of": "another run"}, command="train")
    before = Path("made/history.json").read_text()
    status, out, err = run("train", "--data", "csv:table.csv", "--out", "made", *words)
    assert status == 2 and out == ""
    assert re.fullmatch(r"secondorder train: error: training stopped in epoch 0, step 0: .*loss of "
                        r"sample.*\n", err)
    assert (
        os.listdir("made") == ["history.json"]
        and Path("made/history.json").read_text() == before
    )


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.everyday(8)
@pytest.mark.parametrize(
    "words, expected",
    [
        (["train", "--data", "digts"], "did you mean 'digits'"),
        (["train", "--optimizer", "adm"], "did you mean 'adam'"),
        (["train", "--optimizer", "kfac"], "here it is --optimizer ea-cg --set solver=kfi"),
        (["race", "--methods", "cubic-regularization"], "'cubic-sgd' or 'cubic-adam'"),
        (["train", "--optimizer", "cubic-regularization", "--base", "adm"], "did you mean 'adam'"),
        (["train", "--optimizer", "cubic-regularization", "--set", "sigm=1"],
         "did you mean 'sigma'"),
        (["train", "--optimizer", "adam", "--base", "sgd"], "--base is for cubic-regularization"),
        (["train", "--optimizer", "adam", "--set", "beta=3"], "did you mean 'betas'"),
        (["train", "--optimizer", "adam", "--set", "beta"], "NAME=VALUE"),
        (["train", "--activation", "tan"], "did you mean 'tanh'"),
        (["train", "--loss", "cros-entropy"], "did you mean 'cross-entropy'"),
        (["train", "--data", "diabetes", "--loss", "cross-entropy"], "real targets"),
        (["train", "--learning-rate", "-1"], "--learning-rate: expected a number above 0"),
        (["train", "--learning-rate", "0"], "above 0"),
        (["train", "--learning-rate", "nan"], "finite"),
        (["train", "--epochs", "0"], "--epochs: expected a whole number from 1"),
        (["train", "--epochs", "2.5"], "whole number"),
        (["train", "--batch-size", "0"], "--batch-size"),
        (["train", "--hidden", "0"], "--hidden"),
        (["train", "--l2", "-1"], "--l2"),
        (["train", "--validation", "1"], "expected a number from 0 to below 1, given 1"),
        (["train", "--seed", "-1"], "--seed"),
        (["train", "--data", "idx:nowhere"], "nowhere"),
        (["train", "--out", "no/such/place"], "does not exist: no/such"),
        (["tour", "--out", "no/such/place"], "does not exist: no/such"),
        (["verify", "residual-partitoning"], "did you mean 'residual-partitioning'"),
        (["verify", "residual-partitioning", "theorme 1"], "did you mean"),
        (["verify", "--write"], "--markdown"),
        (["verify", "residual-partitioning", "3", "--markdown"], "whole papers"),
        (["show", "residual-partitioning", "99"], "no label '99'"),
        (["show", "nosuchthing"], "unknown paper"),
        (["data", "wines"], "did you mean 'wine'"),
        (["dance"], "invalid choice"),
        ([], "COMMAND"),
    ],
)
def test_bad_input(run, words, expected):
    status, out, err = run(*words)
    assert status == 2 and out == ""
    assert expected in err.splitlines()[-1] and "Traceback" not in err


def test_out_is_a_file_or_cannot_be_written(run, tmp_path):
    (tmp_path / "file").write_text("")
    assert "not a directory: file" in run("train", "--out", "file")[2]
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if os.access(closed, os.W_OK):
        return  # the superuser may write anywhere
    status, _, err = run("train", "--out", "closed")
    assert status == 2 and "cannot write to the output directory: closed" in err


def test_truncated_data_file_is_named(run, tmp_path, monkeypatch):
    monkeypatch.setenv(datasets.DATA_VARIABLE, str(tmp_path / "shelf"))
    folder = tmp_path / "shelf" / "mine"
    folder.mkdir(parents=True)
    (folder / "test_batch.bin").write_bytes(bytes(5000))
    (folder / "data_batch_1.bin").write_bytes(bytes(5000))
    status, _, err = run("train", "--data", "cifar-10:mine")
    assert status == 2 and "data_batch_1.bin" in err and "5000 bytes" in err


def test_traceback_on_request(run):
    with pytest.raises(ValueError, match="digits"):
        run("train", "--data", "digts", "--traceback")


def test_help_teaches(run):
    for command in ("tour", "verify", "show", "train", "data", "bench"):
        status, out, _ = run(command, "--help")
        assert status == 0 and f"  secondorder {command}" in out.split("examples:")[1]


def test_help_of_the_tour_lists_every_section(run):
    out = run("tour", "--help")[1]
    listed = re.findall(r"^  (\d)\. ", out, re.M)
    assert listed == [str(1 + number) for number in range(len(sections.SECTIONS))]


def test_help_promises_no_verdict_of_the_quick_setting(run):
    (line,) = (line for line in run("--help")[1].splitlines() if "--quick" in line)
    assert "judge" not in line


def test_compare_names_every_kind_of_data(run):
    told = " ".join(run("compare", "--help")[1].split())
    for name in (*datasets.EMBEDDED, *datasets.FORMS):
        assert name in told


# -- examples --------------------------------------------------------------------------------------


def examples():
    """The words of every line that begins with `secondorder` in the help of the program and of each
    command."""
    top = cli.parser()
    (commands,) = (action for action in top._actions
                   if isinstance(action, argparse._SubParsersAction))
    pages = [top.epilog, *(parser.epilog for parser in commands.choices.values())]
    lines = re.findall(r"^  secondorder (.*)$", re.sub(r"\\\n +", " ", "\n".join(pages)), re.M)
    return [re.split(r"  +| \| ", line)[0] for line in lines if not line.startswith("COMMAND")]


EXAMPLES = examples()


def test_examples_are_found():
    assert len(EXAMPLES) >= 20 and len({line.split()[0] for line in EXAMPLES}) >= 11
    assert (
        "show residual-partitioning 9" in EXAMPLES
        and "train --data wine --optimizer adam" in EXAMPLES
    )


@pytest.fixture
def shelf(tmp_path, monkeypatch):
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
    (tmp_path / "method.py").write_text(METHOD)
    for name in ("paper.tex", "paper.md"):
        (tmp_path / name).write_text("Twice is $$2 x = x + x \\tag{7}$$")
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


METHOD = """\
import secondorder as so


class Sign(so.optimizers.Optimizer):
    def direction(self, evaluation):
        return -abs(self.gradient(evaluation)) ** 0.5
"""


def small_race(monkeypatch):
    """A race that is over at once."""
    from secondorder.race import live

    monkeypatch.setattr(live, "seconds_of", lambda problem, minutes, methods: 1e-3)


def small_bench(monkeypatch):
    """Every case once, on the smallest network, and without PyTorch."""
    from secondorder.bench import pytorch, runs, scaling

    def tiny(case, setting, effort, against=None):
        assert setting.sizes and effort.blocks >= 3
        return measure(case, bench.Setting("3-2-2", batch=2, dtype=setting.dtype),
                       bench.Effort(1, 0, 0))

    measure = runs.measure
    monkeypatch.setattr(bench, "measure", tiny)
    monkeypatch.setattr(scaling, "measure", tiny)
    monkeypatch.setattr(pytorch, "imported", lambda threads: None)


def small_studies(monkeypatch):
    """Only the study that takes a second, and in this process."""
    from secondorder.studies import STUDIES, running

    quick = STUDIES.of("low-rank")["claim-step-cost"]
    monkeypatch.setattr(STUDIES, "select", lambda paper=None, keys=(): [quick])
    monkeypatch.setattr(running, "processes", lambda jobs: contextlib.nullcontext())
    monkeypatch.setattr(type(quick), "settings", lambda self, *_: self.quick)


@pytest.mark.everyday(3)
@pytest.mark.parametrize("line", EXAMPLES)
def test_example_works(run, shelf, monkeypatch, line):
    """Every example runs, with one epoch of training, an empty tour, and one equation in place of a
    whole paper."""
    from secondorder import ledger

    checked, known, train, written = ledger.run, [], so.train, []

    def short_run(paper=None, label=None, seed=0):
        known.append(ledger.registry.REGISTRY.select(paper, label))
        return checked("residual-partitioning", "9", seed)

    monkeypatch.setattr(ledger, "run", short_run)
    monkeypatch.setattr(so.datasets, "download", lambda name, say: "digits")  # needs a network
    if "--write" in line:
        for place in (files, files.writing):
            monkeypatch.setattr(place, "write_text",
                                lambda path, text: written.append(Path(path).name))
    monkeypatch.setattr(ledger, "markdown", lambda paper: f"# {paper}\n")
    monkeypatch.setattr(so, "train",
                        lambda *given, **named: train(*given, **(named | {"epochs": 1})))
    monkeypatch.setattr(touring, "run", lambda out, seed, say, undisturbed: say("the tour")
                        or {"ok": out.is_dir()})
    small_bench(monkeypatch)
    small_race(monkeypatch)
    small_studies(monkeypatch)
    words = shlex.split(line)
    if "my-paper" in words and "--load" not in words and "new" not in words:
        so.edition.new("my-paper", shelf / "paper.tex", shelf)
    if words[0] == "grade":
        assert run("notebook", "lessons")[0] == 0
        assert run("notebook", "handed-in", "exercises/05")[0] == 0
        words[1] = words[1].replace("tutorials/", f"{ROOT}/tutorials/")
    if words[0] == "book":
        monkeypatch.setattr(book, "write",
                            lambda out, paper, seeds, jobs: Path(out) / "index.html")
        monkeypatch.setattr(book, "write_single",
                            lambda out, paper, seeds, jobs: Path(out) / f"{paper}.html")
        monkeypatch.setattr(webbrowser, "open", lambda address: True)
    status, out, err = run(*words)
    blank = words[0] == "grade" or words[:2] == ["edition", "test"]  # nothing is answered, checked
    assert status == int(blank) and out and "error" not in err
    if line.startswith("verify") and "--markdown" not in line:
        assert known and known[0]
    if "--write" in line:
        assert set(written) == {"EQUATIONS.md", "README.md"}


# -- the process -----------------------------------------------------------------------------------


def process(*words, **options):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env=environment, check=False,
        timeout=120, **options
    )


@pytest.mark.thorough
def test_as_a_module(tmp_path):
    said = process("-m", "secondorder", "--version", cwd=tmp_path)
    assert said.returncode == 0 and said.stdout.strip() == f"secondorder {so.__version__}"
    said = process("-m", "secondorder", "verify", "nothing", cwd=tmp_path)
    assert said.returncode == 2 and said.stdout == "" and said.stderr.count("\n") == 1


@pytest.mark.thorough
def test_reader_that_goes_away(tmp_path):
    script = ("import sys; from secondorder.cli import main; "
              "sys.exit(main(['show', 'residual-partitioning']))")
    with subprocess.Popen(
        [sys.executable, "-u", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as child:
        child.stdout.close()
        errors = child.stderr.read()
        assert child.wait(60) == 1 and b"Traceback" not in errors


FULL = Path("/dev/full")


@pytest.mark.thorough
@pytest.mark.skipif(not FULL.is_char_device(), reason="no device that is always full")
@pytest.mark.parametrize("unbuffered", [True, False])
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_files_are_there_although_the_output_cannot_be_written(tmp_path, unbuffered, words):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1" if unbuffered
                                else ""}
    train = [sys.executable, "-m", "secondorder", "train", "--data", "wine", "--epochs", "1",
             "--out", "made", *words]
    with FULL.open("w") as full:
        said = subprocess.run(train, stdout=full, stderr=subprocess.PIPE, cwd=tmp_path,
                              env=environment, text=True,
                              timeout=120, check=False)
    assert (
        said.returncode == 2
        and "No space left" in said.stderr
        and "Exception ignored" not in said.stderr
    )
    assert "Traceback" not in said.stderr
    assert sorted(os.listdir(tmp_path / "made")) == ["history.json", "learning-curves.png",
                                                     "parameters.npz"]


def test_a_closed_output_is_no_error(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        assert cli.main(["data"]) == 0
    assert errors.getvalue() == ""


# -- the tour --------------------------------------------------------------------------------------


def test_polarisation_in_the_tour_takes_few_passes_and_can_fail(monkeypatch):
    """Three second directional derivatives a pair, where the whole matrix takes P^2 / 2."""
    rng = np.random.default_rng(0)
    net, loss = so.mlp([3, 4, 3], rng=rng), so.SoftmaxCrossEntropy()
    data, jets, jet = (rng.standard_normal((6, 3)), rng.integers(0, 3, 6)), [], so.exact.two_jet
    monkeypatch.setattr(so.exact, "two_jet", lambda *a, **named: jets.append(a) or jet(*a, **named))
    assert all(check.ok for check in check_derivatives(net, loss, *data, rng=0))
    assert len(jets) == 3 * PAIRS + 1
    right = so.nets.Activation.second_tangent
    monkeypatch.setattr(so.nets.Activation, "second_tangent", lambda self, *a: -right(self, *a))
    failed = {check.quantity for check in check_derivatives(net, loss, *data, rng=0)
              if not check.ok}
    assert failed == {"Hessian, by polarisation", "v'Hv, forward passes only"}


@pytest.mark.thorough
def test_tour_in_short(run, monkeypatch):
    for name in ("EPOCHS", "AUTOENCODER_EPOCHS", "CLASSIFIER_EPOCHS", "CURVATURE_EPOCHS",
                 "PLATEAU_ITERATIONS"):
        monkeypatch.setattr(sections, name, 1)
    status, out, err = run("tour", "--out", "made", "--json")
    results, kept = json.loads(out), json.loads(Path("made/tour.json").read_text())
    assert kept.pop("sealed").startswith("secondorder tour sha256:")
    assert (
        status == 0
        and results == kept
        and results["ok"] is True
    )
    drawn = {figure["file"] for figure in results["figures"]}
    assert drawn == {"exact-hessian.png", "learning-curves.png", "residual-partitioning.png",
                     "diagonal-bound.png",
                     "reversible-gauss-newton.png", "curvature-errors.png", "plateau.png"}
    assert set(os.listdir("made")) == drawn | {"tour.json"}
    checks = results["derivatives"]["checks"]
    assert {check["quantity"].split(",")[0] for check in checks} >= {
        "gradient",
        "Jacobian of the outputs",
        "Hessian",
        "Hessian-vector product",
        "Gauss-Newton matrix",
    }
    assert all(check["ok"] and check["error"] <= check["tolerance"] for check in checks)
    assert "Hessian, by polarisation" in err and "written to made" in err
    assert set(results["classifier"]["runs"]) == {"SGD, rate 0.1", "Adam, rate 0.003",
                                                  "truncated Newton"}


def test_tour_fails_with_a_failing_check(run, monkeypatch):
    def failing(out, training, validation, seed, say):
        return "derivatives", {"ok": False}

    monkeypatch.setattr(sections, "SECTIONS", (("planted", failing), ("bound", sections.bound)))
    status, out, _ = run("tour", "--json")
    assert status == 1 and 0 < json.loads(out)["seconds"] < 60


@pytest.mark.everyday(1)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_derivative_checks_pass_and_can_fail(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    net, loss = so.mlp([3, 4, 3], rng=rng), so.SoftmaxCrossEntropy()
    x, y = rng.standard_normal((6, 3)), rng.integers(0, 3, 6)
    assert all(check.ok for check in check_derivatives(net, loss, x, y, l2=0.1, rng=seed))
    right = so.nets.Activation.backward_tangent

    def wrong(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        return right(self, saved._replace(curvature=-saved.curvature), x_tangent, theta_tangent,
                     y_bar, y_bar_tangent)

    monkeypatch.setattr(so.nets.Activation, "backward_tangent", wrong)
    with so.literal():
        checks = check_derivatives(net, loss, x, y, l2=0.1, rng=seed)
    failed = {check.quantity for check in checks if not check.ok}
    assert failed == {"Hessian, by products", "Hessian-vector product", "v'Hv, forward passes only"}


def test_the_error_of_a_product_is_that_of_its_own_sample():
    """J'FJ entry by entry: |dJ| |F| |J| twice, and |J| |dF| |J|."""
    rng = np.random.default_rng(0)
    J = Difference(rng.normal(size=(2, 3, 4)), rng.random((2, 3, 4)))
    F = Difference(*(part + part.T for part in (rng.normal(size=(3, 3)), rng.random((3, 3)))))
    for s in range(2):
        value, error = np.abs(J.value[s]), J.error[s]
        expected = np.einsum("ia,ij,jb->ab", error, np.abs(F.value), value)
        expected += np.einsum("ia,ij,jb->ab", value, np.abs(F.value), error)
        expected += np.einsum("ia,ij,jb->ab", value, F.error, value)
        np.testing.assert_allclose(_product_error(J, F, s), expected, rtol=1e-13)


def test_work_counts_products():
    records = [{"epoch": 0}, {"epoch": 2, "cg_iterations": 4.0, "halvings": 0.5}, {"epoch": 3}]
    assert [record["work"] for record in trainings.with_work(records)] == pytest.approx(
        [0, 2 * (1 + 10 + 0.5), 2 * 11.5 + 1]
    )


# -- files -----------------------------------------------------------------------------------------


def test_nothing_is_ever_half_written(tmp_path):
    target = tmp_path / "a.json"
    files.write_json(target,
                     {"x": np.arange(2), "y": np.float32(0.5), "z": float("nan"), "p": Path("q")})
    assert json.loads(target.read_text()) == {"x": [0, 1], "y": 0.5, "z": None, "p": "q"}
    with pytest.raises(RuntimeError), files.atomic(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert json.loads(target.read_text())["y"] == 0.5 and os.listdir(tmp_path) == ["a.json"]
    with pytest.raises(FileNotFoundError, match="no such directory"):
        files.write_text(tmp_path / "none" / "b", "")
