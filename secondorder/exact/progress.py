"""An operator that counts its products, and says on a terminal how many it has made."""

import sys
import time

from scipy.sparse.linalg import LinearOperator

from ..checks import boolean

PATIENCE = 1.0  # seconds before the first line, and a fifth of it between two


class Counted(LinearOperator):
    """A symmetric operator with a multiple of the identity, C + damping I, that counts its
    `products`.

    With `show` a line says on the terminal how many there were, after `what` they are for.
    """

    def __init__(self, C, what, damping=0.0, show=False):
        super().__init__(C.dtype, C.shape)
        self.C, self.what, self.damping = C, what, C.dtype.type(damping)
        self.products, self.written, self.show = 0, False, show
        self._next = time.monotonic() + PATIENCE

    def _matvec(self, v):
        self.products += 1
        self._show()
        return self.C @ v + self.damping * v

    def _adjoint(self):
        return self

    def _show(self):
        if self.show and time.monotonic() >= self._next:
            sys.stderr.write(f"\r{self.what}: {self.products} products")
            sys.stderr.flush()
            self.written, self._next = True, time.monotonic() + PATIENCE / 5

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.written:
            sys.stderr.write("\n")
            sys.stderr.flush()


def shown(progress):
    """Whether a line of progress is written: as asked for, else where there is a terminal."""
    wanted = None if progress is None else boolean(progress, "progress")
    if sys.stderr is None:  # a program without a console
        return False
    return sys.stderr.isatty() if wanted is None else wanted
