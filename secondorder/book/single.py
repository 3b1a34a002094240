"""One paper in one file to send to someone: style, script, fonts and figures stand in it."""

import base64
import html
import re
from pathlib import Path

from .. import files
from ..ledger.registry import REGISTRY
from . import folder, pages, reported

_TYPES = {"png": "image/png", "webp": "image/webp", "woff2": "font/woff2"}


def write(out, paper, seeds=None, say=print, jobs=None, overwrite=False):
    """Write one paper as one page that asks for nothing, not even a file beside it.

    Parameters
    ----------
    out : path
        The file; or a folder that exists, for ``PAPER.html`` in it. A file is replaced only
        with `overwrite`.
    paper : str
    seeds, say, jobs, overwrite
        As `pages.write` takes them.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ImportError
        Without the extra ``[book]``.
    FileExistsError
        Something stands there, without `overwrite`.
    PermissionError
        The file cannot be written; this is known before any work.
    FormulaError, ValueError
        A formula that cannot be set; a label in ``uses=`` that does not exist.
    """
    pages.require_extra()
    paper = REGISTRY.key(paper)
    place = Path(out) / f"{paper}.html" if Path(out).is_dir() else Path(out)
    if not place.parent.is_dir():
        raise FileNotFoundError(f"the folder of the file does not exist: {place.parent}")
    if not overwrite:
        files.refuse_existing(place)
    files.require_writable(place)
    claims = reported.studies([paper])
    contents = pages.gathered([paper], claims, seeds, jobs, say)
    texts = pages.rendered(contents, claims, single=True)
    beside = folder.static() | reported.figures(claims) | {
        name: text.encode() for name, text in texts.items()}
    text = embedded(texts[f"{paper}.html"], beside)
    files.write_text(place, text)
    return place


def embedded(text, beside):
    """A page with the files that it asks for inside it; `beside` has their bytes by name."""
    text = re.sub(r'<link rel="stylesheet" href="([^"]+)">',
                  lambda match: f"<style>{_style(beside, match[1])}</style>", text)
    text = re.sub(r'<script src="([^"]+)"([^>]*)></script>',
                  lambda match: f"<script{match[2]}>{_script(beside, match[1])}</script>", text)
    return re.sub(r'(href|src)="(figures/[^"]+)"', lambda match:
                  f'{match[1]}="{_data(beside, html.unescape(match[2]))}"', text)


def _style(beside, name):
    """A style sheet with its fonts."""
    return re.sub(r'url\("(.+?)"\)', lambda match: f'url("{_data(beside, match[1])}")',
                  beside[name].decode())


def _script(beside, name):
    """A script that may stand in a page: nothing in it ends it early."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", beside[name].decode(), flags=re.IGNORECASE)


def _data(beside, name):
    kind = _TYPES[name.rpartition(".")[2]]
    return f"data:{kind};base64,{base64.b64encode(beside[name]).decode()}"
