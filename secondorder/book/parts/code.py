"""Code as HTML: numbered, coloured, with names that implement another label linked to it."""

import functools
import html
import re

from ...ledger.pages import source
from ...ledger.pages.own_lines import plain
from ...ledger.registry import qualified_name, short_name
from . import docstrings

SHOWN = 24  # lines of a block that are seen; what is beyond is folded
DEEPEST = 6  # indents that a wrapped line follows
_CLASSES = (("Keyword", "k"), ("Operator.Word", "k"), ("Literal.String", "s"),
            ("Literal.Number", "m"), ("Comment", "c"), ("Name.Function", "f"), ("Name.Class", "f"))


def address(value):
    """The address of a block on its page."""
    target = plain(value)
    name = getattr(target, "__qualname__", target.__name__)
    return re.sub(r"[^\w.-]+", "-", f"code-{target.__module__.rpartition('.')[2]}.{name}")


def block(value, paper, links=None, named=False, own=None):
    """One implementation, for the template.

    `links` has addresses of articles and blocks by the name of the function that they show; `own`
    the addresses of lines that are a display's own, by function and number. `named`: whether other
    places of the page refer to this block, which then has an address.
    """
    target = plain(value)
    name = short_name(paper, qualified_name(value))
    place, rows = source.located(value) or ("no source at hand", [])
    addresses = {number: ids for (function, number), ids in (own or {}).items()
                 if function is target}
    lines = numbered(rows, links or {}, getattr(target, "__name__", ""), addresses)
    cut = len(lines) if len(lines) <= SHOWN + 3 else SHOWN  # three lines are not worth a fold
    return {"name": name, "id": address(value) if named else "", "place": place,
            "formula": docstrings.shown(source.doc_lines(value)),
            "lines": "".join(lines[:cut]), "rest": "".join(lines[cut:]), "count": len(lines) - cut}


def numbered(rows, links, own="", addresses=None):
    """Pairs of number and text as HTML, one element a line: its number is drawn by the style, its
    class says how deep it stands, so that what wraps hangs deeper than the line begins; `addresses`
    has those of lines that are a display's own.
    """
    out = []
    for (number, text), line in zip(rows, coloured([text for _, text in rows], links, own)):
        depth = min((len(text) - len(text.lstrip())) // 4, DEEPEST)
        ids = (addresses or {}).get(number, ())
        names = [f"i{depth}"] * bool(depth) + ["own"] * bool(ids)
        here = "".join(f'<b id="{one}"></b>' for one in ids)
        quote = '"' if len(names) > 1 else ""
        style = f" class={quote}{' '.join(names)}{quote}" if names else ""
        out.append(f'<span{style} data-n={number}>'
                   f'{here}{line}\n</span>')
    return out


def coloured(lines, links, own=""):
    """Lines of Python as HTML; a name in `links` other than `own` is a link."""
    out = [""]
    for kind, text in _joined(_lexer().get_tokens("\n".join(lines))):
        name, is_name = _class_of(kind)
        linked = is_name and text in links and text != own
        for k, part in enumerate(text.split("\n")):
            if k:
                out.append("")
            shown = html.escape(part, quote=False)
            if name and part.strip():
                shown = f"<b class={name}>{shown}</b>"
            out[-1] += f'<a class=ref href="{links[text]}">{shown}</a>' if linked else shown
    return out[:len(lines)]


def _joined(tokens):
    """Tokens of which neighbours that look alike are one: quotes and what stands in them."""
    before, texts = None, []
    for kind, text in tokens:
        alike = before is not None and _class_of(kind) == _class_of(before) \
            and not _class_of(kind)[1]
        if texts and not alike:
            yield before, "".join(texts)
            texts = []
        before = kind
        texts.append(text)
    if texts:
        yield before, "".join(texts)


@functools.cache
def _lexer():
    from pygments.lexers import PythonLexer

    return PythonLexer(stripnl=False, ensurenl=False)


@functools.cache
def _class_of(kind):
    """The class of a kind of token, and whether it is a name."""
    path = str(kind).removeprefix("Token.")
    return (next((letter for start, letter in _CLASSES if path.startswith(start)), ""),
            path.startswith("Name"))
