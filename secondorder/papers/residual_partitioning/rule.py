"""What residual partitioning must know of a layer: one step up for u, one step down for Z."""

from dataclasses import dataclass

from ...nets.rules import LayerRules

rules = LayerRules("residual partitioning")


@dataclass(frozen=True)
class Options:
    """Choices of :func:`bound` that rules need.

    Attributes
    ----------
    clip : bool
        A negative coefficient becomes zero instead of its absolute value.
    cross : bool
        Products of changes of parameters and of the input are bounded too.
    """

    clip: bool
    cross: bool


class Rule:
    """How one layer's part of the quadratic becomes separable: base of all rules.

    The layer maps x to ``y = f(x, theta)``. Derive from this class, register yours with
    ``@rules.register(MyLayer)``, and let ``verify.rule(MyLayer(...))`` judge it. The methods are
    static: what a rule must remember on the way down, `forward` returns as ``kept``.

    Notes
    -----
    *The inequality.* Let J and B be the derivatives of y in x and in theta. For every sample s, all
    changes dx (zero where u is zero) and one dtheta, with ``dy_s = J_s dx_s + B_s dtheta`` and
    ``q_si`` the second derivative of y_si along the change, without products of dx and dtheta
    unless ``options.cross``::

        sum_si (Z_si / u_out_si) dy_si^2 + sum_si g_si q_si
                <=  sum_sj (Z_in_sj / u_sj) dx_sj^2 + sum_k curvature_k dtheta_k^2

    must hold for all u > 0, Z >= 0 and g, where ``u_out`` is what `forward` returned. The quotients
    Z / u are the quadratic coefficients of the paper (its Y with two dots); carrying Z needs no
    division. Where every layer's rule satisfies this, adding up from the loss to the input gives
    the bound: what a layer passes down is what the layer below it starts from, and what remains are
    the curvatures.

    *How to find one.* An affine layer changes by ``dy_i = sum_j J_ij dx_j + sum_k B_ik dtheta_k``.
    Take as fraction of each term its share in ``u_out_i = sum_j |J_ij| u_j + sum_k |B_ik|``:
    Jensen's inequality gives ``Z_in = |J|^T Z`` and ``curvature = |B|^T Z``
    ([residual-partitioning] Eq. (9)-(11), (37)). It is tight: a step that moves every x_j by u_j
    and every theta_k by 1, with the signs of one row of J and B, gives both sides the same value.

    Attributes
    ----------
    inner_products : bool
        Parameters of the layer change what other uses of its parameters act on, as in layers made
        of layers; such products of changes are left out, too, unless ``options.cross``.
    """

    inner_products = False

    @staticmethod
    def forward(layer, saved, u):
        """Carry u up: how far an output can move if no parameter moves by more than one.

        Parameters
        ----------
        layer : Layer
        saved
            What the layer's `forward` left behind.
        u : array like x, or None
            Total gradient of the layer's input; None stands for zero: nothing below is trained,
            but the layer is. (Where neither is, no rule is asked.)

        Returns
        -------
        u_out : array like y
        kept : object
            What `backward` needs of this.
        """
        raise NotImplementedError("a rule must define forward(layer, saved, u)")

    @staticmethod
    def backward(layer, saved, kept, u, g, Z, options):
        """Carry Z down, and return the curvature of the layer's parameters.

        Parameters
        ----------
        layer, saved, u
            As for `forward`.
        kept : object
            What `forward` returned as such.
        g : array like y
            Gradient of every sample's loss in the layer's output.
        Z : array like y
            Quadratic coefficients of the output times u_out; not negative, not to be written to.
        options : Options

        Returns
        -------
        Z_in : array like x, or None
            Not negative; None where u is None.
        curvature : (layer.size,) array
            Summed over samples, not negative; empty where the layer has nothing to train.
        """
        raise NotImplementedError("a rule must define backward(layer, saved, kept, u, g, Z, "
                                  "options)")
