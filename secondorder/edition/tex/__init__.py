"""A LaTeX text as tokens, with its macros expanded and its counters kept.

Reading order: ``files`` (what is included), ``stream`` (tokens), ``macros``, ``counters``,
``commands`` (what a reader does at each), ``prose`` (the words before a display).
"""
