"""The line on a terminal that says how far a run is."""

import math
import shutil
import sys

from ..checks import boolean

PAIRS = {"loss": ("train_loss", "validation_loss"),
         "accuracy": ("train_accuracy", "validation_accuracy")}


class Progress:
    """One line on the standard error that is written over, never wider than the terminal; with
    `shown` None only where the standard error is a terminal.
    """

    def __init__(self, epochs, shown=None):
        self.epochs, self.stream, self.width = epochs, sys.stderr, 0
        if shown is None:
            self.shown = self.stream is not None and self.stream.isatty()
        else:
            self.shown = boolean(shown, "progress")

    def show(self, record):
        """Write a record over the line."""
        if not self.shown:
            return
        room = shutil.get_terminal_size().columns - 1  # a full line would make the terminal scroll
        line = self.line(record, room)
        self.stream.write("\r" + line.ljust(min(self.width, room)))
        self.stream.flush()
        self.width = len(line)

    def line(self, record, room=math.inf):
        """What is written for a record, training / validation: as many parts as there is room for,
        none of them cut.
        """
        epoch = f"{record['epoch']}/{self.epochs}"
        parts = [f"epoch {epoch}", f"step {record['step']}"]
        for word, names in PAIRS.items():
            values = [f"{record[name]:.4g}" for name in names if name in record]
            parts += [f"{word} {' / '.join(values)}"] if values else []
        lines = ["  ".join(parts[:count]) for count in range(len(parts), 0, -1)]
        lines += [epoch, str(record["epoch"]), ""]
        return next(line for line in lines if len(line) <= max(room, 0))

    def close(self):
        """End the line."""
        if self.width:
            self.stream.write("\n")
            self.stream.flush()
