r"""Macros of an author, read from their definitions and expanded where they are used.

`\newcommand` and its kin, `\def` without delimiters, `\let`, `\DeclareMathOperator`,
`\DeclarePairedDelimiter`, `\newenvironment`. Whatever else defines something is listed as not
read. Groups do not end a definition.
"""

from dataclasses import dataclass

from .stream import Token, written

DEEPEST = 200  # macros inside each other
MOST = 400_000  # expansions of one paper: text that doubles itself ends here
_COMMANDS = (r"\newcommand", r"\renewcommand", r"\providecommand", r"\DeclareRobustCommand")
_DEFS = (r"\def", r"\gdef", r"\edef", r"\xdef")
_ENVIRONMENTS = (r"\newenvironment", r"\renewenvironment")
_OPERATORS = (r"\DeclareMathOperator", r"\DeclarePairedDelimiter")
DEFINING = (*_COMMANDS, *_DEFS, *_ENVIRONMENTS, *_OPERATORS, r"\let")
#: What the reader itself goes by is never replaced by an author's own version.
PROTECTED = {r"\begin", r"\end", r"\label", r"\tag", r"\nonumber", r"\notag", r"\[", r"\]", r"\(",
             r"\)", r"\\", r"\input", r"\include", r"\section", r"\ref", r"\eqref"}


@dataclass(frozen=True)
class Macro:
    """Body, number of arguments, and the first one's default (None: it has none)."""

    body: list
    arguments: int = 0
    default: list | None = None
    starred: bool = False  # takes a star and an option that say how large, and nothing else


class Macros:
    """The macros and environments that a paper defines: `commands` and `begins` have a `Macro` by
    name, `ends` the tokens that end an environment.
    """

    def __init__(self, unread):
        self.commands, self.begins, self.ends = {}, {}, {}
        self._unread, self._count = unread, 0

    def define(self, token, stream):
        """Read the definition that begins with this token; of ``\\the...``, how a counter is
        printed, name and body are returned.
        """
        kind = token.text
        stream.took("*")
        if kind in _ENVIRONMENTS:
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
        count, default = _count(stream, kind), stream.option(kind)
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
        if name is None or parameters != [f"#{k + 1}" for k in range(len(parameters))]:
            self._unread(token, f"{token.text}{name.text if name else ''} with delimiters is not "
                         "understood")
            return "", None
        return name.text, Macro(body, len(parameters))

    def _by_let(self, stream):
        name, following = stream.next(), stream.skip_spaces()
        if following is not None and following.text[0] == "=":
            stream.next_sign()
            stream.skip_spaces()
        value = stream.next_sign()
        if name is None or value is None:
            return "", None
        return name.text, self.commands.get(value.text, Macro([value]))

    def _define_environment(self, token, stream):
        name, count = stream.name(token.text), _count(stream, token.text)
        default = stream.option(token.text)
        self.begins[name] = Macro(stream.argument(token.text), count, default)
        self.ends[name] = stream.argument(token.text)

    def expand(self, token, stream):
        """Put what a macro stands for in its place; False where the token is none."""
        macro = self.commands.get(token.text)
        if macro is None:
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
        stream.push([*(one._replace(file=token.file, line=token.line, depth=token.depth + 1)
                       for one in tokens), *after])


def _count(stream, what):
    option = stream.option(what)
    text = written(option or []).strip()
    if option is not None and not (text.isdigit() and int(text) < 10):
        raise stream.last.error(f"{what} takes a number of arguments below 10, got {text!r:.40}")
    return int(text or 0)


def _as(tokens, text):
    """A token with this text, where the first of some tokens stands."""
    return (tokens[0] if tokens else Token("", "", 0))._replace(text=text)
