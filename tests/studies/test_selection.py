"""How a study chooses among its candidates: the smallest number, and no tie."""

import pytest

from secondorder.studies import Results, chosen, least

INF = float("inf")


@pytest.mark.parametrize("numbers, place", [
    ([3.0, 1.0, 2.0], 1), ([INF, 5.0, INF], 1),
    ([INF, INF], 0)])  # where all diverged the first is as good as any
def test_the_smallest_number_chooses(numbers, place):
    assert least(numbers) == place


@pytest.mark.parametrize("numbers, said", [
    ([2.0, 1.0, 3.0, 1.0], "2 of 4 rates have the same number.*chooses nothing"),
    ([1.0, float("nan")], "rate 1: its number is NaN")])
def test_a_tie_chooses_nothing_nor_does_a_number_that_is_none(numbers, said):
    with pytest.raises(ValueError, match=said):
        least(numbers, "rate")


def test_means_over_seeds_choose_where_they_are_no_tie():
    results = Results()
    for rate, losses in ((0.1, (1.0, 3.0)), (0.2, (2.0, 2.0))):
        for seed, loss in enumerate(losses):
            results.add(f"{rate}-{seed}", {"arguments": {"rate": rate, "seed": seed},
                                           "result": {"loss": loss}, "seconds": 1})
    candidates = [{"rate": 0.1}, {"rate": 0.2}]
    assert chosen(results, candidates, lambda run: run["loss"], (0,)) == {"rate": 0.1}
    assert chosen(results, candidates, lambda run: run["loss"], (0, 7)) is None, "runs are missing"
    with pytest.raises(ValueError, match="same number, 2"):
        chosen(results, candidates, lambda run: run["loss"], (0, 1))
