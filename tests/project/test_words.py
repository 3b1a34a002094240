"""The package's words: no figures of speech in prose, formulas in one piece, nouns for names.

All files of the package are held to the rules; what users write or read by name is excused in
`WRITTEN_BY_USERS`, with the reason.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import secondorder
from harness import plain_words

ROOT = Path(secondorder.__file__).resolve().parent
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))

#: Figures of speech that a reader of English as a second language stumbles over.
PHRASES = re.compile(r"at the desk|\battic\b|\bdoors?\b|\bis heard\b|told by name|"
                     r"worked out from it", re.I)
#: A line whose last mark is an operator: the formula goes on in the next one.
CUT = re.compile(r"\s(=|\+|-|\*|/|<=|>=|<|>|~|@)\s*$")
#: Names that say how a thing came about, and not what it is.
PARTICIPLES = {"found", "made", "kept", "seen"}
#: Words of the trade that have another name here: second order, residual, damping.
SYNONYMS = {"bend", "bends", "defect", "defects", "strength"}
#: Those that users write in a room, with the reason; on the way to the formula they keep the name.
WRITTEN_BY_USERS = {
    "papers/reversible_gauss_newton/": {
        "strength": "an option of GaussNewton and of direction, an argument of Ridge"},
}


@cache
def source(file):
    return (ROOT / file).read_text(encoding="utf-8")


def nodes(file):
    """All nodes of the syntax tree of a file."""
    return plain_words.nodes(source(file))


@cache
def docstrings(file):
    """Nodes of the docstrings of a file, with their text."""
    found = [(node.body[0], ast.get_docstring(node)) for node in nodes(file)
             if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body]
    return [(node, text) for node, text in found if text is not None]


def comments(file):
    """What stands behind the signs # of a file, also of those few inside of a text."""
    return [line.partition("#")[2] for line in source(file).splitlines() if "#" in line]


@cache
def names(file):
    """Names that a file binds: variables, arguments, attributes."""
    def bound(kind):
        return [node for node in nodes(file) if isinstance(node, kind)
                and isinstance(getattr(node, "ctx", ast.Store()), ast.Store)]

    return {*(node.id for node in bound(ast.Name)), *(node.arg for node in bound(ast.arg)),
            *(node.attr for node in bound(ast.Attribute))}


def phrases(file):
    prose = [text for _, text in docstrings(file)] + comments(file)
    return [match[0] for text in prose for match in PHRASES.finditer(text)]


def cut_formulas(file):
    return [line.strip() for _, text in docstrings(file) for line in text.splitlines()
            if CUT.search(line) and re.search(r"\w", line)]


def split_targets(file):
    return [node.target.lineno for node in nodes(file)
            if isinstance(node, ast.comprehension)
            and node.target.lineno != node.target.end_lineno]


def closings(file):
    """Docstrings of several lines that close behind their last word."""
    lines = source(file).splitlines()
    return [node.end_lineno for node, _ in docstrings(file)
            if node.lineno != node.end_lineno and lines[node.end_lineno - 1].strip() != '"""']


def participles(file):
    return sorted(names(file) & PARTICIPLES)


def synonyms(file):
    stays = {name for place, given in WRITTEN_BY_USERS.items() if file.startswith(place)
             for name in given}
    return sorted(names(file) & SYNONYMS - stays)


RULES = {rule.__name__: rule for rule in (phrases, cut_formulas, split_targets, closings,
                                          participles, synonyms)}


@pytest.mark.parametrize("rule", RULES)
def test_every_file_keeps_the_rules(rule):
    broken = {file: RULES[rule](file) for file in FILES}
    assert FILES and not {file: what for file, what in broken.items() if what}


def test_what_the_rules_see(tmp_path, monkeypatch):
    source = (
        '"""The attic: y =\n2 x."""\n\n\ndef at(x, defect):\n    made = x  # is heard\n'
        "    return [a + b for a,\n            b in x]\n"
    )
    (tmp_path / "bad.py").write_text(source)
    good = '"""A list.\n\ny = 2 x\n--------\n"""\n\nvalues = [a + b for a, b in []]\n'
    (tmp_path / "good.py").write_text(good)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    expected = [["attic", "is heard"], ["The attic: y ="], [7], [2], ["made"], ["defect"]]
    assert [rule("bad.py") for rule in RULES.values()] == expected
    assert not any(rule("good.py") for rule in RULES.values())
