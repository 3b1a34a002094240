r"""What is shown as the paper's formula is the paper's formula: LaTeX compared token by token.

The texts of the papers are no part of the project.  `tests/papers/displays.toml` holds a digest of
every display as the text that was read has it, so that what is registered can be compared without
them, and a list of what differs, each with its reason.  With the texts at hand, in ``tests/``:

    python -m harness.displays ea-cg path/to/text.md            what differs
    python -m harness.displays ea-cg path/to/text.md --write    the digests anew

Spacing, alignment, sizes of brackets, equation numbers and closing punctuation do not count.
"""

import hashlib
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

KEPT = Path(__file__).resolve().parents[1] / "papers" / "displays.toml"

#: What the paper's text is called where it is not the paper's key.
TEXTS = {"ea-cg": "eacg_pch.md", "low-rank": "low_rank_cubic.md",
         "residual-partitioning": "residual_partitioning.md",
         "reversible-gauss-newton": "gauss_newton_revmlp.md"}

#: Commands that change nothing of what is said.
SILENT = {r"\left", r"\right", r"\big", r"\Big", r"\bigg", r"\Bigg", r"\displaystyle",
          r"\textstyle", r"\limits", r"\,", r"\;", r"\:", r"\!", r"\ ", r"\quad", r"\qquad",
          r"\\", "~", "&"}
SAME = {r"\tfrac": r"\frac", r"\dfrac": r"\frac", r"\boldsymbol": r"\mathbf", r"\le": r"\leq",
        r"\ge": r"\geq", r"\mathrm": r"\text", r"\operatorname": r"\text", r"\lvert": "|",
        r"\dots": r"\ldots", r"\rvert": "|", r"\lbrace": r"\{"}
#: Environments that only arrange lines; `cases` and the matrices say something.
LINES = {"aligned", "gathered", "array", "split", "align"}
#: How many arguments a command takes; braces around others group nothing that is not seen.
ARGUMENTS = {r"\frac": 2, r"\sqrt": 1, r"\text": 1, r"\mathbf": 1, r"\widehat": 1,
             r"\widetilde": 1, r"\tilde": 1, r"\hat": 1, r"\bar": 1, r"\dot": 1, r"\ddot": 1,
             r"\mathcal": 1, r"\mathbb": 1, r"\underbrace": 1, r"\overline": 1, "_": 1, "^": 1}


def text_of(paper):
    """The file of a paper's text: in $SECONDORDER_PAPERS, or in `papers` beside $SECONDORDER_DATA.
    """
    folder = os.environ.get("SECONDORDER_PAPERS")
    if folder is None and "SECONDORDER_DATA" in os.environ:
        folder = Path(os.environ["SECONDORDER_DATA"]).parent / "papers"
    path = None if folder is None else Path(folder) / TEXTS.get(paper, f"{paper}.md")
    if path is None or not path.is_file():
        pytest.skip("the papers' texts are not at hand: SECONDORDER_PAPERS names their folder")
    return path


def displays(text):
    """All displays of a text, in order."""
    return re.findall(r"\$\$(.+?)\$\$", text, re.S)


def inline(text):
    """All formulas inside lines, in order."""
    return re.findall(r"\$([^$]+)\$", re.sub(r"\$\$.+?\$\$", " ", text, flags=re.S))


def numbers(display):
    """The equation numbers that a display bears."""
    tags = re.findall(r"\\tag\{(\w+)\}", display)
    return tags or re.findall(r"(?:\\q?quad|\\\s?|&|\s)\s*\((\d+[a-z]?)\)\s*(?=$|\\|\s)", display)


def lines_of(display):
    """Number -> the part of a display that bears it (its lines up to the number)."""
    found, rest = {}, display
    for number in numbers(display):
        tag = re.search(rf"\\tag\{{{number}\}}|\\q?quad\s*\({number}\)|&\s*\({number}\)", rest)
        found[number], rest = rest[: tag.start()], rest[tag.end():]
    return found


def bare(latex):
    """LaTeX without equation numbers and closing punctuation."""
    latex = re.sub(r"\\tag\{\w+\}|\\q?quad\s*\(\d+[a-z]?\)", " ", latex)
    return re.sub(r"(?:(?<!\\)\\[,;:! ]|[.,;\s])+$", "", latex).strip()


def normal(latex):
    """The tokens of a formula that count, as one text."""
    latex = re.sub(r"\\\\\[[^\]]*\]", r"\\\\", bare(latex))
    latex = re.sub(r"\\(begin|end)\{(\w+)\}(\{[lcr| ]+\})?",
                   lambda m: " " if m[2] in LINES else rf" \{m[1]}@{m[2]} ", latex)
    tokens = re.findall(r"\\(?:begin|end)@\w+|\\[A-Za-z]+|\\.|[^\s]", latex)
    tokens = [SAME.get(token, token) for token in tokens if token not in SILENT]
    nodes, rest = _group([token for token in tokens if token not in SILENT])
    return " ".join(_written(nodes)).rstrip(" .,")


def _group(tokens):
    """Nested lists for braces; what is left of the tokens."""
    nodes = []
    while tokens:
        token, *tokens = tokens
        if token == "}":
            return nodes, tokens
        if token == "{":
            inner, tokens = _group(tokens)
            nodes.append(inner)
        else:
            nodes.append(token)
    return nodes, []


def _written(nodes):
    """Tokens of nested lists, with braces where they group an argument of more than one token."""
    out, due = [], 0
    for node in nodes:
        if isinstance(node, str):
            out.append(node)
            due = ARGUMENTS.get(node, max(due - 1, 0))
            continue
        inner = _written(node)
        if due and len(inner) != 1:
            inner = ["{", *inner, "}"]
        out += inner
        due = max(due - 1, 0)
    return out


def digest(latex):
    """A short fingerprint of the tokens that count."""
    return hashlib.sha256(normal(latex).encode()).hexdigest()[:16]


def sources(paper, text):
    """Label -> list of LaTeX, as the text has it."""
    shown, within, found = displays(text), inline(text), {}
    for display in shown:
        for number, latex in lines_of(display).items():
            found.setdefault(number, [latex])
    for label, places in tomllib.loads(KEPT.read_text())["places"].get(paper, {}).items():
        found[label] = []
        for place in places:
            kind, number = place.split()
            found[label].append((shown if kind == "display" else within)[int(number) - 1])
    return found


def expected(labels, found):
    """The LaTeX that a registration with these labels has to show, or None if the text has none."""
    pieces = [latex for label in labels for latex in found.get(label, ())]
    pieces = list(dict.fromkeys(map(bare, pieces)))
    return " ".join(pieces) if pieces else None


def of_registrations(paper, found):
    """First label -> digest of what the text has, for every registration of which it has some."""
    from secondorder.ledger.registry import REGISTRY

    return {entry.labels[0]: digest(expected(entry.labels, found))
            for entry in REGISTRY.select(paper)
            if not entry.ours and expected(entry.labels, found) is not None}


def main(paper, text, *write):
    """Print what differs; with ``--write`` the digests of the text's formulas are kept anew."""
    from secondorder.ledger.registry import REGISTRY

    paper = REGISTRY.key(paper)
    found = sources(paper, Path(text).read_text(encoding="utf-8"))
    for entry in REGISTRY.select(paper):
        wanted = expected(entry.labels, found)
        if wanted is not None and not entry.ours and digest(wanted) != digest(entry.formula):
            print(f"[{', '.join(entry.labels)}]\n  text  {normal(wanted)}\n"
                  f"  shown {normal(entry.formula)}")
    if write == ("--write",):
        KEPT.write_text(written(KEPT.read_text(), paper, of_registrations(paper, found)))


def written(kept, paper, digests):
    """The text of `displays.toml` with other digests of a paper, at its end for a new one."""
    heading = f"[digests.{paper}]\n"
    table = "".join(f'"{label}" = "{value}"\n' for label, value in digests.items())
    if heading not in kept:
        return f"{kept.rstrip()}\n\n{heading}{table}\n[explained.{paper}]\n"
    start = kept.index(heading) + len(heading)
    end = kept.find("\n[", start)
    return kept[:start] + table + (kept[end:] if end >= 0 else "")


if __name__ == "__main__":
    main(*sys.argv[1:])
