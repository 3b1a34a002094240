"""What the rule of a layer must lie above, as a matrix, and what the paper's fractions would give.

Everything here is made of dense derivatives of one layer at one point, by sums over indices.
"""

import numpy as np


class Quadratic:
    """One layer at one point: its first and second derivatives, and what follows from them.

    ``J`` (S, out, in) and ``B`` (S, out, p) are the derivatives of the flat output ``y`` in the
    flat input and in theta; ``saved`` is what `forward` left behind.
    """

    def __init__(self, layer, x):
        self.layer, self.x = layer, x
        self.y, self.saved = layer.forward(x)
        self.inputs, self.outputs, self.size = x[0].size, self.y[0].size, layer.size
        samples = len(x)

        def column(x_tangent, theta_tangent):
            return layer.tangent(self.saved, x_tangent, theta_tangent).reshape(samples, -1)

        units = np.eye(self.inputs).reshape(self.inputs, *x.shape[1:])
        J = [column(np.broadcast_to(e, x.shape).copy(), None) for e in units]
        B = [column(None, e) for e in np.eye(self.size)]
        self.J = np.stack(J, axis=-1)
        self.B = np.stack(B, axis=-1) if B else np.zeros((samples, self.outputs, 0))

    def second_derivatives(self, g):
        """Second derivatives of <g, y>: (S, in, in) in x, (S, in, p) mixed, (p, p) in theta."""
        samples, zero = len(self.x), np.zeros_like(g)
        in_x = self.layer.input_hessian(self.saved, g,
                                        np.zeros((samples, self.outputs, self.outputs)))
        mixed, in_theta = np.zeros((samples, self.inputs,
                                    self.size)), np.zeros((self.size, self.size))
        for k, e in enumerate(np.eye(self.size)):
            x_part, theta_part = self.layer.backward_tangent(self.saved, None, e, g, zero)
            mixed[:, :, k], in_theta[k] = x_part.reshape(samples, -1), theta_part
        return in_x, mixed, in_theta

    def reach(self, u):
        """Eq. (11): how far each output can move, sum_j |J_ij| u_j + sum_k |B_ik|, like y."""
        reach = np.abs(self.B).sum(axis=-1)
        if u is not None:
            reach = reach + np.einsum("sij,sj->si", np.abs(self.J), u.reshape(len(u), -1))
        return reach.reshape(self.y.shape)

    def weights(self, u, u_out, Z):
        """Z / u_out, the quadratic coefficients of the outputs; 0 for outputs that cannot move."""
        return np.where(self.reach(u) == 0, 0.0, quotient(Z, u_out))

    def form(self, weights, g, cross):
        """The symmetric matrix of the quadratic form, over the inputs of all rows, then theta."""
        samples, n, p = len(self.x), self.inputs, self.size
        weights = weights.reshape(samples, -1, 1)
        M = np.zeros((samples * n + p, samples * n + p))
        in_x, mixed, in_theta = self.second_derivatives(g)
        theta = slice(samples * n, None)
        M[theta, theta] = in_theta + np.einsum("sia,sib->ab", self.B, weights * self.B)
        for s in range(samples):
            here = slice(s * n, (s + 1) * n)
            M[here, here] = in_x[s] + self.J[s].T @ (weights[s] * self.J[s])
            M[here, theta] = self.J[s].T @ (weights[s] * self.B[s]) + cross * mixed[s]
            M[theta, here] = M[here, theta].T
        return M

    def literal(self, u, g, Z, options):
        """u_out, Z_in, curvature by the fractions of Eqs. (10), (37), and by the second
        derivatives' sizes.
        """
        samples = len(self.x)
        below = np.zeros((samples, self.inputs)) if u is None else u.reshape(samples, -1)
        Z = Z.reshape(samples, -1)
        Z_in = np.einsum("sij,si->sj", np.abs(self.J), Z)
        curvature = np.einsum("sik,si->k", np.abs(self.B), Z)
        in_x, mixed, in_theta = self.second_derivatives(g)
        diagonal = np.einsum("sjj->sj", in_x) * below
        others = np.einsum("sij,sj->si", np.abs(in_x), below) - np.abs(diagonal)
        Z_in = Z_in + diagonal
        Z_in = (np.maximum(Z_in, 0) if options.clip else np.abs(Z_in)) + others
        curvature = curvature + np.abs(in_theta).sum(axis=1)
        if options.cross:
            Z_in = Z_in + np.abs(mixed).sum(axis=-1)
            curvature = curvature + np.einsum("sjk,sj->k", np.abs(mixed), below)
        return self.reach(u), None if u is None else Z_in.reshape(self.x.shape), curvature

    def turned(self, Z):
        """|J| Z, like x: an easy mistake where x and y are alike; None where they are not."""
        if self.inputs != self.outputs:
            return None
        return np.einsum("sij,sj->si", np.abs(self.J), Z.reshape(len(Z), -1)).reshape(self.x.shape)


def quotient(a, b):
    """a / b, and 0 where a is 0; infinite where only b is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a == 0, 0.0, a / b)
