"""CONTRIBUTING.md: its examples run, its checks pass, and they need no more names than it says."""

import ast
import re
import types
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import secondorder as so
from secondorder.ledger import registry
from secondorder.studies import registry as study_registry
from secondorder.studies.results import Results

TEXT = (Path(__file__).resolve().parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))
EXAMPLES = {name: re.findall(r"```python\n(.*?)```", text, re.S) for name, text in SECTIONS.items()}
MOST = {"layer": 12, "method": 5, "equation": 9}


@pytest.fixture
def papers(monkeypatch):
    """A registry with room for the papers of a test, in place of the package's own."""
    def with_papers(**modules):
        papers = {name.replace("_", "-"): module for name, module in modules.items()}
        monkeypatch.setattr(registry, "REGISTRY", registry.Registry(papers))
    return with_papers


def run(example):
    module = types.ModuleType("example")
    exec(compile(example, "CONTRIBUTING.md, example", "exec"), vars(module))
    return module


def test_every_section_has_its_example():
    sections = ("A layer", "A method", "An equation", "A paper", "A study", "A bridge")
    assert [len(EXAMPLES[name]) for name in sections] == [1, 1, 1, 4, 1, 1]


def test_parameters_are_kept_fixed_as_it_says():
    (example,) = EXAMPLES["Parameters: where they live, and how to keep some of them fixed"]
    run(example)


@pytest.mark.parametrize("wrong", [None, "+ 2 * mixed", "a_bar + (y_bar", "a[:, None] * H_y"])
def test_the_layer_passes_and_its_check_can_fail(wrong):
    (example,) = EXAMPLES["A layer"]
    if wrong is None:
        run(example)
        return
    assert example.count(wrong) == 1
    with pytest.raises(AssertionError, match="Scale"):
        run(example.replace(wrong, wrong.replace("+", "-") if "+" in wrong else "-" + wrong))


def test_the_method_passes():
    (example,) = EXAMPLES["A method"]
    run(example)


@pytest.mark.parametrize("right, wrong", [
    ('("mean_square",)', "()"),
    ("self.mean_square = rho * self.mean_square + (1 - rho) * g**2",
     "self.mean_square *= rho; self.mean_square += (1 - rho) * g**2"),
    ("return -g /", "return g /")])
def test_the_check_of_a_method_can_fail(right, wrong):
    (example,) = EXAMPLES["A method"]
    assert example.count(right) == 1
    with pytest.raises(AssertionError, match="RMSProp"):
        run(example.replace(right, wrong))


def test_the_equation_holds_and_its_check_can_fail(papers):
    for wrong in (None, "np.sum(g**2 / c) / 2"):
        papers()
        (example,) = EXAMPLES["An equation"]
        run(example if wrong is None else example.replace(wrong, "np.sum(g**2 / c)"))
        (result,) = so.verify.run("my-paper", "7")
        assert result.ok == (wrong is None), result.message


@pytest.mark.parametrize("wrong", [None, "theta / 2\n"])
def test_the_study_is_judged_and_can_fail(wrong, monkeypatch):
    studies = study_registry.Studies({"my-paper": "nowhere.equations"})
    studies._loaded.add("my-paper")
    monkeypatch.setattr(study_registry, "STUDIES", studies)
    (example,) = EXAMPLES["A study"]
    run(example if wrong is None else example.replace(wrong, "theta * 0.9\n"))
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


@pytest.mark.parametrize("wrong", [None, "/ len(x)"])
def test_the_bridge_holds_and_its_check_can_fail(wrong, papers):
    papers(bridges=None)
    (example,) = EXAMPLES["A bridge"]
    run(example if wrong is None else example.replace(wrong, "* len(x)"))
    (result,) = so.verify.run("bridges", "linear-curvature")
    assert result.ok == (wrong is None), result.message


def test_the_names_of_a_method_have_their_examples_and_each_is_used_there():
    rows = re.findall(r"^\| `(\w+)(?:\(.*?\))?` \| .*? \| (.*) \|$", SECTIONS["A method"], re.M)
    assert [name for name, _ in rows] == ["direction", "gradient", "objective", "change", "details"]
    code = "\n".join(example for examples in EXAMPLES.values() for example in examples)
    for name, examples in rows:
        for cls in re.findall(r"`([A-Z]\w+)`", examples):
            (body,) = re.findall(rf"^class {cls}\(.*?(?=^\S|\Z)", code, re.M | re.S)
            assert re.search(rf"def {name}\(|self\.{name}\b", body), (name, cls)


# -- how much of the package an example has to know ------------------------------------------------


def names_of_the_package(example):
    """What an example imports, overrides or is given of the package.

    Those are: what it imports from it or reaches as ``so.<...>.name``; what a class of it defines
    or uses of itself that its base class has (`__init__` left out, as every class has one);
    attributes of what its functions are given; names of arguments of what it imports; and `rng`,
    which a check is called with.
    """
    tree, module = ast.parse(example), run(example)
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
             and node.module.startswith("secondorder") for alias in node.names}
    imported = set(found)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and (
                node.func.id in imported):
            found |= {keyword.arg for keyword in node.keywords}
        if isinstance(node, ast.FunctionDef) and any(isinstance(d, ast.Call)
                                                     for d in node.decorator_list):
            found |= {argument.arg for argument in node.args.args}
        if isinstance(node, ast.ClassDef):
            found |= _of_a_class(node, getattr(module, node.name).__mro__[1])
    return found


def _of_a_class(tree, base):
    found, inherited = {base.__name__}, dir(base) + ["parameters"]
    for statement in tree.body:
        targets = getattr(statement, "targets", [])
        names = [target.id for target in targets] or [getattr(statement, "name", "")]
        found |= {name for name in names if name in inherited and name != "__init__"}
    for function in [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
        given = {argument.arg for argument in function.args.args} - {"self"}
        for node in ast.walk(function):
            if not isinstance(node, ast.Attribute):
                continue
            owner = ast.unparse(node.value)
            if owner in given or (owner == "self" and node.attr in inherited):
                found.add(node.attr)
            if owner.startswith("so."):
                found.add(node.attr)
    return found


@pytest.mark.parametrize("what, section", [("layer", "A layer"), ("method", "A method"),
                                           ("equation", "An equation")])
def test_an_example_needs_no_more_names_than_it_lists(what, section, papers):
    papers()
    (listed,) = re.findall(rf"<!-- names: {what} -->(.*?)<!-- end -->", SECTIONS[section], re.S)
    needed = names_of_the_package(EXAMPLES[section][0])
    assert needed == set(re.findall(r"`(\w+)`", listed))
    assert len(needed) <= MOST[what]
