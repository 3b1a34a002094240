"""Cubic regularisation around another method: the base says which way, the cubic model how far. The
formulas are the paper's displays, in the files of their numbers.
"""

import math
from functools import partial
from operator import attrgetter

import numpy as np

from ... import exact
from ...checks import Checked, check_l2, lookup, one_of, positive_number
from ...exact.curvature import check_vector, evaluate
from ...nets.evaluation import quiet
from ...optimizers.first_order import SGD
from ...optimizers.norms import norm
from ...optimizers.step import trouble
from ...optimizers.wrapper import Wrapper
from .eq_08_09_cubic_model import eq_8_change, option_1, option_2, with_penalty
from .eq_37_43_step_length import (eq_37_step_length, eq_37_step_lengths, eq_38_39,
                                   eq_38_39_as_printed, eq_39_by_layers,
                                   eq_39_by_layers_as_printed, eq_42_43_step)
from .eq_43_table_2_rates import eq_38_39_of_samples, table_2_models
from .layers import fcnn, kind_of
from .section_4_rates_by_layer import joint_change, joint_rates, layer_models

FORMS = {"exact": eq_38_39, "printed": lambda e, g: eq_38_39_as_printed(*fcnn(e), g)}

# For each choice of `rates`: slope, curvature and |g| of every model, and the step that their rates
# make. e is an evaluation, g the base's direction.


def single(form):
    def model(e, g, l2):
        a, h = with_penalty(*FORMS[form](e, g), l2, e.network.theta, g)
        return a, h, norm(g), partial(eq_42_43_step, g=g)
    return model


def by_layer(eq_39):
    def models(e, g, l2):
        a, Q, lengths, spread = layer_models(eq_39, *fcnn(e), g, l2, e.network.theta)
        return a, Q, lengths, lambda s: eq_42_43_step(spread(s), g)
    return models


def by_variable(e, g, l2):
    diagonal = exact.diagonal(e.network, e.loss_function, e.x, e.y, l2=l2)
    return *table_2_models(g, e.objective_gradient(l2), diagonal), partial(eq_42_43_step, g=g)


def by_sample(option):
    return lambda e, g, l2: (*eq_38_39_of_samples(*fcnn(e)), lambda s: option(s, e, g))


OPTIONS = {"option 1": by_sample(option_1), "option 2": by_sample(option_2)}
RATES = {"single": single("exact"), "printed": single("printed"),
         "layer": by_layer(eq_39_by_layers), "separate": by_layer(eq_39_by_layers),
         "layer printed": by_layer(eq_39_by_layers_as_printed), "variable": by_variable, **OPTIONS}


class CubicRegularization(Wrapper):
    """Eq. (37), (42)-(43): the base's direction with a step length from the cubic model.

    Along the base's direction g the batch's objective is modelled by

        a s + h s^2 / 2 + sigma |g|^3 s^3 / 6

    with a = g . gradient and h = g^T H g exact; the step is its minimiser times g, nothing where g
    goes uphill. The base's own learning rate plays no part, unless its direction depends on it. A
    step costs about one gradient more than the base's by count.

    Parameters
    ----------
    base : Optimizer
        Its direction is taken; it is given the change that is made.
    sigma : float
        Weight of the cubic term, positive. Where the objective is flat the step has the length
        sqrt(2 |a| / (sigma |g|)), so that sigma bounds it.
    rates : str
        ``"single"``: one rate by the batch's model, the paper's method (its third way to a batch).
        ``"printed"``: the same with (39) as it stands in print. ``"layer"``: one rate for every
        layer, by one joint model; ``"layer printed"``: the same with (39) as it stands in print;
        ``"separate"``: each by its own. ``"variable"``: one for every parameter (Table 2).
        ``"option 1"``: the mean of every sample's own step along its own gradient; ``"option 2"``:
        the mean of the samples' rates times the mean direction. These two are for `SGD` without a
        penalty. ``"single"`` and ``"variable"`` take any layers, all others chains of `Linear` and
        `Activation`.

    Raises
    ------
    TypeError, ValueError
        Bad arguments; a layer that `rates` does not take.
    FloatingPointError
        In a step whose slope, curvature or model is not finite; nothing has changed then.

    Notes
    -----
    ``step`` reports ``rate``, which is |change| / |g|, ``slope`` (a), ``curvature`` (h),
    ``predicted_decrease`` and ``descent``, whether g goes downhill. Of several rates these are sums
    over the models, of the options means over the samples. The base's numbers stand under its name.
    """

    sigma = Checked(positive_number)

    def __init__(self, base, sigma=100.0, rates="single"):
        super().__init__(base)
        self.sigma, self.rates = sigma, rates

    rates = property(attrgetter("_rates"))

    @rates.setter
    def rates(self, rates):
        base = self.base
        lookup(RATES, rates, "rates")
        for layer in () if rates in ("single", "variable") else base.network.layers:
            kind_of(layer)  # refuses what is not fully connected
        if rates in OPTIONS and (type(base) is not SGD or base.l2):
            raise ValueError(f"rates={rates!r} needs SGD with l2=0 as base, got {base!r}")
        self._rates = rates

    def change(self, evaluation, direction, rate):
        """Eq. (42), (43): s g, with s by the cubic model along the base's direction g."""
        a, h, lengths, step = RATES[self.rates](evaluation, direction, self.l2)
        several = isinstance(a, np.ndarray)
        total = np.mean if self.rates in OPTIONS else np.sum if several else float
        told = self._finite(slope=total(a), curvature=total(h))
        if self.rates in ("layer", "layer printed"):
            s = joint_rates(a, h, lengths, self.sigma)
            model = joint_change(a, h, lengths, self.sigma, s)
        else:
            h = h.diagonal() if self.rates == "separate" else h
            eq_37 = eq_37_step_lengths if several else eq_37_step_length
            s = eq_37(a, h, lengths, self.sigma)
            model = total(eq_8_change(a, h, lengths, self.sigma, s))
        told |= self._finite(predicted_decrease=-model)
        change = step(s)
        rate = norm(change) / (norm(direction) or 1) if several else s
        self.details.update(told, rate=rate, descent=told["slope"] <= 0)
        return change

    def _finite(self, **numbers):
        """The numbers as floats; FloatingPointError if one of them is not finite."""
        numbers = {name: float(number) for name, number in numbers.items()}
        if not math.isfinite(sum(numbers.values())):
            raise trouble(self, f"the model along the direction is not finite: {numbers}")
        return numbers

    def _taken(self, evaluation):
        evaluation.deltas  # the gradient is made of them, where they are there before
        return super()._taken(evaluation)

    def __repr__(self):
        return f"CubicRegularization({self.base!r}, sigma={self.sigma:g}, rates={self.rates!r})"


def directional_curvature(network, loss, x, y, direction, form="exact", l2=0.0):
    """Eq. (38), (39): direction . gradient and direction^T H direction of the objective.

    Parameters
    ----------
    network : Network
        Of any layers; ``form="printed"`` takes chains of `Linear` and `Activation` layers.
    loss : Loss
    x : (S, *input_shape) array
    y : targets of the loss
    direction : (P,) array
    form : {"exact", "printed"}
        ``"printed"``: Eq. (39) as it stands, without f_pp between different hidden layers and
        without A''. The first number is the same.
    l2 : float
        Penalty (l2/2)|theta|^2.

    Returns
    -------
    (float, float)

    Raises
    ------
    ValueError, TypeError
        Bad arguments; a layer that ``"printed"`` does not know.
    FloatingPointError
        If one of the numbers is not finite.
    """
    one_of(tuple(FORMS), form, "form")
    l2, g = check_l2(l2), check_vector(network, direction, "direction")
    evaluation = evaluate(network, loss, x, y)
    with quiet():
        a, h = with_penalty(*FORMS[form](evaluation, g), l2, network.theta, g)
    if not math.isfinite(a + h):
        raise FloatingPointError("slope and curvature along the direction are "
                                 f"{(float(a), float(h))}, not finite")
    return float(a), float(h)
