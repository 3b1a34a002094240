"""Wrong answers that satisfy most of what an exercise states: the grader rejects each.

An answer is the solution with something replaced in its text, or in a class of a bug hunt.
"""

import pytest

from harness import slow
from secondorder import lessons
from secondorder.lessons import grading

HOME = lessons.folder() / "exercises"
NAMES = {path.stem[:2]: path.stem for path in HOME.glob("[0-9]*.py")}

#: exercise, what is wrong, text of the solution, text in its place
PLANTED = [
    ("01", "a bias where the layer has none", "np.abs(y).sum(axis=1, keepdims=True)",
     "1 + np.abs(y).sum(axis=1, keepdims=True)"),
    ("01", "one sample's inputs for all", "sum(axis=1, keepdims=True)\n",
     "sum(axis=1, keepdims=True)[:1]\n"),
    ("02", "a derivative in x's sign", "- x**2 / p**2)", "- x * abs(x) / p**2)"),
    ("02", "right where all shares are the same", "- x**2 / p**2)", "- x**2 / p * len(p))"),
    ("03", "of absolute inputs", "layer.tangent(saved, u)",
     "layer.tangent(saved, abs(saved.input), None)"),
    ("03", "one window for all", "layer.tangent(saved, u)",
     "layer.tangent(saved, 0 * u + u.mean((1, 2, 3), keepdims=True))"),
    ("04", "the Hessian's diagonal alone", "sample.f_pp,", "np.diag(np.diag(sample.f_pp)),"),
    ("04", "absolute weights", "sample.u,", "abs(sample.u),"),
    ("05", "right but for k = l", "return alpha(sample, k, l) @",
     "return alpha(sample, k, l) @ np.eye(len(gamma(sample, l))) if k == l else alpha(sample, "
     "k, l) @"),
    ("05", "right for k = l", "gamma(sample, l)", "gamma(sample, l if k == l else l + 1)"),
    ("06", "it cancels below zero", "if h > 0 else (root - h) / sigma", ""),
    ("06", "no limit without the cubic term", "return -a / h / g_norm if h > 0 else np.inf",
     "return -a / h / g_norm"),
    ("07", "the Hessian's diagonal alone", "@ s.f_pp @", "@ np.diag(np.diag(s.f_pp)) @"),
    ("07", "the absolute bend", "+ bend\n", "+ abs(bend)\n"),
    ("08", "an absolute second derivative", "(curvature *", "(abs(curvature) *"),
    ("08", "the diagonal of H alone", "W.T @ H @ W", "W.T @ (H * np.eye(H.shape[-1])) @ W"),
    ("09", "S - 1 for S", "slope / len(slope)", "slope / max(len(slope) - 1, 1)"),
    ("09", "gamma is -1", "(bend, gamma)", "(bend, -1)"),
    ("10", "the other order", "np.kron(np.linalg.inv(damped_A), np.linalg.inv(damped_B))",
     "np.kron(np.linalg.inv(damped_B), np.linalg.inv(damped_A))"),
    ("10", "without damping", "eq_12_factors(A, B, alpha)", "A, B"),
    ("11", "a damped inverse", "np.linalg.pinv(state.S2)",
     "(state.S2.T @ np.linalg.inv(state.S2 @ state.S2.T + 1e-3 * np.eye(len(state.S2))))"),
    ("11", "half of what is there", "- eq_65_66_B", "- 0.5 * eq_65_66_B"),
    ("12", "another right inverse", "-np.linalg.pinv(J) @ eps",
     "-(M := np.diag(np.linspace(1, 2, J.shape[1]))) @ J.T @ np.linalg.pinv(J @ M @ J.T) @ eps"),
    ("12", "for a J of full rank alone", "-np.linalg.pinv(J) @ eps",
     "-J.T @ np.linalg.inv(J @ J.T) @ eps"),
    ("13", "a gradient that is right near zero", "return r / np.sqrt(1 + r**2)",
     "return r / np.sqrt(1 + np.minimum(r**2, 4))"),
    ("13", "another loss with its own derivatives", "1 + (p - target) ** 2", "4 + (p - target)**2"),
    ("14", "no second term", "+ a_tangent * y_bar", ""),
    ("14", "one row", "return y_bar * x\n", "return y_bar * x[:1]\n"),
    ("15", "a slope that is wrong beside zero", "return 1 / (1 + abs(x)) ** 2",
     "return np.where((x < 0) & (x > -1e-3), 0.5, 1 / (1 + abs(x)) ** 2).astype(x.dtype)"),
    ("15", "a curvature without its sign", "-2 * np.sign(x)", "-2"),
]


def test_every_exercise_has_two():
    assert sorted({number for number, *_ in PLANTED}) == sorted(NAMES)


@pytest.mark.filterwarnings("ignore:invalid value encountered in sqrt")
@pytest.mark.parametrize("number, what, old, new", [*PLANTED[::2], *slow(PLANTED[1::2])])
def test_a_wrong_answer_is_rejected(number, what, old, new, tmp_path):
    right = (HOME / "solutions" / f"{NAMES[number]}.py").read_text(encoding="utf-8")
    own, mark, rest = right.partition("\ndef mistake_1")
    own, mark, rest = (own, mark, rest) if mark else right.partition("\ndef by_hand")
    assert old in own
    path = tmp_path / "answer.py"
    path.write_text(f"import numpy as np\n{own.replace(old, new)}\n"
                    f"GRADE = {grading.grades()[NAMES[number]]!r}\n")
    found, exercise = grading.graded(path)
    assert exercise == NAMES[number] and not found.ok and "blank" not in str(found), str(found)
    assert "NameError" not in str(found)
