"""CONTRIBUTING.md: its examples run, its checks pass, and each of them can fail."""

import importlib
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import secondorder as so
from secondorder.ledger import registry
from secondorder.studies import registry as study_registry
from secondorder.studies.results import Results

TEXT = (Path(__file__).resolve().parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))
EXAMPLES = {name: re.findall(r"```python\n(.*?)```", text, re.S) for name, text in SECTIONS.items()}


@pytest.fixture
def papers(monkeypatch):
    """A registry with room for the papers of a test, in place of the package's own."""
    def with_papers(**modules):
        papers = {name.replace("_", "-"): module for name, module in modules.items()}
        monkeypatch.setattr(registry, "REGISTRY", registry.Registry(papers))
    return with_papers


def run(section, right="", wrong=""):
    """Run the examples of a section one after the other, perhaps with one of them made wrong."""
    example = "\n".join(EXAMPLES[section])
    assert not right or example.count(right) == 1
    module = types.ModuleType("example")
    exec(compile(example.replace(right, wrong) if right else example, "CONTRIBUTING.md", "exec"),
         vars(module))


@pytest.mark.parametrize("section", ["A layer", "A method"])
def test_examples_run(section):
    run(section)


@pytest.mark.parametrize("section, right, wrong", [
    ("A layer", "y_bar.T @ x, y_bar.sum", "y_bar.T @ x, 2 * y_bar.sum"),
    ("A method", '("mean_square",)', "()"),
    ("A method", "self.mean_square = rho * self.mean_square + (1 - rho) * g**2",
     "self.mean_square *= rho; self.mean_square += (1 - rho) * g**2"),
    ("A method", "return -g /", "return g /")])
def test_a_mistake_is_noticed(section, right, wrong):
    with pytest.raises(AssertionError, match="Affine|RMSProp"):
        run(section, right, wrong)


@pytest.mark.parametrize("wrong", [None, "(value + lowest)"])
def test_the_equation_holds_and_its_check_can_fail(papers, wrong):
    papers()
    run("An equation", *(["(value - lowest)", wrong] if wrong else []))
    (result,) = so.verify.run("my-paper", "1")
    assert result.ok == (wrong is None), result.message


@pytest.mark.parametrize("wrong", [None, "(value + lowest)"])
def test_the_paper_is_verified_trains_and_its_check_can_fail(papers, tmp_path, monkeypatch, wrong):
    (folder := tmp_path / "my_paper").mkdir()
    named = re.findall(r"^`(\w+\.py)` (?!holds).*?```python\n(.*?)```", SECTIONS["A paper"],
                       re.M | re.S)
    formula, check = re.search(r"(def eq_1.*?)(@equation.*)", EXAMPLES["An equation"][0],
                               re.S).groups()
    for name, example in [("eq_1_step_length.py", formula), *named]:
        example += "\n\n" + check if name == "equations.py" else ""
        example = example.replace("(value - lowest)", wrong or "(value - lowest)")
        (folder / name).write_text(example, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    papers(my_paper="my_paper.equations")
    try:
        (result,) = so.verify.run("my-paper")
        assert result.labels == ("1",) and result.ok == (wrong is None), result.message
        KnownMinimum = importlib.import_module("my_paper").KnownMinimum
        method = KnownMinimum(so.SGD(so.mlp([3, 5, 2], rng=0), so.SquaredError()))
        x = np.random.default_rng(0).normal(size=(20, 3))
        y = so.mlp([3, 5, 2], rng=1)(x)  # so that the least value is 0
        losses = [method.step(x, y)["loss"] for _ in range(300)]
        assert losses[-1] < 0.01 * losses[0]
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "my_paper"]:
            del sys.modules[name]


@pytest.mark.parametrize("wrong", [None, "theta * 0.9\n"])
def test_the_study_is_judged_and_can_fail(wrong, monkeypatch):
    studies = study_registry.Studies({"my-paper": "nowhere.equations"})
    studies._loaded.add("my-paper")
    monkeypatch.setattr(study_registry, "STUDIES", studies)
    run("A study", *(["theta / 2\n", wrong] if wrong else []))
    (one,) = studies.select("my-paper")
    for settings in (one.full, one.quick):
        asked = one.runs(settings, None)
        results = Results({each.name: {"arguments": each.arguments, "seconds": 0.0,
                                       "result": each.function(**each.arguments)}
                           for each in asked})
        verdict = one.judge(results, settings)["a"].verdict
        assert verdict == ("undecided" if settings is one.quick else
                           "held" if wrong is None else "did not hold")
        one.draw(results, figure := Figure(), settings)
        assert len(figure.axes[0].lines[0].get_xdata()) == len(asked)
