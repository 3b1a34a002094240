"""A number on every display: once, at its own lines, with a link and its lines of code and check.
"""

import inspect
import json
import os
import re
import tomllib
from pathlib import Path

import pytest

from harness import displays as texts
from secondorder.formulas.latex import parse, to_latex
from secondorder.ledger.displays import anchors, displays, printed_numbers
from secondorder.ledger.labels import is_number
from secondorder.ledger.pages import equations_page, own_lines
from secondorder.ledger.registry import REGISTRY, room_of

from test_ledger import double, register, toys  # noqa: F401

PAPERS = {"residual-partitioning": 46, "low-rank": 80, "ea-cg": 23, "reversible-gauss-newton": 68}
#: In the text that was read the left side of (74) stands inside its braces; (15) to (17) of ea-cg
#: lost brackets, (56) and (77) bear a left side put in front: `papers/displays.toml` has it all.
EXPLAINED = tomllib.loads(texts.KEPT.read_text(encoding="utf-8"))["explained"]


def shared():
    """Checks of displays that bear several numbers."""
    return [pytest.param(entry, id=f"{paper} {entry.labels[0]}") for paper in PAPERS
            for entry in REGISTRY.select(paper) if len(printed_numbers(entry)) > 1]


def beside(folder, name):
    """A file beside $SECONDORDER_DATA."""
    path = Path(os.environ.get("SECONDORDER_DATA", ".")).parent / folder / name
    if not path.is_file():
        pytest.skip(f"{name} is not at hand")
    return path


# -- once, and at its own lines --------------------------------------------------------------------

@pytest.mark.parametrize("paper, count", PAPERS.items())
def test_every_number_stands_at_one_display(paper, count):
    numbers = [number for entry in REGISTRY.select(paper)
               for part in displays(entry, parse(entry.formula)) for number in part.numbers]
    labels = [label for entry in REGISTRY.select(paper) for label in printed_numbers(entry)]
    assert sorted(numbers) == sorted(labels) and len(set(numbers)) == len(numbers) == count


@pytest.mark.parametrize("paper", PAPERS)
def test_numbers_are_those_that_are_listed(paper):
    listed = json.loads(beside("equations", "labels.json").read_text())[paper]
    wanted = {one["label"] for one in listed if is_number(one["label"])}
    known = {label for entry in REGISTRY.select(paper) for label in entry.labels}
    assert wanted == {label for label in known if is_number(label)}


@pytest.mark.parametrize("entry", shared())
def test_each_of_several_stands_at_the_lines_that_bear_it_in_the_text(entry):
    if entry.labels[0] in ("74",) and entry.paper == "low-rank":
        pytest.skip("its left side stands in front, see displays.toml")
    text = texts.text_of(entry.paper).read_text(encoding="utf-8")
    sources = texts.sources(entry.paper, text)
    for part in displays(entry, parse(entry.formula)):
        shown = texts.normal(to_latex(part.nodes, None))
        for number in part.numbers:
            wanted = texts.normal(sources[number][0])
            same = shown.lower() == wanted.lower() if entry.labels[0] in EXPLAINED[entry.paper] \
                else shown == wanted
            assert same, (number, shown, wanted)


# -- at the right margin, with a link of its own ---------------------------------------------------

@pytest.mark.parametrize("paper", PAPERS)
def test_every_number_has_one_anchor_and_one_link_on_the_page(paper):
    page = (equations_page.folder_of(paper) / "EQUATIONS.md").read_text(encoding="utf-8")
    numbers = [label for label in REGISTRY.labels(paper) if is_number(label)]
    assert sorted(re.findall(r'<a id="eq-(\w+)">', page)) == sorted(numbers)
    links = re.findall(r"^\[\((\w+)\)\]\(#eq-(\w+)\): \[code, line \d+\].*\[check, line \d+\]",
                       page, re.M)
    printed = [label for entry in REGISTRY.select(paper) for label in printed_numbers(entry)]
    assert sorted(number for number, _ in links) == sorted(printed)
    assert all(number == address for number, address in links)
    tags = re.findall(r"\\tag\{(\w+)\}\n```", page)
    assert set(tags) == set(printed)


def test_numbers_that_were_counted_and_not_printed_lead_to_the_next_display():
    entry, = REGISTRY.select("reversible-gauss-newton", "36")
    parts = displays(entry, parse(entry.formula))
    assert [part.numbers for part in parts] == [("33",), ("36",), ("39",)]
    assert [anchors(entry, part.numbers) for part in parts] == [
        ["33"], ["34", "35", "36"], ["37", "38", "39"]]


# -- its own line of the code and of the check -----------------------------------------------------

@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_the_mark_of_a_display_is_the_function_named_by_its_number(paper):
    REGISTRY.load(paper)
    named = own_lines.displays_of(room_of(paper))
    for entry in REGISTRY.select(paper):
        mine = [own_lines.plain(value) for value in entry.implements]
        for label in entry.labels:
            displays_ = [function for function in mine if label in named.get(function, ())]
            if displays_:
                line = own_lines.code_line(entry, label)
                body = inspect.getsourcelines(line.function)
                assert line.function in displays_ and displays_[0] in map(
                    own_lines.plain, own_lines.displays_among(entry)), label
                assert body[1] < line.number < body[1] + len(body[0]), (label, "is in its body")


@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_every_label_has_a_line_of_code_and_of_the_check(paper):
    for entry in REGISTRY.select(paper):
        for label in entry.labels:
            code, check = own_lines.code_line(entry, label), own_lines.check_line(entry, label)
            for line in (code, check):
                text = line.file.read_text(encoding="utf-8").splitlines()[line.number - 1].strip()
                assert text and not text.startswith(("#", "@", '"""')), (label, str(line))
            assert {"equations", "equations.py"} & set(check.file.parts), (label, str(check))
