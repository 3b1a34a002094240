"""`secondorder verify` and `secondorder show`: the executable equations."""

import inspect
import re

from secondorder import files

from .own import load, load_here, load_option
from .parsing import checkout, json_option, natural

VERIFY_EXAMPLES = """\
  secondorder verify                                every equation of every paper
  secondorder verify residual-partitioning          one paper
  secondorder verify residual-partitioning Theorem 1
  secondorder verify reversible 33-39               several; also "6, 7" or a topic such as KFAC
  secondorder verify --load mine.py                 your paper alone, from a file
  secondorder verify my-paper --strict              your edition, a folder here (secondorder edition
                                                    new); fails while a display is unchecked
  secondorder verify --seed 7 --json                other random cases; a list of objects
  secondorder verify residual-partitioning --markdown
                                                    the paper's EQUATIONS.md on the screen
  secondorder verify --markdown --write             rewrite EQUATIONS.md in every paper's folder

The exit status is 0 only if every check passes. An erratum passes if its printed form fails and its
corrected form holds. An unchecked display fails with --strict only.

`error` is the largest difference of the two sides, divided by the largest entry of either side.
Where a claim names another scale, `show` says which.
"""
SHOW_EXAMPLES = """\
  secondorder show                                  the papers
  secondorder show residual-partitioning            the labels of a paper
  secondorder show residual-partitioning 9          one equation: formula, code, a live case
  secondorder show residual-partitioning 9 --json   the same as a list of objects
  secondorder show residual-partitioning 22 --more  all code, the live case, every claim
  secondorder show residual-partitioning 22 --tex   formulas in LaTeX
  secondorder show ea-cg KFAC                       a topic: the labels that name it
  secondorder show low-rank Figure 2                where a figure or table stands
  secondorder show my-paper 7                       your edition, a folder here

Write a label in any spelling: 39, (39), eq. 39, Theorem 1; several as "6, 7", 33 to 39, eqs. 5-7.
A number whose display has parts, (4a) to (4c), is all of them; a table is asked for as Table 4.
Write a paper as you like: EA-CG, low_rank, reversible, "Deep Residual Partitioning".
"""


def add(commands):
    """Add the parsers of both commands."""
    parser = commands.add_parser(
        "verify", help="run the papers' equations and print the verdict of each",
        description="Run every numbered equation on small random cases and print its verdict.",
        examples=VERIFY_EXAMPLES)
    _what(parser)
    parser.add_argument("--markdown", action="store_true",
                        help="print EQUATIONS.md, with formulas in LaTeX")
    parser.add_argument("--strict", action="store_true",
                        help="fail (status 1) while a display is unchecked")
    parser.add_argument("--write", action="store_true",
                        help="with --markdown: write EQUATIONS.md into the papers' folders, and "
                             "the tables that all papers make together")
    parser.set_defaults(run=verify)

    parser = commands.add_parser("show", help="show one equation: formula, code, a live case",
                                 description="Show one equation with the code that implements it "
                                             "and a live case.", examples=SHOW_EXAMPLES)
    _what(parser)
    parser.add_argument("--more", action="store_true",
                        help="also show all code, the code of the check and every claim")
    parser.add_argument("--tex", action="store_true", help="print formulas in LaTeX")
    parser.set_defaults(run=show)


def _what(parser):
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="a paper (default: all)")
    parser.add_argument("label", nargs="*", metavar="LABEL",
                        help="an equation's number or name, in any spelling; several words are one "
                             "label, as in Theorem 1 (default: all)")
    parser.add_argument("--seed", type=natural, default=0, metavar="N",
                        help="seed of the random cases (default: 0)")
    json_option(parser)
    load_option(parser)


def verify(options):
    """Run the checks; status 1 if one failed."""
    from secondorder import ledger

    brought = load(options.load)
    load_here(options.paper)
    label = " ".join(options.label) or None
    study = _study(options.paper, label)
    if study is not None:
        name = f"{study.paper} {study.key}"
        raise ValueError(f"{study.key} of {study.paper} is a study, no equation: its claims are "
                         f"shown by secondorder show {name}, run by secondorder reproduce {name}")
    if options.write and not options.markdown:
        raise ValueError("--write goes together with --markdown")
    if options.markdown:
        return _markdown(options)
    papers = brought if brought and options.paper is None else [options.paper]
    results = [result for paper in papers for result in ledger.run(paper, label, options.seed)]
    if options.json:
        print(files.to_json([result.to_dict() for result in results]))
    else:
        print(ledger.table(results) if results else "no equations were found")
        if len({result.paper for result in results}) > 1:
            print(f"\nall papers: {ledger.summary(results)}")
    unchecked = sum(result.ok is None for result in results)
    if options.strict and unchecked and not options.json:
        print(f"--strict: {unchecked} of {len(results)} displays unchecked")
    broken = any(result.failed for result in results) or options.strict and unchecked
    return 0 if results and not broken else 1


def _markdown(options):
    from secondorder import ledger
    from secondorder.ledger.pages import equations_page
    from secondorder.ledger.registry import REGISTRY

    papers = [REGISTRY.key(options.paper)] if options.paper else [paper for paper, _ in _rooms()]
    of_the_package = set(papers) & set(ledger.PAPERS)
    if not options.write:
        print("\n".join(map(ledger.markdown, papers)), end="")
        return 0
    if of_the_package:
        top = checkout("--write")
    for paper in papers:
        target = equations_page.folder_of(paper) / "EQUATIONS.md"
        files.write_text(target, ledger.markdown(paper))
        print(f"written: {target}")
    if of_the_package:
        _write_front_pages(top)
    return 0


def _write_front_pages(top):
    """The tables that are made from all rooms: in README, in CONTRIBUTING, and LETTERS.md."""
    from secondorder import papers
    from secondorder.book.parts import layer_table, symbols

    for path, start, table in (
            (top / "README.md", "<!-- papers -->\n", papers.table()),
            (top / "CONTRIBUTING.md", "<!-- layer x method -->\n", layer_table.table()),
            (top / symbols.PAGE, "<!-- letters -->\n", symbols.markdown())):
        if files.write_between(path, start, table):
            print(f"written: {path}")


def show(options):
    """Print an equation, several of them, the labels of a paper, or the papers."""
    from secondorder import ledger
    from secondorder.ledger.pages.show import listed
    from secondorder.ledger.registry import REGISTRY
    from secondorder.studies import pages

    load(options.load)
    load_here(options.paper)
    paper, label = options.paper, " ".join(options.label) or None
    if options.json:
        print(files.to_json(_as_objects(paper, label, options.seed)))
    elif paper is None:
        for name, count in _rooms():
            print(f"{name:<26} {count} labels")
    elif listing := _anywhere(paper, " ".join([paper, *options.label])):
        print(listing)
    elif label:
        study = _study(paper, label)
        print(ledger.show(paper, label, options.seed, options.more, options.tex)
              if study is None else pages.shown(study))
    else:
        print("\n".join(listed(REGISTRY.select(paper)).splitlines()[1:]))
    return 0


def _anywhere(paper, text):
    """What names no paper and yet a topic, in all papers; None for a paper, or for nothing."""
    from secondorder.ledger.pages.show import listed
    from secondorder.ledger.registry import REGISTRY

    try:
        REGISTRY.key(paper)
    except ValueError:
        for name in REGISTRY.papers:
            REGISTRY.load(name)
        entries = REGISTRY.about(text)
        return listed(entries) if entries else None
    return None


def _study(paper, label):
    """The study of that name; None for what is, or may be, an equation."""
    from secondorder.ledger.labels import asked_for, canonical
    from secondorder.ledger.registry import REGISTRY

    name = canonical(label or "")
    if not re.fullmatch(r"(figure|table|claim)-[\w-]+|timing", name):
        return None
    paper = REGISTRY.key(paper)
    if asked_for(label, REGISTRY.labels(paper)) or REGISTRY.papers[paper] is None:
        return None
    from secondorder.studies import STUDIES

    return STUDIES.of(paper).get(name) if paper in STUDIES.papers else None


def _as_objects(paper, label, seed):
    """Equations in plain values: their results, and their formulas as they stand in LaTeX."""
    from secondorder import ledger
    from secondorder.ledger.registry import REGISTRY

    return [result.to_dict() | {name: text and inspect.cleandoc(text) for name, text in
                                (("formula", entry.formula), ("corrected", entry.corrected))}
            for entry, result in zip(REGISTRY.select(paper, label), ledger.run(paper, label, seed))]


def _rooms():
    """Papers that have equations, with the number of their labels."""
    from secondorder.ledger.registry import REGISTRY

    counts = [(paper, len(REGISTRY.labels(paper))) for paper in REGISTRY.papers]
    return [(paper, count) for paper, count in counts if count]
