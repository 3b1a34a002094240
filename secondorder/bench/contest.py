"""Timing: contenders take turns in short blocks; a ratio is the median of the blocks' ratios."""

import statistics
import time


def contest(contenders, blocks=9, seconds=0.1, pause=0.06, clock=time.perf_counter,
            sleep=time.sleep):
    """Time functions against each other.

    In every block each contender has its turn: a call that is not counted, then calls for
    `seconds`, of which the median is kept, then a pause. Every other block takes them in the
    opposite order. A contender whose first call takes longer than `seconds` is called once a
    block.

    Parameters
    ----------
    contenders : dict of str to callable
        Called without arguments.
    blocks : int
    seconds, pause : float
        Length of a turn and of the pause after it.
    clock, sleep : callable
        For tests.

    Returns
    -------
    dict of str to list of float
        Seconds a call, one number a block.
    """
    times = {name: [] for name in contenders}
    for block in range(blocks):
        for name in list(contenders)[:: 1 if block % 2 == 0 else -1]:
            times[name].append(_turn(contenders[name], seconds, clock))
            sleep(pause)
    return times


def _turn(function, seconds, clock):
    """Median seconds of a call."""
    took = _seconds(function, clock)
    if took >= seconds:
        return took
    calls, end = [], clock() + seconds
    while not calls or clock() < end:
        calls.append(_seconds(function, clock))
    return statistics.median(calls)


def _seconds(function, clock):
    start = clock()
    function()
    return clock() - start


def ratio(times, name, other):
    """Median over the blocks of the time of `name` in units of that of `other`."""
    return statistics.median(a / b for a, b in zip(times[name], times[other]))
