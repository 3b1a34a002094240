"""An operator that counts its products."""

from scipy.sparse.linalg import LinearOperator


class Counted(LinearOperator):
    """A symmetric operator with a multiple of the identity, C + damping I, that counts its
    `products`.
    """

    def __init__(self, C, damping=0.0):
        super().__init__(C.dtype, C.shape)
        self.C, self.damping, self.products = C, C.dtype.type(damping), 0

    def _matvec(self, v):
        self.products += 1
        return self.C @ v + self.damping * v

    def _adjoint(self):
        return self
