"""How a room registers a display: what it says of it, and what is refused before anything runs."""

import functools
from dataclasses import dataclass, field

from ..checks.brief import shown
from . import registry, tex_file
from .comparisons import VerificationError
from .registry import qualified_name, unknown

KINDS = ("definition", "identity", "inequality", "approximation", "optimality", "algorithm",
         "claim", "proof-step")
VERDICTS = ("holds", "conditional", "erratum", "definition", "unchecked")
#: How much an erratum weighs. `substance`: a claim, bound, condition or algorithm changes for a
#: reader who uses it. `misprint`: an index, sign, bracket or factor that the derivation itself puts
#: right, and no claim rests on it. `extraction`: the text that was read may have lost it.
#: A slip that changes no number (a letter in a name, what the text beside a display says) is no
#: erratum: the statement tells it. What holds for the paper's own sizes is conditional.
WEIGHTS = ("substance", "misprint", "extraction")
#: Kinds that may name no implementation: there may be nothing of them in the package.
KINDS_WITHOUT_CODE = ("definition", "claim", "proof-step")


@dataclass(frozen=True)
class Condition:
    """A condition that several displays of a room share, as a constant with a short name."""

    name: str
    text: str

    def __str__(self):
        return f"{self.name}: {self.text}"


class Stated:
    """An implementation of which a label states only certain outputs: those the check must notice.

    Parameters
    ----------
    implementation : callable
    *outputs : str
        Names of fields of what it returns, or positions in a tuple as text ("0", "1").
    """

    def __init__(self, implementation, *outputs):
        self.implementation, self.outputs = implementation, outputs


@dataclass(frozen=True)
class Equation:
    """One registered display of a paper: what it states and the check that executes it.

    The fields are the arguments of :func:`equation`; `conditions` is a tuple of `Condition` or str,
    `stated` has, for each implementation, the names of the outputs that the label states (empty
    where it does not say), and `unnumbered` is the tuple of those labels without a display.
    """

    paper: str
    labels: tuple
    statement: str
    formula: str
    kind: str
    verdict: str
    corrected: str | None
    conditions: tuple
    where: str | None
    implements: tuple
    stated: tuple
    check: object = field(repr=False)
    weight: str | None = None
    ours: bool = False
    unnumbered: tuple = ()
    uses: tuple | None = None
    names: tuple = ()

    @property
    def condition(self):
        """All conditions as one text, or None."""
        return " ".join(str(condition) for condition in self.conditions) or None


def equation(paper, *labels, statement, kind, verdict, formula=None, corrected=None, condition=None,
             where=None, implements=(), weight=None, ours=False, unnumbered=(), uses=None,
             names=()):
    r"""Register a function as the check of one display of a paper, under every label it bears.

    Parameters
    ----------
    paper : str
        Key of the paper, for example "residual-partitioning".
    *labels : str
        Labels as printed, without parentheses; a display of several lines, or a derivation that is
        checked as one, names every number.
    statement : str
        What it states: one sentence in plain words.
    kind : {"definition", "identity", "inequality", "approximation", "optimality", "algorithm", \
            "claim", "proof-step"}
    verdict : {"holds", "conditional", "erratum", "definition", "unchecked"}
        "unchecked" is what nobody has checked yet: its check returns an empty list.
    formula : str, optional
        LaTeX as printed; default: the display of the first label in `displays.tex` beside the
        check (see `tex_file`), where a long one stands.
    corrected : str, optional
        LaTeX of the corrected form: required for "erratum"; a conditional display may have one too
        (its check then shows the printed form failing).
    condition : str, Condition or tuple of them, optional
        Under what it holds: required for "conditional"; an erratum may have one.
    where : str, optional
        Where the paper says it, for what bears no number: a section and a few words.
    implements : callable, Stated or tuple of them
        What of the package implements it: small functions whose result the check would notice if it
        were wrong.  May be empty for definitions, proof steps and claims only.  `Stated` names the
        outputs that the label is about where a function has more of them.
    weight : {"substance", "misprint", "extraction"}, optional
        How much the erratum weighs, see `WEIGHTS`: required with a corrected form, refused without.
    ours : bool
        The formula shown is not one of the paper's: the paper says it in words or in numbers, or
        not at all.
    uses : str or tuple of str, optional
        Labels of the same paper that the derivation of this display rests on, whatever its code
        calls.  `()` says that it stands alone; by default (None) nothing is said.
        `PAPER LABEL` is one of another paper, for what joins two.
    unnumbered : True or tuple of str
        Labels (True: all of them) that no display of the paper bears, as it was read.  They can be
        asked for and are not counted as equations.
    names : str or tuple of str, optional
        What the paper's source calls it (``eq:loss``): it can be asked for by these, too.

    Returns
    -------
    callable
        The decorator; it returns the check itself.

    Raises
    ------
    VerificationError
        Unknown paper, kind or verdict; a label registered twice; anything above that is missing or
        misplaced.
    """
    named = [value if isinstance(value, Stated) else Stated(value)
             for value in _as_tuple(implements)]

    def register(check):
        try:
            texts = formula, corrected
            if formula is None:
                texts = tex_file.formulas_of(check, labels[0], corrected)
            entry = Equation(paper, tuple(labels), statement, texts[0], kind, verdict, texts[1],
                             () if condition is None else _as_tuple(condition), where,
                             tuple(one.implementation for one in named),
                             tuple(one.outputs for one in named), check, weight, ours,
                             tuple(labels) if unnumbered is True else _as_tuple(unnumbered),
                             None if uses is None else _as_tuple(uses), _as_tuple(names))
            _validate(entry)
        except VerificationError as error:
            raise VerificationError(f"[{paper}] {', '.join(map(str, labels))}: {error}") from None
        registry.REGISTRY.add(entry)
        return check
    return register


def _as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _validate(entry):
    """Refuse an incomplete or contradictory registration."""
    for name, value, known in (("paper", entry.paper, registry.REGISTRY.papers),
                               ("kind", entry.kind, KINDS), ("verdict", entry.verdict, VERDICTS),
                               ("weight", entry.weight, (None, *WEIGHTS))):
        if value not in known:
            raise VerificationError(unknown(name, value, filter(None, known)))
    conditions = [getattr(one, "text", one) for one in entry.conditions]
    for name, texts in (("labels", entry.labels or [""]), ("statement", [entry.statement]),
                        ("formula", [entry.formula]), ("condition", conditions),
                        ("corrected", [entry.corrected or "x"]), ("where", [entry.where or "x"])):
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise VerificationError(f"{name} must be a non-empty text, got {shown(texts)}")
    for name, given, allowed in (
            ("corrected", entry.corrected is not None, ("erratum", "conditional")),
            ("condition", bool(conditions), ("conditional", "erratum"))):
        if given and entry.verdict not in allowed or not given and entry.verdict == allowed[0]:
            raise VerificationError(f"{name} is required for {allowed[0]} and allowed for "
                                    f"{allowed[1]} only, the verdict is {entry.verdict!r}")
    if (entry.corrected is None) != (entry.weight is None):
        raise VerificationError("a corrected form and its weight, one of "
                                f"{', '.join(WEIGHTS)}, go together")
    if entry.corrected == entry.formula:
        raise VerificationError("corrected must differ from formula, which it puts right")
    if not set(entry.unnumbered) <= set(entry.labels):
        raise VerificationError("unnumbered names labels of this check, got "
                                f"{shown(entry.unnumbered)}")
    if not entry.implements and entry.verdict != "unchecked" \
            and entry.kind not in KINDS_WITHOUT_CODE:
        raise VerificationError(f"implements must name what implements this {entry.kind}")
    for value in entry.implements:
        if "<lambda>" in qualified_name(value) or not (
                callable(value) or isinstance(value, (property, functools.cached_property))):
            raise VerificationError("implements takes named functions, methods or classes, got "
                                    f"{shown(value)}")
