r"""The sentence before a display, in plain words: commands left out, formulas as they stand."""

import re

from .stream import PARAGRAPH

LONGEST = 400
_SILENT = {"{", "}", r"\,", r"\;", r"\!", r"\/", r"\noindent", r"\par", r"\item"}
_SPACES = {"~", r"\ ", r"\\", r"\quad", r"\qquad", PARAGRAPH}
_SIGNS = {r"\%": "%", r"\&": "&", r"\_": "_", r"\#": "#", r"\$": "$", r"\{": "{", r"\}": "}",
          r"\dots": "...", r"\ldots": "...", r"\ss": "ss", r"\S": "section "}


class Prose:
    """The text since the last display, as it is read."""

    def __init__(self):
        self._pieces, self._earlier = [], ""

    def add(self, text):
        """One token."""
        if text[0] not in "\\{}~\n":
            self._pieces.append(text)
            return
        if text in _SPACES:
            text = " "
        elif text in _SILENT or text[:1] == "\\" and text not in _SIGNS:
            text = "" if text[-1:].isalpha() or text in _SILENT or len(text) == 2 else text
        self._pieces.append(_SIGNS.get(text, text))

    def keep(self, text):
        """A text that is kept as it stands."""
        self._pieces.append(text)

    def paragraph(self):
        """An empty line, a heading, the border of an environment."""
        text = "".join(self._pieces)
        if text.strip():
            self._earlier = text
        self._pieces = []

    def forget(self):
        """What follows is about something else."""
        self._pieces, self._earlier = [], ""

    def sentence(self):
        """The last sentence before a display; it is used up."""
        text = "".join(self._pieces)
        text = text if text.strip(" .,;:") else self._earlier
        self.forget()
        return last_sentence(text)


def last_sentence(text):
    """The last sentence of a text, on one line, shortened where it is very long."""
    text = " ".join(text.split())[-20 * LONGEST:]
    starts = [match.end() for match in re.finditer(r"(?<=[^A-Z\s.][.!?])\s+(?=[A-Z$\\])", text)
              if text.count("$", 0, match.start()) % 2 == 0]
    sentence = text[starts[-1]:] if starts else text
    return sentence if len(sentence) <= LONGEST else "..." + sentence[-LONGEST:]
