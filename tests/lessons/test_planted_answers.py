"""Wrong answers that satisfy most of what an exercise states: the grader rejects each.

An answer is the solution with something replaced in its text, or in a class of a bug hunt.
"""

import pytest

from harness import slow
from secondorder import lessons
from secondorder.lessons import grading

HOME = lessons.folder() / "exercises"
NAMES = {path.stem[:2]: path.stem for path in HOME.glob("[0-9]*.py")}

#: exercise -> what is wrong -> (text of the solution, text in its place)
PLANTED = {
    "01": {"a bias where the layer has none": (
               "np.abs(y).sum(axis=1, keepdims=True)",
               "1 + np.abs(y).sum(axis=1, keepdims=True)"),
           "one sample's inputs for all": (
               "sum(axis=1, keepdims=True)\n", "sum(axis=1, keepdims=True)[:1]\n"),
           "nothing above a layer that is not trained": (
               "else u @ np.abs(w).T", "else bool(y.size) * (u @ np.abs(w).T)")},
    "02": {"a derivative in x's sign": ("- x**2 / p**2)", "- x * abs(x) / p**2)"),
           "a mean": ("np.sum(x**2 / p)", "np.mean(x**2 / p)"),
           "right where all shares are the same": ("- x**2 / p**2)", "- x**2 / p * len(p))")},
    "03": {"the mean over the batch": ("layer.tangent(saved, u)",
                                       "layer.tangent(saved, u * 0 + u.mean(0))"),
           "of absolute inputs": ("layer.tangent(saved, u)",
                                  "layer.tangent(saved, abs(saved.input), None)"),
           "one window for all": ("layer.tangent(saved, u)",
                                  "layer.tangent(saved, 0 * u + u.mean((1, 2, 3), keepdims=True))"
                                  )},
    "04": {"the Hessian's diagonal alone": ("sample.f_pp,", "np.diag(np.diag(sample.f_pp)),"),
           "a Hessian that is the identity": ("sample.f_pp,", "np.eye(len(sample.f_pp)),"),
           "absolute weights": ("sample.u,", "abs(sample.u),")},
    "05": {"right but for k = l": ("return alpha(sample, k, l) @",
                                   "return alpha(sample, k, l) @ np.eye(len(gamma(sample, l))) if "
                                   "k == l else alpha(sample, k, l) @"),
           "right for k = l": ("gamma(sample, l)", "gamma(sample, l if k == l else l + 1)"),
           "their mean": ("gamma(sample, l)", "np.mean(np.diag(gamma(sample, l)))")},
    "06": {"it cancels below zero": ("if h > 0 else (root - h) / sigma", ""),
           "no limit without the cubic term": (
               "return -a / h / g_norm if h > 0 else np.inf", "return -a / h / g_norm"),
           "ascent is followed": ("or g_dot_grad > 0", "")},
    "07": {"the Hessian's diagonal alone": ("@ s.f_pp @", "@ np.diag(np.diag(s.f_pp)) @"),
           "the first layer alone": ("sum(moves) @ s.f_pp @ sum(moves)",
                                     "moves[0] @ s.f_pp @ moves[0]"),
           "the absolute bend": ("+ bend\n", "+ abs(bend)\n")},
    "08": {"an absolute second derivative": ("(curvature *", "(abs(curvature) *"),
           "the mean over the batch": ("curvature * h_bar", "curvature * h_bar.mean(0)"),
           "the diagonal of H alone": ("W.T @ H @ W", "W.T @ (H * np.eye(H.shape[-1])) @ W")},
    "09": {"S - 1 for S": ("slope / len(slope)", "slope / max(len(slope) - 1, 1)"),
           "gamma is -1": ("(bend, gamma)", "(bend, -1)"),
           "gamma is 0": ("(bend, gamma)", "(bend, 0)")},
    "10": {"the other order": ("np.kron(np.linalg.inv(damped_A), np.linalg.inv(damped_B))",
                               "np.kron(np.linalg.inv(damped_B), np.linalg.inv(damped_A))"),
           "1 - alpha in front": ("return np.kron", "return (1 - alpha) * np.kron"),
           "without damping": ("eq_12_factors(A, B, alpha)", "A, B")},
    "11": {"a damped inverse": ("np.linalg.pinv(state.S2)",
                                "(state.S2.T @ np.linalg.inv(state.S2 @ state.S2.T + 1e-3 * np.eye("
                                "len(state.S2))))"),
           "rows below each other": ("R(rest, half, samples)", "rest.reshape(half, samples)"),
           "half of what is there": ("- eq_65_66_B", "- 0.5 * eq_65_66_B")},
    "12": {"another right inverse": ("-np.linalg.pinv(J) @ eps",
                                     "-(M := np.diag(np.linspace(1, 2, J.shape[1]))) @ J.T @ "
                                     "np.linalg.pinv(J @ M @ J.T) @ eps"),
           "a damped one": ("-np.linalg.pinv(J) @ eps", "-J.T @ np.linalg.inv(J @ J.T + 1e-4 * "
                            "np.eye(len(J))) @ eps"),
           "for a J of full rank alone": ("-np.linalg.pinv(J) @ eps",
                                          "-J.T @ np.linalg.inv(J @ J.T) @ eps")},
    "13": {"a constant": ("np.sum(np.sqrt(1 + (p - target) ** 2) - 1,",
                          "np.sum(np.sqrt(1 + (p - target) ** 2),"),
           "a gradient that is right near zero": ("return r / np.sqrt(1 + r**2)",
                                                  "return r / np.sqrt(1 + np.minimum(r**2, 4))"),
           "another loss with its own derivatives": ("1 + (p - target) ** 2", "4 + (p - target)**2")
           },
    "14": {"squares in the Hessian": ("self.a[:, None] * H_y * self.a", "H_y * self.a ** 2"),
           "no second term": ("+ a_tangent * y_bar", ""),
           "one row": ("return y_bar * x\n", "return y_bar * x[:1]\n")},
    "15": {"a slope that is wrong beside zero": (
               "return 1 / (1 + abs(x)) ** 2",
               "return np.where((x < 0) & (x > -1e-3), 0.5, 1 / (1 + abs(x)) ** 2)"
               ".astype(x.dtype)"),
           "far out": ("return x / (1 + abs(x))", "return np.where(abs(x) > 100, np.sign(x), "
                       "x / (1 + abs(x))).astype(x.dtype)"),
           "a curvature without its sign": ("-2 * np.sign(x)", "-2")},
}
CASES = [(number, what) for number, planted in PLANTED.items() for what in planted]


def test_every_exercise_has_three():
    assert sorted(PLANTED) == sorted(NAMES) and all(len(all_) >= 3 for all_ in PLANTED.values())


@pytest.mark.filterwarnings("ignore:invalid value encountered in sqrt")
@pytest.mark.parametrize("number, what", [*CASES[:3], *slow(CASES[3:])])
def test_a_wrong_answer_is_rejected(number, what, tmp_path):
    right = (HOME / "solutions" / f"{NAMES[number]}.py").read_text(encoding="utf-8")
    own, mark, rest = right.partition("\ndef mistake_1")
    own, mark, rest = (own, mark, rest) if mark else right.partition("\ndef by_hand")
    old, new = PLANTED[number][what]
    assert old in own
    path = tmp_path / "answer.py"
    path.write_text(f"import numpy as np\n{own.replace(old, new)}\n"
                    f"GRADE = {grading.grades()[NAMES[number]]!r}\n")
    found, exercise = grading.graded(path)
    assert exercise == NAMES[number] and not found.ok and "blank" not in str(found), str(found)
    assert "NameError" not in str(found)
