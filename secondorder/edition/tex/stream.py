r"""A LaTeX file as tokens with line numbers, and what is read of them: arguments, verbatim text.
"""

from typing import NamedTuple

from ...formulas.tokens import TOKEN, written

LONGEST = 20_000  # tokens of an argument: what is longer has lost its closing brace
PARAGRAPH = "\n\n"


class ReadingError(ValueError):
    """A text that cannot be read as LaTeX; the message names file and line."""


class Token(NamedTuple):
    """One token; `depth` says of how many macros inside each other it came."""

    text: str
    file: str
    line: int
    depth: int = 0

    def error(self, message):
        """An error that names the place of this token."""
        return ReadingError(f"{self.place}: {message}")

    @property
    def place(self):
        """File and line as text."""
        return f"{self.file}, line {self.line}"


class Stream:
    """Tokens of a text and of the files that it inputs, with what macros push back."""

    def __init__(self):
        self._files, self._pushed = [], []
        self.last = Token("", "text", 1)

    def open(self, text, name, line=1):
        """Read this text next; afterwards what stood before goes on."""
        if self._pushed:
            raise self.last.error("a macro that inputs a file has to end with it")
        self._files.append([text, 0, line, name])

    def mark(self):
        """Where reading stands, for `back_to`; None inside a macro that is too long to go back."""
        if len(self._pushed) > 1000:
            return None
        return [list(file) for file in self._files], list(self._pushed)

    def back_to(self, mark):
        """Go on from a place that was marked."""
        if mark is not None:
            self._files, self._pushed = mark

    def names(self):
        """Files that are being read, the outermost first."""
        return [file[3] for file in self._files]

    def push(self, tokens):
        """Read these tokens next."""
        self._pushed += reversed(tokens)

    def next(self):
        """The next token, comments left out; None at the end of all."""
        if self._pushed:
            self.last = self._pushed.pop()
            return self.last
        while self._files:
            file = self._files[-1]
            text, place, line, name = file
            match = TOKEN.match(text, place)
            if match is None:
                self._files.pop()
                continue
            piece, file[1] = match[0], match.end()
            if piece[0] == "%":
                file[2] += piece.count("\n")
                if not (piece.endswith("\n") and text.startswith("\n", file[1])):
                    continue
                piece = PARAGRAPH  # a comment, and an empty line after it
                blank = TOKEN.match(text, file[1])
                file[1], file[2] = blank.end(), file[2] + blank[0].count("\n")
            elif piece.isspace():
                count = piece.count("\n")
                file[2] += count
                piece = PARAGRAPH if count > 1 else " "
            self.last = Token(piece, name, line)
            return self.last
        return None

    def next_sign(self):
        """The next token, of words the first sign only."""
        token = self.next()
        if token is not None and len(token.text) > 1 and token.text[0] not in "\\#\n":
            self.push([token._replace(text=token.text[1:])])
            return token._replace(text=token.text[0])
        return token

    def at(self, text):
        """Whether the very next token is this one; it stays to be read."""
        token = self.next()
        if token is not None:
            self.push([token])
        return token is not None and token.text == text

    def skip_spaces(self):
        """The next token that is no space, which stays to be read; None at the end."""
        token = self.next()
        while token is not None and token.text == " ":
            token = self.next()
        if token is not None:
            self.push([token])
        return token

    def took(self, text):
        """Whether the next token, spaces left out, is this one; it is read then."""
        token = self.skip_spaces()
        if token is not None and token.text == text:
            self.next()
            return True
        return False

    def argument(self, what):
        """Tokens of one argument: what stands in braces, or a single token."""
        opened = self.skip_spaces()
        if opened is None or opened.text in ("}", PARAGRAPH):
            raise (opened or self.last).error(f"{what} lacks an argument")
        opened = self.next_sign()
        if opened.text != "{":
            return [opened]
        return self._until("}", opened, f"the brace after {what} is never closed")

    def option(self, what):
        """Tokens in square brackets, or None where there are none."""
        opened = self.skip_spaces()
        if opened is None or opened.text != "[":
            return None
        self.next()
        return self._until("]", opened, f"the bracket after {what} is never closed")

    def _until(self, end, opened, message):
        tokens, depth = [], 0
        while (token := self.next()) is not None:
            if token.text == end and depth == 0:
                return tokens
            depth += (token.text == "{") - (token.text == "}")
            if depth < 0 or len(tokens) > LONGEST:
                break
            tokens.append(token)
        raise opened.error(message)

    def name(self, what):
        """An argument as plain text: the name of an environment, of a file, of a label."""
        return written(self.argument(what)).strip()

    def pass_over(self, name, opened):
        """Go to the end of an environment, whatever stands in it."""
        opened = opened._replace(text=rf"\begin{{{name}}}")
        if self._files and not self._pushed:
            self._raw(self._files[-1][1], rf"\end{{{name}}}", opened)
            return
        while (token := self.next()) is not None:
            if token.text == r"\end" and self.name(token.text) == name:
                return
        raise opened.error(f"{opened.text} is never closed")

    def verbatim(self, opened):
        r"""What `\verb|text|` or `\url{text}` has between its signs, in which a percent sign is
        nothing else; from a macro an argument as any.
        """
        if self._pushed or not self._files:
            return written(self.argument(opened.text))
        text, place = self._files[-1][:2]
        place += text.startswith("*", place)
        sign = text[place:place + 1]
        return self._raw(place + 1, {"{": "}"}.get(sign, sign), opened)

    def _raw(self, start, end, opened):
        """The text of the file at hand up to `end`, which is read too."""
        file = self._files[-1]
        place = file[0].find(end, start) if end else -1
        if place < 0:
            raise opened.error(f"{opened.text} is never closed")
        file[2] += file[0].count("\n", file[1], place + len(end))
        file[1] = place + len(end)
        return file[0][start:place]
