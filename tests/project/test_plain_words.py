"""Plain words: numbers as people write them, sentences of at most 25 words, nouns repeated."""

from functools import cache
from pathlib import Path

import pytest

import secondorder as so
from harness import plain_words
from harness.everyday import all_but
from secondorder import cli
from secondorder.ledger.registry import REGISTRY

ROOT = Path(so.__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "secondorder/studies/FINDINGS.md",
         "data/README.md", "secondorder/papers/LETTERS.md")


def pages():
    """Pages of the repository; the pages of equations are `statements`."""
    papers = ROOT / "secondorder" / "papers"
    found = sorted([*papers.glob("*/CLAIMS.md"), *papers.glob("*/studies/criteria.md")])
    for path in [*(ROOT / page for page in PAGES), *found]:
        text = path.read_text(encoding="utf-8")
        yield path.relative_to(ROOT).as_posix(), [
            part for paragraph in plain_words.paragraphs(text)
            for part in plain_words.records(paragraph)]


def helps():
    """The help of every command."""
    for parser in plain_words.parsers(cli.parser()):
        yield f"{parser.prog} --help", [*plain_words.prose_of_help(parser)]


def messages():
    """Texts in the code: errors, warnings, titles, captions; by folder of the package."""
    for path in sorted((ROOT / "secondorder").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        parts = path.relative_to(ROOT / "secondorder").parts
        folder = "/".join(parts[:3] if parts[0] == "papers" else parts[:1])
        yield f"messages: {folder}", [*plain_words.messages(source)]
        yield f"titles: {folder}", [*plain_words.titles(source)]


def statements():
    """What the equations state, and their conditions, by paper."""
    for paper in REGISTRY.rooms():
        entries = REGISTRY.select(paper)
        conditions = dict.fromkeys(one for entry in entries for one in entry.conditions)
        yield f"statements: {paper}", [entry.statement for entry in entries] + [
            getattr(one, "text", one) for one in conditions]


def docstrings():
    """Docstrings of the stable surface, by room."""
    seen = set()
    for room, thing in plain_words.surface(so):
        if id(thing) not in seen:
            seen.add(id(thing))
            yield f"docstrings: {room}", [
                paragraph for text in plain_words.docstrings(thing)
                for paragraph in plain_words.prose_of_docstring(text)]


KINDS = {kind.__name__: kind for kind in (pages, helps, messages, statements, docstrings)}
LEAST = {"pages": 300, "helps": 100, "messages": 300, "statements": 200, "docstrings": 500}


@cache
def texts(kind):
    """All prose of a kind: place -> paragraphs."""
    found = {}
    for place, paragraphs in KINDS[kind]():
        found.setdefault(place, []).extend(paragraphs)
    return found


@pytest.mark.parametrize("kind", all_but(KINDS, "messages"))
def test_words_are_plain(kind):
    assert sum(map(len, texts(kind).values())) > LEAST[kind], "is all of it looked at?"
    found = {place: plain_words.faults(paragraphs) for place, paragraphs in texts(kind).items()}
    assert not {place: faults for place, faults in found.items() if faults}


def test_numbers_in_tables_are_plain():
    texts = [path.read_text(encoding="utf-8") for path in
             [*ROOT.glob("*.md"), *ROOT.glob("secondorder/papers/*/*.md")]]
    cells = [cell for text in texts for cell in plain_words.cells(text)]
    assert len(cells) > 2000 and not [cell for cell in cells if plain_words.numbers(cell)]


# -- the rules -------------------------------------------------------------------------------------

@pytest.mark.parametrize("text, found", [
    ("a loss of .05", [".05"]), ("a loss of -.5", [".5"]), ("a loss of 0.05, in `x[.5]`", []),
    ("files in .venv, 3.11, v0.1.0, a...", []), ("from 4e+03 to 1.2e-05", ["4e+03"]),
    ("5e-02 of it", ["5e-02"]), ("20 (20 to 20)", ["20 to 20"]),
    ("1.5 to 1.52, 11.5 to 1.5, -2 to 2", [])])
def test_numbers(text, found):
    assert plain_words.numbers(text) == found


@pytest.mark.parametrize("text, found", [
    ("The gradient passes; that of the loss is larger.", ["that of"]),
    ("Take the one that fits, in the one room.", ["the one"]),
    ("All passes, printed form fails, as expected.", [])])
def test_phrases(text, found):
    assert plain_words.phrases(text) == found


def sentence(count):
    return " ".join(["word"] * count) + "."


@pytest.mark.parametrize("text", [
    sentence(25), f"{sentence(20)} {sentence(20)}",
    sentence(12)[:-1] + " a + b = c / d - e + f * g - h + 1 / 2 " + sentence(12),
    sentence(10)[:-1] + " $" + sentence(20)[:-1] + "$ " + sentence(10),
    sentence(10)[:-1] + " `secondorder show a b c d e f g h i j k` " + sentence(10)])
def test_sentences_that_are_short_enough(text):
    assert not plain_words.long_sentences(text)


@pytest.mark.parametrize("text", [
    sentence(26), "As in Eq. (5), " + sentence(22), sentence(13)[:-1] + "; " + sentence(13),
    sentence(12)[:-1] + ": " + sentence(14), sentence(13)[:-1] + " `code` " + sentence(12)])
def test_sentences_that_are_too_long(text):
    assert len(plain_words.long_sentences(text)) == 1


def test_code_tables_and_comments_of_a_page_are_no_sentences():
    page = (f"# A title\n\nFirst\nline.\n- item\n  goes on\n- `x` next\n\n| {sentence(30)} |\n"
            f"|---|\n\n```sh\n{sentence(30)}\n```\n<!-- {sentence(30)} -->\n"
            "1. [a link](to/a/file)\n")
    assert plain_words.paragraphs(page) == [
        "A title", "First line.", "item goes on", "`x` next", "[a link](to/a/file)"]
    assert plain_words.sentences("See [the `x` link](to/.5/file). Yes.") == [
        "See the  =  link.", "Yes."]


def test_names_formulas_and_examples_of_a_docstring_are_no_sentences():
    docstring = """What it does.

    With a formula::

        a = b + c

    Parameters
    ----------
    x : array of shape (S, C), float
        Rows are
        samples.

    Raises
    ------
    ValueError
        Bad data.

    Notes
    -----
    - One.
    - Two.

    Examples
    --------
    >>> a
    text
    """
    assert plain_words.prose_of_docstring(docstring) == [
        "What it does.", "With a formula::", "Rows are samples.", "Bad data.", "One.", "Two."]


def test_messages_and_titles_are_found():
    source = ('def f(x):\n    """Text of a docstring."""\n'
              '    if x:\n        warn(f"x of {x} is" "!")\n'
              '    raise ValueError(f"x is {x:.5}, "\n                     "expected 1")\n'
              'a.plot(x, title="T" if x else "U", color="red")\na.set_title("V")\n'
              'A = "one two\\n\\nthree four\\n  five six"\n'
              'B = r"\\alpha of three four", "<p> of a b"\n')
    assert sorted(plain_words.messages(source)) == [
        "one two", "three four", "x is =, expected 1", "x of = is!"]
    assert sorted(plain_words.titles(source)) == ["T", "U", "V"]
