"""Which targets a loss takes: real numbers, classes in one of three forms, or positive numbers."""

import numpy as np

REAL = "real targets"
CLASSES = ("labels", "one-hot rows", "probabilities")


def targets_taken(loss, samples, outputs, rng):
    """Name -> (name, targets as given, prepared targets) of the kinds that the loss takes: it does
    not refuse them, and its values are finite, if they are with any kind.
    """
    weights = rng.uniform(0.1, 1.0, (samples, outputs))
    labels = rng.integers(0, outputs, samples)
    real = rng.standard_normal((samples, outputs))
    candidates = {REAL: real, "labels": labels, "one-hot rows": np.eye(outputs)[labels],
                  "probabilities": weights / weights.sum(axis=1, keepdims=True),
                  "positive targets": np.exp(real)}
    p, taken, finite, refused = rng.standard_normal((samples, outputs)), {}, {}, []
    for name, given in candidates.items():
        try:
            target = np.asarray(loss.prepare_target(given, (samples, outputs), np.dtype("float64")))
            with np.errstate(all="ignore"):
                value = np.asarray(loss.value(p.copy(), target.copy()), dtype=float)
        except Exception as problem:  # a loss may refuse a kind of target in any way it likes
            refused.append(f"{name}: {type(problem).__name__}: {problem}")
            continue
        taken[name] = name, given, target
        if np.isfinite(value).all():
            finite[name] = taken[name]
    if not taken:
        raise ValueError(f"{loss!r} takes none of the default targets, give targets=...; "
                         + "; ".join(refused))
    return finite or taken


def default_targets(loss, samples, outputs, rng):
    """Random targets of a kind that the loss takes, classes where it takes them."""
    taken = targets_taken(loss, samples, outputs, rng)
    return next(taken[name] for name in (*CLASSES, *taken) if name in taken)[1]


def tells_classes_apart(loss, cases, outputs, rng):
    """Whether the loss stays as it is when one number is added to all outputs of a sample."""
    for _, _, target in cases:
        p = rng.standard_normal((len(target), outputs))
        before, after = (np.asarray(loss.value(p + shift, target.copy())) for shift in (0.0, 1.5))
        with np.errstate(invalid="ignore"):  # a NaN tells nothing
            if not np.abs(after - before).max() <= 1e-9 * np.abs(before).max():
                return False
    return outputs > 1
