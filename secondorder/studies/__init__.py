"""Figures, tables and claims of the papers, run again and judged.

A study is registered as an equation is: what it shows, what the paper claims of it, and three
functions. `runs` says which independent runs it takes, `judge` turns their results into one verdict
a claim, by the criterion in the paper's ``figures/criteria.md``, and `draw` makes the figure. See
:func:`study`; ``secondorder reproduce`` runs them.

Every run is a plain function of plain arguments, so that any `concurrent.futures.Executor` can run
it, and leaves one file behind: a sweep that was killed goes on where it stood, and two studies that
ask for the same run share it.

A claim ends as held, did not hold or undecided: by :func:`paired` and :func:`alike` (a difference,
seed by seed), :func:`counted` (something that happens in nearly every seed) or :func:`exactly` (one
number). Where a rate had to be chosen, :func:`first_decides` and :class:`Chosen` let the authors'
own choice decide and tell the others; :func:`readings` judges a sentence that has two meanings.
"""

from .curves import at_loss, crossing, lowest_common, saturation, smoothed
from .data import Images, images, pooled, table
from .measuring import in_turns
from .pictures import (LINE_STYLES, bars, headline, legend_below, legend_under, marks,
                       mean_and_range, over_seeds)
from .registry import STUDIES, Run, Study, study
from .results import Results, diverged, finished
from .running import Sweep, reproduce
from .selection import Chosen, chosen, least
from .verdicts import (DID_NOT_HOLD, HELD, UNDECIDED, Verdict, alike, both, counted, exactly,
                       first_decides, paired, readings, repeated, undecided)

__all__ = ["Chosen", "DID_NOT_HOLD", "HELD", "Images", "LINE_STYLES", "Results", "Run", "STUDIES",
           "Study", "Sweep", "UNDECIDED", "Verdict", "alike", "at_loss", "bars", "both", "chosen",
           "counted", "crossing", "diverged", "exactly", "finished", "first_decides", "headline",
           "images", "in_turns", "least", "legend_below", "legend_under", "lowest_common", "marks",
           "mean_and_range", "over_seeds", "paired", "pooled", "readings", "repeated", "reproduce",
           "saturation", "smoothed", "study", "table", "undecided"]
