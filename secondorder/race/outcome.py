"""Who is ahead: the log ratio of losses, a method's against Adam's, seed by seed."""

import numpy as np

ADAM = "adam"
LEVEL = 0.05  # losses that differ by no more are level
AGREE = 0.9  # of the seeds have to differ by more, in one direction
RULES = {"seconds": "equal CPU seconds", "work": "equal work"}


def outcome(record, rule):
    """What came out of a problem by one rule: a dict a method, the lowest median loss first.

    Parameters
    ----------
    record : dict
        As `full.raced` returns it.
    rule : {"seconds", "work"}

    Returns
    -------
    list of dict
        ``method``, ``numbers``, ``at_end``; ``loss`` and ``steps``, the medians; ``ratios``, the
        log ratios of losses, method against Adam, one a seed: infinite where the method alone
        diverged, minus infinity where Adam alone did, NaN where both did; ``median``, ``least``
        and ``most`` of those that are finite; ``leads``, the seeds in which it is below Adam;
        ``diverged``, the seeds in which it diverged; ``verdict``.
    """
    adam = losses(record["methods"].get(ADAM, {}), rule)
    rows = []
    for key, entry in record["methods"].items():
        own = losses(entry, rule)
        with np.errstate(invalid="ignore"):
            ratios = np.array([np.log(own[seed]) - np.log(adam.get(seed, np.nan)) for seed in own])
        finite, ended = ratios[np.isfinite(ratios)], [loss for loss in own.values()
                                                      if np.isfinite(loss)]
        median, least, most = (float(f(finite)) if len(finite) else np.nan
                               for f in (np.median, np.min, np.max))
        rows.append({
            "key": key, "method": entry["title"], "numbers": entry[rule]["numbers"],
            "at_end": entry[rule]["at_end"], "ratios": ratios.tolist(), "median": median,
            "least": least, "most": most, "leads": int((ratios < 0).sum()), "seeds": len(own),
            "loss": float(np.median(ended)) if ended else np.inf,
            "steps": int(np.median([run["steps"] for run in entry[rule]["runs"]
                                    if "steps" in run] or [0])),
            "diverged": len(own) - len(ended), "verdict": verdict(ratios)})
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


def sentence(records):
    """What came out, in words: who is ahead of Adam and who is level with it, by both rules."""
    return " ".join(f"After {name}, " + "; ".join(
        f"on the {record['problem']} {standing(outcome(record, rule))}" for record in records) + "."
        for rule, name in RULES.items())


def standing(rows):
    """Who is ahead, who is level: "EA-CG is ahead of Adam, KFI level with it, the others behind".
    """
    others = [row for row in rows if row["key"] != ADAM]
    ahead, level = ([row["method"] for row in others if row["verdict"] == word]
                    for word in ("ahead", "level"))
    parts = [f"{' and '.join(ahead)} {'is' if len(ahead) == 1 else 'are'} ahead of Adam"] * (
        len(ahead) > 0)
    if level:
        parts.append(" and ".join(level) + (" level with it" if ahead else
                                            f" {'is' if len(level) == 1 else 'are'} level with Adam"
                                            ))
    if len(ahead) + len(level) < len(others):
        parts.append("the others behind" if parts else "all are behind Adam")
    return ", ".join(parts)
