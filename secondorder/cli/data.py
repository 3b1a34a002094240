"""`secondorder data`: what data there is."""

import sys

from secondorder import files

from .parsing import add_table_options, json_option, table_options

EXAMPLES = """\
  secondorder data                         the embedded data sets
  secondorder data idx:mnist cifar-10:cifar-10-batches-bin
                                           your folders; a relative name is looked up first in
                                           the directory that SECONDORDER_DATA names
  secondorder data --download mnist        fetch a public set into your cache folder and check
                                           the SHA-256 of every file
"""


def add(commands):
    """Add the parser of this command."""
    parser = commands.add_parser(
        "data", help="list the embedded data sets, or read your files",
        description="Read data sets, check every file, and print what they hold.",
        examples=EXAMPLES)
    parser.add_argument("names", nargs="*", metavar="DATA",
                        help="digits, wine, diabetes, idx:FOLDER, cifar-10:FOLDER or csv:FILE "
                             "(default: all embedded)")
    parser.add_argument("--download", action="append", default=[], metavar="SET",
                        help="mnist, fashion-mnist or cifar-10: fetch it first; repeatable")
    add_table_options(parser)
    json_option(parser)
    parser.set_defaults(run=run)


def run(options):
    """Print a table of data sets."""
    from secondorder import datasets

    fetched = [datasets.download(name, say=lambda line: print(line, file=sys.stderr))
               for name in options.download]
    names = options.names + fetched or datasets.EMBEDDED
    rows = []
    for name in names:
        data = datasets.load(name, **table_options(options))
        rows.append({"name": name, "rows": len(data), "inputs": data.inputs.shape[1],
                     "classes": data.classes, "image_shape": data.image_shape,
                     "input_range": data.input_range, "description": data.description})
    if options.json:
        print(files.to_json(rows))
        return 0
    for row in rows:
        task = f"{row['classes']} classes" if row["classes"] else "regression"
        print(f"{row['name']:<12} {row['rows']:>6} x {row['inputs']:<5} {task:<11} "
              f"{row['description']}")
    return 0
