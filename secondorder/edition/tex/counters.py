r"""Counters of LaTeX: what steps them, what sets them back, how they are printed."""

from ...formulas.tokens import written

MOST = 100  # counters in a printed number
_SECTIONS = ("part", "chapter", "section", "subsection", "subsubsection")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


class Counters:
    """The counters of a paper; `equation` and the sections are there from the beginning."""

    def __init__(self):
        self.values = dict.fromkeys((*_SECTIONS, "equation"), 0)
        self.within = {"subsection": "section", "subsubsection": "subsection"}
        self.printed = {name: [("the", outer), ".", ("arabic", name)]
                        for name, outer in self.within.items()}  # texts and (style, counter) pairs

    def number_within(self, name, within):
        r"""`\numberwithin`: set back by `within` and printed behind it."""
        self.within[name] = within
        self.printed[name] = [("the", within), ".", ("arabic", name)]

    def chapters(self):
        """As reports and books count."""
        self.number_within("section", "chapter")
        self.number_within("equation", "chapter")
        self.printed["equation"] = [("above", "chapter"), ("arabic", "equation")]

    def step(self, name):
        """One more, and everything that is counted within it back to zero."""
        self.values[name] = self.values.get(name, 0) + 1
        self._set_back(name, {name})

    def _set_back(self, name, visited):
        for inner, outer in self.within.items():
            if outer == name and inner not in visited:
                self.values[inner] = 0
                self._set_back(inner, visited | {inner})

    def appendix(self):
        """Sections, or chapters where there are any, get letters."""
        top = "chapter" if self.values["chapter"] else "section"
        self.values[top] = 0
        self._set_back(top, {top})
        self.printed[top] = [("Alph", top)]

    def print_as(self, name, body):
        r"""`\renewcommand{\theequation}{...}`."""
        parts, texts = [], [token.text for token in body]
        while texts:
            text = texts.pop(0)
            if text.startswith(r"\the"):
                parts.append(("the", text[4:]))
            elif text[1:] in _STYLES:
                end = texts.index("}") if "}" in texts else len(texts)
                parts.append((text[1:], written(texts[1:end])))
                texts = texts[end + 1:]
            elif text not in ("{", "}", " ") and text[:1] != "\\":
                parts.append(text)
        self.printed[name] = parts

    def the(self, name):
        """A counter as it is printed; ValueError where it has no end."""
        return self._the(name, [MOST]).lstrip(".")

    def _the(self, name, left):
        """`left` is how many counters may still be printed."""
        left[0] -= 1
        if left[0] < 0:
            raise ValueError(rf"\the{name} is defined by itself, or by more than {MOST} counters")
        texts = []
        for part in self.printed.get(name, [("arabic", name)]):
            if isinstance(part, str):
                texts.append(part)
            elif part[0] == "the":
                texts.append(self._the(part[1], left))
            elif part[0] == "above":  # a chapter, once there is one
                texts.append(self._the(part[1], left) + "." if self.values.get(part[1]) else "")
            else:
                texts.append(_STYLES[part[0]](self.values.get(part[1], 0)))
        return "".join(texts)


def _letter(value):
    return chr(ord("a") + value - 1) if 0 < value < 27 else str(value)


def _roman(value):
    text = ""
    for size, letters in _ROMAN:
        while 0 < size <= value < 4000:
            text, value = text + letters, value - size
    return text


_STYLES = {"arabic": str, "alph": _letter, "Alph": lambda value: _letter(value).upper(),
           "roman": _roman, "Roman": lambda value: _roman(value).upper()}
