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
        self._counters, self._known = counters, {}

    def declare(self, token, stream):
        r"""`\newtheorem{name}[shared]{Kind}[within]`."""
        starred = stream.took("*")
        name = stream.name(token.text)
        shared = written(stream.option(token.text) or [])
        kind = " ".join(written(stream.argument(token.text)).split())
        within = "" if starred else written(stream.option(token.text) or [])
        self._add(name, kind, shared.strip(), within.strip(), not starred)

    def _add(self, name, kind, shared, within, numbered):
        counter = shared or name
        if shared in self._known:
            counter = self._known[shared][1] or name
        self._counters.new(counter, within or None)
        self._known[name] = kind, counter if numbered else None

    def knows(self, name):
        """Whether an environment is one."""
        return name in self._known or name.rstrip("*") in USUAL

    def begin(self, name, token, reader):
        """Its number, "" without; the theorem joins the reading."""
        if name not in self._known:
            kind = USUAL[name.rstrip("*")]
            self._add(name, kind, "", "", not name.endswith("*"))
            reader.unread(token, rf"{name} has no \newtheorem here: it is counted by itself")
        kind, counter = self._known[name]
        title = " ".join(written(reader.stream.option(name) or []).split())
        if counter:
            self._counters.step(counter)
        number = self._counters.the(counter) if counter else ""
        reader.reading.theorems.append(Theorem(kind, number, title, token.file, token.line))
        return number
