"""The race as studies, one a problem, and what all problems say together."""

from . import problems, together  # noqa: F401
