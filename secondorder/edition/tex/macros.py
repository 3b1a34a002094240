r"""Macros of an author, read from their definitions and expanded where they are used.

`\newcommand` and its kin, `\def`, `\let`, `\DeclareMathOperator`, `\DeclarePairedDelimiter`,
`\newenvironment`: what formulas need. A macro of another kind, and one that is a program of TeX's,
stays as it stands where it is used, and is listed there. Groups do not end a definition.
"""

from dataclasses import dataclass

from ...formulas.tokens import written
from .stream import Token

DEEPEST = 200  # macros inside each other
MOST = 100_000  # expansions of one paper: text that doubles itself ends here
#: What makes a body a program, which is never carried out here.
_PROGRAM = {r"\expandafter", r"\csname", r"\futurelet", r"\loop", r"\afterassignment", r"\catcode",
            r"\ifthenelse", r"\IfNoValueTF", r"\IfBooleanTF", r"\hbox", r"\setbox", r"\halign",
            r"\special", r"\read", r"\write", r"\immediate", r"\aftergroup", r"\noexpand"}
_XPARSE = tuple(rf"\{kind}DocumentCommand" for kind in ("New", "Renew", "Provide", "Declare"))
_COMMANDS = (r"\newcommand", r"\renewcommand", r"\providecommand", r"\DeclareRobustCommand",
             *_XPARSE)
_DEFS = (r"\def", r"\gdef", r"\edef", r"\xdef")
_ENVIRONMENTS = (r"\newenvironment", r"\renewenvironment")
_OPERATORS = (r"\DeclareMathOperator", r"\DeclarePairedDelimiter")
DEFINING = (*_COMMANDS, *_DEFS, *_ENVIRONMENTS, *_OPERATORS, r"\let")
#: What the reader itself goes by is never replaced by an author's own version.
PROTECTED = {r"\begin", r"\end", r"\label", r"\tag", r"\nonumber", r"\notag", r"\[", r"\]", r"\(",
             r"\)", r"\\", r"\input", r"\include", r"\part", r"\chapter", r"\section",
             r"\subsection", r"\subsubsection", r"\ref", r"\eqref", r"\cite", r"\title",
             r"\caption", r"\footnote", r"\maketitle", r"\appendix", r"\item", r"\intertext",
             r"\left", r"\right", r"\frac", r"\text", r"\par", r"\usepackage"}
#: A token that means what it meant before an author defined it anew.
KEPT = -1


@dataclass(frozen=True)
class Macro:
    """Body, number of arguments, and the first one's default (None: it has none)."""

    body: list
    arguments: int = 0
    default: list | None = None
    starred: bool = False  # takes a star and an option that say how large, and nothing else
    odd: bool = False  # takes its arguments in a manner that is not known here

    @property
    def program(self):
        """Whether only TeX could carry it out."""
        return self.odd or any(
            one.text in _PROGRAM or one.text.startswith(r"\if") and one.text != r"\iff"
            or one.text[:1] == "\\" and "@" in one.text
            for one in (*self.body, *(self.default or ())))


class Macros:
    """The macros and environments that a paper defines: `commands` and `begins` have a `Macro` by
    name, `ends` the tokens that end an environment.
    """

    def __init__(self, unread):
        self.commands, self.begins, self.ends = {}, {}, {}
        self._unread, self._count, self._told = unread, 0, set()

    def define(self, token, stream):
        """Read the definition that begins with this token; of ``\\the...``, how a counter is
        printed, name and body are returned.
        """
        kind = token.text
        stream.took("*")
        if kind in _ENVIRONMENTS:
            name, (count, default) = stream.name(kind), _arguments(stream, kind)
            self.begins[name] = Macro(stream.argument(kind), count, default)
            self.ends[name] = stream.argument(kind)
            return None
        name = (stream.next() or token).text if kind in (*_DEFS, r"\let") else stream.name(kind)
        macro = self._read(kind, stream)
        if name.startswith(r"\the") and macro.arguments == 0:
            return name, macro.body
        if name in PROTECTED:
            self._unread(token, f"{name} is defined anew, which is passed over")
        elif not (kind == r"\providecommand" and name in self.commands):
            self.commands[name] = macro
        return None

    def _read(self, kind, stream):
        """What stands behind the name of a macro."""
        if kind == r"\let":
            if stream.skip_spaces() and stream.skip_spaces().text[0] == "=":
                stream.next_sign()
                stream.skip_spaces()
            value = stream.next_sign() or stream.last
            return self.commands.get(value.text, Macro([value._replace(depth=KEPT)]))
        if kind in _DEFS:
            parameters = []
            while (one := stream.skip_spaces()) is not None and one.text != "{":
                parameters.append(stream.next().text)
            return Macro(stream.argument(kind), len(parameters),
                         odd=any(one[0] != "#" for one in parameters))
        if kind in _XPARSE:
            signs = stream.name(kind).replace(" ", "")
            return Macro(stream.argument(kind), len(signs), odd=bool(signs.strip("m")))
        if kind == r"\DeclareMathOperator":
            body = stream.argument(kind)
            return Macro([_as(body, r"\operatorname"), _as(body, "{"), *body, _as(body, "}")])
        if kind == r"\DeclarePairedDelimiter":
            left, right = stream.argument(kind), stream.argument(kind)
            return Macro([*left, _as(left, " "), _as(left, "#1"), _as(left, " "), *right], 1,
                         starred=True)
        count, default = _arguments(stream, kind)
        return Macro(stream.argument(kind), count, default)

    def expand(self, token, stream):
        """Put what a macro stands for in its place; False where the token is none."""
        macro = self.commands.get(token.text) if token.depth != KEPT else None
        if macro is None:
            return False
        if macro.program:
            if token.text not in self._told:
                self._told.add(token.text)
                self._unread(token, f"{token.text} stays as it stands: only TeX can carry it out")
            return False
        self.put(macro, token, stream)
        return True

    def put(self, macro, token, stream):
        """Put the body of a macro, its arguments filled in, next in the stream."""
        given = []
        if macro.starred:
            stream.took("*")
            stream.option(token.text)
        if macro.default is not None:
            given.append(stream.option(token.text) or macro.default)
        while len(given) < macro.arguments:
            given.append(stream.argument(token.text))
        tokens = []
        for one in macro.body:
            place = int(one.text[-1]) if one.text[:1] == "#" and one.text[-1].isdigit() else 0
            tokens += given[place - 1] if 0 < place <= len(given) else [one]
        if not macro.arguments:
            stream.skip_spaces()
        self.count(token, len(tokens))
        stream.push([one if one.depth == KEPT else one._replace(
            file=token.file, line=token.line, depth=token.depth + 1) for one in tokens])

    def count(self, token, size):
        """One expansion more; an error where they have no end."""
        self._count += 1 + size // 20
        if token.depth >= DEEPEST or self._count > MOST:
            raise token.error(f"macros expand without end here ({token.text})")


def _arguments(stream, what):
    """The number of arguments in brackets, and the default of the first one, or None."""
    option = stream.option(what)
    text = written(option or []).strip()
    if option is not None and not (text.isdigit() and int(text) < 10):
        raise stream.last.error(f"{what} takes a number of arguments below 10, got {text!r:.40}")
    return int(text or 0), stream.option(what)


def _as(tokens, text):
    """A token with this text, where the first of some tokens stands."""
    return (tokens[0] if tokens else Token("", "", 0))._replace(text=text)
