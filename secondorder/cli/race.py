"""`secondorder race`: the papers' methods and yours against SGD and Adam, live."""

import argparse
import sys

from secondorder import files
from secondorder.checks import lookup

from . import own
from .parsing import force_option, natural, not_empty, positive_number, tell_written

EXAMPLES = """\
  secondorder race                                   all methods on digits, for about a minute
  secondorder race --problem digits --minutes 3 --out race
  secondorder race --methods adam ea-cg --load method.py    a method of your own joins

methods of --methods, in any spelling:
  momentum          SGD, momentum 0.9
  adam              Adam
  partitioning      residual partitioning
  cubic-sgd         cubic steps around SGD
  cubic-adam        cubic steps around Adam
  ea-cg             EA-CG, PCH-1
  gauss-newton      exact Gauss-Newton
  kfac              KFAC
  truncated-newton  truncated Newton
  square-root       cubic steps without curvature (a control)
  unit              gradient over its norm (a control)

problems of --problem:
  digits, wine, reversible, one-batch, convolution, plateau, classifier, autoencoder, digits-10,
  digits-all
"""
#: The files of --out.
WRITTEN = ("race.json", "race.png")


def add(commands):
    """Add the parser of this command."""
    parser = commands.add_parser(
        "race", help="race the papers' methods, SGD, Adam and your own, live",
        description="Every method tries five rates and then runs, all for the same CPU seconds of "
        "steps.\nA table and a picture stand at the end.", examples=EXAMPLES)
    parser.add_argument("--problem", default="digits", metavar="NAME",
                        help="one of the problems below (default: digits)")
    parser.add_argument("--minutes", type=positive_number, default=1.0, metavar="M",
                        help="about how long all of it takes (default: 1)")
    parser.add_argument("--methods", nargs="+", default=None, metavar="NAME",
                        help="some of the methods below (default: all)")
    parser.add_argument("--load", action="append", default=[], metavar="FILE",
                        help="a Python file with classes that derive from "
                        "so.optimizers.Optimizer: they join; repeatable")
    parser.add_argument("--seed", type=natural, default=1, metavar="N",
                        help="seed of split, weights and batches (default: 1)")
    parser.add_argument("--out", type=not_empty, metavar="DIR",
                        help="write race.json and race.png there")
    force_option(parser)
    parser.add_argument("--json", action="store_true",
                        help="print a list of objects instead of a table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace):
    """Race, and tell what came in; also where it is interrupted."""
    from secondorder.race import live
    from secondorder.race.entrants import ENTRANTS
    from secondorder.race.problems import PROBLEMS
    from secondorder.studies.data import missing

    problem = named(PROBLEMS, options.problem, "problem")
    entrants = [named(ENTRANTS, name, "method") for name in options.methods or ENTRANTS]
    for place in options.load:
        entrants += live.own_entrants(own.module_of(place))
    title = problem.title + "".join(f"; {name} not found, a stand-in"
                                    for name in missing(problem.needs))
    out, results = files.outputs(options.out, WRITTEN, options.force), []
    try:
        for result in live.race(problem.key, entrants, options.minutes,
                                lambda line: print(line, file=sys.stderr), options.seed):
            results.append(result)
    finally:
        tell(results, title, out, options.json)
    return 0


def named(table, name, what):
    """The problem or method with this key, in any spelling; ValueError names what may be meant."""
    from secondorder.ledger.labels import plain

    keys = {plain(key): key for key in table}
    return lookup(table, keys.get(plain(name), name), what)


def tell(results, title, out, as_json):
    """Table or JSON, and the files."""
    from secondorder.race import live

    if not results:
        return
    rows = [result.row() for result in results]
    print(files.to_json(rows) if as_json else "\n".join([title, *live.table(results)]))
    if out is None:
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    live.draw(results, title, figure)
    files.write_json(out / WRITTEN[0], {"problem": title, "rows": rows,
                                        "records": [result.record for result in results]})
    files.write_figure(out / WRITTEN[1], figure)
    tell_written([out / name for name in WRITTEN], sys.stderr if as_json else sys.stdout)
