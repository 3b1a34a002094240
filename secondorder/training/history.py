"""What a run leaves behind: a history of records, and the exception that ends a run."""

import numpy as np

from ..checks import did_you_mean, instance_of


class Record(dict):
    """One row of a history: a dict whose entries can be read as attributes too."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(f"this record holds {', '.join(self)}; not {name!r}")

    def __dir__(self):
        return [*super().__dir__(), *self]


class History:
    """What a training run leaves behind.

    Attributes
    ----------
    records : list of Record
        The first one is of the state before training, epoch 0.
    method : str
        Name of the optimizer's class.
    stopped : str or None
        Why training ended before the last epoch, or None if it did not.
    """

    def __init__(self, method, records=(), stopped=None):
        self.method = instance_of(method, str, "method")
        self.stopped = None if stopped is None else instance_of(stopped, str, "stopped")
        self.records = [instance_of(record, dict, "an entry of records")
                        for record in instance_of(records, (list, tuple), "records")]

    @property
    def names(self):
        """Every name that occurs in a record, in order of first occurrence."""
        return list(dict.fromkeys(name for record in self.records for name in record))

    def column(self, name):
        """The values of one quantity, an array (len(records),); NaN where a record has none.

        Raises
        ------
        ValueError
            If no record has it; the message names close matches.
        """
        names = self.names
        if name not in names:
            raise ValueError(f"no record holds {name!r}: {did_you_mean(name, names)}there are "
                             f"{', '.join(names)}")
        return np.array([record.get(name, np.nan) for record in self.records])

    def to_dict(self):
        """Plain dicts, lists, numbers and strings, ready for JSON."""
        records = [dict(record) for record in self.records]
        return {"method": self.method, "stopped": self.stopped, "records": records}

    def __len__(self):
        return len(self.records)

    def __repr__(self):
        return f"History({self.method!r}, {len(self)} records)"


class TrainingStopped(FloatingPointError):
    """Training met numbers that are not finite.

    Attributes
    ----------
    history : History
        Everything recorded before.
    epoch, step : int
        Where it happened, counted from 1 (0: before training); step counts from the start of the
        run.
    """

    def __init__(self, message, history=None, epoch=None, step=None):
        super().__init__(message)
        self.history, self.epoch, self.step = history, epoch, step

    def __reduce__(self):
        return type(self), (str(self), self.history, self.epoch, self.step)
