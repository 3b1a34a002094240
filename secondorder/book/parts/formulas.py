"""Formulas in LaTeX as MathML: converted by a library, then marked and made to answer."""

import functools
import html
import re
import unicodedata
from xml.etree import ElementTree

from ...formulas import terminal

MARKED = "color:#FF0000;"  # how the converter writes \color{red}
WIDE = 64  # signs of a line, as a terminal would show it, beyond which it gets the whole width


class FormulaError(ValueError):
    """A formula that cannot be set; the message names its label."""


@functools.cache
def _converter():
    from math_core import LatexToMathML

    return LatexToMathML(macros={"widetilde": r"\tilde{#1}", "mathrel": "{#1}"},
                         xml_namespace=False)


def mathml(latex, symbols=(), where=""):
    """A formula as MathML text.

    Parts inside ``{\\color{red} ...}`` are marked as changed; letters in `symbols`, which the
    paper's table explains, get the attribute ``data-symbol``. FormulaError, which names `where`, if
    the library cannot convert it.
    """
    try:
        text = _converter().convert_with_local_state(" ".join(latex.split()), displaystyle=True)
    except Exception as error:  # the library's own, and whatever a strange formula raises
        plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines()[0]
        raise FormulaError(f"{where}: the formula cannot be set: {plain}") from error
    # names of characters that HTML knows and XML does not
    tree = ElementTree.fromstring(re.sub(r"&(?!amp;|lt;|gt;)\w+;",
                                         lambda name: html.unescape(name[0]), text))
    for element in tree.iter():
        if element.get("style", "").strip() == MARKED:
            del element.attrib["style"]
            element.set("class", "changed")
        letter = unicodedata.normalize("NFKC", element.text or "")
        if element.tag == "mi" and letter in symbols:
            element.set("data-symbol", letter)
    return ElementTree.tostring(tree, encoding="unicode")


def mathml_or_source(latex, symbols=()):
    """A formula as MathML, or its LaTeX where an author's own has what cannot be set."""
    try:
        return mathml(latex, symbols)
    except FormulaError:
        return f"<pre>{html.escape(latex)}</pre><small>as in LaTeX: it cannot be set here</small>"


def is_wide(latex):
    """Whether a formula needs the whole width of a page."""
    bare = re.sub(r"\\tag\{[^}]*\}", "", latex)
    return max(map(len, terminal.draw(bare)), default=0) > WIDE


GREEK = dict(zip(
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi "
    "psi omega".split(), "αβγδεζηθκλμνξπρστφχψω"))
CAPITALS = dict(zip("Gamma Delta Theta Lambda Sigma Phi Omega".split(), "ΓΔΘΛΣΦΩ"))
