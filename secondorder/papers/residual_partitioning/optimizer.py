"""Residual partitioning as a training method: the corrected Algorithm 1."""

import numpy as np

from ...checks import all_finite, boolean, finite_result, number_in, one_of
from ...compiled import kinds
from ...nets import Chain
from ...optimizers.base import Optimizer
from ...optimizers.trials import halved, objective_after
from . import compiled, rules
from .fast import sums
from .options import checked

# By output rule: the largest of 1, 3, 10, ... at which all small nets tried stayed stable (digits,
# wine, diabetes; one to three hidden layers of tanh, relu and softplus).
LEARNING_RATES = {"diagonal": 1.0, "jensen": 3.0, "pairwise": 3.0}
HALVINGS = 20  # a millionth of the step


class ResidualPartitioning(Optimizer):
    """Minimise the bound of Deep Residual Partitioning at every step: -gradient / curvature,
    parameter by parameter.

    Parameters
    ----------
    network : Network
        Of `Linear`, `Activation`, `Skip` and `Chain` layers.
    loss : Loss
    learning_rate : float or schedule, optional
        lambda. Default by output rule: 1 (diagonal), 3 (jensen, pairwise), which is cautious; see
        the notes.
    l2 : float
        Penalty (l2/2)|theta|^2.
    output, negative_curvature, cross
        As for :func:`bound`.
    penalty : {"implicit", "plain"}
        How the penalty meets a learning rate far from 1. ``"implicit"``: the rate scales the data's
        curvature only, and the step

            d = -(g + l2 theta) / (curvature / rate + l2)

        is the exact minimiser of g d + curvature d^2 / (2 rate) + (l2/2)(theta + d)^2, so that the
        penalty's own part never passes the minimum (the data's part still may). ``"plain"``:

            d = -rate (g + l2 theta) / (curvature + l2),

        whose penalty part passes the minimum where the curvature is below l2 (rate - 1), and moves
        away from it where it is below l2 (rate/2 - 1).
    damping : float
        Added to the data's curvature. It limits the step where the bound is nearly flat and the
        gradient is not, as with a softmax that is confidently wrong.
    safeguard : bool
        Whether a step that raises the batch's objective is halved until it does not, up to 20
        times. If that does not help, the step is left out. It costs one more forward pass a step,
        or a few. A wrapper decides itself how far to go and does without.

    Notes
    -----
    *What is bounded* is the second-order model of the loss at the present parameters, not the loss.
    Where higher derivatives matter, a step may raise the loss of its own batch. Of 60 first steps
    at rate 1 with ``cross=True`` on convolutional networks with standard initial weights none did,
    for a softmax or a Poisson loss. With three times those weights 6 and 12 did, and the Poisson
    loss once went from 125 to 2e21. ``safeguard=True`` looks, and halves.

    *Why the best rate is not near 1.* The bound guarantees a decrease of the second-order model for
    every rate between 0 and 2. The model lacks the products that Eq. (4) drops, unless
    ``cross=True``. Jensen's inequality is loose when a change is split over many parameters. The
    bound's curvature is then many times the model's curvature along the step, the more the wider
    and deeper the net. The defaults stayed stable on every net tried and are slow on wide nets.

    The paper's shapes take far more. On the digits the autoencoder 64-64-2-64-64 does best at 10
    (diagonal) or 300 (jensen). Jensen multiplies the curvature of a diagonal loss by about the
    number of outputs. The classifier 64-400-100-36-10 does best at 30 (pairwise) or 100 (jensen),
    and hardly moves at 1. Raise the rate by factors of 3 until training becomes unstable, then go
    back by one factor.

    A parameter whose curvature in the batch is 0 is left alone, penalty included, unless `damping`
    is positive. As a rule its gradient is 0 as well (an input that is 0 in the whole batch, the
    weights around a dead unit). There are two exceptions: where a softmax is so confident that its
    second derivatives underflow, and below units whose negative coefficients
    ``negative_curvature="max"`` set to zero. There the bound is a slope without a bottom and says
    nothing about the step.

    ``step`` reports ``bound_decrease``, the decrease of the objective that the bound promises at
    this rate. It is negative where the rate is too large for a promise. ``idle_parameters``
    counts curvatures of 0, damping included. Both are of the step before it is halved. With a
    safeguard there are also ``halvings`` and ``accepted``.
    """

    added = {"safeguard": False}

    def __init__(self, network, loss, learning_rate=None, l2=0.0, output="auto",
                 negative_curvature="abs", cross=False, penalty="implicit", damping=0.0,
                 safeguard=False):
        self.penalty_form = one_of(("implicit", "plain"), penalty, "penalty")
        self.damping = number_in(damping, "damping", 0, np.inf)
        self.safeguard = boolean(safeguard, "safeguard")
        self.options = checked(network, loss, output, negative_curvature, cross)
        self.output = self.options.output
        rate = LEARNING_RATES[self.output] if learning_rate is None else learning_rate
        super().__init__(network, loss, rate, l2)

    @property
    def depends_on_rate(self):
        """True with the implicit penalty: the rate scales the data's curvature only."""
        return self.penalty_form == "implicit" and self.l2 > 0

    def direction(self, evaluation):
        g, rate = self.gradient(evaluation), self.learning_rate
        # C_j = (1/S) sum_s C_sj, the data's part of the bound's curvature
        curvature = curvature_sums(evaluation, self.options) * (1 / evaluation.samples)
        finite_result(curvature, "residual partitioning: the curvature", self.network)
        # direction_j = -g_j / (C_j + damping + penalty); 0 where C_j + damping is 0
        damped = curvature + self.damping
        # l2 rate, so that rate times direction is the exact minimiser, or plainly l2
        penalty = self.l2 * (rate if self.penalty_form == "implicit" else 1.0)
        direction = np.divide(-g, damped + penalty, where=damped > 0, out=np.zeros_like(g))
        d = direction.astype(np.float64)
        self._report(rate, g @ d, curvature @ d**2, np.count_nonzero(damped == 0), d @ d)
        return direction

    def change(self, evaluation, direction, rate):
        """rate * direction; with a safeguard halved until the batch's objective does not rise."""
        change = super().change(evaluation, direction, rate)
        if self.safeguard and all_finite(change):
            after = objective_after(self, evaluation, change)
            halvings, accepted = halved(self, evaluation, change, after, HALVINGS)
            self.details.update(halvings=halvings, accepted=accepted)
            if not accepted:
                change[...] = 0
        return change

    def _report(self, rate, directional_derivative, second_order, idle, squares):
        """Tell what the bound promises, -rate g d - rate^2/2 (sum C d^2 + l2 |d|^2)."""
        promised = (-rate * directional_derivative
                    - rate / 2 * rate * (second_order + self.l2 * squares))
        self.details.update(bound_decrease=float(promised), idle_parameters=int(idle))


# -- the curvature by two compiled walks over the table of a network -------------------------------

_OWN = (rules.LinearRule, rules.ActivationRule, rules.ReshapeRule, rules.SkipRule)
_KINDS = {kinds.LINEAR, kinds.FIXED, *range(kinds.IDENTITY, kinds.SIN + 1), kinds.FORK, kinds.ADD}


def curvature_sums(evaluation, options):
    """Curvature sums (P,), as `fast.sums` has them: by the walks, or by the rules of the layers.

    The rules serve where there is no table, layers of images and sequences, and ``cross``.
    """
    work, literal = evaluation.work, evaluation.work is None or options.cross
    arrays = None if literal else arrays_of(evaluation)
    if arrays is None:
        return sums(evaluation, options)[2]
    theta, table = evaluation.network.all_parameters, work.program.table
    carried, u, Z, part, sizes, curvature = arrays
    work.output_gradients(theta)
    work.curvatures()
    compiled.up(table, theta, work.x, work.array, sizes, carried)
    own = work.criterion.own
    if options.output == "diagonal":
        work.criterion.product(work.outputs, work.t, own, u, Z)
        compiled.absolute(Z.reshape(-1), Z.reshape(-1))
    elif options.output == "jensen" and work.criterion.diagonal is not None:
        work.criterion.diagonal(work.outputs, work.t, own, Z)
        compiled.jensen(u, Z)
    else:
        Z[...] = rules.OUTPUTS[options.output](evaluation.loss_function, evaluation.outputs,
                                               evaluation.y, u)
    compiled.down(table, sizes, work.x, work.array, carried, part, options.clip, curvature)
    return curvature


def arrays_of(evaluation):
    """What the walks write into, made once for batches of a length; None where rules serve.

    `carried`, like the array of the passes; u and Z of the outputs in it; a part of a layer's
    batch; |theta|; and the curvature sums (P,).
    """
    work, own = evaluation.work, evaluation.workspace is not None
    if own and "partitioned" in work.notes:
        return work.notes["partitioned"]
    network, program, arrays = evaluation.network, work.program, None
    if serve(network, program):
        dtype = program.dtype
        carried = np.empty_like(work.array)
        arrays = (carried, work.last(carried, "y"), work.last(carried, "bar"),
                  np.empty(work.rows * program.widest, dtype),
                  np.empty(network.all_parameters.size, dtype), np.empty(program.size, dtype))
    if own:
        work.notes["partitioned"] = arrays
    return arrays


def serve(network, program):
    """Whether the walks give the bound of a network with this program."""
    single = [layer for layer in network.chain.sublayers() if not isinstance(layer, Chain)]
    return (_KINDS.issuperset(program.columns["kind"])
            and all(rules.rules(layer) in _OWN for layer in single))
