"""Cubic regularisation as a method around another: the base says which way, the cubic model how
far.
"""

from dataclasses import fields
from operator import attrgetter

import numpy as np

from ...checks import positive_number
from ...optimizers.norms import norm
from ...optimizers.trials import objective_after
from ...optimizers.wrapper import Wrapper
from .joint_rates import coupled_rates, layer_products
from .curvature import directional_curvature_at, sample_curvatures_at
from .diagonal import hessian_diagonal_at
from .options import Options, checked
from .steps import model_change, step_length

LOWER_ABOVE, RAISE_BELOW = 0.8, 0.2  # of actual over predicted decrease


class CubicRegularization(Wrapper):
    """Eq. (37), (42)-(43): the base's direction with a step length from the cubic
    model.

    Along the base's direction g the batch's objective is modelled by

        a s + h s^2 / 2 + sigma |g|^3 s^3 / 6

    with a = g . gradient and h = g^T H g exact; the step is its minimiser times g. The base's own
    learning rate plays no part, unless its direction depends on it. A step costs about one gradient
    more than the base's by count; around gradient descent it takes three times the time.

    Parameters
    ----------
    base : Optimizer
        Its direction is taken, at its own rate; it is given the change that is made.
    sigma : float
        Weight of the cubic term, positive. Where the objective is flat the step has the length
        sqrt(2 |a| / (sigma |g|)), so that sigma bounds it.
    rates : {"single", "layer", "variable"}
        One rate for all parameters, for every layer, or for every parameter. With ``"variable"``,
        each rate comes from its diagonal entry of the Hessian (Table 2), with the base's signs
        only. The diagonal is exact for any layers; it costs a
        Hessian-vector product for every parameter of layers that :func:`secondorder.exact.diagonal`
        knows no recursion for.
    averaging : {"direction", "step", "rate"}
        The paper's three ways to a mini-batch. ``"direction"``: fix the direction, average a and h.
        ``"step"``: the mean of every sample's own step along its own gradient. ``"rate"``: the mean
        of the samples' rates times the mean direction. The last two need `SGD` as base, a single
        rate and a chain of `Linear` and `Activation` layers.
    curvature : {"exact", "printed"}
        ``"printed"``: (39) as it stands in the paper, for single rates; see
        :func:`~secondorder.papers.low_rank.directional_curvature`.
    coupled : bool, optional
        For ``rates="layer"`` alone: whether the layers' rates minimise one joint model, with the
        products between layers (the default). Else every layer has a separate model, and nothing
        bounds them together.
    ascent : {"skip", "flip", "minimum"}
        Where the base's direction goes uphill, see :func:`secondorder.papers.low_rank.step_length`;
        a coupled model takes care of it itself. ``"skip"`` leaves the parameters; the base's memory
        goes on.
    adaptive : bool
        Compare the objective of the same batch after the step with the model, by one more forward
        pass. Above 0.8 of the predicted fall sigma is halved, below 0.2 it is doubled. A step that
        does not descend is not taken. Averaging must be "direction".
    smallest_sigma : float, optional
        With ``adaptive=True`` alone: lower limit of an adaptive sigma; by default a hundredth of
        `sigma`. Without one sigma sinks until the step is Newton's along the ray, which is too bold
        away from plateaus.

    Attributes
    ----------
    sigma : float
        The present weight.
    ascents, skipped, rejected : int
        How many steps had a direction that went uphill, in some layer or parameter. How many had a
        rate of 0. How many changes were not taken, since the objective would have risen.
    rates_taken : list of float
        The rate |change| / |direction| of every step since this object was made.

    Raises
    ------
    TypeError, ValueError
        Unknown options, or options that do not go together; a layer that they do not know.
    FloatingPointError
        In a step whose slope, curvature or length (of a layer, parameter or sample) is not finite;
        parameters and memory are as before.

    Notes
    -----
    ``step`` reports ``rate``, ``sigma``, ``slope`` (a), ``curvature`` (h), ``predicted_decrease``,
    ``descent``, for several rates ``smallest_rate`` and ``largest_rate``, and, if adaptive,
    ``decrease_ratio`` and ``accepted``; the base's numbers stand under its name.
    """

    state_names = ("sigma", "ascents", "skipped", "rejected")

    # the options by their own names
    rates, averaging, curvature, coupled, ascent, adaptive, smallest_sigma = (
        property(attrgetter(f"options.{field.name}")) for field in fields(Options))

    def __init__(self, base, sigma=100.0, rates="single", averaging="direction", curvature="exact",
                 coupled=None, ascent="skip", adaptive=False, smallest_sigma=None):
        super().__init__(base)
        self.sigma = positive_number(sigma, "sigma")
        self.options = checked(base, self.sigma, rates, averaging, curvature, coupled, ascent,
                               adaptive, smallest_sigma)
        self.ascents = self.skipped = self.rejected = 0
        self.rates_taken = []

    # -- the step

    def change(self, evaluation, direction, rate):
        """theta <- theta + s g, (42)-(43): s g, with s by the cubic model along the base's
        direction g; `rate` plays no part.
        """
        if self.averaging != "direction":
            change = self._averaged(evaluation, direction)
        else:
            rule = {"single": self._single, "layer": self._by_layers,
                    "variable": self._by_parameters}[self.rates]
            change = rule(evaluation, direction)  # (42), (43)
            if self.adaptive:
                self._adapt(evaluation, change)
        length, moved = norm(direction), norm(change)
        self.details.update(rate=moved / length if length else 0.0, sigma=self.sigma)
        self.skipped += moved == 0
        self.ascents += not self.details["descent"]
        return change

    def _single(self, evaluation, direction):
        """s g with one s from a = g^T grad F and h = g^T H g of the batch, the third option."""
        a, h = directional_curvature_at(evaluation, direction, self.curvature, self.l2)
        length = norm(direction)
        self._require_finite_model("", slope=a, curvature=h, length=length)
        s = step_length(a, h, length, self.sigma, self.ascent)
        self._report(a, h, a <= 0, decrease=-model_change(a, h, length, self.sigma, s))
        return s * direction

    def _by_layers(self, evaluation, direction):
        a, Q, norms, slices = layer_products(evaluation, direction, self.l2)
        self._require_finite_model(" of trained layer", slope=a, curvature=Q, length=norms)
        if self.coupled:
            s = coupled_rates(a, Q, norms, self.sigma)
            change = a @ s + s @ Q @ s / 2 + self.sigma * np.linalg.norm(norms * s) ** 3 / 6
        else:
            s = step_length(a, np.diag(Q), norms, self.sigma, self.ascent)
            change = model_change(a, np.diag(Q), norms, self.sigma, s)
        descent = a.sum() <= 0 if self.coupled else (a <= 0).all()
        self._report(a.sum(), Q.sum(), descent, s, -np.sum(change))
        result = np.empty_like(direction)
        for rate, where in zip(s, slices):
            np.multiply(direction[where], rate, out=result[where])
        return result

    def _by_parameters(self, evaluation, direction):
        g, diagonal = self.gradient(evaluation), hessian_diagonal_at(evaluation, self.l2)
        along, length = direction.astype(np.float64), np.abs(direction)
        a, h = along * g, along * along * diagonal
        self._require_finite_model(" of parameter", slope=a, curvature=h, length=length)
        s = step_length(a, h, length, self.sigma, self.ascent)
        decrease = -np.sum(model_change(a, h, length, self.sigma, s))
        self._report(a.sum(), h.sum(), (a <= 0).all(), s, decrease)
        return (s * direction).astype(direction.dtype)

    def _averaged(self, evaluation, direction):
        """Every sample's own rate s_b by its own model, along its own gradient g_b.

        First option: E[s_b g_b]; second option: E[s_b] E[g_b]
        """
        a, h, lengths = sample_curvatures_at(evaluation, self.l2)
        self._require_finite_model(" of sample", slope=a, curvature=h, length=lengths)
        s = step_length(a, h, lengths, self.sigma, self.ascent)
        self._report(a.mean(), h.mean(), True, s)
        mean = float(s.mean())
        if self.averaging == "rate":
            return mean * direction
        weights = (-s / evaluation.samples).astype(direction.dtype)[:, None]
        bars = [weights * bar for bar in evaluation.deltas]
        change = self.network.chain.parameter_gradient_from(evaluation.saved, bars)
        return change - (self.l2 * mean) * self.network.theta if self.l2 else change

    def _require_finite_model(self, whose, **numbers):
        """FloatingPointError naming the first of the model's numbers that is not finite; `whose`
        says what the entries of an array belong to.
        """
        for name, values in numbers.items():
            wrong = np.argwhere(~np.isfinite(values))
            if len(wrong):
                owner = f"{whose} {wrong[0][0]}" if wrong.shape[1] else ""
                raise FloatingPointError(f"{type(self).__name__}, step {self.steps + 1}: the "
                                         f"{name}{owner} along the direction is not finite; the "
                                         "parameters are left as they were")

    def _report(self, a, h, descent, rates=None, decrease=None):
        told = {"slope": a, "curvature": h}
        if decrease is not None:
            told["predicted_decrease"] = decrease
        self._require_finite_model("", **told)  # sums of finite numbers may overflow
        if rates is not None:
            told |= {"smallest_rate": np.min(rates), "largest_rate": np.max(rates)}
        self.details.update({name: float(value) for name, value in told.items()},
                            descent=bool(descent))

    # -- sigma

    def _adapt(self, evaluation, change):
        """Compare the objective after the change with the model's; halve or double sigma, or take
        the change back.
        """
        before, predicted = self.objective(evaluation), self.details["predicted_decrease"]
        if not predicted > 8 * float(np.finfo(change.dtype).eps) * abs(before):
            return  # rounding alone may do as much
        ratio = (before - objective_after(self, evaluation, change)) / predicted
        if ratio > LOWER_ABOVE:
            self.sigma = min(self.sigma, max(self.sigma / 2, self.smallest_sigma))
        elif not ratio >= RAISE_BELOW:
            self.sigma = self.sigma * 2
        self.details.update(decrease_ratio=max(ratio, -1.0), accepted=ratio > 0)
        if not ratio > 0:
            self.rejected += 1
            change[...] = 0

    def _taken(self, evaluation):
        info = super()._taken(evaluation)
        self.rates_taken.append(info["rate"])
        return info

    def check_state(self, state):
        super().check_state(state)
        positive_number(state["sigma"], "state: sigma")

    def __repr__(self):
        return f"CubicRegularization({self.base!r}, sigma={self.sigma:g}, rates={self.rates!r})"
