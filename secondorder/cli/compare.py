"""`secondorder compare`: all curvatures of one small network on one page."""

import sys

from secondorder import files

from .parsing import (add_table_options, force_option, json_option, natural, positive,
                      positive_number, table_options, tell_written)

EXAMPLES = """\
  secondorder compare                          a 16-3-3-10 network on digits, after three epochs
  secondorder compare --out curvatures         the table as JSON and the page as a picture
  secondorder compare --data wine --hidden 5 --activation softplus --epochs 0
  secondorder compare --data idx:mnist-subset --samples 100 --hidden 2

Time grows with the samples and with the square of the number of parameters.
"""
#: The files of --out.
WRITTEN = ("compare.json", "compare.png")


def add(commands):
    """Add the parser of this command."""
    parser = commands.add_parser(
        "compare", help="compare all curvatures of one small network: a table and a page",
        description="Train a small network for a few epochs and compare every curvature there. The "
        "table has\nsize, time, errors and spectrum of each, and how far a step with it gets.",
        examples=EXAMPLES)
    parser.add_argument("--data", default="digits", metavar="DATA",
                        help="digits (as 4 x 4 pixels), wine, diabetes, idx:FOLDER, "
                        "cifar-10:FOLDER or csv:FILE (default: digits)")
    parser.add_argument("--samples", type=positive, default=500, metavar="N",
                        help="number of samples, drawn with --seed from a larger set "
                        "(default: 500)")
    parser.add_argument("--hidden", type=positive, nargs="+", default=[3, 3], metavar="N",
                        help="widths of the hidden layers (default: 3 3)")
    parser.add_argument("--activation", default="tanh", help="activation of the "
                        "hidden layers (default: tanh)")
    parser.add_argument("--epochs", type=natural, default=3, metavar="N",
                        help="epochs of Adam before the comparison (default: 3)")
    parser.add_argument("--seed", type=natural, default=0, metavar="N",
                        help="seed of weights and batches (default: 0)")
    parser.add_argument("--damping", type=positive_number, default=0.2, metavar="SHARE",
                        help="damping, as a share of the Hessian's mean absolute eigenvalue "
                        "(default: 0.2)")
    parser.add_argument("--limit", type=positive, default=2500, metavar="P",
                        help="largest number of parameters (default: 2500)")
    add_table_options(parser)
    json_option(parser)
    parser.add_argument("--out", metavar="DIR", help="write compare.json and compare.png there")
    force_option(parser)
    parser.set_defaults(run=run)


def run(options):
    """Print the table; write table and page where asked."""
    import secondorder as so

    out = files.outputs(options.out, WRITTEN, options.force)
    network, loss, x, y, samples = _point(so, options)
    caption = (f"{options.data}, {samples}; widths {x.shape[1]}, "
               f"{', '.join(map(str, options.hidden))}; {options.activation}; {network.size} "
               f"parameters; after {options.epochs} epochs of Adam")
    comparison = so.compare(
        network, loss, x, y, damping=options.damping, limit=options.limit, caption=caption)
    rows = [{name: value for name, value in row.items() if name not in ("direction", "along")}
            for row in comparison.rows]
    if options.json:
        print(files.to_json({"rows": rows, "promises": comparison.promises}))
    else:
        print(comparison.table())
        print(f"\n{caption}\nerrors: Frobenius norm of M - H over the norm of H: whole, on layers' "
              "blocks, on the diagonal.\nangle: degrees to the Hessian's own damped step.\nat rate "
              "1, best: decrease of the loss.")
        for one in comparison.promises:
            print(f"  {'ok' if one['ok'] else 'NOT SO':<7}{one['name']}: {one['promise']}")
    if out is not None:
        table, page = (out / name for name in WRITTEN)
        files.write_json(table, {"rows": rows, "promises": comparison.promises})
        files.write_figure(page, comparison.figure(), dpi=150)
        tell_written((table, page), sys.stderr if options.json else sys.stdout)
    return 0 if comparison.ok else 1


def _point(so, options):
    """Network, loss and data where the curvatures are compared, and what the samples are."""
    import numpy as np

    data = so.datasets.load(options.data, **table_options(options))
    whole, digits = len(data), options.data == "digits"
    if digits:
        data = so.datasets.scale(data, (-1, 1))
        x, y = data.inputs.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16), data.targets
    else:
        x = so.datasets.Standardisation.fit(data.inputs).apply(data.inputs)
        y = (data.targets if data.classes
             else so.datasets.Standardisation.fit(data.targets).apply(data.targets))
    samples = min(options.samples, whole)
    chosen = np.sort(np.random.default_rng(options.seed).permutation(whole)[:samples])
    x, y = x[chosen], y[chosen]
    outputs = data.classes or y.shape[1]
    loss = so.SoftmaxCrossEntropy() if data.classes else so.SquaredError()
    network = so.mlp([x.shape[1], *options.hidden, outputs], activation=options.activation,
                     rng=options.seed)
    if network.size <= options.limit and options.epochs:
        so.train(so.Adam(network, loss, learning_rate=0.01), x, y, epochs=options.epochs,
                 batch_size=50, rng=options.seed)
    told = f"{samples} samples" if samples == whole else f"{samples} of {whole} samples"
    return network, loss, x, y, told
