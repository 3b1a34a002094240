"""Time of steps, as ratios."""

import time


def in_turns(ours, other, batch, rounds, steps):
    """CPU seconds of one optimizer's steps over another's on a batch, (inputs, targets): a list of
    ratios, one a round of so many steps of each; the two take turns.
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
