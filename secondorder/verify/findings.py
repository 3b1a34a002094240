"""What the derivative checker found: comparisons, findings by their causes."""

from collections import Counter
from dataclasses import dataclass, field

#: Findings are printed in this order: each of these is compared with differences of what stands
#: before it.
ORDER = ("deepcopy", "forward", "backward", "tangent", "parameter_gradients", "second_tangent",
         "backward_tangent", "input_hessian", "prepare_target", "value", "kinks",
         "slope", "curvature", "jet", "gradient", "hessian", "hessian_product", "hessian_diagonal",
         "fisher", "sample_targets")

#: How many findings are printed in full for the first wrong pass, the likely cause, and for each
#: later one; and one of every kind.
_SHOWN_FIRST, _SHOWN_LATER = 4, 1
#: What is wrong in single precision only, as the headline says it; printed after everything else.
PROMOTES = "promotes float32"
#: What could not be judged: right or wrong.
UNJUDGED, KINK = "too inaccurate to judge", "not judged at a kink"


@dataclass
class Finding:
    """One thing that is wrong.

    Attributes
    ----------
    pass_name : str
        The pass (or method, or flag) that is wrong.
    compared : str
        What was compared with what.
    entries : str
        The worst entries with both values and their ratio, and what the pattern of ratios suggests.
    hint : str
        What usually causes it; may be empty.
    kind : str
        ``"mismatch"`` (two numbers that should agree), ``"fact"`` (anything else that must hold),
        ``"too inaccurate to judge"`` (the reference; nothing is known to be wrong),
        ``"not judged at a kink"`` (no derivative is there to compare with),
        ``"promotes float32"`` (right in float64).
    """

    pass_name: str
    compared: str
    entries: str = ""
    hint: str = ""
    kind: str = "fact"

    def __str__(self):
        lines = [f"{self.pass_name}: {self.compared}"]
        lines += ["    " + line for line in self.entries.splitlines()]
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Check:
    """A comparison: its pass, what was compared, the error over what is allowed, the outcome."""

    pass_name: str
    what: str
    excess: float
    ok: bool


@dataclass
class Report:
    """What `verify.layer` and its like return; true when nothing is wrong.

    Attributes
    ----------
    subject : str
        What was checked.
    findings : list of Finding
        What is wrong, causes before consequences.
    checks : list of Check
        Every comparison that was made.
    notes : list of str
        What was left out, and why.
    """

    subject: str
    findings: list = field(default_factory=list)
    checks: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    def note(self, text):
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def ok(self):
        """Whether nothing is wrong."""
        return not self.findings

    def __bool__(self):
        return self.ok

    def __str__(self):
        counts = Counter(check.pass_name for check in self.checks)
        by_pass = ", ".join(f"{name} {count}" for name, count in counts.items())
        amount = f"{len(self.checks)} comparisons ({by_pass})"
        if self.ok:
            lines = [f"{self.subject}: ok, {amount}"]
        else:
            lines = [f"{self.subject}: {self.headline()}; {amount}"]
            of_pass = {}
            for finding in self.findings:
                of_pass.setdefault(finding.pass_name, []).append(finding)
            for position, (name, mine) in enumerate(of_pass.items()):
                most = _SHOWN_LATER if position else _SHOWN_FIRST
                first = {finding.kind: finding for finding in reversed(mine)}
                shown = [finding for i, finding in enumerate(mine)
                         if i < most or first[finding.kind] is finding]
                lines += ["", *map(str, shown)]
                if len(mine) > len(shown):
                    lines.append(f"{name}: and {len(mine) - len(shown)} more in this pass (see "
                                 "report.findings)")
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def headline(self):
        """Which passes are wrong, not judged, and wrong in single precision only."""
        def names(*kinds):
            return dict.fromkeys(finding.pass_name for finding in self.findings
                                 if finding.kind in kinds)

        wrong = names("mismatch", "fact")
        parts = [f"wrong in {', '.join(wrong)}"] if wrong else []
        for kind in (UNJUDGED, KINK):
            unjudged = [name for name in names(kind) if name not in wrong]
            parts += [f"{kind} in {', '.join(unjudged)}"] if unjudged else []
        parts = parts or ["right in float64"]
        if names(PROMOTES):
            parts.append(f"{PROMOTES} in {', '.join(names(PROMOTES))}")
        return "; ".join(parts)
