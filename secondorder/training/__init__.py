"""The training loop: batches, history, progress, checkpoints, and a clear stop."""

from ..checks import close_names
from .checkpoints import read_checkpoint
from .evaluation import evaluate
from .history import History, Record, TrainingStopped
from .loop import train

__all__ = ["History", "Record", "TrainingStopped", "evaluate", "read_checkpoint", "train"]

__getattr__ = close_names.names(__name__)
