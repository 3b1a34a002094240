"""The names of the compiled functions that stand beside literal ones."""

import importlib
import inspect

import pytest

from secondorder.compiled.beside import BESIDE, beside
from secondorder.ledger import registry
from secondorder.ledger.pages import show
from secondorder.nets import Linear


def named(path, levels):
    """What stands under a qualified name: a module and so many names in it."""
    *module, = path.split(".")
    value = importlib.import_module(".".join(module[:-levels]))
    for name in module[-levels:]:
        value = inspect.getattr_static(value, name)
    return value


@pytest.mark.parametrize("name", BESIDE)
def test_both_are_there_and_the_compiled_one_says_its_formula(name):
    assert callable(named(name, 2 if name.split(".")[-2][0].isupper() else 1))
    compiled = named(beside(name), 1)
    assert hasattr(compiled, "py_func") and compiled.py_func.__doc__


def test_a_page_names_it_in_a_line():
    lines = show._implementation(registry.REGISTRY.select("ea-cg", None)[0], Linear.forward)
    assert "       compiled beside it: secondorder.compiled.layers.dense.linear_forward" in lines
    assert beside("secondorder.nets.layers.linear.Linear.input_hessian") is None
