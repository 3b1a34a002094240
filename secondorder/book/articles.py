"""What a page shows of one check."""

import re
from types import SimpleNamespace

from ..ledger.labels import short
from ..ledger.pages import counts
from ..ledger.pages.own_lines import displays_among, plain
from ..ledger.pages.page import page as page_of
from ..ledger.pages.source import check_and_helpers
from ..ledger.registry import REGISTRY
from .parts import code, formulas, numbered
from .parts.docstrings import typeset

GLYPHS = {"holds": ("✓", "holds"), "conditional": ("◐", "conditional"), "erratum": ("✗", "erratum"),
          "definition": ("≔", "definition"), "unchecked": ("·", "unchecked")}

#: What a verdict means, a line each.
MEANINGS = {
    "holds": "Both sides agree within the tolerance, for every seed.",
    "conditional": "Both sides agree under a condition that is stated; outside it a counterexample "
                   "is shown.",
    "erratum": "The printed form fails, and the corrected form holds.",
    "definition": "A definition states nothing: the object is built and has its properties."}


def corrected(entries):
    """`6 (1 of substance, 5 misprints)`; nothing where nothing is corrected. A display that is
    conditional may be corrected too, so there can be more of them than errata.
    """
    some = [entry for entry in entries if entry.corrected]
    return f"{len(some)} ({counts.by_weight(some)})" if some else ""


def anchor(label):
    """The address of a label on its page: `39`, `theorem-4.3`."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", label)


def article(entry, evaluated, symbols, blocks):
    """One check, ready for the template.

    `evaluated` is its `evidence.Evidence`; `symbols` has the letters that the paper's table
    explains, `blocks` what code the page shows where. FormulaError for a formula that cannot be
    set.
    """
    page = page_of(entry)
    printed, corrected = numbered.shown(page, symbols, blocks)
    drawn = [one.text for one in (page.printed, page.corrected) if one and one.nodes]
    return SimpleNamespace(
        entry=entry, anchor=anchor(entry.labels[0]), heading=page.heading,
        short=short(entry.labels), glyph=GLYPHS[entry.verdict][0], word=page.verdict,
        statement=typeset(entry.statement), marks=page.marks,
        conditions=[(getattr(one, "name", ""), typeset(getattr(one, "text", str(one))))
                    for one in entry.conditions],
        printed=printed, corrected=corrected, wide=any(map(formulas.is_wide, drawn)),
        rows=[row | {"text": typeset(row["text"])} for row in evaluated.rows],
        ok=evaluated.ok, both=evaluated.both, live=evaluated.live,
        code=blocks.here(entry), elsewhere=blocks.elsewhere(entry),
        other=blocks.other_side(entry), seeds=evaluated.seeds, snippet=_coloured(evaluated.snippet),
        topic=entry.check.__module__.rpartition(".")[2].replace("_", " "))


def _coloured(text):
    """Lines of Python for the template, one a line of text."""
    lines = code.coloured(text.rstrip().splitlines(), {})
    return re.sub(r"<b class=m>(.*?)</b>", r"\1", "\n".join(lines))  # numbers stay plain


class Blocks:
    """What code a page shows where: everything once, but the first block of an article."""

    def __init__(self, paper, entries):
        self.paper, self.links, self.home, self.named = paper, {}, {}, set()
        self.foreign = REGISTRY.papers[paper] is None
        for entry in entries:  # the first is the formula
            for value in _code(entry)[:1]:
                name = getattr(plain(value), "__name__", "")
                self.links.setdefault(name, f"#{anchor(entry.labels[0])}")
                self.home.setdefault(plain(value), entry)
        for entry in entries:
            for value in entry.implements:
                if self.home.setdefault(plain(value), entry) is not entry:
                    self.named.add(plain(value))
        for entry in entries:  # of an author's own paper, where checks call what stands beside
            self.named.update(helper for helper in check_and_helpers(entry.check)[1:]
                              if self.home.get(helper, entry) is not entry)
        calls = [helper for entry in entries for helper in self._check(entry)[1:]]
        self.shared = sorted({helper for helper in calls if calls.count(helper) > 1},
                             key=lambda helper: (helper.__module__, code.address(helper)))
        self.shared_links = {helper.__name__: f"#{code.address(helper)}"
                             for helper in self.shared}

    def here(self, entry):
        """The first block of an article, and those that no other article shows."""
        own = numbered.ids(entry)
        return [code.block(value, self.paper, self.links, own=own,
                           named=self._at_home(value, entry) and plain(value) in self.named)
                for k, value in enumerate(_code(entry)) if not k or self._at_home(value, entry)]

    def elsewhere(self, entry):
        """What else implements it: names and addresses of blocks that other articles show."""
        return [(code.short_name(self.paper, code.qualified_name(value)), f"#{code.address(value)}")
                for value in _code(entry)[1:] if not self._at_home(value, entry)]

    def _at_home(self, value, entry):
        return self.home[plain(value)] is entry

    def _check(self, entry):
        """The check, and its helpers but those that an article shows as its code."""
        check, *helpers = check_and_helpers(entry.check)
        return [check, *(helper for helper in helpers if helper not in self.home)]

    def other_side(self, entry):
        """The check and those of its helpers that no other check calls."""
        own = numbered.ids(entry)
        return [code.block(function, self.paper, self.shared_links, own=own)
                for function in self._check(entry) if function not in self.shared]

    def address_of(self, entry, line, word, label):
        """Where on the page a line stands that is a display's own: it, or the block that has it."""
        function = plain(line.function)
        here = [plain(value) for k, value in enumerate(_code(entry))
                if not k or self._at_home(value, entry)]
        others = [one for one in self._check(entry) if one not in self.shared]
        return f"#{word}-eq-{label}" if function in here + others else f"#{code.address(function)}"

    def helpers(self):
        """What several checks call, once."""
        return [code.block(function, self.paper, self.shared_links, named=True)
                for function in self.shared]


def _code(entry):
    """What implements a display, the function that is it first."""
    first = displays_among(entry)[:1]
    return first + [value for value in entry.implements if value not in first]
