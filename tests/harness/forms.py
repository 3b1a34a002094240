"""Tests in both forms: a file that imports `form` runs each of its tests compiled and literally.

A test of what the compiled form alone promises, such as no large arrays, is marked `compiled_only`.
"""

import pytest

from secondorder.compiled import forms


compiled_only = pytest.mark.parametrize("form", ["compiled"], indirect=True)


@pytest.fixture(autouse=True, params=["compiled", "literal"])
def form(request):
    """Run a test in this form; its name is the fixture's value."""
    with forms.literal(request.param == "literal"):
        yield request.param
