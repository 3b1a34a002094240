"""Code as HTML: numbered, coloured, with names that implement another label linked to it."""

import html
import inspect
import re
from pathlib import Path

from ..ledger.registry import qualified_name, underlying
from ..ledger.report import short_name
from ..ledger.source import doc_lines, helpers, numbered_code

LONG = 24  # lines beyond which a block is folded
_PACKAGE = Path(__file__).resolve().parents[1]


def block(value, paper, links=None):
    """One implementation.

    Parameters
    ----------
    value : function, method or class
    paper : str
    links : dict of str to (str, str), optional
        Name of a function -> (address, label) of the article that it implements.

    Returns
    -------
    dict
        ``name``, ``place`` (file and line), ``formula`` (the docstring's own words), ``lines``:
        pairs of number and HTML; ``folded`` whether it is long.
    """
    target = inspect.unwrap(underlying(value))
    name = short_name(paper, qualified_name(value))
    try:
        source, first = inspect.getsourcelines(target)
        file = Path(inspect.getsourcefile(target)).resolve()
    except (OSError, TypeError):
        return {"name": name, "place": "no source at hand", "formula": [], "lines": [],
                "folded": False}
    place = (file.relative_to(_PACKAGE.parent).as_posix() if file.is_relative_to(_PACKAGE)
             else file.name)
    kept = numbered_code(source, max(first, 1))
    return {"name": name, "place": f"{place}:{max(first, 1)}",
            "formula": [html.escape(line) for line in doc_lines(value)],
            "lines": list(zip([number for number, _ in kept],
                              coloured([text for _, text in kept], links or {},
                                       getattr(target, "__name__", "")))),
            "folded": len(kept) > LONG}


def coloured(lines, links, own=""):
    """Lines of Python as HTML."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    text = highlight("\n".join(lines), PythonLexer(stripnl=False, ensurenl=False),
                     HtmlFormatter(nowrap=True))
    out = text.split("\n")[:len(lines)]
    return [_linked(line, links, own) for line in out]


def _linked(line, links, own):
    def link(match):
        name = match[2]
        if name == own or name not in links:
            return match[0]
        address, label = links[name]
        return (f'<a class="ref" href="{address}" data-preview="{html.escape(label)}">'
                f"{match[0]}</a>")

    return re.sub(r'<span class="(nf|n|nc|fm)">(\w+)</span>', link, line)


def other_side(check, paper):
    """The code of a check and of the helpers of its room that it calls."""
    found, waiting = [], [inspect.unwrap(check)]
    while waiting:
        function = waiting.pop(0)
        if function not in found:
            found.append(function)
            waiting += helpers(function)
    return [block(function, paper) for function in found]
