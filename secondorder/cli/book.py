"""`secondorder book`: the edition as pages, offline, in any browser."""

import time

from .own import load, load_here, load_option
from .parsing import positive

EXAMPLES = """\
  secondorder book --out book --open        all four papers
  secondorder book --out book low-rank      one of them
  secondorder book --out book my-paper      an edition of your own, a folder here
"""


def add(commands):
    """Add the parser of this command."""
    parser = commands.add_parser(
        "book", help="write the edition as pages to read beside the papers",
        description="Write every equation's formula beside the code that computes it, with its "
        "evidence and verdict, as static pages that need no network. It needs the extra: pip "
        "install 'secondorder[book]'.", examples=EXAMPLES)
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="one paper (default: all)")
    parser.add_argument("--out", required=True, metavar="DIR", help="a new folder, or an earlier "
                        "book's")
    parser.add_argument("--seeds", type=positive, default=5, metavar="N",
                        help="seeds of the evidence (default: 5)")
    parser.add_argument("--jobs", type=positive, metavar="N",
                        help="processes that run the checks (default: one a core, four at most)")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    load_option(parser)
    parser.set_defaults(run=run)


def run(options):
    """Write the book and say where it is."""
    from secondorder import book

    load(options.load)
    load_here(options.paper)
    began = time.monotonic()
    try:
        page = book.write(options.out, options.paper, options.seeds, jobs=options.jobs)
    except ImportError as error:
        raise ValueError(str(error)) from error
    print(f"written: {page} ({time.monotonic() - began:.0f} s)")
    if options.open:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
    return 0
