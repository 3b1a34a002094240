"""`secondorder bench`: what curvature and steps cost."""

import os
import sys

from secondorder import files

from .parsing import json_option, positive, positive_number

ABOUT = """\
Time gradients, curvature and steps, as ratios in one run. The columns are

  ms         median time of a call
  /products  ratio to the matrix products that the work needs, run alone: 1 is perfect
  /torch     ratio to the same work in PyTorch, with --against torch; below 1 is faster
  peak MiB   most memory that a call holds, its result included

Without arguments everything is timed on five networks, which takes some minutes.
OPENBLAS_NUM_THREADS says how many threads BLAS and PyTorch take.
"""
EXAMPLES = """\
  secondorder bench --list                       list the networks and the work
  secondorder bench small wide                   two networks
  secondorder bench deep --work "step of Adam" --dtype float32
  secondorder bench --against torch --json
  secondorder bench --blocks 3 --seconds 0.02    quick and rough
"""


def add(commands):
    """Add the parser of this command."""
    parser = commands.add_parser("bench", help="time curvature and steps, as ratios",
                                 description=ABOUT, examples=EXAMPLES)
    parser.add_argument("networks", nargs="*", metavar="NETWORK",
                        help="names as --list prints them (default: all)")
    parser.add_argument("--work", action="append", metavar="NAME",
                        help="a piece of work as --list prints it; may be given again")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    parser.add_argument("--blocks", type=positive, default=9, metavar="N",
                        help="turns of each contender (default: 9)")
    parser.add_argument("--seconds", type=positive_number, default=0.1, metavar="T",
                        help="seconds of a turn (default: 0.1)")
    parser.add_argument("--against", choices=("torch",),
                        help="also time PyTorch, where it is installed")
    parser.add_argument("--list", action="store_true", help="list what can be timed and stop")
    json_option(parser)
    parser.set_defaults(run=run)


def run(options):
    """List or time."""
    from secondorder import bench

    pairs = bench.pairs(options.networks, options.work)
    if options.list:
        print("networks:", *bench.NETWORKS, "work:", *bench.WORK, sep="\n  ")
        return 0
    if options.against == "torch":
        try:
            import torch
        except ImportError as error:
            raise ValueError(f"--against torch: PyTorch cannot be imported ({error})") from error
        torch.set_num_threads(int(os.environ["OPENBLAS_NUM_THREADS"]))
    stream, results = sys.stderr if options.json else sys.stdout, []
    print(bench.row(), file=stream)
    for network, work in pairs:
        results.append(bench.measure(network, work, options.dtype, options.against,
                                     options.blocks, options.seconds))
        print(bench.row(results[-1]), file=stream, flush=True)
    if options.json:
        print(files.to_json({"command": "bench", "results": results}))
    return 0
