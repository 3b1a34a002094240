"""Time of steps, as ratios."""

import time


def in_turns(ours, other, batch, rounds, steps):
    """CPU seconds of one optimizer's steps over another's, a ratio a round; they take turns.

    Parameters
    ----------
    ours, other : optimizers
    batch : (inputs, targets)
    rounds, steps : int
        How many ratios, and how many steps of each method stand behind one.

    Returns
    -------
    list of float
    """
    ratios = []
    for _ in range(rounds):
        seconds = []
        for optimizer in (ours, other):
            optimizer.step(*batch)  # the caches hold the other method's arrays
            began = time.process_time()
            for _ in range(steps):
                optimizer.step(*batch)
            seconds.append(time.process_time() - began)
        ratios.append(seconds[0] / seconds[1])
    return ratios
