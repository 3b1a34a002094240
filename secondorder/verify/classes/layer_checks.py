"""The passes of a layer after `forward`, each against differences of what is right so far."""

import numpy as np

from ...exact.finite_differences import Difference
from ..differences import jumps_along, rounding
from ..recorder import SAFETY
from .calls import DIRECTIONS, Calls
from .forward_checks import check_state_of_pass
from .layer_under_test import none_if_empty
from .passes import PAIRS, PASSES, RESULTS, Unusable, slots


#: Of what differences are taken where it was found right; of `forward` else.
SOURCES = {"second_tangent": "tangent", "backward_tangent": "backward", "input_hessian": "backward"}


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

    def arguments(self, name):
        """Everything that a pass takes, in order; None for the tangent of no parameters."""
        theta_tangent = none_if_empty(self.theta_tangent)
        return tuple(theta_tangent if label == "theta_tangent" else getattr(self, label)
                     for label in PASSES[name] if label != "x")

    def follow_lines(self):
        """The outputs along lines through every sample: no jump from one branch to another."""
        subject, x_t = self.subject, self.x_tangent
        length = 4.0 * subject.size

        def outputs(t):
            x = (subject.x + t.reshape(*t.shape, *[1] * (x_t.ndim - 1)) * x_t).reshape(
                -1, *subject.shape[1:])
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
            if name not in self.judged:
                continue
            source = SOURCES.get(name, "forward")
            exact = source in self.judged and not self.recorder.wrong(source)
            against = (f"against differences of {source}" if exact or source == "forward" else
                       "against differences of forward, twice")
            cases = self._cases(name)
            for case, args in cases.items():
                self.term(name, case, against, args, exact)
            if name == "second_tangent" and self.subject.theta.size:
                self._mixed_term(against, exact)
            if len(cases) > 1 and not self.recorder.wrong(name):
                self.term(name, "of everything", against, self.arguments(name), exact)
            self._called_otherwise(name)

    def _cases(self, name):
        """What a pass is judged with, term by term: case -> arguments."""
        x_t, x_2, y_bar, y_bar_t = self.x_tangent, self.x_second, self.y_bar, self.y_bar_tangent
        theta_t, zero, still = self.theta_tangent, np.zeros_like(x_t), np.zeros_like(y_bar)
        cases = {
            "backward": {"": (y_bar,)},
            "parameter_gradients": {"": (y_bar,)},
            "tangent": {"along x_tangent alone": (x_t, None),
                        "along theta_tangent alone": (zero, theta_t)},
            "second_tangent": {"along x_second alone": (zero, x_2, None),
                               "along x_tangent alone": (x_t, zero, None),
                               "along theta_tangent alone": (zero, zero, theta_t)},
            "backward_tangent": {"along y_bar_tangent alone": (zero, None, y_bar, y_bar_t),
                                 "along x_tangent alone": (x_t, None, y_bar, still),
                                 "along theta_tangent alone": (zero, theta_t, y_bar, still)},
            "input_hessian": {"of H_y alone (J^T H_y J)": (still, self.H_y),
                              "of y_bar alone (sum of y_bar_i Hess(y_i))": (y_bar, 0 * self.H_y)}}
        return {case: args for case, args in cases[name].items()
                if theta_t.size or "theta_tangent" not in case}

    def _reference(self, name, args, exact, of_parameters):
        """What differences say that a pass returns, for the input or for the parameters."""
        subject = self.subject
        point = subject.x, subject.theta, *args
        if name == "backward":
            return (subject.parameter_gradient if of_parameters else subject.input_gradient)(*point)
        if name == "backward_tangent":
            return subject.backward_tangent(of_parameters, *args, exact)
        return {"parameter_gradients": lambda: subject.parameter_gradients(*point),
                "tangent": lambda: subject.tangent(lambda t: subject.moved(t, *args)),
                "second_tangent": lambda: subject.second_tangent(*args, exact),
                "input_hessian": lambda: subject.input_hessian(*args, exact)}[name]()

    def _mixed_term(self, against, exact):
        """What both tangents give beyond each alone: the term whose factor 2 is easily lost."""
        zero = np.zeros_like(self.x_tangent)
        three = [(self.x_tangent, zero, self.theta_tangent), (self.x_tangent, zero, None),
                 (zero, zero, self.theta_tangent)]
        results = [self.attempt("second_tangent", *args, case=" along both tangents")
                   for args in three]
        if any(result is None or np.shape(result) != self.y.shape for result in results):
            return
        of = [self.subject.second_tangent(*args, exact) for args in three]
        self.compare("second_tangent",
                     f"y_second mixed term (x_tangent with theta_tangent) {against}",
                     results[0] - results[1] - results[2],
                     Difference(of[0].value - of[1].value - of[2].value,
                                sum(one.error for one in of)))

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

    def term(self, name, case, against, args, exact):
        """One pass with some arguments against its reference; of a pair, both its parts."""
        if name in self.recorder.broken:
            return
        result = self.attempt(name, *args, case=f" {case}".rstrip())
        if result is None:
            return
        told = f"{case} {against}".lstrip()
        if name == "parameter_gradients":
            bars, label = result, "theta rows"
        else:
            of_input, bars = result if name in PAIRS else (result, ())
            label = RESULTS[name].replace("x_bar", "theta_bar")
            self.compare(name, f"{RESULTS[name]} {told}", of_input,
                         self._reference(name, args, exact, False), args)
        if bars:
            self.compare_bars(name, f"{label} {told}", bars,
                              self._reference(name, args, exact, True))

    def compare(self, name, what, computed, reference, args=None, hint=""):
        """Compare with a Difference; where wrong, `args` are tried with transposed weights."""
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
        size = float(np.abs(reference.value).max(initial=0)) or 1.0
        allowed = SAFETY * reference.error + self.recorder.tolerance * size
        return computed.shape == reference.value.shape and bool(
            (np.abs(computed - reference.value) <= allowed).all())

    def compare_bars(self, name, what, bars, reference):
        """Compare arrays for the parameters, each with its part of a flat reference (..., P)."""
        places = [slot for slot in slots(self.subject.layer) if slot[1] is not None]
        lead = reference.value.shape[:-1]

        def part(where, shape):
            return Difference(*(side[..., where].reshape(lead + shape) for side in reference))

        parts = {slot: part(place, shape) for slot, place, shape in places}
        for (slot, place, _), bar in zip(places, bars):
            inside = [block for block in self.subject.blocks
                      if place.start <= block[1].start and block[1].stop <= place.stop]
            right_shape = bar.shape == parts[slot].value.shape
            if right_shape and len(inside) > 1:
                for block, where, shape in inside:
                    here = slice(where.start - place.start, where.stop - place.start)
                    self.compare(name, what.replace("theta", block, 1),
                                 bar[..., here].reshape(lead + shape), part(where, shape))
            else:
                others = [other for other in parts if other != slot
                          and self.agrees(bar, self._rounded(parts[other]))]
                self.compare(name, what.replace("theta", slot, 1), bar, parts[slot], hint=(
                    f"this is what belongs to {others[0]}: the arrays stand in another order than "
                    "the parameters in declare" if others else ""))

    def _transposed_hint(self, name, args, reference):
        """Try the pass with square weights, or their tangents, or both, transposed."""
        subject = self.subject
        squares = [(where, shape[0]) for _, where, shape in subject.blocks
                   if len(shape) == 2 and shape[0] == shape[1] > 1]

        def flip(vector):
            out = vector.copy()
            for where, rows in squares:
                out[where] = vector[where].reshape(rows, rows).T.ravel()
            return out

        both = subject.theta, self.theta_tangent
        flipped = tuple(map(flip, both))
        for theta, tangent in ((flipped[0], both[1]), (both[0], flipped[1]), flipped) \
                if squares else ():
            try:
                saved = subject.layer.forward(subject.x.copy())[1]
                with subject.at(theta):
                    result = subject.call(name, saved, *[
                        tangent if arg is self.theta_tangent else arg for arg in args])
                if self.agrees(result[0] if name in PAIRS else result, reference):
                    return "a weight is transposed: with its transpose the pass is right"
            except Exception:  # it gives no hint then; the pass itself is reported already
                continue
        return ""

    def _called_otherwise(self, name):
        """Purity of a pass that can be used; a batch of one and many directions, if it is right."""
        recorder, args = self.recorder, self.arguments(name)
        if name in recorder.broken:
            return
        try:
            check_state_of_pass(self.subject, name, self.saved, args, self.attempt(name, *args))
        except Exception as problem:  # whatever a user's pass raises is the finding
            recorder.raised(name, problem, "runs again", " in a later call")
        calls = Calls(self, name, args)
        if not recorder.wrong(name):
            calls.alone()
        if (self.subject.layer.many_directions and name in DIRECTIONS
                and not recorder.wrong(name)):
            calls.many()
