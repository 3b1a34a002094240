r"""Theorem-like environments: declared by `\newtheorem`, or known by their usual names."""

from dataclasses import dataclass

from ..formulas.tokens import written

USUAL = {"theorem": "Theorem", "lemma": "Lemma", "proposition": "Proposition",
         "corollary": "Corollary", "definition": "Definition", "assumption": "Assumption",
         "remark": "Remark", "conjecture": "Conjecture", "claim": "Claim", "example": "Example"}


@dataclass(frozen=True)
class Theorem:
    """A theorem-like environment: `Lemma`, its number ("" without), its title, where it begins."""

    kind: str
    number: str
    title: str
    file: str
    line: int

    def __str__(self):
        number = f" {self.number}" if self.number else ""
        return f"{self.kind}{number}{f' ({self.title})' if self.title else ''}"


class Theorems:
    """Which environments are theorems, and how they are counted."""

    def __init__(self, counters):
        self._counters, self._known = counters, {}  # name -> kind, and counter or None

    def declare(self, token, stream):
        r"""`\newtheorem{name}[shared]{Kind}[within]`."""
        starred = stream.took("*")
        name = stream.name(token.text)
        shared = written(stream.option(token.text) or []).strip()
        kind = " ".join(written(stream.argument(token.text)).split())
        within = None if starred else stream.option(token.text)
        counter = self._known[shared][1] if shared in self._known else shared
        self._known[name] = kind, None if starred else counter or name
        if within:
            self._counters.number_within(counter or name, written(within).strip())

    def knows(self, name):
        """Whether an environment is one."""
        return name in self._known or name.rstrip("*") in USUAL

    def begin(self, name, token, reader):
        """Its number, "" without; the theorem joins the reading."""
        if name not in self._known:
            self._known[name] = USUAL[name.rstrip("*")], None if name.endswith("*") else name
            reader.unread(token, rf"{name} has no \newtheorem here: it is counted by itself")
        kind, counter = self._known[name]
        title = " ".join(written(reader.stream.option(name) or []).split())
        if counter:
            self._counters.step(counter)
        number = self._counters.the(counter) if counter else ""
        reader.reading.theorems.append(Theorem(kind, number, title, token.file, token.line))
        return number
