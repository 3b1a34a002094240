"""`secondorder tour`: the main job."""

import sys

from secondorder import files

from ..parsing import force_option, json_option, natural

ABOUT = """\
Show what the package does, on handwritten digits, offline, in a minute or two. The tour

  1. checks every derivative of a small network and draws its exact Hessian,
  2. trains a classifier with SGD, Adam and truncated Newton,
  3. trains with residual partitioning, the method with a diagonal bound,
  4. draws that bound beside the Hessian,
  5. leaves a plateau by cubic step lengths,
  6. trains a reversible network by exact Gauss-Newton, with two inverses,
  7. measures how far the curvatures of EA-CG are from the true Hessian.
"""
EXAMPLES = """\
  secondorder tour                      figures and tour.json into ./secondorder-tour
  secondorder tour --out results        into ./results (its parent has to exist)
  secondorder tour --json | jq .bound   numbers on standard output, progress on the error stream
  secondorder tour --seed 7             another split, other initial weights
"""

OWN = "secondorder-tour"  # the tour's own folder: who names none may take the tour again


def add(commands):
    """Add the parser of this command."""
    parser = commands.add_parser(
        "tour", help="check every derivative, draw exact curvature, train on digits",
        examples=EXAMPLES, description=ABOUT)
    parser.add_argument("--out", metavar="DIR",
                        help=f"directory to write to (default: {OWN}, where what an earlier tour "
                        "left is replaced)")
    force_option(parser)
    parser.add_argument("--seed", type=natural, default=0, metavar="N",
                        help="seed of split, weights and batches (default: 0)")
    json_option(parser)
    parser.set_defaults(run=run)


def run(options):
    """Run the tour; status 1 if one of its checks failed."""
    from . import running

    stream = sys.stderr if options.json else sys.stdout
    out = files.outputs(options.out or OWN, running.WRITTEN, options.force or not options.out)
    results = running.run(out, options.seed,
                          lambda text: print(text, file=stream, flush=True))
    if options.json:
        print(files.to_json(results))
    return 0 if results["ok"] else 1
