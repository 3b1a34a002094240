"""Judging a study on made-up results."""

from secondorder.studies import STUDIES, Results


def results(study, make, seeds=None):
    """The results of all runs of a study, made up; those as well that hang on others (rates that
    are chosen first). `make` takes the arguments of a run and returns its result."""
    settings, made = study.settings(seeds=seeds), Results()
    while True:
        wanted = [run for run in study.runs(settings, made) if run not in made]
        if not wanted:
            return made
        for run in wanted:
            made.add(run.name, {"arguments": run.arguments, "result": make(**run.arguments),
                                "seconds": 1.0})


def judged(paper, key, make, seeds=None):
    """Letter -> verdict, on made-up results."""
    study = STUDIES.of(paper)[key]
    found = study.judge(results(study, make, seeds), study.settings(seeds=seeds))
    assert set(found) == set(study.claims)
    return {letter: one.verdict for letter, one in found.items()}


def verdicts(found):
    """The kinds of verdict among them."""
    return set(found.values())
