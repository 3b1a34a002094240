r"""LaTeX as tokens, and tokens as LaTeX again: the one reader of it, for formulas and for papers.

A token is a command, a sign that means something, a run of blanks, or words. A comment is one, with
the blanks that begin its next line.
"""

import re

TOKEN = re.compile(r"\\[A-Za-z@]+|\\.|%[^\n]*(?:\n[ \t]*)?|\s+|#+\d?|[{}\[\]$&~^_*]|"
                   r"[^\\%\s#{}\[\]$&~^_*]+(?: [^\\%\s#{}\[\]$&~^_*]+)*|\\", re.S)


def signs(text):
    """The tokens of a formula: words sign by sign, blanks as one, comments left out."""
    found = []
    for token in TOKEN.findall(text.strip()):
        if token[0] == "\\":
            found.append(token)
        elif token[0] != "%":
            found += re.sub(r"\s+", " ", token)
    return found


def written(tokens):
    """Tokens as LaTeX again: a command is kept apart from a letter that follows it."""
    out, before = [], ""
    for token in tokens:
        text = token if isinstance(token, str) else token.text
        if before[:1] == "\\" and before[-1:].isalpha() and text[:1].isalpha():
            out.append(" ")
        out.append(text)
        before = text
    return "".join(out)
