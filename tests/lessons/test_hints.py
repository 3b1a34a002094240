"""Hints look at all cases: what one case suggests and another denies is not said."""

import numpy as np
import pytest

import secondorder as so
from secondorder.lessons import grading
from secondorder.ledger import mismatch


def judged(number, edit):
    """The Grade of an exercise's solution after `edit(solution)`."""
    (name,) = [name for name in grading.grades() if name.startswith(number)]
    told, known = grading.grades()[name], grading.solution(name)
    return grading.judged(told, edit(known[told[2].rpartition(".")[2]]), known["WRONG"])


def test_a_factor_1_minus_alpha_is_not_2():
    """At the first seed alpha is 1/2."""
    found = judged("10", lambda f: lambda A, B, alpha: (1 - alpha) * f(A, B, alpha))
    assert "hint: yours is (1 - alpha) times what is right" in str(found)
    assert "factor 2" not in str(found)
    found = judged("10", lambda f: lambda A, B, alpha: f(A, B, alpha) / 2)
    assert "a factor 2 is missing" in str(found)


@pytest.mark.parametrize("number, edit, hint", [
    ("08", lambda f: lambda W, H, g, s, c: f(W, H, g, s, c) * np.eye(W.shape[1]),
     "only the diagonal is there"),
    ("11", lambda f: lambda *given: f(*given).T, "transposed")])
def test_usual_mistakes_are_named(number, edit, hint):
    assert hint in judged(number, edit).message


def test_a_function_that_raises_is_told_no_mistake():
    calls = []

    def without_curvature(W, H, g, slope, curvature):
        return slope[:, :, None] * (W.T @ H @ W) * slope[:, None, :]

    def raises_later(*given):
        calls.append(given)
        return without_curvature(*given) if len(calls) < 3 else 1 / 0

    known = [(without_curvature, "the term with the curvature is lost")]
    grade = so.verify.equation("ea-cg", "4b", without_curvature, hints=known)
    assert grade.hint == known[0][1] and "hint: " in grade.message
    grade = so.verify.equation("ea-cg", "4b", raises_later, hints=known)
    assert grade.hint == "" and len(grade.message.splitlines()) == 1
    assert "your function raises ZeroDivisionError in line" in grade.message
    told = grading.also_at([((1.0,), "it cancels")], lambda x: 1 / 0, abs, grade)
    assert "raises ZeroDivisionError" in told.message and told.hint == ""
    assert grading.also_at([((1.0,), "it cancels")], np.negative, abs, grade).hint == "it cancels"


def calls(*pairs, arguments=None):
    return [(arguments or (), {}, [tuple(np.asarray(side, dtype=float) for side in pair)])
            for pair in pairs]


SYMMETRIC = np.array([[2.0, 1.0], [1.0, 3.0]])


@pytest.mark.parametrize("pairs, words", [
    ([(1, 2), (1, 2)], "a factor 2 is missing"), ([(1, 2), (1, 3)], "not the same in all cases"),
    ([(1, 2), (3, 3)], ""), ([(1, 2), (0, 0)], "a factor 2 is missing"), ([(1, 2), (1, 0)], ""),
    ([(-1, 1), (2, -2)], "sign is flipped"), ([(0, 1), (0, 2)], "a term is missing"),
    ([(2.6, 1), (5.2, 2)], "ratio is 2.6 in all cases: a constant"),
    ([(np.diag([2.0, 3]), SYMMETRIC)], "only the diagonal is there"),
    ([(np.diag([2.0, 3]), SYMMETRIC), (SYMMETRIC + 1, SYMMETRIC)], ""),
    ([(SYMMETRIC + np.eye(2), SYMMETRIC)], "1 times the identity too much"),
    ([(SYMMETRIC + 1 - np.eye(2), SYMMETRIC)], "mixed terms have the ratio 2"),
    ([([[1, 2], [3, 4]], [[1, 3], [2, 4]]), (SYMMETRIC, SYMMETRIC)], "transposed"),
    ([([[1, 2], [3, 4]], [[1, 3], [2, 4]]), ([[1, 2], [3, 4]], [[1, 2], [3, 4]])], ""),
    ([([1, 2, 6, 8], [1, 2, 3, 4])], "the entries that differ have the ratio 2"),
    ([([1, np.nan], [1, 2])], ""), ([], "")])
def test_a_pattern_holds_in_all_cases_or_is_not_said(pairs, words):
    told = mismatch.pattern(lambda: 0, calls(*pairs))
    assert words in told if words else told == ""


def test_a_factor_is_explained_by_an_argument():
    def target(x, rho):
        return x

    def told(of):
        made = [((np.ones(n), rho), {}, [(of(n, rho) * np.ones(2), np.ones(2))])
                for n, rho in ((2, 0.5), (3, 0.25), (5, 0.1))]
        return mismatch.pattern(target, made)
    assert told(lambda n, rho: 1 / n) == ("a mean where a sum is meant: the factor is 1 over the "
                                          "length of x")
    assert "a sum where a mean" in told(lambda n, rho: n)
    assert "yours is rho times" in told(lambda n, rho: rho)
    assert "yours is -(1 - rho) times" in told(lambda n, rho: rho - 1)
    assert "yours is 1 / rho times" in told(lambda n, rho: 1 / rho)
    assert "not the same in all cases: from 0.5" in told(lambda n, rho: n / 4)
