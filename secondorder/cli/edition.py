"""`secondorder edition`: an executable edition of the user's paper."""

import shlex
from pathlib import Path

from .own import load, load_here, load_option
from .parsing import CommandParser, natural

EXAMPLES = """\
  secondorder edition new my-paper --tex paper.tex    make the folder my-paper, without checks yet
  secondorder edition test my-paper                   spoil each implementation: does a check fail?

what to do then:
  secondorder show my-paper 7                  read the display, and the sentence before it
  (write its check, equation_7 in my-paper/equations.py, and its formula in my-paper/formulas.py)
  secondorder verify my-paper                  run the checks; a display without one is unchecked
  secondorder verify my-paper --strict         fail while a display is unchecked
  secondorder book my-paper --out book         write the edition as pages

These commands find the folder in the working directory, or that one itself, or where --load FOLDER
says.
"""
NEW = """\
  secondorder edition new my-paper --tex paper.tex
  secondorder edition new my-paper --tex paper.tex --out editions

Read are the environments of displays, \\[ \\] and $$, \\tag, \\label, \\newcommand and the like,
\\input, and theorem-like environments.
Where pdflatex or xelatex is installed it numbers the displays, on a copy of the paper's folder.
Without it the numbers are counted here; what may put them wrong is said first. What could not be
read is listed with its line, in READING.md too; a macro that is a program stays as it stands and is
listed by name. Nothing is overwritten.
"""
TEST = """\
  secondorder edition test my-paper
  secondorder edition test my-paper 7 --all        one label, with its other outputs

The command spoils each function that a check names in `implements`, one output at a time: by 0.1 %,
in its largest entry, in its sign. The check has to fail. The command names what goes unnoticed, and
rewrites EQUATIONS.md. The exit status is 0 only if nothing goes unnoticed and every check passes.
"""


def add(commands):
    """Add the parsers of this command."""
    parser = commands.add_parser(
        "edition", help="make an executable edition of your paper, and test its checks",
        description="Make an executable edition of your paper: a folder with every numbered "
        "display as printed\nand a place for its check. All verdicts begin as 'unchecked'. Later, "
        "test whether the checks\nnotice a wrong implementation.", examples=EXAMPLES)
    kinds = parser.add_subparsers(title="commands", dest="action", metavar="ACTION", required=True,
                                  parser_class=CommandParser)
    new = kinds.add_parser("new", help="read a paper and write its folder",
                           description="Read a paper and write the folder KEY.", examples=NEW)
    new.add_argument("key", metavar="KEY", help="short name of the paper and of the folder: "
                     "letters, digits and hyphens")
    new.add_argument("--tex", required=True, metavar="FILE", help="the paper, .tex")
    new.add_argument("--out", default=".", metavar="DIR",
                     help="where the folder is made (default: the working directory)")
    new.set_defaults(run=run_new)
    test = kinds.add_parser("test", help="spoil every implementation; the checks have to fail",
                            description="Test whether the checks of an edition notice a wrong "
                            "implementation.", examples=TEST)
    test.add_argument("paper", metavar="KEY", help="the edition")
    test.add_argument("label", nargs="*", metavar="LABEL", help="one label (default: all)")
    test.add_argument("--all", action="store_true",
                      help="spoil outputs that a label does not state, too")
    test.add_argument("--seed", type=natural, default=0, metavar="N",
                      help="seed of the random cases (default: 0)")
    load_option(test)
    test.set_defaults(run=run_test)


def run_new(options):
    """Write the folder and say what was read."""
    from secondorder import edition

    begun = edition.new(options.key, options.tex, options.out)
    rest = sum(display.label is None for display in begun.reading.displays)
    print(f"written: {begun.folder} ({_count(len(begun.labels), 'numbered display')}, {rest} "
          f"without a number, {_count(len(begun.reading.theorems), 'theorem')}; all unchecked)")
    if begun.reading.engine:
        print(f"numbers: as {begun.reading.engine} prints them")
    if begun.reading.doubts:
        print(f"numbers may be others than TeX's: {'; '.join(begun.reading.doubts)}")
    if begun.unread:
        print("could not be read, or needs a look:", *begun.unread, sep="\n  ")
    if begun.labels:
        place = [] if Path(options.out) == Path(".") else ["--load", str(begun.folder)]
        print(f"next: {shlex.join(['secondorder', 'show', options.key, begun.labels[0], *place])}")
    return 0


def run_test(options):
    """Spoil implementations; status 1 if something goes unnoticed, a check fails, or none is there.
    """
    from secondorder import files, ledger
    from secondorder.edition.loading import is_edition
    from secondorder.ledger import sabotage
    from secondorder.ledger.pages import counts, equations_page
    from secondorder.ledger.registry import REGISTRY

    load(options.load)
    load_here(options.paper)
    key, label = REGISTRY.key(options.paper), " ".join(options.label) or None
    results = {result.labels: result for result in ledger.run(key, label, options.seed)}
    entries = [entry for entry in REGISTRY.select(key, label) if entry.verdict != "unchecked"]
    failed = [result for result in results.values() if result.failed]
    if not entries and not failed:
        print("nothing is checked: write a check first, and say its verdict")
    for result in failed:
        print(f"FAILED {key} {', '.join(result.labels)}: {result.message}")
    gaps, spoiled = 0, 0
    for entry in entries:
        if results[entry.labels].failed:
            continue
        if not entry.implements:
            print(f"{key} {entry.labels[0]}: names nothing in implements, so that nothing of it "
                  "can be spoiled")
        spoiled += len(entry.implements)
        for one in sabotage.unnoticed(entry, options.seed, options.all):
            gaps += 1
            print(f"unnoticed: {one}")
    if gaps:
        print("A check that notices compares the whole output, in a case without zeros, with a "
              "value that shares no code with it.")
    print(f"{counts.verdicts(REGISTRY.select(key, label))}; {_count(spoiled, 'implementation')} "
          f"spoiled, {_count(gaps, 'way')} of being wrong unnoticed, "
          f"{_count(len(failed), 'check')} failed")
    folder = equations_page.folder_of(key)
    if label is None and not failed and folder is not None and is_edition(folder):
        files.write_text(folder / "EQUATIONS.md", ledger.markdown(key))
        print(f"written: {folder / 'EQUATIONS.md'}")
    return 1 if gaps or failed or not entries else 0


def _count(count, noun):
    return f"{count} {noun}{'s' * (count != 1)}"
