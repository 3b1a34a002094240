"""The passes of a layer after `forward`, each against differences of what is right so far."""

import numpy as np

from ...exact.finite_differences import Difference
from ..differences import at_zero, jumps_along, rounding
from ..recorder import SAFETY
from .calls import check_alone, check_many
from .forward_checks import check_state_of_pass
from .layer_under_test import none_if_empty
from .passes import PAIRS, PASSES, Unusable, flat, slots

_SHARES = 6  # wrong entries of which is asked where they come from


class LayerChecks:
    """Checks all passes of one subject, whose `forward` was found right.

    Second derivatives are checked term by term (along the input alone, along the parameters alone,
    both): in a single term a missing factor shows as a ratio, in the sum it does not.
    """

    def __init__(self, subject, judged):
        self.subject, self.recorder = subject, subject.recorder
        self.judged = [name for name in judged if name != "forward"]
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
        """All passes that are judged, in the order in which one is the reference of the next."""
        for name in PASSES:
            if name in self.judged:
                getattr(self, name)()

    def _right(self, name):
        """Whether differences can be taken of a pass: it was judged, and found right."""
        return name in self.judged and not self.recorder.wrong(name)

    # -- calling and comparing ---------------------------------------------------------------------

    def attempt(self, name, *args, case=""):
        """A pass right after its forward, or None with a finding if it cannot be used."""
        try:
            saved = self.subject.call("forward", self.subject.x)[1]
            return self.subject.call(name, saved, *args)
        except Unusable as problem:
            told, entries, hint = problem.args
            if name not in self.recorder.broken:
                self.recorder.fact(name, "returns what it has to", False, told, entries, hint)
        except Exception as problem:  # whatever a user's pass raises is the finding
            self.recorder.raised(name, problem, case=case)
        self.recorder.broken.add(name)
        return None

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

    def compare_bars(self, name, what, bars, reference):
        """Compare the arrays for the parameters, each with its part of a flat reference (..., P);
        of a layer inside, parameter by parameter.
        """
        places = [slot for slot in slots(self.subject.layer) if slot[1] is not None]
        parts = [Difference(*(side[..., place].reshape(side.shape[:-1] + shape)
                              for side in reference)) for _, place, shape in places]
        for (slot, place, _), bar, part in zip(places, bars, parts):
            inside = [block for block in self.subject.blocks
                      if place.start <= block[1].start and block[1].stop <= place.stop]
            if bar.shape != part.value.shape or len(inside) == 1:
                told = what.replace("theta", slot, 1)
                if bar.shape != part.value.shape and any(
                        finding.pass_name == name and finding.compared.startswith(f"{slot}")
                        and "wrong shape" in finding.compared
                        for finding in self.recorder.report.findings):
                    continue  # it is told once
                self.compare(name, told, bar, part, hint=self._swapped(bar, slot, places, parts))
                continue
            for block, where, shape in inside:
                here = slice(where.start - place.start, where.stop - place.start)
                self.compare(name, what.replace("theta", block, 1),
                             bar[..., here].reshape(bar.shape[:-1] + shape), Difference(*(
                                 side[..., here].reshape(bar.shape[:-1] + shape) for side in part)))

    def _swapped(self, bar, slot, places, parts):
        """A hint where an array is the one that belongs to another parameter."""
        others = [name for (name, _, _), part in zip(places, parts)
                  if name != slot and self.agrees(bar, self._rounded(part))]
        return (f"this is what belongs to {others[0]}: the arrays stand in another order than "
                "the parameters in declare" if others else "")

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
        return result[0] if name in PAIRS else result

    # -- first order -------------------------------------------------------------------------------

    def backward(self):
        """x_bar and the arrays for the parameters against differences of <y_bar, forward>."""
        subject, args = self.subject, (self.y_bar,)
        result = self.attempt("backward", *args)
        if result is None:
            return
        reference = subject.input_gradient(subject.x, subject.theta, self.y_bar)
        if self.compare("backward", "x_bar against differences of forward", result[0], reference,
                        args) is False:
            self._tell_share(result[0], reference)
        if subject.theta.size:
            self.compare_bars("backward", "theta_bar against differences of forward", result[1],
                              subject.parameter_gradient(subject.x, subject.theta, self.y_bar))
        self._state("backward", args)
        self._halves(*result)

    def _tell_share(self, x_bar, reference):
        """A hint where entries of x_bar are the share of one window of the output alone."""
        finding = self.recorder.report.findings[-1]
        if np.shape(x_bar) != np.shape(reference.value) or finding.hint or self.y.ndim < 3:
            return
        slack = SAFETY * self._rounded(reference).error + 1e-6 * (np.abs(x_bar).max() or 1.0)
        wrong = np.argwhere(np.abs(x_bar - reference.value) > slack)[:_SHARES]
        for index in map(tuple, wrong):
            def moved(t, index=index):
                x = self.subject.x.copy()
                x[index] += t
                return self.subject.forward(x)[index[0]]
            shares = at_zero(moved).value * self.y_bar[index[0]]
            if not any((np.abs(of_one - x_bar[index]) <= slack[index]).any()
                       and (np.abs(of_one) > slack[index]).sum() > 1
                       for of_one in (shares.sum(axis=0), shares.sum(axis=-1))):
                return
        if len(wrong):
            finding.hint = ("each wrong entry is the share of one window alone: where windows "
                            "overlap, += is meant in place of =")

    def _halves(self, x_bar, bars):
        """What a network calls gives what `backward` gives."""
        if self.recorder.wrong("backward"):
            return
        layer, y_bar = self.subject.layer, self.y_bar
        for name, expected in (("input_gradient", x_bar), ("parameter_gradient", flat(bars))):
            if name == "parameter_gradient" and not bars:
                continue
            got = np.asarray(getattr(layer, name)(self.saved, y_bar.copy()))
            self.recorder.compare(name, f"{name} against its half of backward", got, expected,
                                  names=(name, "backward"))

    def tangent(self):
        """y_tangent against differences of forward along the direction."""
        subject = self.subject
        zero_x, zero_theta = np.zeros_like(subject.x), np.zeros_like(subject.theta)
        cases = [("x_tangent alone", self.x_tangent, None)]
        if subject.theta.size:
            cases += [("theta_tangent alone", zero_x, self.theta_tangent),
                      ("both", self.x_tangent, self.theta_tangent)]
        for case, x_t, theta_t in cases:
            if case == "both" and self.recorder.wrong("tangent"):
                continue
            result = self.attempt("tangent", x_t, theta_t, case=f" along {case}")
            if result is None:
                continue
            dx, dtheta = x_t, zero_theta if theta_t is None else theta_t
            reference = subject.tangent(lambda t, dx=dx, dtheta=dtheta: (
                subject.x + t * dx, subject.theta + t * dtheta))
            self.compare("tangent", f"y_tangent along {case} against differences of forward",
                         result, reference, (x_t, theta_t))
        self._state("tangent", (self.x_tangent, none_if_empty(self.theta_tangent)))

    def _state(self, name, args):
        """Purity of a pass whose results can be used; a batch of one, and several directions, if it
        is right.
        """
        if name in self.recorder.broken:
            return
        try:
            check_state_of_pass(self.subject, name, self.saved, args, self.attempt(name, *args))
        except Exception as problem:  # whatever a user's pass raises is the finding
            self.recorder.raised(name, problem, "runs again", " in a later call")
        if not self.recorder.wrong(name):
            check_alone(self, name, args)
        if self.subject.layer.many_directions and not self.recorder.wrong(name):
            check_many(self, name, args)

    def parameter_gradients(self):
        """One row per sample, against differences of <y_bar_s, forward_s>."""
        name, subject = "parameter_gradients", self.subject
        result = self.attempt(name, self.y_bar)
        if result is None:
            return
        if subject.theta.size:
            self.compare_bars(name, "theta rows against differences of forward", result,
                              subject.parameter_gradients(subject.x, subject.theta, self.y_bar))
        self._state(name, (self.y_bar,))

    # -- second order ------------------------------------------------------------------------------

    def second_tangent(self):
        """y_second term by term, against differences of `tangent` if right, else of forward."""
        name, subject = "second_tangent", self.subject
        exact = self._right("tangent")
        against = f"against differences of {'tangent' if exact else 'forward, twice'}"
        zero_x, zero_theta = np.zeros_like(subject.x), np.zeros_like(subject.theta)
        cases = {"x_second alone": (zero_x, self.x_second, None),
                 "x_tangent alone": (self.x_tangent, zero_x, None)}
        if subject.theta.size:
            cases["theta_tangent alone"] = (zero_x, zero_x, self.theta_tangent)
            cases["both tangents"] = (self.x_tangent, zero_x, self.theta_tangent)
        cases["everything"] = (self.x_tangent, self.x_second, none_if_empty(self.theta_tangent))
        results, references = {}, {}
        for case, args in cases.items():
            if case == "everything":
                self._mixed_term(against, results, references)
            results[case] = self.attempt(name, *args, case=f" along {case}")
            dx, d2x, dtheta = *args[:2], zero_theta if args[2] is None else args[2]
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
        exact = self._right("backward")
        against = f"against differences of {'backward' if exact else 'forward, twice'}"
        zero, zero_x = np.zeros_like(self.y_bar), np.zeros_like(subject.x)
        cases = {"y_bar_tangent alone": (zero_x, None, self.y_bar, self.y_bar_tangent),
                 "x_tangent alone": (self.x_tangent, None, self.y_bar, zero)}
        if subject.theta.size:
            cases["theta_tangent alone"] = (zero_x, self.theta_tangent, self.y_bar, zero)
        cases["everything"] = (self.x_tangent, none_if_empty(self.theta_tangent), self.y_bar,
                               self.y_bar_tangent)
        for case, args in cases.items():
            if case == "everything" and self.recorder.wrong(name):
                continue
            result = self.attempt(name, *args, case=f" along {case}")
            if result is None:
                continue
            dtheta = np.zeros_like(subject.theta) if args[1] is None else args[1]
            direction = args[0], dtheta, *args[2:]
            self.compare(name, f"x_bar_tangent along {case} {against}", result[0],
                         subject.backward_tangent(0, *direction, exact), args)
            if subject.theta.size:
                self.compare_bars(name, f"theta_bar_tangent along {case} {against}", result[1],
                                  subject.backward_tangent(1, *direction, exact))
        self._state(name, cases["everything"])

    def input_hessian(self):
        """Curvature of the layer and of what follows it, apart and together."""
        name, subject = "input_hessian", self.subject
        exact = self._right("backward")
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
