"""`secondorder bench`: what curvature and steps cost."""

import os
import sys

from secondorder import files
from secondorder.checks import lookup

from .parsing import positive, positive_number, tell_written

ABOUT = """\
Time gradients, curvature and steps of all optimizers, as ratios in one run. The columns are

  ms         median time of a call
  /products  ratio to the matrix products that the work needs at least, run alone
             (the GEMM bound): 1 is perfect, and anything above 1 is overhead
  /gradient  ratio to one gradient of the same network, loss and batch
  /torch     ratio to the same work in PyTorch, with --against torch; below 1 is faster
  peak MiB   most memory that a call holds, its result included

Contenders take turns in short blocks with pauses between them. A ratio is the median of the blocks'
ratios, so a busy machine hardly changes it; it does change absolute times. Without arguments every
case runs on its own networks, which takes some minutes. OPENBLAS_NUM_THREADS says how many threads
BLAS and PyTorch take (1 if it is not set).
"""
EXAMPLES = """\
  secondorder bench --list                              list the cases and their networks
  secondorder bench gradient "dense Hessian"            run two cases
  secondorder bench "step of Adam" --widths 784-100-10 --batch 50 --dtype float32
  secondorder bench --against torch --json | jq .results
  secondorder bench --blocks 3 --seconds 0.02           quick and rough
  secondorder bench "Hessian-vector product" --out .    write scaling.png too: width, depth, batch
"""
WITH_VALUE = {
    "--widths": {"metavar": "N-N-...",
                 "help": "widths, 784-12x128-10 for instance (default: the case's own)"},
    "--batch": {"type": positive, "metavar": "N", "help": "samples (default: the case's own)"},
    "--dtype": {"choices": ("float64", "float32"), "help": "precision (default: the case's own)"},
    "--activation": {"metavar": "NAME",
                     "help": "activation of the hidden layers (default: the case's own)"},
    "--loss": {"choices": ("cross-entropy", "squared-error"),
               "help": "loss (default: the case's own)"},
    "--blocks": {"type": positive, "default": 9, "metavar": "N",
                 "help": "turns of each contender (default: 9)"},
    "--seconds": {"type": positive_number, "default": 0.1, "metavar": "T",
                  "help": "seconds of a turn (default: 0.1)"},
    "--pause": {"type": positive_number, "default": 0.06, "metavar": "T",
                "help": "seconds of rest after a turn (default: 0.06)"},
    "--against": {"choices": ("torch",), "help": "also time PyTorch, where it is installed"},
    "--out": {"metavar": "DIR",
              "help": "write bench.json and scaling.png (width, depth, batch) into this directory"}}
#: The files of --out.
WRITTEN = ("bench.json", "scaling.png")
SETTING = ("widths", "batch", "dtype", "activation", "loss")


def add(commands):
    """Add the parser of this command."""
    parser = commands.add_parser("bench", help="time curvature and steps, as ratios",
                                 description=ABOUT, examples=EXAMPLES)
    parser.add_argument("cases", nargs="*", metavar="CASE",
                        help="names as --list prints them (default: all)")
    for name, kind in WITH_VALUE.items():
        parser.add_argument(name, **kind)
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.set_defaults(run=run)


def run(options):
    """List or run the cases."""
    from secondorder import bench

    known = bench.load()
    cases = [lookup(known, name, "case") for name in options.cases] or list(known.values())
    if options.list:
        for case in cases:
            print(case.name, case.about, *case.settings, sep="\n    ")
        return 0
    if options.against == "torch":
        from secondorder.bench import pytorch

        pytorch.imported(threads=int(os.environ.get("OPENBLAS_NUM_THREADS", "1")))
    with files.own_outputs(options.out, WRITTEN, "bench") as (out, earlier):
        return _measure(options, bench, cases, out, earlier)


def _measure(options, bench, cases, out, earlier):
    """Run everything; status 1 if a case had to be left out."""
    from secondorder.files.environment import environment

    effort = bench.Effort(options.blocks, options.seconds, options.pause)
    stream = sys.stderr if options.json else sys.stdout
    results, left_out = [], []
    for setting, case in _settings(options, cases):
        try:
            results.append(bench.measure(case, setting, effort, options.against))
        except MemoryError as error:
            left_out.append(case.name)
            print(f"{case.name}: left out: {error}", file=stream)
            continue
        print(bench.table(results, len(results) - 1), file=stream, flush=True)
    everything = {"command": "bench",
                  "environment": environment()
                  | {"threads": os.environ.get("OPENBLAS_NUM_THREADS")},
                  "effort": effort._asdict(),
                  "results": results,
                  "left_out": left_out}
    if out is not None:
        everything["scaling"] = _scaling(bench, cases, effort, options, stream)
        tell_written(_write(out, everything, stream), earlier, stream)
    if options.json:
        print(files.to_json(everything))
    return 1 if left_out else 0


def _settings(options, cases):
    """(setting, case) for everything that is to be measured, one setting after the other."""
    changes = {name: getattr(options, name) for name in SETTING}
    by_setting = {}
    for case in cases:
        for setting in case.settings:
            by_setting.setdefault(setting.changed(**changes), {})[case.name] = case
    return [(setting, case) for setting, chosen in by_setting.items() for case in chosen.values()]


def _scaling(bench, cases, effort, options, stream):
    from secondorder.bench import scaling

    print("\nscaling with width, depth, batch:", file=stream, flush=True)
    return scaling.run(cases, effort, options.dtype,
                       say=lambda text: print(text, file=stream, flush=True))


def _write(out, everything, stream):
    """Write the results, and the figure where there is something to draw; returns the paths."""
    from secondorder.bench import scaling

    written = [out / name for name in WRITTEN]
    files.write_json(written[0], everything, command="bench")
    if scaling.unit_of(everything["scaling"]) is None:
        print("no figure: none of these cases has curves", file=stream)
        return written[:1]
    files.write_figure(written[1], scaling.draw(everything["scaling"]), command="bench")
    return written
