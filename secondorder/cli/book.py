"""`secondorder book`: the edition as pages, offline, in any browser."""

import time

from .own import load, load_here, load_option
from .parsing import directory, positive

EXAMPLES = """\
  secondorder book --out book --open        all four papers
  secondorder book --out book low-rank      one of them
  secondorder book --out book my-paper      an edition of your own, a folder here
  secondorder book --single-file low-rank   one file to send to someone: low-rank.html
"""


def add(commands):
    """Add the parser of this command."""
    parser = commands.add_parser(
        "book", help="write the edition as pages to read beside the papers",
        description="Write every equation's formula beside the code that computes it, with its "
        "evidence\nand verdict, as static pages that need no network. It needs the extra:\n"
        "pip install 'secondorder[book]'.\n\n"
        "All papers take about 40 seconds of one core and 9 MB; most of it is running the\n"
        "checks. With --single-file one paper becomes one page with its fonts and figures\n"
        "inside, below 3 MB: it opens from a mail or a stick, offline. It is replaced only\n"
        "while it is as it was written.", examples=EXAMPLES)
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="one paper (default: all)")
    parser.add_argument("--out", type=directory, metavar="DIR", help="a new folder, or an earlier "
                        "book's; with --single-file: the file, or its folder (default: PAPER.html)")
    parser.add_argument("--single-file", action="store_true",
                        help="one paper as one file, to send to someone")
    parser.add_argument("--seeds", type=positive, metavar="N",
                        help="seeds of the evidence (default: 5, fewer where a check takes long)")
    parser.add_argument("--jobs", type=positive, metavar="N",
                        help="processes that run the checks (default: one a core, four at most)")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    load_option(parser)
    parser.set_defaults(run=run)


def run(options):
    """Write the book and say where it is."""
    from secondorder import book

    if options.single_file and options.paper is None:
        raise ValueError("--single-file needs a PAPER: secondorder book --single-file low-rank")
    if options.out is None and not options.single_file:
        raise ValueError("--out DIR is needed: the folder of the pages")
    load(options.load)
    load_here(options.paper)
    began = time.monotonic()
    try:
        if options.single_file:
            page = book.write_single(options.out or ".", options.paper, options.seeds,
                                     jobs=options.jobs)
        else:
            page = book.write(options.out, options.paper, options.seeds, jobs=options.jobs)
    except ImportError as error:
        raise ValueError(str(error)) from error
    print(f"written: {page} ({time.monotonic() - began:.0f} s)")
    if options.open:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
    return 0
