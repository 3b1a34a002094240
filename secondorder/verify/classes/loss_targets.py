"""Which targets a loss takes: real numbers, classes in one of three forms, or positive numbers."""

import numpy as np

REAL = "real targets"
CLASSES = ("labels", "one-hot rows", "probabilities")


def targets_taken(loss, samples, outputs, rng):
    """Name -> (name, targets, prepared targets) that the loss takes, with finite values if any."""
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
            value = np.asarray(loss.value(p.copy(), target.copy()), dtype=float)
        except Exception as problem:  # a loss may refuse a kind of target in any way it likes
            refused.append(f"{name}: {type(problem).__name__}: {problem}")
            continue
        taken[name] = name, given, target
        if np.isfinite(value).all():
            finite[name] = taken[name]
    if not taken:
        raise ValueError(f"{loss!r} takes none of the default targets, give targets=...; "
                         + ";\n".join(refused))
    return finite or taken


def default_targets(loss, samples, outputs, rng):
    """Random targets of a kind that the loss takes, classes where it takes them."""
    taken = targets_taken(loss, samples, outputs, rng)
    return next(taken[name] for name in (*CLASSES, *taken) if name in taken)[1]


def tells_classes_apart(loss, cases, outputs, rng):
    """Whether the loss stays as it is when one number is added to all outputs of a sample."""
    for _, _, target in cases:
        p = rng.standard_normal((len(target), outputs))
        before, after = (np.asarray(loss.value(p + shift, target.copy()), dtype=float)
                         for shift in (0.0, 1.5))
        if not np.abs(after - before).max() <= 1e-9 * np.abs(before).max():
            return False
    return outputs > 1


def check_labels(checks):
    """A loss that takes integer labels refuses those that are no class."""
    given, shape = np.asarray(checks.given), checks.p.shape
    classes = shape[1]
    if (given.dtype.kind not in "iu" or given.shape != shape[:1] or classes < 2
            or not ((given >= 0) & (given < classes)).all()):
        return
    for label in (-1, classes):
        wrong = np.array(given, dtype=np.int64)
        wrong[-1] = label
        try:
            target = checks.loss.prepare_target(wrong, shape, np.dtype("float64"))
            checks.loss.value(checks.p.copy(), target)
            refused = False
        except Exception:  # a loss may refuse a label in any way it likes
            refused = True
        checks.recorder.fact(
            "prepare_target", f"refuses the label {label}", refused,
            f"takes the label {label}, with classes 0 to {classes - 1}", hint="a wrong label would "
            "train in silence: return secondorder.checks.labels(target, shape)")
