"""The passes of a layer after `forward`, each against differences of what is right so far."""

import numpy as np

from ...exact.finite_differences import Difference
from ..differences import jumps_along, rounding
from ..recorder import SAFETY
from .calls import check_alone, check_none
from .forward_checks import check_state_of_pass
from .layer_under_test import none_if_empty
from .shared import nothing


class LayerChecks:
    """Checks all passes of one subject, whose `forward` was found right.

    Second derivatives are checked term by term (along the input alone, along the parameters alone,
    both): in a single term a missing factor shows as a ratio, in the sum it does not.
    """

    def __init__(self, subject):
        self.subject, self.recorder = subject, subject.recorder
        rng = subject.rng
        self.y = subject.forward()
        self.y_bar = rng.standard_normal(self.y.shape)
        subject.draw_off_kinks(self.y_bar)
        self.y, self.saved = subject.call("forward", subject.x)
        self.recorder.unit = float(np.abs(self.y).max())
        self.x_tangent, self.x_second = rng.standard_normal((2, *subject.x.shape))
        self.y_bar_tangent = rng.standard_normal(self.y.shape)
        self.theta_tangent = rng.standard_normal(subject.theta.size)
        H = rng.standard_normal((len(self.y), self.y[0].size, self.y[0].size))
        self.H_y = H + H.transpose(0, 2, 1)

    def follow_lines(self):
        """The outputs along lines through every sample: no jump from one branch to another."""
        subject, x_t = self.subject, self.x_tangent
        length = 4.0 * subject.size

        def outputs(t):
            x = (subject.x[None] + t.reshape(-1, *[1] * x_t.ndim) * x_t).reshape(
                -1, *subject.shape[1:])
            with np.errstate(all="ignore"):
                return subject.forward(x).reshape(len(t), len(x_t), -1)

        for t, row, before, after in jumps_along(outputs, length)[:1]:
            x = np.array2string(subject.x[row] + t * x_t[row], precision=4, threshold=8)
            return self.recorder.fact(
                "forward", "continuous", False, f"jumps from {before:.6g} to {after:.6g}",
                f"at x = {x}", "a function with a step has no derivative there: do the branches "
                "meet?")
        return self.recorder.fact("forward", "continuous", True, "")

    def run(self):
        """All passes, in the order in which one is the reference of the next."""
        for check in (self.backward, self.tangent, self.parameter_gradients, self.second_tangent,
                      self.backward_tangent, self.input_hessian):
            check()

    # -- calling and comparing ---------------------------------------------------------------------

    def attempt(self, name, *args, case=""):
        """A pass right after its forward, or None with a finding if it raises or returns None."""
        try:
            saved = self.subject.call("forward", self.subject.x)[1]
            result = self.subject.call(name, saved, *args)
        except Exception as problem:  # whatever a user's pass raises is the finding
            none = isinstance(problem,
                              (TypeError, AttributeError)) and any(arg is None for arg in args)
            hint = "a tangent that is None means zero" if none else ""
            self.recorder.broken.add(name)
            self.recorder.raised(name, problem, case=case, hint=hint)
            return None
        if name not in self.recorder.broken and nothing(self.recorder, name, result):
            self.recorder.broken.add(name)
        return result

    def pair(self, name, *args, case=""):
        """Both results of `backward` or `backward_tangent` as arrays, or None with a finding."""
        result = self.attempt(name, *args, case=case)
        if result is None:
            return None
        good = isinstance(result, tuple) and len(result) == 2 and all(isinstance(r, np.ndarray)
                                                                      for r in result)
        self.recorder.fact(name, "returns a pair of arrays", good,
                           "must return two arrays, for the input and for the parameters (empty "
                           "(0,) without any)", f"it returned {type(result).__name__}")
        if not good:
            self.recorder.broken.add(name)
        return result if good else None

    def compare(self, name, what, computed, reference, args=None, hint=""):
        """Compare with a Difference; when wrong, `args` of the pass are tried again with transposed
        weights.
        """
        reference = self._rounded(reference)
        if args is not None and not self.agrees(computed, reference):
            hint = self._transposed_hint(name, args, reference)
        return self.recorder.compare(name, what, computed, reference.value, reference.error,
                                     names=(what.split(" ")[0], "differences"), hint=hint)

    def _rounded(self, reference):
        return Difference(reference.value, reference.error + rounding(self.recorder.unit))

    def agrees(self, computed, reference):
        """Whether a result is within what the reference predicts, without recording it."""
        computed = np.asarray(computed)
        if computed.shape != reference.value.shape:
            return False
        size = float(np.abs(reference.value).max(initial=0)) or 1.0
        allowed = SAFETY * reference.error + self.recorder.tolerance * size
        return bool((np.abs(computed - reference.value) <= allowed).all())

    def compare_blocks(self, name, what, computed, reference):
        """Compare a flat vector (..., P) parameter by parameter, so that indices are its own."""
        computed = np.asarray(computed)
        if computed.shape != reference.value.shape:
            told = f"{what.split(' ')[0]} has shape "
            if not any(told in finding.entries for finding in self.recorder.report.findings):
                self.compare(name, what, computed, reference)
            return
        for block, where, shape in self.subject.blocks:
            lead = computed.shape[:-1]
            part = Difference(*(side[..., where].reshape(lead + shape) for side in reference))
            mine, hint = computed[..., where], ""
            if len(shape) == 2 and shape[0] != shape[1] and self.agrees(
                    mine.reshape(lead + shape[::-1]).swapaxes(-1, -2), self._rounded(part)):
                hint = f"the numbers are right but transposed: {block} has the shape {shape}"
            self.compare(name, f"{what.replace('theta', block, 1)}", mine.reshape(lead + shape),
                         part, hint=hint)

    def _transposed_hint(self, name, args, reference):
        """Try the pass with square weights, or their tangents, or both, transposed."""
        squares = [(where, shape) for _, where, shape in self.subject.blocks
                   if len(shape) == 2 and shape[0] == shape[1] > 1]
        if not squares:
            return ""

        def flip(vector):
            out = vector.copy()
            for where, (rows, _) in squares:
                out[where] = vector[where].reshape(rows, rows).T.ravel()
            return out
        theta, direction = self.subject.theta, self.theta_tangent
        for weights, tangents in ((flip(theta), direction), (theta, flip(direction)),
                                  (flip(theta), flip(direction))):
            try:
                if self.agrees(self._again(name, args, weights, tangents), reference):
                    return "a weight is transposed: with its transpose the pass is right"
            # a retry that fails gives no hint; the pass itself is reported already
            except Exception:
                continue
        return ""

    def _again(self, name, args, theta, theta_tangent):
        """What the pass returns, first of two, with other parameters and another tangent of them.
        """
        changed = [theta_tangent if arg is self.theta_tangent else arg for arg in args]
        saved = self.subject.layer.forward(self.subject.x.copy())[1]
        with self.subject.at(theta):
            result = self.subject.call(name, saved, *changed)
        return result[0] if name in ("backward", "backward_tangent") else result

    # -- first order -------------------------------------------------------------------------------

    def backward(self):
        """x_bar and theta_bar against differences of <y_bar, forward>."""
        subject, args = self.subject, (self.y_bar,)
        result = self.pair("backward", *args)
        if result is None:
            return
        x_bar, theta_bar = result
        self.compare("backward", "x_bar against differences of forward", x_bar,
                     subject.input_gradient(subject.x, subject.theta, self.y_bar), args)
        if subject.theta.size:
            self.compare_blocks("backward", "theta_bar against differences of forward", theta_bar,
                                subject.parameter_gradient(subject.x, subject.theta, self.y_bar))
        else:
            self._no_parameters("backward", theta_bar, (0,))
        self._state("backward", args)
        self._halves(x_bar, theta_bar)

    def _no_parameters(self, name, value, shape):
        if np.shape(value) != shape:
            self.recorder.broken.add(name)
        self.recorder.fact(name, "no parameters", np.shape(value) == shape,
                           "without trainable parameters their part must be empty",
                           f"shape {np.shape(value)}, expected {shape}")

    def _halves(self, x_bar, theta_bar):
        """`input_gradient` and `parameter_gradient`, where a layer has them, are the halves of
        `backward`.
        """
        if self.recorder.wrong("backward"):
            return
        for name, expected in (("input_gradient", x_bar), ("parameter_gradient", theta_bar)):
            if callable(getattr(self.subject.layer, name, None)):
                got = np.asarray(getattr(self.subject.layer, name)(self.saved, self.y_bar.copy()))
                self.recorder.compare(name, f"{name} against its half of backward", got, expected,
                                      names=(name, "backward"))

    def tangent(self):
        """y_tangent against differences of forward along the direction."""
        subject = self.subject
        zero_x, zero_theta = np.zeros_like(subject.x), np.zeros_like(subject.theta)
        cases = [("x_tangent alone", self.x_tangent, None)]
        if subject.theta.size:
            cases += [("theta_tangent alone", None, self.theta_tangent),
                      ("both", self.x_tangent, self.theta_tangent)]
        for case, x_t, theta_t in cases:
            if case == "both" and self.recorder.wrong("tangent"):
                continue
            result = self.attempt("tangent", x_t, theta_t, case=f" along {case}")
            if result is None:
                continue
            dx, dtheta = zero_x if x_t is None else x_t, zero_theta if theta_t is None else theta_t
            reference = subject.tangent(lambda t, dx=dx, dtheta=dtheta: (
                subject.x + t * dx, subject.theta + t * dtheta))
            self.compare("tangent", f"y_tangent along {case} against differences of forward",
                         result, reference, (x_t, theta_t))
        self._state("tangent", (self.x_tangent, none_if_empty(self.theta_tangent)))

    def _state(self, name, args):
        """Purity of a pass whose results can be used; a batch of one and tangents that are None, if
        it is right.
        """
        if name in self.recorder.broken:
            return
        try:
            check_state_of_pass(self.subject, name, self.saved, args, self.attempt(name, *args))
        except Exception as problem:  # whatever a user's pass raises is the finding
            self.recorder.raised(name, problem, "runs again", " in a later call")
        if not self.recorder.wrong(name):
            check_none(self, name, args)
            check_alone(self, name, args)

    def parameter_gradients(self):
        """One row per sample, against differences of <y_bar_s, forward_s>."""
        name, subject = "parameter_gradients", self.subject
        result = self.attempt(name, self.y_bar)
        if result is None:
            return
        if subject.theta.size:
            reference = subject.parameter_gradients(subject.x, subject.theta, self.y_bar)
            self.compare_blocks(name, "theta rows against differences of forward", result,
                                reference)
        else:
            self._no_parameters(name, result, (len(subject.x), 0))
        self._state(name, (self.y_bar,))

    # -- second order ------------------------------------------------------------------------------

    def second_tangent(self):
        """y_second term by term, against differences of `tangent` if right, else of forward."""
        name, subject = "second_tangent", self.subject
        exact = not self.recorder.wrong("tangent")
        against = f"against differences of {'tangent' if exact else 'forward, twice'}"
        zero_x, zero_theta = np.zeros_like(subject.x), np.zeros_like(subject.theta)
        cases = {"x_second alone": (zero_x, self.x_second, None),
                 "x_tangent alone": (self.x_tangent, None, None)}
        if subject.theta.size:
            cases["theta_tangent alone"] = (None, None, self.theta_tangent)
            cases["both tangents"] = (self.x_tangent, None, self.theta_tangent)
        cases["everything"] = (self.x_tangent, self.x_second, none_if_empty(self.theta_tangent))
        results, references = {}, {}
        for case, args in cases.items():
            if case == "everything":
                self._mixed_term(against, results, references)
            results[case] = self.attempt(name, *args, case=f" along {case}")
            dx, d2x, dtheta = (zero if arg is None else arg
                               for arg, zero in zip(args, (zero_x, zero_x, zero_theta)))
            references[case] = subject.second_tangent(dx, d2x, dtheta, exact)
            told = case == "both tangents" or (case == "everything" and self.recorder.wrong(name))
            if results[case] is not None and not told:
                self.compare(name, f"y_second along {case} {against}", results[case],
                             references[case], args)
        self._state(name, cases["everything"])

    def _mixed_term(self, against, results, references):
        """What both tangents give beyond each alone: the term whose factor 2 is easily lost."""
        names = ("both tangents", "x_tangent alone", "theta_tangent alone")
        if any(results.get(case) is None or np.shape(results[case]) != self.y.shape
               for case in names):
            return
        both, x_alone, theta_alone = (results[case] for case in names)
        value = references[names[0]].value - references[names[1]].value - references[names[2]].value
        error = sum(references[case].error for case in names)
        self.compare("second_tangent",
                     f"y_second mixed term (x_tangent with theta_tangent) {against}",
                     both - x_alone - theta_alone, Difference(value, error))

    def backward_tangent(self):
        """x_bar_tangent and theta_bar_tangent term by term, against differences of `backward` if
        that is right.
        """
        name, subject = "backward_tangent", self.subject
        exact = not self.recorder.wrong("backward")
        against = f"against differences of {'backward' if exact else 'forward, twice'}"
        zero = np.zeros_like(self.y_bar)
        cases = {"y_bar_tangent alone": (None, None, self.y_bar, self.y_bar_tangent),
                 "x_tangent alone": (self.x_tangent, None, self.y_bar, zero)}
        if subject.theta.size:
            cases["theta_tangent alone"] = (None, self.theta_tangent, self.y_bar, zero)
        cases["everything"] = (self.x_tangent, none_if_empty(self.theta_tangent), self.y_bar,
                               self.y_bar_tangent)
        for case, args in cases.items():
            if case == "everything" and self.recorder.wrong(name):
                continue
            result = self.pair(name, *args, case=f" along {case}")
            if result is None:
                continue
            dx = np.zeros_like(subject.x) if args[0] is None else args[0]
            dtheta = np.zeros_like(subject.theta) if args[1] is None else args[1]
            direction = dx, dtheta, *args[2:]
            self.compare(name, f"x_bar_tangent along {case} {against}", result[0],
                         subject.backward_tangent(0, *direction, exact), args)
            if subject.theta.size:
                self.compare_blocks(name, f"theta_bar_tangent along {case} {against}", result[1],
                                    subject.backward_tangent(1, *direction, exact))
            else:
                self._no_parameters(name, result[1], (0,))
        self._state(name, cases["everything"])

    def input_hessian(self):
        """Curvature of the layer and of what follows it, apart and together."""
        name, subject = "input_hessian", self.subject
        exact = not self.recorder.wrong("backward")
        against = f"against differences of {'backward' if exact else 'forward, twice'}"
        cases = {"of H_y alone (J^T H_y J)": (np.zeros_like(self.y_bar), self.H_y),
                 "of y_bar alone (sum of y_bar_i Hess(y_i))": (self.y_bar, np.zeros_like(self.H_y)),
                 "of both": (self.y_bar, self.H_y)}
        for case, args in cases.items():
            if case == "of both" and self.recorder.wrong(name):
                continue
            result = self.attempt(name, *args, case=f" {case}")
            if result is not None:
                self.compare(name, f"H_x {case} {against}", result,
                             subject.input_hessian(*args, exact), args)
        self._state(name, (self.y_bar, self.H_y))
