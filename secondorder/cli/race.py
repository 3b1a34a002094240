"""`secondorder race`: the papers' methods and yours against SGD and Adam, live or as recorded."""

import sys
from pathlib import Path

from secondorder import files
from secondorder.checks import lookup

from . import own
from .parsing import (checkout, force_option, json_option, natural, positive_number,
                      tell_written)

EXAMPLES = """\
  secondorder race                                   all methods on the classifier, a minute
  secondorder race --problem plateau --minutes 3 --out race
  secondorder race --methods adam ea-cg --load method.py    a method of your own joins
  secondorder race --recorded                        what came out of the recorded race
  secondorder race --full --out runs --resume        run that one again: three hours

methods of --methods, in any spelling:
  adam              Adam
  momentum          SGD, momentum 0.9
  partitioning      residual partitioning
  cubic             cubic steps around SGD
  ea-cg             EA-CG, PCH-1
  kfi               KFI
  truncated-newton  truncated Newton

problems of --problem:
  classifier, autoencoder, plateau
"""
#: The files of --out of a live race.
WRITTEN = ("race.json", "race.png")


def add(commands):
    """Add the parser of this command."""
    parser = commands.add_parser(
        "race", help="race the papers' methods, SGD, Adam and your own, live",
        description="Every method is tuned in some short runs and then runs, all for the same CPU "
        "seconds of\nsteps, on images of MNIST (digits where there are none). A table and a "
        "picture stand at\nthe end. --recorded tells a race with ten seeds.", examples=EXAMPLES)
    parser.add_argument("--problem", metavar="NAME",
                        help="one of the problems below (default: classifier; --full: all)")
    parser.add_argument("--minutes", type=positive_number, default=1.0, metavar="M",
                        help="about how long all of it takes (default: 1)")
    parser.add_argument("--methods", nargs="+", default=None, metavar="NAME",
                        help="some of the methods below (default: all)")
    parser.add_argument("--load", action="append", default=[], metavar="FILE",
                        help="a Python file with classes that derive from "
                        "so.optimizers.Optimizer: they join; repeatable")
    parser.add_argument("--seed", type=natural, default=1, metavar="N",
                        help="seed of images, weights and batches (default: 1)")
    parser.add_argument("--recorded", action="store_true",
                        help="tell the recorded race instead; --out: page and pictures again")
    parser.add_argument("--full", action="store_true",
                        help="make the runs of the recorded race, into --out")
    parser.add_argument("--resume", action="store_true",
                        help="--full: keep the runs that are in --out, make the others")
    parser.add_argument("--record", action="store_true",
                        help="--full: put records, pictures and page into a checkout")
    parser.add_argument("--out", metavar="DIR", help="write race.json and race.png there")
    force_option(parser)
    json_option(parser)
    parser.set_defaults(run=run)


def run(options):
    """Race live, as recorded, or in full."""
    return (recorded if options.recorded else full if options.full else live)(options)


def named(table, name, what):
    """The problem or method with this key, in any spelling; ValueError names what may be meant."""
    from secondorder.ledger.labels import plain

    keys = {plain(key): key for key in table}
    return lookup(table, keys.get(plain(name), name), what)


def live(options):
    """Race, and tell what came in; also where it is interrupted."""
    from secondorder.race import live as racing
    from secondorder.race.methods import METHODS
    from secondorder.race.problems import PROBLEMS, stand_in

    problem = named(PROBLEMS, options.problem or "classifier", "problem")
    methods = [named(METHODS, name, "method") for name in options.methods or METHODS]
    for place in options.load:
        methods += racing.own_methods(own.module_of(place))
    title = problem.title + "; digits in the place of MNIST" * stand_in()
    out = files.outputs(options.out, WRITTEN, options.force)
    seconds = racing.seconds_of(options.minutes, len(methods))
    record = {"title": title, "seconds": seconds, "methods": {}}
    try:
        for key, entry in racing.race(problem, methods, seconds, options.seed,
                                      lambda line: print(line, file=sys.stderr)):
            record["methods"][key] = entry
    finally:
        if record["methods"]:
            tell(record, out, options.json)
    return 0


def tell(record, out, as_json):
    """Table or JSON, and the files."""
    from secondorder.race import live as racing
    from secondorder.race.outcome import outcome
    from secondorder.race.page import write_picture

    print(files.to_json(outcome(record, "seconds")) if as_json else
          "\n".join([record["title"], *racing.table(record)]))
    if out is not None:
        files.write_json(out / WRITTEN[0], record)
        write_picture(record, out / WRITTEN[1])
        tell_written([out / name for name in WRITTEN], sys.stderr if as_json else sys.stdout)


def recorded(options):
    """Print the page of the recorded race, or what came out as JSON; with --out write it."""
    from secondorder.race import page
    from secondorder.race.outcome import RULES, outcome

    records = page.recorded()
    print(files.to_json({record["problem"]: {rule: outcome(record, rule) for rule in RULES}
                         for record in records})
          if options.json else page.markdown(records), end="\n" if options.json else "")
    names = [page.PAGE, *(f"{record['problem']}.png" for record in records)]
    out = files.outputs(options.out, names, options.force)
    if out is not None:
        files.write_text(out / page.PAGE, page.markdown(records))
        for record in records:
            page.write_picture(record, out / f"{record['problem']}.png")
        tell_written([out / name for name in names], sys.stderr if options.json else sys.stdout)
    return 0


def full(options):
    """Make the runs that are missing, problem by problem, and bring them together."""
    from secondorder.race import page
    from secondorder.race.full import raced
    from secondorder.race.problems import PROBLEMS, stand_in

    if not options.out:
        raise ValueError("--full needs --out DIR, for its runs")
    if stand_in():
        raise FileNotFoundError("the race in full needs MNIST: secondorder data --download mnist")
    problems = [named(PROBLEMS, options.problem, "problem")] if options.problem else [
        *PROBLEMS.values()]
    top = checkout("--record") if options.record else None
    out = files.output_directory(options.out)
    if not options.resume and any(out.glob("*.json")):
        raise FileExistsError(f"{out}: there are runs already; --resume keeps them")
    place = page.folder() if top else out
    for problem in problems:
        record = raced(problem, out)
        place.mkdir(parents=True, exist_ok=True)
        page.write(record, place)
        records = page.recorded(place)
        path = Path(page.__file__).with_name(page.PAGE) if top else out / page.PAGE
        files.write_text(path, page.markdown(records, page.PICTURES if top else ""))
        tell_written([place / f"{problem.key}.json.gz", place / f"{problem.key}.png", path],
                     sys.stdout)
    return 0
