"""No text that a learner reads is damaged: quotes in formulas, apostrophes, dollars and braces."""

import ast
import io
import itertools
import re
import tokenize

import pytest

from secondorder import lessons

HOME = lessons.folder()
SCRIPTS = [*HOME.glob("[0-9]*.py"), *HOME.glob("classes/[0-9]*.py"),
           *HOME.glob("exercises/[0-9]*.py"), *HOME.glob("exercises/solutions/[0-9]*.py")]
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)


def damage(prose):
    """What is wrong with a text of prose and formulas, in words; "" where nothing is."""
    prose = CODE.sub("", prose)
    formulas = re.findall(r"\$\$(.+?)\$\$|\$([^$]+?)\$", prose, re.S)
    if prose.count("$") % 2:
        return "an odd number of dollars"
    for formula in map("".join, formulas):
        if '"' in formula:
            return f"a double quote in the formula {formula!r}: two primes?"
        if formula.count("{") != formula.count("}"):
            return f"braces of {formula!r}"
    rest = re.sub(r"\$\$.+?\$\$|\$[^$]+?\$", "x", prose, flags=re.S)
    for paragraph in re.split(r"\n\s*\n", rest):
        quotes = [(paragraph[max(place - 1, 0):place], paragraph[place + 1:place + 2])
                  for place, letter in enumerate(paragraph) if letter == '"']
        if any(re.match(r"\w", before) for before, _ in quotes[::2]):
            return f"a double quote for an apostrophe in {paragraph!r}"
        if len(quotes) % 2 or any(re.match(r"\w", after) for _, after in quotes[1::2]):
            return f"a double quote alone in {paragraph!r}"
    return ""


def comments(code):
    """The comments and the docstrings of a script, each a text."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    tree = ast.parse(code)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    return ["".join(token.string.lstrip("#") for token in group)
            for kind, group in itertools.groupby(
                (token for token in tokens if token.type != tokenize.NL),
                lambda token: token.type) if kind == tokenize.COMMENT] + [
        ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented)]


@pytest.mark.parametrize("path", sorted(SCRIPTS),
                         ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_prose_of_a_script_is_whole(path):
    cells = lessons.cells(path.read_text(encoding="utf-8"))
    assert cells
    for kind, body in cells:
        for text in [body] if kind == "markdown" else comments(body):
            assert damage(text) == "", path.name


@pytest.mark.parametrize("text", ['the layer"s own passes', 'slope $h"$', '$h""$ is it',
                                  "one $ alone", r"$\frac{1}{2$", 'the outputs" own Hessian'])
def test_damage_is_seen(text):
    assert damage(text)
