"""The ways in which a pass may be called: one sample alone, and several directions at once."""

import numpy as np

from .passes import PASSES, Unusable, labelled

#: Arguments that are directions: several of them may stand in front of the samples.
DIRECTIONS = {"backward": ("y_bar",), "tangent": ("x_tangent", "theta_tangent"),
              "second_tangent": ("x_tangent", "x_second", "theta_tangent"),
              "backward_tangent": ("x_tangent", "theta_tangent", "y_bar_tangent")}
_ROUNDING = 1e2 * np.finfo(float).eps


class Calls:
    """One pass with its usual arguments, called in other ways."""

    def __init__(self, checks, name, args):
        self.subject, self.recorder, self.name = checks.subject, checks.recorder, name
        self.named = dict(zip(PASSES[name], args))

    def alone(self):
        """A pass of sample 0 alone gives what it gives for sample 0 in the batch.

        Sums over samples are compared with those of the batch in which only sample 0 has a `y_bar`
        and a `y_bar_tangent` that are not zero.
        """
        of_samples = {label: arg for label, arg in self.named.items()
                      if arg is not None and label != "theta_tangent"}
        first = {label: np.concatenate([arg[:1], 0 * arg[1:]])
                 for label, arg in of_samples.items() if label in ("y_bar", "y_bar_tangent")}
        batch = self.parts(first)
        one = self.parts({label: arg[:1] for label, arg in of_samples.items()},
                         " for a batch of one", self.subject.x[:1])
        for (label, mine), (_, rows) in zip(one, batch):
            self.compare(f"{label} of sample 0 alone against sample 0 of the batch", mine,
                         rows if label.endswith(" part") else rows[:1], ("alone", "in the batch"),
                         "a batch of one must keep its sample axis, and no sample may leak into "
                         "another one")

    def many(self):
        """As many directions as samples at once give what each of them gives alone."""
        x, rng = self.subject.x, self.subject.rng
        drawn = {label: rng.standard_normal((len(x), *self.named[label].shape))
                 for label in DIRECTIONS[self.name] if self.named[label] is not None}
        whole = self.parts(drawn, f" for {len(x)} directions")
        alone = [self.parts({label: arg[k] for label, arg in drawn.items()})
                 for k in range(len(x))]
        for (label, got), *ones in zip(whole, *alone):
            self.compare(f"{label} for {len(x)} directions at once against one after the other",
                         got, np.stack([one for _, one in ones]), ("at once", "one by one"),
                         f"directions stand in front: samples are axis -{x.ndim}")
        self._none()

    def _none(self):
        """x_tangent or x_second is None: without the first there is no second."""
        zeros = np.zeros_like(self.subject.x)
        for label in ("x_tangent", "x_second"):
            if label not in self.named or (
                    label == "x_tangent" and self.named["theta_tangent"] is None):
                continue
            without = [name for name in ("x_tangent", "x_second")
                       if name in self.named and (name == label or label == "x_tangent")]
            got = self.parts(dict.fromkeys(without), f" with {label}=None")
            expected = self.parts(dict.fromkeys(without, zeros))
            for (part, mine), (_, right) in zip(got, expected):
                self.compare(f"{part} with {label}=None against zeros in its place", mine, right,
                             ("None", "zeros"), "a tangent that is None means zero")

    def parts(self, others, case="", x=None):
        """The labelled arrays of the pass with other arguments; none and a finding if it fails."""
        args = [others.get(label, arg) for label, arg in self.named.items()]
        try:
            saved = self.subject.call("forward", self.subject.x if x is None else x)[1]
            return labelled(self.subject.layer, self.name,
                            self.subject.call(self.name, saved, *args))
        except Unusable as problem:
            told, entries, hint = problem.args
            self.recorder.fact(self.name, f"returns arrays{case}", False, told + case, entries,
                               hint)
        except Exception as problem:  # whatever a user's pass raises is the finding
            self.recorder.raised(self.name, problem, f"runs{case}", case)
        return []

    def compare(self, what, computed, reference, names, hint):
        unit = max(self.recorder.unit, float(np.abs(reference).max(initial=0)), 1.0)
        self.recorder.compare(self.name, what, computed, reference, _ROUNDING * unit, names=names,
                              hint=hint)
