"""What shows executable equations: one on a screen, a run as a table, a paper as a page.

Reading order: ``show`` (one equation on one screen), from ``both_sides`` (numbers), ``folding``
(claims that differ in their case), ``source`` and ``own_lines`` (code); ``counts`` and ``report``
(a run as a table); ``equations_page`` (`EQUATIONS.md`).
"""
