"""The tutorials as pages: their prose, their code, and what the code gave when it ran."""

import base64
import html
import io
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from ..ledger.labels import asked_for, canonical, is_number
from ..ledger.registry import REGISTRY
from ..lessons import cells, folder
from . import pictures
from .parts import code, formulas

_FIGURE = re.compile(r"^figure: (.+\.png)\n?", re.M)
_HELD = re.compile(r"\$\$(?P<display>.+?)\$\$|\$(?P<inline>[^$]+?)\$|`(?P<code>[^`]+)`", re.S)
_NAME = re.compile(
    r"\[(?P<key>[a-z-]+)\]|(?P<number>\(\d+[a-z]?\)(?:\s*(?:-|to)\s*\(\d+[a-z]?\))?)"
    r"|(?P<word>\b(?:u|claim|extension|property|option|proposition|assumption|appendix)-[\w.-]+\w"
    r"|\b(?:theorem|lemma|algorithm|table|proposition|assumption) [A-Z]?\d+(?:\.\d+)?)", re.I)


def names():
    """The tutorials in their order, as paths."""
    return sorted(folder().glob("[0-9]*.py"))


def title(path):
    """The title of a tutorial, `06 EA-CG: ...`."""
    return cells(path.read_text(encoding="utf-8"))[0][1].splitlines()[0].removeprefix("# ")


# -- running ---------------------------------------------------------------------------------------

def ran(path):
    """What each cell of a tutorial printed, and the figures that it showed, as text for each cell
    and a list of PNG bytes; it runs in a process of its own. ValueError where it fails.
    """
    with tempfile.TemporaryDirectory(prefix="secondorder-book-") as place:
        answer = Path(place) / "answer.json"
        done = subprocess.run(
            [sys.executable, "-c", "import sys; sys.path[:] = sys.argv.pop(1).split('\\n'); "
             "from secondorder.book.tutorials import run_here; run_here(*sys.argv[1:])",
             "\n".join(sys.path), str(path), place, str(answer)],
            capture_output=True, text=True, check=False)
        if done.returncode or not answer.is_file():
            last = (done.stderr.strip().splitlines() or ["it ended early"])[-1]
            raise ValueError(f"{Path(path).name} does not run: {last}")
        return [(text, [base64.b64decode(one) for one in figures])
                for text, figures in json.loads(answer.read_text(encoding="utf-8"))]


def run_here(path, place, answer):
    """Run the cells of a tutorial in this process and write what came of each."""
    import contextlib
    import warnings

    import matplotlib

    matplotlib.use("Agg")
    sys.argv = [path, place]
    names_there, outcome = {"__name__": "__main__", "__file__": path}, []
    warnings.simplefilter("ignore")
    text = Path(path).read_text(encoding="utf-8")
    for number, (kind, body) in enumerate(cells(text)):
        printed, figures = io.StringIO(), []
        if kind == "code":
            with contextlib.redirect_stdout(printed):
                exec(compile(body, f"{Path(path).name}, cell {number}", "exec"), names_there)
        shown = _FIGURE.findall(printed.getvalue())
        figures = [base64.b64encode(Path(one).read_bytes()).decode() for one in shown]
        outcome.append((_FIGURE.sub("", printed.getvalue()), figures))
    Path(answer).write_text(json.dumps(outcome), encoding="utf-8")


# -- pages -----------------------------------------------------------------------------------------

def page(path, outputs):
    """A tutorial for the template: ``key``, ``title``, ``cells``, ``uses``, ``figures``, ``heads``.

    ``uses`` has what it names, (paper, first label) -> the address on the page; ``figures`` file
    name -> bytes.
    """
    text = _Text(path.read_text(encoding="utf-8"))
    shown, figures = [], {}
    for number, ((kind, body), (printed, pngs)) in enumerate(zip(text.cells, outputs)):
        if kind == "markdown":
            shown.append({"kind": kind, "html": text.html(body)})
            continue
        images = []
        for png in pngs:
            picture = pictures.prepared(png)
            name = f"figures/tutorial-{path.stem[:2]}-{len(figures)}.{pictures.KIND}"
            figures[name] = picture.raw
            images.append((name, picture.width, picture.height))
        lines = body.splitlines()
        shown.append({"kind": kind, "lines": "\n".join(code.coloured(lines, {})),
                      "printed": printed.strip("\n"), "images": images})
    return {"key": path.stem, "file": f"tutorial-{path.stem.replace('_', '-')}.html",
            "title": text.title, "question": text.question, "cells": shown, "uses": text.uses,
            "figures": figures, "heads": text.heads}


def by_display(lessons):
    """(paper, first label) -> title and address of the tutorials that name it."""
    found = {}
    for lesson in lessons:
        for display, place in lesson["uses"].items():
            address = lesson["file"] + (f"#{place}" if place else "")
            found.setdefault(display, []).append((lesson["title"], address))
    return found


class _Text:
    """The prose of one tutorial as HTML, and which displays it names."""

    def __init__(self, text):
        self.cells, self.uses, self.heads = cells(text), {}, []
        first = self.cells[0][1]
        self.title = first.splitlines()[0].removeprefix("# ")
        question = re.search(r"\*\*Question\.\*\*\s+(.*?)(?=\n\s*\n)", first, re.S)
        self.question = " ".join(question[1].split()) if question else ""
        self.paper = next((key for key in re.findall(r"`([a-z-]+)`", first)
                           if key in REGISTRY.papers), None)
        self.here = ""

    def html(self, body):
        """The blocks of one cell: headings, lists, tables, displays, paragraphs."""
        held = []

        def hold(match):
            held.append(_set(match))
            return f"\x00{len(held) - 1}\x00"

        body = html.escape(_HELD.sub(hold, body), quote=False)
        blocks = [self._block(block.strip("\n")) for block in re.split(r"\n[ \t]*\n", body)
                  if block.strip()]
        return re.sub("\x00(\\d+)\x00", lambda place: held[int(place[1])], "\n".join(blocks))

    def _block(self, text):
        lines = text.splitlines()
        if lines[0].startswith("#"):
            level = len(lines[0]) - len(lines[0].lstrip("#"))
            head = lines[0].lstrip("# ")
            rest = "\n".join(lines[1:])
            if level == 1:
                return self._block(rest) if rest.strip() else ""
            self.here = re.sub(r"[^a-z0-9]+", "-", re.sub("\x00\\d+\x00", "", head).lower()) \
                .strip("-")
            self.heads.append((self.here, re.sub("\x00\\d+\x00", "…", head)))
            return (f'<h2 id="{self.here}">{self._inline(head)}</h2>\n'
                    + (self._block(rest) if rest.strip() else ""))
        if lines[0].startswith("|") and len(lines) > 1:
            return self._table(lines)
        if re.match(r"(- |\d+\. )", lines[0]):
            items = re.split(r"\n(?=- |\d+\. )", text)
            kind = "ul" if lines[0].startswith("-") else "ol"
            shown = "".join("<li>" + self._inline(re.sub(r"^(- |\d+\. )", "", item)) + "</li>"
                            for item in items)
            return f"<{kind}>{shown}</{kind}>"
        for k, line in enumerate(lines[1:], 1):  # a list or a table without an empty line before it
            if re.match(r"(- |\d+\. |\|)", line):
                return (self._block("\n".join(lines[:k])) + "\n"
                        + self._block("\n".join(lines[k:])))
        return f"<p>{self._inline(text)}</p>"

    def _table(self, lines):
        rows = [[self._inline(cell.strip()) for cell in line.strip().strip("|").split("|")]
                for line in lines if not re.fullmatch(r"[|\s:-]+", line)]
        head = "".join(f'<th scope="col">{cell}</th>' for cell in rows[0])
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
                       for row in rows[1:])
        return (f'<div class="sideways"><table class="symbols"><thead><tr>{head}</tr></thead>'
                f"<tbody>{body}</tbody></table></div>")

    def _inline(self, text):
        text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text, flags=re.S)
        text = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"<i>\1</i>", text)
        paper = [self.paper]

        def linked(match):
            if match["key"]:
                if match["key"] in REGISTRY.papers:
                    paper[0] = match["key"]
                return match[0]
            return self._link(paper[0], match[0])

        return _NAME.sub(linked, text)

    def _link(self, paper, name):
        """A number or a name as a link to its display, where the paper has it."""
        if paper is None:
            return name
        known = REGISTRY.labels(paper)
        plain = re.sub(r"[()]", "", name)
        if not is_number(plain) and "(" not in name:
            plain = canonical(name)
            found = [label for label in known if canonical(label) == plain]
        else:
            found = asked_for(plain, known)
        if not found:
            return name
        for entry in REGISTRY.of(paper):
            if set(entry.labels) & set(found):
                self.uses.setdefault((paper, entry.labels[0]), self.here)
        address = re.sub(r"[^A-Za-z0-9.-]+", "-", found[0])
        return f'<a href="{paper}.html#{address}">{name}</a>'


def _set(match):
    if match["code"]:
        return f"<code>{html.escape(match['code'])}</code>"
    latex = match["display"] or match["inline"]
    text = formulas.mathml_or_source(latex)
    if match["display"]:
        return f'<span class="display" tabindex="0" role="group" aria-label="formula">{text}</span>'
    return text.replace('display="block"', 'display="inline"')
