"""The table and the page of a comparison."""

import numpy as np
from matplotlib.figure import Figure

from secondorder.plots import matrices
from secondorder.plots.style import style
from secondorder.studies.numbers import number

from .measures import RATES

PICTURES = ("Hessian", "Gauss-Newton", "J'J / S", "Fisher, empirical", "diagonal bound", "PCH-1",
            "KFRA", "KFAC")
COLUMNS = ("curvature", "bytes", "ms", "error", "blocks", "diagonal", "smallest", "largest",
           "negative", "M - H >= 0", "angle", "at rate 1", "best", "its rate")


def table(comparison):
    """One line a curvature, columns aligned."""
    lines = [COLUMNS]
    for row in comparison.rows:
        values = row["eigenvalues"]
        lines.append((row["name"], size(row["bytes"]), f"{row['milliseconds']:.1f}",
                      *(number(value, 2) for value in (row["error"], row["block_error"],
                                                       row["diagonal_error"],
                                                       values[0], values[-1])),
                      str(row["negative"]), "yes" if row["above"] else "no",
                      "-" if row["angle"] is None else f"{row['angle']:.0f}",
                      f"{row['decrease']:.3f}", f"{row['best_decrease']:.3f}",
                      number(row["best_rate"], 2)))
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join(word.ljust(width) if k == 0 else word.rjust(width)
                               for k, (word, width) in enumerate(zip(line, widths)))
                     for line in lines)


def size(count):
    """Bytes as a person reads them."""
    unit, one = next((pair for pair in (("MiB", 2**20), ("KiB", 2**10)) if count >= pair[1]),
                     ("B", 1))
    return f"{count / one:.0f} {unit}"


def draw(comparison):
    """Heat maps on one signed scale, spectra, the loss along each step, and best decreases."""
    figure = Figure(figsize=(11.7, 8.3), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.35, 1))
    _heat_maps(comparison, above)
    spectra, along, bars = below.subplots(1, 3)
    _spectra(comparison, spectra)
    _along(comparison, along)
    _bars(comparison, bars)
    below.legend(*along.get_legend_handles_labels(), fontsize=7, ncols=10, frameon=False,
                 loc="outside lower center")
    figure.suptitle("\n".join(text for text in (
        comparison.caption, f"Steps: -(M + (shift + {comparison.damping:.2g}) I)⁻¹ g, where the "
        "shift makes M positive semidefinite; the same damping in all rows") if text), fontsize=8)
    return figure


def _heat_maps(comparison, part):
    """On the Hessian's scale: larger entries are darkest."""
    limit = float(np.abs(comparison.matrices["Hessian"]).max())
    by_name = {row["name"]: row for row in comparison.rows}
    named = {f"{name}\nerror {number(by_name[name]['error'], 2)}, {size(by_name[name]['bytes'])}":
             np.clip(comparison.matrices[name], -limit, limit) for name in PICTURES}
    for panel in matrices(named, comparison.network, part):
        panel.title.set_fontsize(8)
        panel.tick_params(labelsize=6)
        panel.set(xlabel="", ylabel="")


def _lines(comparison, axes):
    """Each row with the style of its line; not those that must coincide with another one."""
    left_out = {"low-rank factors", "Fisher, exact", "diagonal bound, cross terms", "PCH-2"}
    axes.tick_params(labelsize=7)
    rows = [row for row in comparison.rows if row["name"] not in left_out]
    for k, row in enumerate(rows):
        colour, marker = style(k)
        yield k, row, {"color": colour, "linestyle": "-" if k < 7 else "--", "linewidth": 1,
                       "marker": marker, "markersize": 3, "label": row["name"]}


def _spectra(comparison, axes):
    largest = comparison.rows[0]["eigenvalues"][-1]
    for k, row, options in _lines(comparison, axes):
        values = row["eigenvalues"][::-1]
        axes.plot(values, markevery=(k * 5, max(1, len(values) // 5)), **options)
    axes.set_yscale("symlog", linthresh=1e-6 * largest)
    top = int(np.log10(np.abs(axes.get_ylim()).max()))  # every second power of ten, none near zero
    low, high = axes.get_ylim()
    powers = [10.0**p for p in range(top, top - 5, -2)]
    axes.set_yticks([0.0, *(sign * power for power in powers for sign in (-1, 1)
                            if low < sign * power < high)])
    axes.minorticks_off()
    axes.set_xlabel("rank of the eigenvalue", fontsize=8)
    axes.set_ylabel("eigenvalue", fontsize=8)
    axes.locator_params(axis="x", nbins=5)


def _along(comparison, axes):
    deepest = max(row["best_decrease"] for row in comparison.rows)
    for k, row, options in _lines(comparison, axes):
        axes.semilogx(RATES, np.where(row["along"] < 0.15 * deepest, row["along"], np.nan),
                      markevery=(k, 10), **options)
    axes.axvline(1, color="0.6", linewidth=0.8)
    axes.set_xlabel("rate along its own step", fontsize=8)
    axes.set_ylabel("change of the loss", fontsize=8)
    axes.set_ylim(-1.08 * deepest, 0.2 * deepest)


def _bars(comparison, axes):
    names = [row["name"] for row in comparison.rows]
    places = np.arange(len(names))
    best = [row["best_decrease"] for row in comparison.rows]
    axes.barh(places, best, color="0.75", edgecolor="0.4", height=0.7, label="best rate")
    axes.plot([max(0.0, row["decrease"]) for row in comparison.rows], places, "k|", markersize=8,
              label="rate 1 (0 if the loss rises)")
    for place, row in zip(places, comparison.rows):
        axes.annotate(f" rate {number(row['best_rate'], 2)}", (row["best_decrease"], place),
                      va="center", fontsize=6)
    axes.set_yticks(places, names, fontsize=6.5)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.3 * max(best))
    axes.set_xlabel("decrease of the loss", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
    axes.legend(fontsize=6, loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2, frameon=False)
