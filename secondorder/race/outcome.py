"""Who is ahead: the log ratio of losses, a method's against Adam's, seed by seed."""

import numpy as np

from .full import ADAM, RULES

LEVEL = 0.05  # losses that differ by no more are level
AGREE = 0.9  # of the seeds have to differ by more, in one direction


def outcome(record, rule):
    """What came out of a problem by one rule: a dict a method, the lowest median loss first.

    ``loss``, ``steps``, ``work`` and ``held_out`` are medians over the runs that came to the limit.
    ``ratios`` are the log ratios of losses, method against Adam, one a seed: infinite where the
    method alone diverged, minus infinity where Adam alone did, NaN where both did; ``median``,
    ``least`` and ``most`` are of those that are finite. ``leads`` counts the seeds in which it is
    below Adam, ``diverged`` those in which it diverged.
    """
    adam = losses(record["methods"].get(ADAM), rule)
    rows = []
    for key, entry in record["methods"].items():
        told, own = entry[rule], losses(entry, rule)
        with np.errstate(invalid="ignore"):
            ratios = np.array([np.log(own[seed]) - np.log(adam.get(seed, np.nan)) for seed in own])
        finite, ended = ratios[np.isfinite(ratios)], [run for run in told["runs"] if "loss" in run]
        median, least, most = (float(f(finite)) if len(finite) else np.nan
                               for f in (np.median, np.min, np.max))
        rows.append({
            "key": key, "method": entry["title"], "numbers": told["numbers"],
            "at_end": told["at_end"], "ratios": ratios.tolist(), "median": median,
            "least": least, "most": most, "leads": int((ratios < 0).sum()), "seeds": len(own),
            "diverged": len(own) - len(ended), "verdict": verdict(ratios)} | {
            name: float(np.median([run.get(name, np.inf) for run in ended] or [np.inf]))
            for name in ("loss", "steps", "work", "held_out")})
    return sorted(rows, key=lambda row: row["loss"])


def losses(entry, rule):
    """Seed -> loss at the limit, infinite where the run diverged."""
    return {run["seed"]: run.get("loss", np.inf) for run in entry[rule]["runs"]} if entry else {}


def verdict(ratios):
    """"ahead", "behind" or "level": whether nine of ten seeds agree by more than 5 %. A method that
    diverges where Adam does not is behind there.
    """
    needed, gap = AGREE * len(ratios), np.log1p(LEVEL)
    if len(ratios) and np.sum(np.less(ratios, -gap)) >= needed:
        return "ahead"
    if not len(ratios) or np.sum(np.greater(ratios, gap)) >= needed:
        return "behind"
    return "level"


def summary(records):
    """A table: on which problem and by which rule who is ahead of Adam, level with it and behind.
    """
    lines = ["| problem | after | ahead of Adam | level with it | behind it |",
             "|---|---|---|---|---|"]
    for record in records:
        for rule, name in RULES.items():
            rows = [row for row in outcome(record, rule) if row["key"] != ADAM]
            kinds = ["; ".join(row["method"] for row in rows if row["verdict"] == kind) or "-"
                     for kind in ("ahead", "level", "behind")]
            lines.append(f"| {' | '.join([record['problem'], name, *kinds])} |")
    return "\n".join(lines)
