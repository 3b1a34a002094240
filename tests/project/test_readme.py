"""README says what is true: snippets run, commands parse, tables are those that the code makes."""

import re
import shlex
from pathlib import Path

import pytest

from secondorder import cli, ledger, papers
from secondorder.book.parts import layer_table
from secondorder.ledger import registry
from secondorder.studies import records
from harness.readme_commands import commands

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
GATE = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_snippet_runs(snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, "README snippet", "exec"), {"__name__": "readme"})
    for figure in re.findall(r'savefig\("(.*?)"\)', snippet):
        assert (tmp_path / figure).stat().st_size > 1000


def test_every_command_parses_and_the_gate_runs_it():
    shown = commands(README)
    assert len(shown) >= 10 and "readme_commands.py" in GATE
    for command in shown:
        program, *words = shlex.split(command)
        assert program in ("secondorder", "python") and "venv" not in command
        if program == "secondorder":
            cli.parser().parse_args(words)
        else:
            assert (ROOT / words[0]).is_file()


def test_what_it_shows_of_an_equation_is_what_the_command_prints():
    (shown,) = re.findall(r"^\$ secondorder show ([\w-]+) (\w+)\n(.*?)```", README, re.M | re.S)
    printed, lines = ([re.sub(r"^ +\d+  ", "", line) for line in text.splitlines() if line != "..."]
                      for text in (ledger.show(*shown[:2]), shown[2]))
    found = [printed.index(line) for line in lines if lines.count(line) == 1]
    assert len(found) > 10 and found == sorted(found)
    assert set(lines) <= set(printed)


@pytest.mark.parametrize("variable, ending", [("command", "pytest -n auto --dist loadfile"),
                                              ("tour", "secondorder tour")])
def test_the_gate_runs_the_two_commands_that_make_an_environment(variable, ending):
    pattern = re.search(rf"^{variable}=\$\(grep -m1 -E '(.*)' \"\$root/README\.md\"\)$", GATE,
                        re.M)[1]
    (line,) = [line for line in README.splitlines() if re.search(pattern, line)]
    assert line.startswith("python3 -m venv") and line.endswith(ending)
    assert re.search(rf'^run "\${variable}"$', GATE, re.M)


@pytest.mark.parametrize("page, mark, table, command", [
    (CONTRIBUTING, "layer x method", layer_table.table, "verify"),
    (README, "papers", papers.table, "verify"),
    (README, "claims by verdict", records.counts_by_paper, "claims")],
    ids=["layers", "papers", "claims"])
def test_tables_are_generated(page, mark, table, command):
    shown = re.search(rf"<!-- {mark} -->\n(.*?)\n<!-- end -->", page, re.S)[1]
    assert shown == table(), f"rewrite it: python -m secondorder {command} --markdown --write"


def test_every_erratum_of_substance_has_its_line():
    listed = re.search(r"<!-- errata of substance -->\n(.*?)\n<!-- end -->", README, re.S)[1]
    named = [tuple(name.split()) for name in re.findall(r"^- `([^`]+)`: \S.*\.$", listed, re.M)]
    of_substance = [(paper, entry.labels[0]) for paper in registry.REGISTRY.rooms()
                    for entry in registry.REGISTRY.select(paper) if entry.weight == "substance"]
    assert len(named) == len(listed.splitlines()) and sorted(named) == sorted(of_substance)


def test_every_tutorial_is_named():
    (named,) = re.findall(r"^Tutorials .*?^$", README, re.M | re.S)
    text = re.sub(r"(\d\d) to (\d\d)", lambda ends: " ".join(
        f"{number:02d}" for number in range(int(ends[1]), int(ends[2]) + 1)), named)
    numbers = {path.name[:2] for path in (ROOT / "tutorials").glob("[0-9]*.py")}
    assert numbers == set(re.findall(r"\b\d\d\b", text))


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_linked_files_and_sections_exist(text):
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert links
    titles = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
              for title in re.findall(r"^#+ (.*)", CONTRIBUTING, re.M)]
    for link in links:
        file, _, section = link.partition("#")
        assert (ROOT / file).exists()
        if section and file in ("", "CONTRIBUTING.md"):
            assert section in titles
