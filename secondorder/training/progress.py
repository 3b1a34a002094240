"""The line on a terminal that says how far a run is."""

import shutil
import sys

PAIRS = {"loss": ("train_loss", "validation_loss"),
         "accuracy": ("train_accuracy", "validation_accuracy")}


class Line:
    """One line on the standard error that is written over; with `shown` None only where that is a
    terminal.
    """

    def __init__(self, shown=None):
        self.stream, self.width = sys.stderr, 0
        self.shown = (self.stream is not None and self.stream.isatty()) if shown is None else shown

    def show(self, text):
        """Write a text over the line."""
        if self.shown:
            text = text[:shutil.get_terminal_size().columns - 1]  # a full line would scroll
            self.stream.write("\r" + text.ljust(self.width))
            self.stream.flush()
            self.width = len(text)

    def close(self):
        """End the line."""
        if self.width:
            self.stream.write("\n")
            self.stream.flush()
            self.width = 0


def told(record, epochs):
    """What is shown of a record, training / validation."""
    parts = [f"epoch {record['epoch']}/{epochs}", f"step {record['step']}"]
    for word, names in PAIRS.items():
        values = [f"{record[name]:.4g}" for name in names if name in record]
        parts += [f"{word} {' / '.join(values)}"] if values else []
    return "  ".join(parts)
