"""The attic: one file a family of figures or tables. Nothing else in the package knows it but the
command line."""

from ..studies.environment import environment

__all__ = ["environment"]
