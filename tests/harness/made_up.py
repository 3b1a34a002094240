"""Judging a study on made-up results."""

from secondorder.studies import STUDIES, Results


def results(study, make, seeds=None):
    """The results of all runs of a study, made up; those as well that hang on others (rates that
    are chosen first). `make` takes the arguments of a run and returns its result. Of runs that it
    makes alike, the one that is asked for later has floats larger by 1e-9: a selection refuses
    ties, and takes the first of them."""
    settings, made = study.settings(seeds=seeds), Results()
    while True:
        wanted = [run for run in study.runs(settings, made) if run not in made]
        if not wanted:
            return made
        for run in wanted:
            result = larger(make(**run.arguments), 1 + 1e-9 * len(made))
            made.add(run.name, {"arguments": run.arguments, "result": result, "seconds": 1.0})


def larger(result, factor):
    """Every float of a result times a factor."""
    if isinstance(result, float):
        return result * factor
    if isinstance(result, dict):
        return {name: larger(value, factor) for name, value in result.items()}
    if isinstance(result, list):
        return [larger(value, factor) for value in result]
    return result


def judged(paper, key, make, seeds=None):
    """Letter -> verdict, on made-up results."""
    study = STUDIES.of(paper)[key]
    found = study.judge(results(study, make, seeds), study.settings(seeds=seeds))
    assert set(found) == set(study.claims)
    return {letter: one.verdict for letter, one in found.items()}


def verdicts(found):
    """The kinds of verdict among them."""
    return set(found.values())
