"""Figures, tables and claims of the papers, run again and judged.

A study is registered as an equation is: what it shows, what the paper claims of it, and three
functions. `runs` says which independent runs it takes, `judge` turns their results into one verdict
a claim, by the criterion in the paper's ``studies/criteria.md``, and `draw` makes the figure. See
:func:`study`; ``secondorder reproduce`` runs them.

Every run is a plain function of plain arguments, so that any `concurrent.futures.Executor` can run
it, and leaves one file behind: a sweep that was killed goes on where it stood, and two studies that
ask for the same run share it.
"""

from .crops import random_boxes, resized_crops
from .curves import at_loss, crossing, lowest_common, saturation, smoothed
from .data import Images, images, pooled, table
from .pictures import (LINE_STYLES, headline, legend_below, legend_under, mean_and_range,
                       over_seeds)
from .registry import STUDIES, Run, Study, study
from .results import Results, diverged, finished
from .running import Sweep, reproduce
from .selection import chosen, least
from .verdicts import (DEPENDS, DID_NOT_HOLD, HELD, HELD_BY_RULE, TAKEN_OUT, UNDECIDED, Verdict,
                       alike, both, counted, exactly, in_words, paired, repeated, undecided)

__all__ = ["DEPENDS", "DID_NOT_HOLD", "HELD", "HELD_BY_RULE", "Images", "LINE_STYLES",
           "Results", "Run", "STUDIES", "Study", "Sweep", "TAKEN_OUT", "UNDECIDED",
           "Verdict", "alike", "at_loss", "both", "chosen", "counted", "crossing",
           "diverged", "exactly", "finished", "headline", "images", "in_words", "least",
           "legend_below", "legend_under", "lowest_common", "mean_and_range", "over_seeds",
           "paired", "pooled", "random_boxes", "repeated", "reproduce",
           "resized_crops", "saturation", "smoothed", "study", "table", "undecided"]
