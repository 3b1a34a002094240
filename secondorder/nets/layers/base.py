"""What all layers share: the seven passes.

A layer maps ``x`` (S, ...) to ``y`` (S, ...), one row per sample, and knows seven passes:

=================================================  =============================================
``forward(x)``                                     ``y, saved``
``backward(saved, y_bar)``                         ``x_bar, w_bar, b_bar, ...``
``parameter_gradients(saved, y_bar)``              ``w_bars, b_bars, ...``, one row a sample
``tangent(saved, x_tangent, *theta_tangents)``     ``y_tangent``, or ``y_tangent, left``
``backward_tangent(saved, moved, y_bar,            like `backward`
y_bar_tangent)``
``second_tangent(saved, moved, x_second)``         ``y_second``
``input_hessian(saved, y_bar, H_y)``               ``H_x``
=================================================  =============================================

Passes are pure: they change neither their arguments nor the layer. There is one array for each
declared parameter, in the order of `declare`, fixed ones too. ``_bar`` marks the derivative of a
scalar with respect to a quantity, ``_tangent`` its derivative along a direction, ``_second`` its
second derivative along that direction.

What stands between a pass and its network is in `pieces`, what a layer is without its passes in
`parameters`.
"""

from ... import checks
from ..overriding import place
from .parameters import HasParameters
from .pieces import Walk, bars_of


# what a layer has for itself; a subclass with another use for one of these names would not work
RESERVED = ("parameters", "trainable", "declare", "assign", "size", "split", "sublayers", "bind",
            "convert", "owner", "copy",
            "cuts", "layout", "pieces", "_trainable", "_owner", "_missing", "_settled")

# a pass as a whole, and the two halves in which this package's layers write it
HALVES = {"backward": ("input_gradient", "parameter_bars"),
          "backward_tangent": ("input_gradient_tangent", "parameter_bars_tangent")}
PASSES = ("forward", *HALVES, *HALVES["backward"], *HALVES["backward_tangent"],
          "parameter_gradients", "tangent", "second_tangent", "input_hessian")


class Layer(HasParameters, Walk):
    """Base of all layers.

    A subclass declares its parameters with :meth:`declare` and defines the passes. It states
    `input_shape` (without the sample axis) where it knows it, and overrides `output_shape` if its
    output has another shape than its input.

    Parameters
    ----------
    trainable : bool
        A layer that is not trainable keeps its parameters out of ``network.theta``.

    Attributes
    ----------
    children : sequence of Layer
        The layers inside this one, if it is made of others; their parameters follow its own. Each
        of them counts as one more parameter in the passes: a flat vector.
    many_directions : bool
        Whether the passes take several directions at once, None for zero, and `out`. False for a
        subclass that overrides a pass and does not say so itself.

    Raises
    ------
    TypeError
        Where a subclass is defined that uses one of the names that every layer has for itself, such
        as `split` or `size`, for something else.

    Notes
    -----
    `backward` may be given as a whole or as its two halves, `input_gradient` and `parameter_bars`,
    of which only one is called where only one is needed; `backward_tangent` likewise, as
    `input_gradient_tangent` and `parameter_bars_tangent`.
    """

    input_shape = None
    many_directions = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        checks.names_of_its_own(cls, Layer, RESERVED)
        if min(place(cls, name) for name in PASSES) < place(cls, "many_directions"):
            cls.many_directions = False
        for name, halves in HALVES.items():
            nearer = [half for half in halves if place(cls, half) < place(cls, name)]
            functions = [getattr(cls, half) for half in halves]
            if nearer and not {getattr(Layer, half) for half in halves} & {*functions}:
                setattr(cls, name, _whole(name, *functions))
            elif not nearer:
                for half in halves:
                    if place(cls, half) > place(cls, name):
                        setattr(cls, half, getattr(Layer, half))

    @property
    def keeps_shape(self):
        """Whether the output has the shape of any input: unless `output_shape` is overridden."""
        return type(self).output_shape is Layer.output_shape

    # -- the seven passes -------------------------------------------------------------------------

    def _missing(self, name):
        raise TypeError(f"layer {type(self).__name__} does not define the pass {name}")

    def output_shape(self, input_shape):
        """Shape of the output for an input of shape `input_shape`, both without the sample axis.

        Raises
        ------
        ValueError
            If the layer does not take that shape.
        """
        checks.stated_shape(self, input_shape)
        return input_shape

    def forward(self, x):
        """Return ``y, saved``: y = f(x, theta), row by row, and what the other passes need."""
        self._missing("forward(x)")

    def backward(self, saved, y_bar):
        """Return ``x_bar`` (like x), and an array for each parameter.

        x_bar_sj = sum_i y_bar_si dy_si/dx_sj;  theta_bar_k = sum_si y_bar_si dy_si/dtheta_k
        """
        self._missing("backward(saved, y_bar)")

    def parameter_gradients(self, saved, y_bar):
        """Return an array for each parameter, one row a sample:
        theta_bar_sk = sum_i y_bar_si dy_si/dtheta_k.
        """
        if self.parameters or self.children:
            self._missing("parameter_gradients(saved, y_bar)")
        return ()

    def tangent(self, saved, x_tangent, *theta_tangents):
        """Return ``y_tangent``: y_tangent_si = sum_j dy_si/dx_sj x_tangent_sj + sum_k
        dy_si/dtheta_k theta_tangent_k; or that and what the way back needs, ``moved.left``.
        """
        self._missing("tangent(saved, x_tangent, *theta_tangents)")

    def second_tangent(self, saved, moved, x_second):
        """Return ``y_second``: d^2/dt^2 y(x + t x_tangent + (t^2/2) x_second, theta + t
        theta_tangent) at t = 0; `moved` has ``x_tangent`` and ``theta_tangents``.
        """
        self._missing("second_tangent(saved, moved, x_second)")

    def backward_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """Return what `backward` does: d/dt of that while x, theta and y_bar move along tangents,
        of which `moved` has ``x_tangent`` and ``theta_tangents``.
        """
        self._missing("backward_tangent(saved, moved, y_bar, y_bar_tangent)")

    def input_hessian(self, saved, y_bar, H_y):
        """Return H_x (S, in, in) for H_y (S, out, out).

        H_x_sjk = sum_ii' J_sij H_y_sii' J_si'k + sum_i y_bar_si d^2 y_si / dx_sj dx_sk
        """
        self._missing("input_hessian(saved, y_bar, H_y)")

    # -- the halves of `backward` and `backward_tangent` ------------------------------------------

    def input_gradient(self, saved, y_bar):
        """x_bar, the first half of `backward`."""
        return self.backward(saved, y_bar)[0]

    def parameter_bars(self, saved, y_bar):
        """An array for each parameter, the second half of `backward`."""
        return bars_of(self.backward(saved, y_bar))

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """x_bar_tangent, the first half of `backward_tangent`."""
        return self.backward_tangent(saved, moved, y_bar, y_bar_tangent)[0]

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """An array for each parameter, the second half of `backward_tangent`."""
        return bars_of(self.backward_tangent(saved, moved, y_bar, y_bar_tangent))

def _whole(name, first, second):
    """A pass from its two halves."""
    def whole(self, saved, *bars):
        return first(self, saved, *bars), *second(self, saved, *bars)

    whole.made_of = first, second
    whole.__name__, whole.__doc__ = name, f"Both halves.\n\n{first.__doc__}\n{second.__doc__}"
    return whole
