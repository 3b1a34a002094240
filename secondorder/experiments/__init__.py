"""Experiments that are no studies yet, one file a family of figures or tables.

Nothing else in the package knows them but the command line.
"""

from ..studies.environment import environment

__all__ = ["environment"]
