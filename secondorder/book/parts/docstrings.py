"""Words on a page, of docstrings and statements: their columns stay columns, and the mathematics
in them is set.

They write ``eps_sij``, ``W_dot_ij``, ``sum_{j>=1}``, ``J+`` and ``+-``; a page shows the
letters, with what stands below, above and over them.
"""

import html
import re
import unicodedata

from . import formulas

_GREEK = formulas.GREEK | formulas.CAPITALS | {"eps": "ε", "varphi": "φ", "sum": "∑", "prod": "∏"}
_OVER = {"_dot": "\u0307", "_ddot": "\u0308", "_bar": "\u0304", "_hat": "\u0302", "": ""}
_SIGNS = (("+-", "±"), ("&lt;=", "≤"), ("&gt;=", "≥"), ("-&gt;", "→"), ("sqrt(", "√("),
          (" kron ", " ⊗ "), (" (x) ", " ⊗ "), ("(.)", "⊙"), ("d2 ", "d² "), ("d3 ", "d³ "))
_MARKED = re.compile(r"""
    :\w+:`(?P<role>[^`]+)` | ``(?P<code>[^`]+)`` | `(?P<name>[^`]+)`     # code stays code
    | (?<![\w&])(?<!(?<!\.)\.)
      (?P<letter>""" + "|".join(sorted(_GREEK, key=len, reverse=True)) + r"""|[^\W\d_])
      (?P<digit>\d(?![\w.]))?
      (?P<over>_d?dot|_bar|_hat)?
      (?P<primes>'{0,2})
      (?P<scripts>(?:_(?:\{[^{}]*\}|[A-Za-z0-9']+(?:[-+]1(?!\w))?)
                   |\^(?:\{[^{}]*\}|\([^()]*\)(?:,[a-z](?![a-z]))?|-1|-\||⊣|\+|T|[A-Za-z0-9]+))*)
      (?P<inverse>\+(?=[\s).,;:\]/]|$))?
      (?![A-Za-z0-9_'])
    | (?<=[\w)\]|])\^(?P<power>\{[^{}]*\}|\([^()]*\)|-1|[A-Za-z0-9]+)   # of all that is before it
    """, re.VERBOSE)
_SCRIPT = re.compile(r"([_^])(\{[^{}]*\}|\([^()]*\)(?:,[a-z])?|-1|-\||[^_^]+)")
_WORDS = re.compile(r"[A-Za-z]{3,}")
_OF_FORMULAS = {"sqrt", "sum", "prod", "diag", "kron", "exp", "log", "vec", "var", "for", "and",
                "with", "max", "min", "sign", "dot", "ddot", "bar", "eps", "cov", "ele"}
_LONG = 60  # signs: a shorter line was ended on purpose


def shown(lines):
    """Lines of a docstring as HTML: rows of as many columns make a table, prose flows."""
    out, table = [], []
    for line in [*lines, ""]:
        cells = [cell for cell in re.split(r" {2,}", line.strip()) if cell]
        if table and len(cells) != len(table[0]):
            out.append('<table class="columns">' + "".join(
                "<tr>" + "".join(f"<td>{typeset(cell)}</td>" for cell in row) + "</tr>"
                for row in table) + "</table>")
            table = []
        if len(cells) > 1:
            table.append(cells)
        elif cells:
            ended = len(line) < _LONG or line.rstrip()[-1] in ".:" or is_formula(cells[0])
            out.append(typeset(cells[0]) + ("<br>" if ended else " "))
    return re.sub(r"<br>(<table|$)", r"\1", "".join(out).strip())


def is_formula(text):
    """Whether a text is mathematics alone, without a sentence around it."""
    words = {word.lower() for word in _WORDS.findall(text)} - {name.lower() for name in _GREEK}
    return words <= _OF_FORMULAS


def typeset(text):
    """A line as HTML with its names of symbols set whole; letters alone only in a formula."""
    out, alone = html.escape(text, quote=False), is_formula(text)
    for plain, sign in _SIGNS:
        out = out.replace(plain, sign)
    return _MARKED.sub(lambda match: _set(match, alone), out)


def _set(match, alone):
    code = match["role"] or match["code"] or match["name"]
    if code:
        return f"<code>{code}</code>"
    if match["power"]:
        return f"<sup>{match['power'].strip('{}').replace('-', '−')}</sup>"
    letter, over = match["letter"], match["over"] or ""
    bare = not any((over, match["digit"], match["primes"], match["scripts"], match["inverse"]))
    called = match.string[match.end():match.end() + 1] == "("  # a function of the code, in prose
    if bare and (letter in ("sum", "prod") or not alone and (called or letter not in _GREEK)):
        return match[0]
    sign = unicodedata.normalize("NFC", _GREEK.get(letter, letter) + _OVER[over])
    below = "".join(f"<sub>{one}</sub>" for one in [match["digit"] or "",
                                                    " ".join(_scripts(match, "_"))] if one)
    above = "".join(f"<sup>{one}</sup>" for one in [*_scripts(match, "^"),
                                                    "+" if match["inverse"] else ""] if one)
    sign = sign if letter in ("sum", "prod") else f"<i>{sign}</i>"
    return f"{sign}{'′' * len(match['primes'])}{below}{above}"


def _scripts(match, kind):
    """What stands below or above, without braces, with Greek names as letters."""
    inner = [text.strip("{}") for sign, text in _SCRIPT.findall(match["scripts"]) if sign == kind]
    return [re.sub(r"[A-Za-z]+", lambda name: _GREEK.get(name[0], name[0]),
                   text.replace("-|", "⊣").replace("-", "−").replace("'", "′")) for text in inner]


def symbol(text):
    """A cell of a table of symbols, whole: LaTeX as MathML, what is written plainly as a line."""
    if "\\" not in text:
        return typeset(text)
    parts = [formulas.mathml_or_source(part).replace('display="block"', 'display="inline"')
             for part in re.split(r", (?![^(]*\))", text)]
    return typeset(text) if any(part.startswith("<pre") for part in parts) else ", ".join(parts)
