"""`verify.derivative`: right derivatives pass, each usual slip is found and named."""

import re

import numpy as np
import pytest

import secondorder as so
from harness import slow
from secondorder.verify import ladder
from secondorder.verify.findings import UNJUDGED

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 4, 4))
AT = RNG.normal(size=4)
V = RNG.normal(size=4)


def f(x):
    """x^T A x / 2 + sum of exp(x_i / 2)"""
    return x @ A @ x / 2 + np.exp(x / 2).sum()


def gradient(x):
    return (A + A.T) @ x / 2 + np.exp(x / 2) / 2


def hessian(x):
    return (A + A.T) / 2 + np.diag(np.exp(x / 2)) / 4


def g(x):
    return np.tanh(B[:3] @ x)


def jacobian(x):
    return (1 - np.tanh(B[:3] @ x) ** 2)[:, None] * B[:3]


def only_real(function):
    """The same function, for real numbers alone."""
    def real(x):
        if np.iscomplexobj(x):
            raise TypeError("complex numbers are not taken")
        return function(x)
    return real


RIGHT = {
    "gradient": (f, gradient, AT, {}), "jacobian": (g, jacobian, AT, {}),
    "hessian": (f, hessian, AT, {}), "as arrays": (f, hessian(AT), AT, {"kind": "hessian"}),
    "along a line": (lambda t: g(AT + t * V), lambda t: jacobian(AT + t * V) @ V, 0.0, {}),
    "of one number": (np.sin, np.cos, 0.3, {}),
    "second, of one number": (np.sin, lambda x: -np.sin(x), 0.3, {"kind": "hessian"}),
    "of a matrix": (lambda W: np.log(np.linalg.det(W)), lambda W: np.linalg.inv(W).T,
                    3 * np.eye(3) + B[:3, :3] / 4, {}),
    "a matrix in a number": (lambda t: np.array([[t, t**2], [1.0, np.exp(t)]]),
                             lambda t: np.array([[1.0, 2 * t], [0.0, np.exp(t)]]), 0.7, {}),
    "not analytic": (lambda x: np.abs(x) @ np.abs(x) ** 2, lambda x: 3 * x * np.abs(x), AT, {})}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("real", [False, True])
def test_right_derivatives_pass(name, real):
    function, derivative, at, options = RIGHT[name]
    report = so.verify.derivative(only_real(function) if real else function, derivative, at,
                                  **options)
    assert report.ok and len(report.checks) == 1, report


def badly_scaled(x):
    return 1e9 * x[0] ** 2 + np.sin(x[1])


@pytest.mark.parametrize("wrong", [-1, 2, 1.1])
def test_a_wrong_entry_far_below_the_others_is_noticed(wrong):
    at = np.array([0.3, 0.2])
    right = np.array([2e9 * at[0], np.cos(at[1])])
    assert so.verify.derivative(badly_scaled, right, at)
    report = so.verify.derivative(badly_scaled, right * [1, wrong], at)
    assert not report and "entry 1" in str(report)


def test_entries_that_differences_cannot_judge_are_a_note():
    at = np.array([0.3, 0.2])
    report = so.verify.derivative(only_real(badly_scaled), [2e9 * at[0], -np.cos(at[1])], at)
    assert report and "1 of 2 entries are below" in str(report)


def in_float32(x):
    return float(np.tanh(np.float32(x)).sum())


def rounded_by_the_way(x):
    return np.tanh(x.astype(np.float32).astype(float)).sum()


@pytest.mark.parametrize("function", [in_float32, rounded_by_the_way])
@pytest.mark.parametrize("kind", ["gradient", *slow(["hessian"])])
def test_a_function_that_rounds_to_float32_inside(function, kind):
    """Never "wrong" where the derivative is right; signs and factors show all the same."""
    right = {"gradient": lambda x: 1 - np.tanh(x) ** 2,
             "hessian": lambda x: np.diag(-2 * np.tanh(x) * (1 - np.tanh(x) ** 2))}[kind]
    rng, judged = np.random.default_rng(0), 0
    for _ in range(30):
        at = rng.normal(size=4)
        report = so.verify.derivative(function, right, at, kind)
        assert "rounds coarsely" in str(report)
        assert report or report.findings[0].kind == UNJUDGED, report
        judged += report.ok
        assert not so.verify.derivative(function, lambda x: -right(x), at, kind)
        assert not so.verify.derivative(function, lambda x: 1.1 * right(x), at, kind)
    assert judged >= 20


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("real", [False, True])
def test_a_millionth_is_noticed(name, real):
    """In one entry alone."""
    function, derivative, at, options = RIGHT[name]
    computed = np.array(derivative(at) if callable(derivative) else derivative, order="C")
    worst = np.argmax(np.abs(computed))
    computed.reshape(-1)[worst] *= 1 + 1e-6
    report = so.verify.derivative(only_real(function) if real else function, computed, at,
                                  **options)
    assert not report.ok
    index = np.unravel_index(worst, computed.shape)
    where = "value" if computed.ndim == 0 else \
        f"entry {tuple(map(int, index)) if computed.ndim > 1 else int(index[0])}"
    assert f"{where}: df" in str(report) and "ratio 1 + 1.0e-06" in str(report)


SLIPS = {
    "sign": (f, lambda x: -gradient(x), "ratio is -1 everywhere: the sign is flipped"),
    "factor": (f, lambda x: 2 * gradient(x), "a factor 2 too much"),
    "mean": (g, lambda x: jacobian(x) / 3, "a factor 3 is missing"),
    "transpose": (lambda x: B @ x + x**2, lambda x: (B + 2 * np.diag(x)).T, "df is transposed"),
    "wide transpose": (g, lambda x: jacobian(x).T, "df is transposed"),
    "half of two": (f, lambda x: A / 2 + np.diag(np.exp(x / 2)) / 8, "only one of two halves"),
    "not symmetric": (f, lambda x: A + np.diag(np.exp(x / 2)) / 4, "lacks its symmetric half"),
    "penalty": (lambda x: f(x) + 0.3 * x @ x / 2, gradient, "a term is lost: 0.3 times at"),
    "damping": (lambda x: f(x) + 0.3 * x @ x / 2, hessian, "lost: 0.3 times the identity"),
    "constant": (lambda x: f(x) + 0.7 * x.sum(), gradient, "lost: 0.7 times 1"),
    "diagonal": (f, lambda x: (A + A.T) / 2, "only the diagonal differs"),
    "beside it": (f, lambda x: np.diag(np.diag(hessian(x))), "mixed terms are lost"),
    "mixed": (f, lambda x: 2 * hessian(x) - np.diag(np.diag(hessian(x))), "terms have the ratio 2"),
    "two signs": (f, lambda x: gradient(x) * [1, -1, -1, 1],
                  "the entries that differ have the other sign, the others are right"),
    "one entry": (f, lambda x: gradient(x) * [1, 1, 0.7, 1], "only entries with index 2 differ"),
    "a row": (g, lambda x: jacobian(x) * np.array([[1], [0.9], [1]]), "with first index 1 differ"),
    "a column": (g, lambda x: jacobian(x) * np.array([1, 1, 1, 0]), "with second index 3 differ"),
    "columns": (g, lambda x: jacobian(x) * np.array([1, 2, 3, 0.5]), "on the second index alone"),
    "missing": (f, lambda x: 0 * x, "a term is missing"),
    "shape": (f, lambda x: jacobian(x), r"shape \(3, 4\), expected \(4,\)"),
    "outer product": (lambda x: f(x) + (V @ x) ** 2 / 2, hessian, "is one outer product"),
    "a term too much": (f, lambda x: gradient(x) + 0.5, "df has 0.5 times 1 too much"),
    "only the diagonal": (np.tanh, lambda x: 1 - np.tanh(x) ** 2, "this is only the diagonal")}


@pytest.mark.parametrize("name", SLIPS)
@pytest.mark.parametrize("real", [False, True])
def test_a_slip_is_named(name, real):
    function, derivative, words = SLIPS[name]
    report = so.verify.derivative(only_real(function) if real else function, derivative, AT)
    assert not report.ok
    assert re.search(words, str(report)), report


def test_a_function_that_is_not_deterministic_is_not_judged():
    noisy = np.random.default_rng(0)
    report = so.verify.derivative(only_real(lambda x: x @ x + 0.01 * noisy.normal()),
                                  lambda x: 2 * x, np.array([0.0, 1.0]))
    assert not report.ok and "too inaccurate to judge" in str(report)


@pytest.mark.parametrize("f, df, options", [
    (np.abs, np.sign, {}), (lambda x: np.maximum(x, 0), lambda x: 0.5, {}),
    (lambda x: np.abs(x - 1e-9), np.sign, {}),
    (lambda x: np.array([x**2, np.abs(x)]), lambda x: np.array([2 * x, 0 * x]), {}),
    (lambda x: np.sum(np.maximum(x, 0) ** 2), lambda x: np.ones((2, 2)),
     {"at": np.array([0.0, 0.5]), "kind": "hessian"}),
    (lambda x: np.maximum(x.real, 0).sum(), lambda x: np.ones(2), {"at": np.array([1.0, 0.0])})])
def test_a_derivative_at_a_kink_is_neither_right_nor_wrong(f, df, options):
    (finding,) = so.verify.derivative(f, df, **{"at": 0.0, **options}).findings
    assert finding.kind == "not judged at a kink" and "jumps" in finding.compared


@pytest.mark.parametrize("f, df, at", [
    (np.log, lambda x: 1 / x, 1e-6), (lambda x: np.tanh(1e4 * x), lambda x: 1e4 + 0 * x, 0.0),
    (lambda x: np.sqrt(x**2 + 1e-10), lambda x: 0.0 * x, 0.0), (np.square, lambda x: 2 * x, 0.0),
    (lambda x: np.sin(100 * x), lambda x: 100 * np.cos(100 * x), 0.3),
    (lambda x: np.float32(3) * np.float32(x) ** 2, lambda x: 6 * x, 0.7),
    (np.abs, np.sign, 1e-5), (lambda x: np.abs(x) ** 1.5, lambda x: 0.0 * x, 0.0)])
def test_a_sharp_bend_is_no_kink(f, df, at):
    assert "kink" not in str(so.verify.derivative(f, df, at))


def entropy(q):
    return -(q * np.log(q)).sum()


NARROW = {  # what a step of ordinary size leaves the domain of, or bends in
    "log": (np.log, lambda x: 1 / x, 1e-3), "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x), 3e-3),
    "probabilities": (lambda q: np.log(q).sum(), lambda q: 1 / q, np.array([0.9, 0.0999, 1e-4])),
    "entropy": (entropy, lambda q: -np.log(q) - 1, np.array([0.9, 0.0999, 1e-4])),
    "Hessian": (entropy, lambda q: -np.diag(1 / q), np.array([0.999, 9e-4, 1e-4])),
    "norm": (np.linalg.norm, lambda z: z / np.linalg.norm(z), np.full(2, 1e-4)),
    "determinant": (lambda A: 2 * np.log(np.diag(np.linalg.cholesky(A))).sum(), np.linalg.inv,
                    np.diag([1e-4, 1.0])),
    "steep": (lambda x: np.exp(1000 * x), lambda x: 1000 * np.exp(1000 * x), 0.003),
    "long": (np.sin, np.cos, 1e3)}


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("real", [False, True])
def test_the_step_follows_the_function(name, real):
    function, right, at = NARROW[name]
    function = only_real(function) if real else function
    assert so.verify.derivative(function, right, at)
    for wrong in (-1, 1.001):
        report = so.verify.derivative(function, lambda x: wrong * right(x), at)
        assert not report and "differ" in str(report)
    assert not so.verify.derivative(function, lambda x: np.nan * right(x), at)


def test_entries_that_cannot_be_judged_leave_the_others_judged():
    at = np.array([0.3, 0.2])
    half = lambda x: np.array([x[0] ** 2, 1.0 if x[1] == 0.2 else np.nan])  # noqa: E731
    right = np.array([[0.6, 0.0], [0.0, 0.0]])
    report = so.verify.derivative(half, right, at)
    assert not report and report.findings[0].kind == UNJUDGED
    assert "1 of 4 entries cannot be judged" in str(report)
    report = so.verify.derivative(half, -right, at)
    assert not report and "entry (0, 0): df -0.6" in str(report)


@pytest.mark.parametrize("differences, right, good", [
    (ladder.first_differences, np.exp, 1e-11),
    (ladder.second_differences, lambda x: np.diag(np.exp(x)), 1e-8)])
def test_extrapolated_differences_are_as_good_as_they_say(differences, right, good):
    theta = np.array([0.3, -1.2])
    value, error = differences(lambda x: np.exp(x).sum(), theta)
    assert error.max() < good and (np.abs(value - right(theta)) <= error).all()


def huber(x):
    return np.where(np.abs(x) < 1, x * x / 2, np.abs(x) - 0.5).sum()


@pytest.mark.parametrize("seed", range(10))
def test_a_right_derivative_of_zeros_is_right(seed):
    at = np.random.default_rng(seed).uniform(1.2, 3, 3) * [1, -1, 1]
    zeros = np.zeros((3, 3))
    for function in (huber, lambda x: np.abs(x).sum(), lambda x: 1e6 * np.abs(x).sum()):
        assert so.verify.derivative(function, zeros, at, "hessian")
        assert not so.verify.derivative(function, zeros + 0.01 * np.abs(function(at)), at,
                                        "hessian")
    assert so.verify.derivative(lambda x: 3.0, np.zeros(3), at)
    dead = lambda x: np.maximum(x - 3.1, 0).sum()  # noqa: E731  constant around the point
    assert so.verify.derivative(dead, np.zeros(3), at)


@pytest.mark.parametrize("rounds", [lambda t: round(float(t), 4), lambda t: round(float(t), 2),
                                    lambda t: float(np.float16(t))])
def test_a_function_that_rounds_to_a_few_digits_makes_no_right_gradient_wrong(rounds):
    """Its differences over short steps are zero exactly."""
    for seed in range(10):
        at = np.random.default_rng(seed).normal(size=3)
        report = so.verify.derivative(lambda x: rounds(x @ x), lambda x: 2 * x, at)
        assert report or report.findings[0].kind == UNJUDGED, report
    report = so.verify.derivative(lambda x: round(float(x @ x), 4), lambda x: 3 * x, at)
    assert not report and report.findings[0].kind == "mismatch"


MISSHAPEN = {
    "transposed": (lambda J: J.T, "df is transposed"),
    "flat": (lambda J: J.ravel(), "reshape them to (3, 4); is a .ravel() too much?"),
    "a batch of one": (lambda J: J[None], "the numbers are right: reshape them to (3, 4)"),
    "a column": (lambda J: J[:, :, None], "the numbers are right: reshape them to (3, 4)"),
    "flat transpose": (lambda J: J.T[None], "df is transposed: .transpose(0, 2, 1)"),
    "wrong besides": (lambda J: 2 * J.ravel(), "")}


@pytest.mark.parametrize("name", MISSHAPEN)
def test_a_shape_that_only_wants_reshaping_is_named(name):
    change, words = MISSHAPEN[name]
    report = so.verify.derivative(g, change(jacobian(AT)), AT)
    (finding,) = report.findings
    assert "expected (3, 4)" in finding.entries and words in finding.hint
    assert bool(finding.hint) == bool(words), report
