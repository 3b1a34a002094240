"""What an optimizer remembers from step to step: kept whole when a step fails, saved, restored."""

import contextlib
import numbers
import threading

import numpy as np

from ..checks import whole_number


class Memory:
    """Mixin of optimizers: the attributes that `state_names` lists, and those of the `base`.

    Memory is replaced, not written into, so that what it was can be put back.
    """

    state_names = ()
    base = None

    def _methods(self):
        """This method, the one that it wraps, and so on."""
        method = self
        while method is not None:
            yield method
            method = method.base

    @contextlib.contextmanager
    def _alone(self):
        """Refuse a second thread: a step moves the network and writes into arrays that are kept.

        Raises
        ------
        RuntimeError
            If another thread is in the middle of a step or a direction of this optimizer.
        """
        me = threading.get_ident()
        outermost = not self._busy
        if self._busy.setdefault("thread", me) != me:  # one indivisible operation
            raise RuntimeError(f"{type(self).__name__}: another thread is in the middle of a step; "
                               "an optimizer and its network belong to one thread, so give every "
                               "thread its own")
        try:
            yield
        finally:
            if outermost:
                self._busy.clear()

    def _spare(self, name):
        """An array like the attribute `name`, to write its successor into."""
        mine, spare = getattr(self, name), self._spares.get(name)
        in_use = spare is mine or (self._before is not None and spare is self._before[name])
        if spare is None or in_use or spare.shape != mine.shape or spare.dtype != mine.dtype:
            spare = np.empty_like(mine)
        return spare

    @contextlib.contextmanager
    def _transaction(self):
        """Memory is put back if the block fails; a transaction inside another is part of it."""
        if self._before is not None:
            yield
            return
        methods = list(self._methods())
        for method in methods:
            method._before = {name: getattr(method, name) for name in method.state_names}
        try:
            yield
            for method in methods:
                method._spares |= {name: value for name, value in method._before.items()
                                   if isinstance(value, np.ndarray)
                                   and value is not getattr(method, name)}
        except BaseException:
            for method in methods:
                for name, value in method._before.items():
                    setattr(method, name, value)
            raise
        finally:
            for method in methods:
                method._before = None

    def __getstate__(self):
        return self.__dict__ | {"_spares": {}, "_busy": {}}

    # -- saved and restored ------------------------------------------------------------------------

    def state_dict(self):
        """What has to be kept, beside the parameters and the settings, to go on bit for bit.

        Returns
        -------
        dict
            ``method`` (class name), ``steps``, a copy of every attribute in `state_names`, and, of
            a method that wraps another, that one's state as ``base``.
        """
        state = {"method": type(self).__name__, "steps": self.steps}
        for name in self.state_names:
            value = getattr(self, name)
            state[name] = value.copy() if isinstance(value, np.ndarray) else value
        return state if self.base is None else state | {"base": self.base.state_dict()}

    def load_state_dict(self, state):
        """Take over what `state_dict` of a like optimizer for a like network returned.

        Parameters
        ----------
        state : mapping
            Numbers may be arrays without axes, as they come back from ``numpy.load``.

        Raises
        ------
        ValueError, TypeError
            If it comes from another method, or a name, shape, dtype or number does not fit; nothing
            is changed then.
        """
        self._take(self._accepted(state))

    def _accepted(self, state):
        """The state, checked, and the base's, with plain numbers for arrays without axes."""
        try:
            state = {name: _as_kept(getattr(self, name, None), state[name]) for name in state}
        except (TypeError, IndexError):
            raise TypeError(f"state must be what state_dict() returned, got {state!r}") from None
        self.check_state(state)
        return state if self.base is None else state | {"base": self.base._accepted(state["base"])}

    def _take(self, state):
        for name in self.state_names:
            value = state[name]
            setattr(self, name, value.copy() if isinstance(value, np.ndarray) else value)
        self.steps = int(state["steps"])
        if self.base is not None:
            self.base._take(state["base"])

    def check_state(self, state):
        """Raise unless `state` fits; a method that demands more of its numbers extends this."""
        expected = {"method", "steps", *self.state_names, *["base"] * (self.base is not None)}
        if set(state) != expected:
            raise ValueError(f"state: expected the entries {sorted(expected)}, got "
                             f"{sorted(map(str, state))}")
        if state["method"] != type(self).__name__:
            raise ValueError(f"state: belongs to {state['method']}, not to {type(self).__name__}")
        whole_number(state["steps"], "state: steps", 0)
        for name in self.state_names:
            _require_alike(name, getattr(self, name), state[name])


def _as_kept(mine, theirs):
    """`theirs` as a number where it is an array without axes and `mine` is no array."""
    lone = isinstance(theirs, np.ndarray) and theirs.ndim == 0 and not isinstance(mine, np.ndarray)
    return theirs.item() if lone else theirs


def _require_alike(name, mine, theirs):
    """Raise unless both are like arrays or both numbers; None is an array that is made later."""
    is_array = isinstance(theirs, np.ndarray)
    is_number = isinstance(theirs, (numbers.Real, np.bool_))
    if mine is None and (theirs is None or is_array or is_number):
        return
    if not isinstance(mine, np.ndarray):
        if not is_number:
            raise ValueError(f"state: {name} must be a number, got {theirs!r}")
    elif not is_array:
        raise ValueError(f"state: {name} must be an array, got {theirs!r}")
    elif mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        raise ValueError(f"state: {name} has shape {theirs.shape} and dtype {theirs.dtype}, "
                         f"expected {mine.shape} and {mine.dtype}")
