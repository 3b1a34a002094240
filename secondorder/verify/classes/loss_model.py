"""A loss at far outputs, and as a model of its targets: `fisher` and `sample_targets`."""

import numpy as np

from ...checks import NoModel
from ...ledger.mismatch import describe_mismatch
from ...nets import Loss
from ..recorder import pure_call

_FAR = 1e3
#: A result that grows to this before it overflows is really too large for float64.
_HUGE = 1e280
_DRAWS, _MOST_NUMBERS = 10_000, 2_000_000
#: log of how unlikely a false alarm of one entry is.
_UNLIKELY = 25.0


def check_far(checks):
    """Every method must be finite for outputs of +-1e3, or too large there by right."""
    rows = checks.p.shape
    signs = {"all outputs 1000": np.ones(rows), "all outputs -1000": -np.ones(rows),
             "outputs +-1000": checks.rng.choice([-1.0, 1.0], rows)}
    methods = {name: lambda p, name=name: checks.of(name, p)
               for name, usable in checks.usable.items() if usable}
    if _defines(checks, "fisher"):
        methods["fisher"] = lambda p: np.asarray(checks.loss.fisher(np.array(p)))
    for name, method in methods.items():
        for where, sign in signs.items():
            if not _check_far(checks, name, method, where, _FAR * sign):
                break


def _check_far(checks, name, method, where, p):
    """Whether one method is finite at p."""
    try:
        result = method(p)
        if np.isfinite(result).all():
            return checks.recorder.fact(name, f"finite for {where}", True, "")
        if _size_before_overflow(method, p) > _HUGE:
            checks.recorder.note(f"{name} is too large for float64 at outputs of 1000 and was "
                                 "not judged there")
            return False
    except Exception as problem:  # whatever a user's method raises is the finding
        return checks.recorder.raised(name, problem, "runs far out",
                                      f" with {checks.case} for {where}")
    bad = ~np.isfinite(result).reshape(len(p), -1).all(axis=1)
    row = int(np.argmax(bad))
    entries = (f"sample {row}: p = {np.array2string(p[row], precision=4, threshold=8)}, "
               f"{name} = {np.array2string(result[row], precision=4, threshold=8)}")
    return checks.recorder.fact(name, "finite far out", False,
                                f"is not finite with {checks.case} for {where}", entries,
                                "exp and cosh overflow beyond 709, and log(0) is infinite: "
                                "subtract the largest output before exp, write log(exp(x)) as x "
                                "and log(cosh(x)) as |x| + log1p(exp(-2 |x|)) - log(2)")


def _size_before_overflow(method, p):
    """Largest entry of the last finite result on the way from 0 to p."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.isfinite(method(middle * p)).all() else (low, middle)
    last = np.abs(method(low * p)).max()
    return float(last) if np.isfinite(last) else 0.0


def _defines(checks, name):
    """Whether the loss has a model; one whose options leave it without says so when it is asked."""
    loss, method = checks.loss, getattr(type(checks.loss), name, None)
    if not callable(getattr(loss, name, None)) or method is getattr(Loss, name):
        return False
    try:
        getattr(loss, name)(checks.p.copy(), *[0] * (name == "sample_targets"))
    except NoModel:
        return False
    except Exception:  # whatever a user's method raises is a finding, later
        return True
    return True


# -- the model of the targets ----------------------------------------------------------------------

def check_model(checks):
    """`fisher` and `sample_targets`, where they are defined, alone and against each other."""
    fisher, sampler = (_defines(checks, name) for name in ("fisher", "sample_targets"))
    right = fisher and _attempt(checks, "fisher", _check_fisher)
    draws = sampler and _attempt(checks, "sample_targets", _check_targets)
    if fisher != sampler:
        has, lacks = ("fisher", "sample_targets") if fisher else ("sample_targets", "fisher")
        checks.recorder.note(f"{has} is defined and {lacks} is not: they could not be compared "
                             "each other")
    if right and draws and checks.usable["gradient"] and not checks.recorder.wrong("gradient"):
        _attempt(checks, "fisher", _check_expectation)


def _attempt(checks, name, check):
    try:
        return check(checks)
    except Exception as problem:  # whatever a user's method raises is the finding
        return checks.recorder.raised(name, problem)


def _check_fisher(checks):
    """Shape, purity, dtype, rows apart: whether the numbers can be compared."""
    recorder, loss, p = checks.recorder, checks.loss, checks.p
    F = np.asarray(pure_call(recorder, "fisher", loss.fisher, ("p",), (p,)))
    shape = (*p.shape, p.shape[1])
    if not (recorder.fact("fisher", "shape", F.shape == shape, "has the wrong shape",
                          f"shape {F.shape}, expected {shape}: one matrix a sample, nothing "
                          "averaged")
            and recorder.fact("fisher", "finite", np.isfinite(F).all(),
                              "is not finite for ordinary outputs")):
        return False
    recorder.keeps_dtype("fisher", "float32", np.asarray(loss.fisher(p.astype(np.float32))))
    return recorder.compare("fisher", "fisher of sample 0 in the batch against sample 0 alone",
                            F[:1], np.asarray(loss.fisher(p[:1].copy())),
                            names=("in the batch", "alone"),
                            hint="a sample leaks into another one, or the batch is averaged")


def _check_targets(checks):
    """Sampled targets have the form of `prepare_target` and come from the given generator."""
    recorder, loss, p = checks.recorder, checks.loss, checks.p
    seed = int(checks.rng.integers(2**31))
    drawn, again = (pure_call(recorder, "sample_targets", loss.sample_targets, ("p",),
                              (p, np.random.default_rng(seed))) for _ in range(2))
    recorder.fact("sample_targets", "from rng alone", np.array_equal(drawn, again),
                  "gives other targets from a generator in the same state",
                  hint="draw from the argument rng only")
    try:
        prepared = np.asarray(loss.prepare_target(drawn, p.shape, p.dtype))
    except Exception as problem:  # a loss may refuse in any way it likes
        return recorder.fact("sample_targets", "accepted by prepare_target", False,
                             "draws targets that prepare_target refuses",
                             f"{type(problem).__name__}: {problem}")
    return recorder.compare(
        "sample_targets", "gradient with sampled targets against the same targets prepared",
        np.asarray(loss.gradient(p.copy(), np.array(drawn))), loss.gradient(p.copy(), prepared),
        names=("as drawn", "prepared"), hint="return targets in the form of prepare_target")


def _check_expectation(checks):
    """fisher(p) against the mean of score score^T over draws, within a predicted error."""
    loss, (samples, width) = checks.loss, checks.p.shape
    draws = int(np.clip(_MOST_NUMBERS // checks.p.size, 200, _DRAWS))
    many = np.repeat(checks.p, draws, axis=0)
    score = np.asarray(loss.gradient(
        many, loss.sample_targets(many.copy(), checks.rng))).reshape(samples, draws, width)
    F = np.asarray(loss.fisher(checks.p.copy()))
    # of all outputs: a rare one may have had no large score in these draws
    largest = np.abs(score).max(axis=(1, 2))
    mean = np.einsum("skc,skd->scd", score, score) / draws
    square = np.einsum("skc,skd->scd", score**2, score**2) / draws
    error = _sampling_error(square - mean**2, largest[:, None, None] ** 2, draws)
    norms = np.sum(score**2, axis=2)
    trace_error = _sampling_error(norms.var(axis=1), norms.max(axis=1), draws)
    trace = np.einsum("sii->s", F)
    excess = max((np.abs(F - mean) / error).max(),
                 (np.abs(trace - norms.mean(axis=1)) / trace_error).max())
    ratio = trace.sum() / (norms.mean(axis=1).sum() or np.nan)
    names = ("fisher", "mean over draws")
    entries = describe_mismatch(F, mean, error=error, names=names, limit=4)
    return checks.recorder.fact(
        "fisher", "mean of score score^T", excess <= 1,
        f"is not the mean of score score^T over {draws} draws of sample_targets, score = "
        "gradient(p, sampled target)",
        f"{entries}\n  traces: {names[0]} {trace.sum():.4g}, {names[1]} "
        f"{norms.mean(axis=1).sum():.4g}, ratio {ratio:.3g}",
        "either may be wrong: fisher, or the distribution that sample_targets draws from")


def _sampling_error(variance, largest, draws):
    """What a mean over draws may be off by (a Bernstein bound: some draws are rare)."""
    spread = np.sqrt(2 * np.maximum(variance, 0) * _UNLIKELY / draws)
    return spread + 7 * largest * _UNLIKELY / (3 * draws) + np.finfo(float).tiny
