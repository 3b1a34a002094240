"""`secondorder book`: the edition as pages, offline, in any browser."""

import time

from .own import load, load_here, load_option
from .parsing import force_option, positive

EXAMPLES = """\
  secondorder book --out book --open        all papers
  secondorder book --out book low-rank      one of them
  secondorder book --out book my-paper      your edition, a folder here
"""


def add(commands):
    """Add the parser of this command."""
    parser = commands.add_parser(
        "book", help="write the edition as offline pages to read beside the papers",
        description="Write the edition as static pages: every equation's formula, the code that "
        "computes it,\nits evidence and its verdict. The pages need no network. The command needs "
        "the extra:\npip install 'secondorder[book]'.\n\n"
        "All papers with the tutorials, which run too, take about two minutes of one core and "
        "10 MB.", examples=EXAMPLES)
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="one paper (default: all)")
    parser.add_argument("--out", metavar="DIR", required=True,
                        help="a new folder, or the folder of an earlier book")
    force_option(parser)
    parser.add_argument("--seeds", type=positive, metavar="N",
                        help="number of seeds (default: 5, fewer where a check takes long)")
    parser.add_argument("--jobs", type=positive, metavar="N",
                        help="processes that run the checks (default: one a core, four at most)")
    parser.add_argument("--open", action="store_true", help="open the book in the browser")
    load_option(parser)
    parser.set_defaults(run=run)


def run(options):
    """Write the book and say where it is."""
    from secondorder import book

    load(options.load)
    load_here(options.paper)
    began = time.monotonic()
    try:
        page = book.write(options.out, options.paper, options.seeds, jobs=options.jobs,
                          overwrite=options.force)
    except ImportError as error:
        raise ValueError(str(error)) from error
    print(f"written: {page} ({time.monotonic() - began:.0f} s)")
    if options.open:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
    return 0
