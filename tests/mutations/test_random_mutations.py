"""The tool that draws random mutations: which places it finds, which it leaves out, and that its
entries apply."""

import textwrap
import tomllib

import pytest

from harness import random_mutations
from harness.mutation_points import changes, points, put
from harness.mutations import ROOT, apply

FORMULAS = {
    "a + b * c": {"a - b * c", "a", "(b * c)", "a + b / c", "a + b", "a + c"},
    "(a - b) @ c.T": {"(a + b) @ c.T", "(a) @ c.T", "(b) @ c.T", "c.T @ (a - b)", "(a - b) @ c"},
    "-x**2": {"(x**2)", "-x", "-x**1", "-x**3"},
    "np.maximum(a, 0)": {"np.minimum(a, 0)", "np.maximum(a, 1)"},
    "np.abs(x).max()": {"x.max()", "np.abs(x).min()"},
    "np.einsum('sij,sj->si', F, u)": {'np.einsum("' + text + '", F, u)' for text in (
        "isj,sj->si", "sji,sj->si", "sij,js->si", "sij,sj->is")},
    "np.where(c < 0.3, a, b)": {"np.where(c <= 0.3, a, b)", "np.where(c < 0.6, a, b)",
                                "np.where(c < 0.15, a, b)", "np.where(c < 0.3, b, a)"},
    "x[i] if on and not off else y[1:]": {
        "x[i - 1] if on and not off else y[1:]", "x[i + 1] if on and not off else y[1:]",
        "x[i] if on or not off else y[1:]", "x[i] if on and off else y[1:]",
        "y[1:] if (on and not off) else x[i]",
        "x[i] if on and not off else y[0:]", "x[i] if on and not off else y[2:]"},
    "z[::-1]": {"z", "z[::1]", "z[::-0]", "z[::-2]"},
    "é + x.sum(axis=0)": {"é - x.sum(axis=0)", "é", "x.sum(axis=0)", "é + x.mean(axis=0)",
                          "é + x.sum(axis=1)"},
}


@pytest.mark.parametrize("formula, expected", FORMULAS.items(), ids=FORMULAS)
def test_what_becomes_of_a_formula(formula, expected):
    found = {put(formula, point) for group in points(formula) for point in group
             if changes(formula, point)}
    assert found == expected


def test_assignments_in_place():
    assert {put("a += b\n", point) for group in points("a += b\n")
            for point in group} == {"a -= b\n", "a = b\n"}


def test_what_is_said_to_people_is_left_alone():
    source = textwrap.dedent('''
        """Text: 1 + 1."""
        def f(x: "1 + 1"):
            """Text: 2 - 1."""
            if kind == "auto":
                raise ValueError(f"{x + 1} is wrong, {2 - x}")
            return "a" + name

        def __repr__(self):
            return 1 + 2
        ''')
    assert points(source) == []


@pytest.mark.thorough
def test_entries_apply_and_say_the_same_as_the_points():
    files = random_mutations.sources(["secondorder/nets", "secondorder/nets/rules.py"])
    drawn, places = random_mutations.draw(files, 60, seed=2)
    assert places > 500 and len(drawn) == 60
    assert drawn == random_mutations.draw(files, 60, seed=2)[0]
    assert drawn != random_mutations.draw(files, 60, seed=3)[0]
    for file, point in drawn:
        source = (ROOT / file).read_text(encoding="utf-8")
        entry, = tomllib.loads(random_mutations.entry(file, point))["mutation"]
        assert apply(entry, source) == put(source, point)


def test_a_folder_stands_for_its_files_without_the_checks():
    files = [file.as_posix()
             for file in random_mutations.sources(["secondorder/papers/residual_partitioning"])]
    assert "secondorder/papers/residual_partitioning/fast.py" in files
    assert not any("/equations/" in file for file in files)
    with pytest.raises(SystemExit, match="there is no secondorder/nothing"):
        random_mutations.sources(["secondorder/nothing"])


def test_what_nobody_can_observe_still_stands_there():
    """So that a run which draws one of these mutations counts it apart."""
    listed = tomllib.loads((ROOT / "tests/harness/unobservable.toml").read_text(encoding="utf-8"))
    for one in listed["mutation"]:
        source = (ROOT / one["file"]).read_text(encoding="utf-8")
        assert apply(one, source) != source and one["why"], one["file"]
