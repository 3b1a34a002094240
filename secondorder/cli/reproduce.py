"""`secondorder reproduce` and `secondorder claims`: what the papers report, run and judged."""

import importlib
import sys
from pathlib import Path

from secondorder import files

from .parsing import checkout, json_option, positive

REPRODUCE = """\
  secondorder reproduce                                  list all studies: time, verdicts
  secondorder reproduce low-rank figure-2 --quick        run one in seconds, to see it work
  secondorder reproduce low-rank figure-2 --jobs 2 --out runs --resume
  secondorder reproduce all --quick --out quick
  secondorder reproduce ea-cg table-5 --recorded         judge and draw the recorded runs again

Write a paper and a KEY in any spelling: EA-CG, low_rank, reversible; "Figure 2", fig-2.
"""
CLAIMS = """\
  secondorder claims                        every recorded verdict
  secondorder claims low-rank --json
  secondorder claims low-rank figure-2      the claims of one study

Write a paper and a KEY in any spelling: EA-CG, low_rank, reversible; "Figure 2", fig-2.
"""


def add(commands):
    """Add the parsers of these commands."""
    parser = commands.add_parser(
        "reproduce", help="run figures, tables and claims of the papers again, and judge them",
        description="Run studies: every figure, table and claim of a paper, at the paper's "
        "network sizes\nwhere this machine allows it. Each claim ends as held, did not hold or "
        "undecided, by the\ncriterion in the paper's figures/criteria.md. Without arguments, list "
        "the studies.",
        examples=REPRODUCE)
    _what(parser, "a paper, or all")
    parser.add_argument("--quick", action="store_true",
                        help="a small setting that takes seconds and decides nothing")
    parser.add_argument("--seeds", type=positive, metavar="K", help="number of seeds")
    parser.add_argument("--jobs", type=positive, default=1, metavar="N",
                        help="processes, one BLAS thread each (default: 1)")
    parser.add_argument("--resume", action="store_true",
                        help="keep the runs that are already in --out, make the rest, and "
                        "replace their results")
    parser.add_argument("--recorded", action="store_true",
                        help="begin with the package's recorded runs, to judge and draw them again "
                        "or to add seeds; their times are of another machine. Runs that are not "
                        "packed are made")
    parser.add_argument("--out", metavar="DIR", default="secondorder-reproduce",
                        help="folder for the results (default: %(default)s)")
    parser.add_argument("--record", action="store_true",
                        help="also put result, figure and runs among the records of a checkout")
    parser.set_defaults(run=run)

    parser = commands.add_parser(
        "claims", help="the papers' claims and their recorded verdicts",
        description="Print the recorded verdict on every claim: held, did not hold or "
        "undecided.\nBeside it stand effect, spread and number of seeds.", examples=CLAIMS)
    _what(parser, "a paper (default: all)")
    parser.add_argument("--markdown", action="store_true", help="print the page of the paper")
    parser.add_argument("--write", action="store_true",
                        help="with --markdown: write CLAIMS.md into the papers' folders")
    parser.set_defaults(run=run_claims)


def _what(parser, papers):
    parser.add_argument("paper", nargs="?", metavar="PAPER", help=papers)
    parser.add_argument("keys", nargs="*", metavar="KEY", help="figure-2, claim-sigma, ... "
                        "(default: all of the paper)")
    json_option(parser)


def run(options):
    """List studies, or run them."""
    from secondorder import studies

    if options.paper is None:
        return _list(options)
    paper = None if options.paper == "all" else studies.STUDIES.key(options.paper)
    if options.quick and options.record:
        raise ValueError("--record goes without --quick: results of the quick setting are not "
                         "recorded")
    if options.record:
        checkout("--record")
    if paper is None and options.keys:
        raise ValueError("all goes without KEY")
    chosen = studies.STUDIES.select(paper, options.keys)
    if not chosen:
        raise ValueError(f"{paper} has no studies; its equations are run by secondorder verify "
                         f"{paper}")
    for study in chosen:
        absent = studies.data.missing(study.needs)
        if options.recorded and absent:  # new runs would be on other data
            raise ValueError(f"--recorded: the runs of {study.key} were made on "
                             f"{', '.join(absent)}, not found here: set SECONDORDER_DATA")
    out, records = Path(options.out), []
    with studies.running.processes(options.jobs) as executor:
        files.output_directory(out)
        if not options.resume:
            _refuse_earlier_runs(chosen, out, options)
        for study in chosen:
            records.append(_reproduce(study, out, executor, options))
    if options.json:
        print(files.to_json(records))
    else:
        _tell(records, out)
    return 0


def _refuse_earlier_runs(chosen, out, options):
    """Runs of another time are taken only where that is asked for: the code may have changed."""
    from secondorder import studies

    for study in chosen:
        place = out / study.paper
        files.refuse_existing(*(place / name for name in studies.running.names(study)),
                              remedy="replaced only with --resume; another --out begins anew")
        if place.is_dir():
            first = study.runs(study.settings(options.quick, options.seeds), studies.Results())
            if studies.Sweep(place).present(study, first):
                raise FileExistsError(f"{place} holds runs of {study.key}: --resume takes them; "
                                      "another --out begins anew")


def _reproduce(study, out, executor, options):
    from secondorder import studies
    from secondorder.studies import records

    place = files.output_directory(out / study.paper)
    known = records.runs(study) if options.recorded else {}
    sweep = studies.Sweep(place, executor, lambda line: print(line, file=sys.stderr), known)
    print(f"{study.paper} {study.key}: {study.shows}", file=sys.stderr)
    if absent := studies.data.missing(study.needs):
        print(f"  {studies.data.replaced(absent)}: every claim stays undecided", file=sys.stderr)
    record = studies.reproduce(study, sweep, options.quick, options.seeds)
    if options.record:
        records.keep(place, record)
    return record


def _list(options):
    from secondorder.studies import STUDIES, data, records, running

    rows = []
    for study in STUDIES.select():
        record, absent = records.recorded(study.paper, study.key), data.missing(study.needs)
        verdicts = "not run" if record is None else ", ".join(
            f"({claim['letter']}) {claim['verdict']}" for claim in record["claims"])
        rows.append({"paper": study.paper, "key": study.key, "shows": study.shows,
                     "missing_data": absent, "seconds": records.seconds(study),
                     "quick_seconds": study.seconds[1], "recorded": verdicts})
    if options.json:
        print(files.to_json(rows))
        return 0
    paper = None
    for row in rows:
        if row["paper"] != paper:
            paper = row["paper"]
            print(f"\n{paper}")
        absent = row["missing_data"]
        absent = f"   ({data.replaced(absent)})" if absent else ""
        print(f"  {row['key']:<28} {running.duration(row['seconds'] / options.jobs):>7}  "
              f"{row['shows']}{absent}")
        print(f"  {'':<28} {'':>7}  {row['recorded']}")
    print("\nTimes come from the recorded runs, or are rough, for this many processes: "
          f"{options.jobs}. Run one: secondorder reproduce PAPER KEY")
    return 0


def _tell(records, out):
    from secondorder.studies.pages import outcome

    for record in records:
        print(f"\n{record['paper']} {record['key']}: {record['shows']}")
        for claim in record["claims"]:
            print(f"  ({claim['letter']}) {claim['verdict']:<13} {claim['claim']}")
            if outcome(claim):
                print(f"      {outcome(claim)}")
    print(f"\nwritten: {out}")


def run_claims(options):
    """Print the recorded verdicts."""
    from secondorder.studies import STUDIES, pages, records

    papers = list(STUDIES.papers) if options.paper is None else [STUDIES.key(options.paper)]
    if options.write and not options.markdown:
        raise ValueError("--write goes with --markdown")
    if options.write:
        checkout("--write")
    if not any(map(STUDIES.of, papers)):
        raise ValueError(f"{options.paper} has no studies")
    if options.markdown:
        for paper in filter(STUDIES.of, papers):
            if options.write:
                path = page_path(paper)
                files.write_text(path, pages.page(paper))
                print(f"written: {path}")
            else:
                print(pages.page(paper))
        if options.write:
            _write_front_pages()
        return 0
    rows = [row for paper in papers for row in records.rows(paper, options.keys)]
    if options.json:
        print(files.to_json(rows))
        return 0
    for paper in papers:
        mine = [row for row in rows if row["paper"] == paper]
        if mine:
            kinds = ", ".join(f"{number} {kind}" for kind, number in records.counts(paper).items())
            print(f"\n{paper}" if options.keys else f"\n{paper}: {kinds}")
            print("\n".join(pages.table(mine)))
    return 0


def _write_front_pages():
    """What README shows of the claims and FINDINGS.md, in a checkout."""
    from secondorder.studies import pages, records

    readme = checkout("--write") / "README.md"
    files.write_between(readme, "<!-- claims by verdict -->\n", records.counts_by_paper())
    page = readme.parent / pages.FINDINGS
    files.write_text(page, pages.page_of_findings())
    print(f"written: {readme}\nwritten: {page}")


def page_path(paper):
    """Where CLAIMS.md of a paper stands."""
    from secondorder.studies import STUDIES

    room = importlib.import_module(STUDIES.room(paper))
    return Path(room.__file__).with_name("CLAIMS.md")
