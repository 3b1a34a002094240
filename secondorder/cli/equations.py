"""`secondorder verify` and `secondorder show`: the executable equations."""

import importlib.util
import inspect
from pathlib import Path

import secondorder
from secondorder import files

from .parsing import natural

VERIFY_EXAMPLES = """\
  secondorder verify                                every equation of every paper
  secondorder verify residual-partitioning          one paper
  secondorder verify residual-partitioning 39       one equation, by its number
  secondorder verify residual-partitioning Theorem 1
  secondorder verify --seed 7 --json                other random cases; a list of objects
  secondorder verify residual-partitioning --markdown
                                                    the paper's EQUATIONS.md on the screen
  secondorder verify --markdown --write             rewrite EQUATIONS.md in every paper's folder

The exit status is 0 only if every check came out as its verdict says: an erratum passes when the
printed form fails and the corrected one holds. `error` in tables and --json is the largest
difference of the two sides over the largest entry of either, unless a claim names another scale
(`show` says which it is).
"""
SHOW_EXAMPLES = """\
  secondorder show                                  the papers
  secondorder show residual-partitioning            the labels of a paper
  secondorder show residual-partitioning 9          one equation: formula, code, shapes, both sides
  secondorder show residual-partitioning Theorem 1 --seed 3
  secondorder show residual-partitioning 9 --json   the same as one object
  secondorder show residual-partitioning 22 --more  all code, the live case, every claim
  secondorder show residual-partitioning 22 --tex   formulas in LaTeX

Labels in any spelling: 39, (39), eq. 39, theorem-1, Theorem 1.
"""


def add(commands):
    """Add the parsers of both commands."""
    parser = commands.add_parser(
        "verify", help="execute the papers' equations and say how each came out",
        description="Execute every numbered equation on small random cases.",
        examples=VERIFY_EXAMPLES)
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="a paper (default: all)")
    parser.add_argument("label", nargs="*", metavar="LABEL",
                        help="an equation's number or name, in any spelling; several words are one "
                             "label, as in Theorem 1 (default: all)")
    parser.add_argument("--json", action="store_true",
                        help="print a list of objects instead of tables")
    parser.add_argument("--markdown", action="store_true",
                        help="print EQUATIONS.md, with formulas in LaTeX")
    parser.add_argument("--write", action="store_true",
                        help="with --markdown: write EQUATIONS.md into the papers' folders")
    parser.add_argument("--seed", type=natural, default=0, metavar="N",
                        help="draws other random cases (default: 0)")
    parser.set_defaults(run=verify)

    parser = commands.add_parser("show", help="one equation: formula, code, shapes, both sides",
                                 description="Show one equation with the code that implements it "
                                             "and a live case.", examples=SHOW_EXAMPLES)
    parser.add_argument("paper", nargs="?", metavar="PAPER",
                        help="a paper; without it the papers are listed")
    parser.add_argument("label", nargs="*", metavar="LABEL",
                        help="an equation, in any spelling; several words are one label, as in "
                             "Theorem 1; without it the labels are listed")
    parser.add_argument("--seed", type=natural, default=0, metavar="N",
                        help="draws another live case (default: 0)")
    parser.add_argument("--more", action="store_true",
                        help="all that implements it, the code of the check, every claim")
    parser.add_argument("--tex", action="store_true", help="formulas in LaTeX")
    parser.add_argument("--json", action="store_true",
                        help="print one object: what verify --json says, and the formulas")
    parser.set_defaults(run=show)


def verify(options):
    """Run the checks; status 1 if one did not come out as it should."""
    from secondorder import ledger

    if options.write and not options.markdown:
        raise ValueError("--write goes together with --markdown")
    if options.markdown:
        if options.label or options.json:
            raise ValueError("--markdown is about whole papers and goes neither with LABEL nor "
                             "with --json")
        return _markdown(options)
    results = ledger.run(options.paper, " ".join(options.label) or None, options.seed)
    if options.json:
        print(files.to_json([result.to_dict() for result in results]))
    else:
        print(ledger.table(results) if results else "no equations were found")
        if len({result.paper for result in results}) > 1:
            print(f"\nall papers: {ledger.summary(results)}")
    return 0 if results and all(result.ok for result in results) else 1


def _markdown(options):
    from secondorder import ledger

    papers = [options.paper] if options.paper else [paper for paper, _ in _rooms()]
    pages = {paper: ledger.markdown(paper) for paper in papers}
    if not options.write:
        print("\n".join(pages.values()), end="")
        return 0
    top = Path(secondorder.__file__).parent.parent
    if not (top / "pyproject.toml").is_file():
        raise ValueError("--write is for a checkout of the repository, not for the installed "
                         f"package in {top}")
    for paper, page in pages.items():
        room = ledger.PAPERS[paper].rpartition(".")[0]
        target = Path(importlib.util.find_spec(room).origin).with_name("EQUATIONS.md")
        files.write_text(target, page)
        print(f"written: {target}")
    if _write_readme(top / "README.md"):
        print(f"written: {top / 'README.md'}")
    return 0


def _write_readme(path):
    """Put the table of errata into the README, if it has a place for it."""
    from secondorder.ledger import tally

    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    start, end = "<!-- errata by weight -->\n", "\n<!-- end -->"
    head, found, rest = before.partition(start)
    if not found:
        return False
    after = head + start + tally.errata_by_weight() + end + rest.partition(end.lstrip())[2]
    files.write_text(path, after)
    return True


def show(options):
    """Print one equation, the labels of a paper, or the papers."""
    from secondorder import ledger
    from secondorder.ledger.registry import REGISTRY

    if options.json:
        if not options.label or options.more or options.tex:
            raise ValueError("--json is about one equation: it goes with PAPER and LABEL, and "
                             "without --more and --tex")
        print(files.to_json(_as_object(options)))
    elif options.label:
        print(ledger.show(options.paper, " ".join(options.label), options.seed, options.more,
                          options.tex))
    elif options.paper:
        for equation in REGISTRY.select(options.paper):
            print(f"{', '.join(equation.labels):<25} {equation.verdict:<12} {equation.statement}")
    else:
        for paper, count in _rooms():
            print(f"{paper:<26} {count} labels")
    return 0


def _as_object(options):
    """One equation in plain values: its result, and its formulas as they stand in LaTeX."""
    from secondorder import ledger
    from secondorder.ledger.registry import REGISTRY

    label = " ".join(options.label)
    entry = REGISTRY.select(options.paper, label)[0]
    result = ledger.run(options.paper, label, options.seed)[0]
    formulas = {name: text and inspect.cleandoc(text)
                for name, text in (("formula", entry.formula), ("corrected", entry.corrected))}
    return result.to_dict() | formulas


def _rooms():
    """Papers that have equations, with the number of their labels."""
    from secondorder.ledger.registry import REGISTRY

    counts = [(paper, len(REGISTRY.labels(paper))) for paper in REGISTRY.papers]
    return [(paper, count) for paper, count in counts if count]
