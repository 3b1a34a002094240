"""Judging a study on made-up results."""

from secondorder.studies import STUDIES, Results


def judged(paper, key, make, seeds=None):
    """Letter -> verdict; `make` takes the arguments of a run and returns its result. Runs that hang
    on others (rates that are chosen first) are made as well."""
    study = STUDIES.of(paper)[key]
    settings, results = study.settings(seeds=seeds), Results()
    while True:
        wanted = [run for run in study.runs(settings, results) if run not in results]
        if not wanted:
            break
        for run in wanted:
            results.add(run.name, {"arguments": run.arguments, "result": make(**run.arguments),
                                   "seconds": 1.0})
    found = study.judge(results, settings)
    assert set(found) == set(study.claims)
    return {letter: one.verdict for letter, one in found.items()}


def verdicts(found):
    """The kinds of verdict among them."""
    return set(found.values())
