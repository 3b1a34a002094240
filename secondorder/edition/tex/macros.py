r"""Macros of an author, read from their definitions and expanded where they are used.

`\newcommand` and its kin, `\NewDocumentCommand` with simple arguments, `\def`, `\let`,
`\DeclareMathOperator`, `\DeclarePairedDelimiter`, `\newenvironment`. A macro that is a program of
TeX's stays as it stands where it is used, and is listed there. Groups do not end a definition.
"""

import re
from dataclasses import dataclass

from ...formulas.tokens import written
from .stream import Token

DEEPEST = 200  # macros inside each other
MOST = 400_000  # expansions of one paper: text that doubles itself ends here
_XPARSE = tuple(rf"\{kind}Document{what}" for kind in ("New", "Renew", "Provide", "Declare")
                for what in ("Command", "Environment"))
#: What makes a body a program, which is never carried out here.
_PROGRAM = {r"\expandafter", r"\csname", r"\futurelet", r"\loop", r"\afterassignment", r"\catcode",
            r"\ifthenelse", r"\IfNoValueTF", r"\IfBooleanTF", r"\hbox", r"\setbox", r"\halign",
            r"\special", r"\read", r"\write", r"\immediate", r"\aftergroup", r"\noexpand"}
_COMMANDS = (r"\newcommand", r"\renewcommand", r"\providecommand", r"\DeclareRobustCommand")
_DEFS = (r"\def", r"\gdef", r"\edef", r"\xdef")
_ENVIRONMENTS = (r"\newenvironment", r"\renewenvironment")
_OPERATORS = (r"\DeclareMathOperator", r"\DeclarePairedDelimiter")
DEFINING = (*_COMMANDS, *_DEFS, *_ENVIRONMENTS, *_OPERATORS, *_XPARSE, r"\let")
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
    pattern: tuple = ()  # of `\def` with delimiters: what stands between and behind #1, #2, ...

    @property
    def program(self):
        """Whether only TeX could carry it out."""
        return any(one.text in _PROGRAM or one.text.startswith(r"\if") and one.text != r"\iff"
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
        if kind in _ENVIRONMENTS or kind in _XPARSE and kind.endswith("Environment"):
            return self._define_environment(token, stream)
        if kind in _DEFS:
            name, macro = self._by_def(token, stream)
        elif kind == r"\let":
            name, macro = self._by_let(stream)
        else:
            name = stream.name(kind)
            macro = self._operator(kind, stream) if kind in _OPERATORS \
                else self._command(kind, stream)
        if macro is None:
            return None
        if name.startswith(r"\the") and macro.arguments == 0:
            return name, macro.body
        if name in PROTECTED:
            self._unread(token, f"{name} is defined anew, which is passed over")
        elif not (kind == r"\providecommand" and name in self.commands):
            self.commands[name] = macro
        return None

    def _command(self, kind, stream):
        count, default = _xparse(stream, kind) if kind in _XPARSE \
            else (_count(stream, kind), stream.option(kind))
        return Macro(stream.argument(kind), count, default)

    def _operator(self, kind, stream):
        if kind == r"\DeclareMathOperator":
            body = stream.argument(kind)
            return Macro([_as(body, r"\operatorname"), _as(body, "{"), *body, _as(body, "}")])
        left, right = stream.argument(kind), stream.argument(kind)
        return Macro([*left, _as(left, " "), _as(left, "#1"), _as(left, " "), *right], 1,
                     starred=True)

    def _by_def(self, token, stream):
        name, parameters = stream.next(), []
        while (one := stream.skip_spaces()) is not None and one.text != "{":
            parameters.append(stream.next().text)
        body = stream.argument(token.text)
        if name is None:
            return "", None
        pattern = re.split(r"#\d", "".join(parameters).replace(" ", ""))
        if not any(pattern):
            pattern = ()
        return name.text, Macro(body, sum(one[:1] == "#" for one in parameters),
                                pattern=tuple(pattern))

    def _by_let(self, stream):
        name, following = stream.next(), stream.skip_spaces()
        if following is not None and following.text[0] == "=":
            stream.next_sign()
            stream.skip_spaces()
        value = stream.next_sign()
        if name is None or value is None:
            return "", None
        return name.text, self.commands.get(value.text, Macro([value._replace(depth=KEPT)]))

    def _define_environment(self, token, stream):
        name = stream.name(token.text)
        count, default = _xparse(stream, token.text) if token.text in _XPARSE \
            else (_count(stream, token.text), stream.option(token.text))
        self.begins[name] = Macro(stream.argument(token.text), count, default)
        self.ends[name] = stream.argument(token.text)

    def expand(self, token, stream):
        """Put what a macro stands for in its place; False where the token is none."""
        macro = self.commands.get(token.text) if token.depth != KEPT else None
        if macro is None:
            return False
        if macro.program:
            if token.text not in self._told:
                self._told.add(token.text)
                self._unread(token, f"{token.text} stays as it stands: its definition is a program")
            return False
        self.put(macro, token, stream)
        return True

    def put(self, macro, token, stream, after=()):
        """Put the body of a macro, its arguments filled in, and `after` next in the stream."""
        self._count += 1
        if token.depth >= DEEPEST or self._count > MOST:
            raise token.error(f"macros expand without end here ({token.text})")
        given = []
        if macro.starred:
            stream.took("*")
            stream.option(token.text)
        if macro.default is not None:
            given.append(stream.option(token.text) or macro.default)
        if macro.pattern:
            given = _delimited(macro.pattern, token, stream)
        while len(given) < macro.arguments:
            given.append(stream.argument(token.text))
        if not macro.arguments:
            stream.skip_spaces()
        tokens = []
        for one in macro.body:
            place = int(one.text[-1]) if one.text[:1] == "#" and one.text[-1].isdigit() else 0
            tokens += given[place - 1] if 0 < place <= len(given) else [one]
        if len(tokens) > MOST:
            raise token.error(f"macros expand without end here ({token.text})")
        self._count += len(tokens) // 20
        stream.push([*(one if one.depth == KEPT else one._replace(
            file=token.file, line=token.line, depth=token.depth + 1) for one in tokens), *after])


def _delimited(pattern, token, stream):
    """The arguments of a macro, each up to what has to stand behind it."""
    given = []
    for k, end in enumerate(pattern):
        tokens, text, depth = [], "", 0
        if k and not end:
            given.append(stream.argument(token.text))
            continue
        while end and not (depth == 0 and text.endswith(end)):
            one = stream.next_sign()
            if one is None:
                raise token.error(f"{token.text} is never ended by {end}")
            depth += (one.text == "{") - (one.text == "}")
            tokens.append(one)
            text += one.text.strip(" ")
        while end and tokens:  # the delimiter itself
            end = end[:len(end) - len(tokens.pop().text.strip(" "))]
        given += [tokens] if k else []
    return given


def _xparse(stream, kind):
    r"""How many arguments `\NewDocumentCommand` says, and the default of the first."""
    signs = re.findall(r"[A-Za-z](?:\{[^{}]*\})?", written(stream.argument(kind)))
    if any(sign[0] not in "mO" for sign in signs) or any(sign[0] == "O" for sign in signs[1:]):
        return len(signs), [stream.last._replace(text=r"\csname")]  # other kinds: left unexpanded
    default = signs and signs[0][0] == "O"
    return len(signs), [stream.last._replace(text=signs[0][2:-1])] if default else None


def _count(stream, what):
    option = stream.option(what)
    text = written(option or []).strip()
    if option is not None and not (text.isdigit() and int(text) < 10):
        raise stream.last.error(f"{what} takes a number of arguments below 10, got {text!r:.40}")
    return int(text or 0)


def _as(tokens, text):
    """A token with this text, where the first of some tokens stands."""
    return (tokens[0] if tokens else Token("", "", 0))._replace(text=text)
