"""The README and what it links to say what is true: snippets run, commands parse, tables are those
that the code makes."""

import inspect
import re
import shlex
from pathlib import Path

import pytest

import secondorder as so
from secondorder import cli
from harness.readme_commands import commands
from secondorder.cli import layer_table
from secondorder.ledger import registry
from secondorder.ledger.pages import counts
from secondorder.studies import records

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.S)
COMMANDS = re.findall(r"^(?:python3 .*|secondorder .*)$",
                      "\n".join(re.findall(r"```sh\n(.*?)```", README, re.S)), re.M)


def test_readme_has_what_the_other_tests_look_for():
    assert len(SNIPPETS) >= 3 and len(COMMANDS) >= 5


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet_runs(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(SNIPPETS[number], f"README snippet {number}", "exec"), {"__name__": "readme"})
    for figure in re.findall(r'savefig\("(.*?)"\)', SNIPPETS[number]):
        assert (tmp_path / figure).stat().st_size > 1000


@pytest.mark.parametrize("command", COMMANDS)
def test_command_parses(command):
    _, found, words = command.rpartition("secondorder ")
    if found:
        cli.parser().parse_args(shlex.split(words, comments=True))
    else:
        assert command.endswith("pytest -n auto --dist loadfile")


def test_the_labels_that_it_spells_are_those_of_the_paper_before():
    (paper,) = set(re.findall(r"secondorder show ([\w-]+) +#", README))
    (spelled,) = re.findall(r"^Write a label as you like: (.*?)\. An", README, re.M)
    for label in spelled.split(", "):
        assert not registry.REGISTRY.find(paper, label)[1], label


def test_two_commands_stand_on_the_first_screen():
    first = README[:2000]
    assert re.search(r"^python3 -m venv .* secondorder tour$|^python3 -m venv .*/secondorder tour$",
                     first, re.M)
    assert re.search(r"^python3 -m venv .*pytest -n auto --dist loadfile$", first, re.M)


@pytest.mark.parametrize("variable, ending", [("command", "pytest -n auto --dist loadfile"),
                                              ("tour", "tour")])
def test_the_gate_runs_the_readmes_two_commands(variable, ending):
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    pattern = re.search(rf"^{variable}=\$\(grep -m1 -E '(.*)' \"\$root/README\.md\"\)$", script,
                        re.M)[1]
    (in_readme,) = (line for line in COMMANDS
                    if line.startswith("python3 -m venv") and line.endswith(ending))
    assert next(line for line in README.splitlines() if re.search(pattern, line)) == in_readme
    assert len(re.findall(rf'^run "\${variable}( \$handful)?"$', script, re.M)) >= 2
    assert in_readme not in script, "one place for the command"


def test_the_gate_runs_every_other_command_that_readme_shows():
    shown = commands(README)
    assert len(shown) >= 10 and "secondorder bench" in shown
    assert "readme_commands.py" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert not [line for line in shown if "venv" in line or "#" in line]


def test_train_is_called_by_its_own_signature():
    names = list(inspect.signature(so.train).parameters)
    calls = re.findall(r"so\.train\(([^()]*)\)`", README)
    assert calls and names[:3] == ["optimizer", "x", "y"]
    for call in calls:
        given = [argument.split("=") for argument in call.split(", ")]
        assert [name for (name,) in given[:3]] == names[:3]
        defaults = {name: str(inspect.signature(so.train).parameters[name].default)
                    for name, _ in given[3:]}
        assert defaults == dict(given[3:])


@pytest.mark.parametrize("page, mark, table, command", [
    (CONTRIBUTING, "layer x method", layer_table.table, "verify"),
    (README, "errata by weight", counts.errata_by_weight, "verify"),
    (README, "claims by verdict", records.counts_by_paper, "claims")],
    ids=["layers", "errata", "claims"])
def test_tables_are_generated(page, mark, table, command):
    shown = re.search(rf"<!-- {mark} -->\n(.*?)\n<!-- end -->", page, re.S)[1]
    assert shown == table(), f"rewrite it: python -m secondorder {command} --markdown --write"


def test_every_erratum_of_substance_has_its_line():
    """One line each in README; where the ledger gains or loses one, so does the list."""
    listed = re.search(r"<!-- errata of substance -->\n(.*?)\n<!-- end -->", README, re.S)[1]
    named = [tuple(name.split()) for name in re.findall(r"^- `([^`]+)`: \S.*\.$", listed, re.M)]
    of_substance = [(paper, entry.labels[0]) for paper in registry.REGISTRY.rooms()
                    for entry in registry.REGISTRY.select(paper) if entry.weight == "substance"]
    assert len(named) == len(listed.splitlines()) and sorted(named) == sorted(of_substance)


def test_every_tutorial_is_named():
    (named,) = re.findall(r"^\| subject \| tutorials \|$.*?^$", README, re.M | re.S)
    numbers = {path.name[:2] for path in (ROOT / "tutorials").glob("[0-9]*.py")}
    assert numbers == set(re.findall(r"\b\d\d\b", named))
    for path in re.findall(r"tutorials/\w+\.py", README):
        assert (ROOT / path).is_file()


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_linked_files_and_sections_exist(text):
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert links
    for link in links:
        file, _, section = link.partition("#")
        assert (ROOT / file).exists()
        if section and file in ("", "CONTRIBUTING.md"):
            titles = re.findall(r"^#+ (.*)", CONTRIBUTING, re.M)
            assert section in [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
                               for title in titles]
