"""4. RevMLP: L blocks of (14) and (15), a network that can be run backwards.

The class is a network like any other, with rows of samples. `BlockState` has what (14) and (15)
need and make in one block as the paper writes it, with one column a sample.
"""

from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from ...checks import all_finite, batch, number_in, one_of, plain_array, real_array, whole_number
from ...checks.randomness import generator
from ...nets import Linear, Network
from ...nets.layers.activation_functions import activation_function
from .eq_14_15_coupling import HALVES, Coupling, CouplingBlock


class BlockState(NamedTuple):
    """One block of a forward pass: views of what its layers have saved, one column a sample.

    X1, X2 : (h, n), the halves of X_l; h = d/2.
    S1, S2 : (d', n), sigma(V^(2)_{l-1} X^(2)_{l-1}) and sigma(V^(1)_l X^(1)_l); with biases there
    is a row of ones below.
    slope1, slope2 : (d', n), sigma' at the same places.
    W1, W2 : (h, d'); V1, V2 : (d', h), V^(1)_l and V^(2)_{l-1}, the identity without a bottleneck.
    """

    X1: np.ndarray
    X2: np.ndarray
    S1: np.ndarray
    S2: np.ndarray
    slope1: np.ndarray
    slope2: np.ndarray
    W1: np.ndarray
    W2: np.ndarray
    V1: np.ndarray
    V2: np.ndarray


def block_states(network, saved):
    """[`BlockState`] of all blocks, from the first up, of what the network's layers saved."""
    return list(downwards(network, saved))[::-1]


def downwards(network, saved):
    """The same from the last block down, one at a time."""
    own = network.of_blocks(saved)
    for block, *pair in zip(network.blocks[::-1], own[-2::-2], own[::-2]):
        (S1, slope1, W1, V2), (S2, slope2, W2, V1) = map(half_state, block, pair)
        X1, X2 = np.split(pair[1].output.T, 2)
        yield BlockState(X1, X2, S1, S2, slope1, slope2, W1, W2, V1, V2)


def half_state(half, saved):
    """sigma(V X), sigma'(V X), W, V of a `Coupling`."""
    S, W = saved.inner[-1].input.T, half.trained.weight
    V = np.eye(half.half, dtype=W.dtype) if half.fixed is None else half.fixed.weight
    S = S if half.trained.bias is None else np.vstack([S, np.ones_like(S[:1])])
    return S, saved.inner[-2].slope.T, W, V


class RevMLP(Network):
    """A reversible network, Eqs. (14)-(15), with a fixed linear readout: f = U x_L

    Parameters
    ----------
    d : int
        Number of inputs. An odd number is padded with a zero to the next even one, the `width` of
        the blocks.
    blocks : int
        L.
    bottleneck : int or None
        d', the width of the fixed expansion V; None leaves it out.
    activation : str or ActivationFunction
    first_activation : str or ActivationFunction, optional
        Of the first block; default: the same. (The paper's figures were drawn with "identity", its
        text says ReLU.)
    outputs : int, optional
        C. Without it and without a readout the outputs are x_L itself.
    readout : (C, width) array, optional
        U, of full row rank; default: C rows of a random orthogonal matrix.
    bias : bool
        A trained bias in every half-coupled layer, which starts at 0.
    init : {"xavier"} or number
        W: normal with the variance gain^2 * 2 / (d' + d/2), gain 1 after the identity and sqrt(2)
        otherwise; or normal with this standard deviation. V is normal with variance 1 / d'.
    rng : None, int or numpy.random.Generator
    dtype : "float64" or "float32"

    Attributes
    ----------
    blocks : tuple of CouplingBlock
    couplings : list of Coupling
        The half-coupled layers, two for each block.
    readout : (C, width) array or None
        U.
    width : int
        d, or d + 1 if that was odd.

    Raises
    ------
    ValueError, TypeError
        Numbers that are no positive integers, more outputs than units, a readout of another shape
        or without full row rank, unknown names.

    Examples
    --------
    >>> import numpy as np
    >>> net = RevMLP(6, 3, 16, activation="tanh", outputs=2, rng=0)
    >>> x = np.random.default_rng(1).normal(size=(4, 6))
    >>> net(x).shape
    (4, 2)
    >>> bool(np.allclose(net.inverse(net.features(x)), x, atol=1e-12))
    True
    """

    def __init__(self, d, blocks, bottleneck, activation="relu", first_activation=None,
                 outputs=None, readout=None, bias=False, init="xavier", rng=None,
                 dtype="float64"):
        for name, value in (("d", d), ("blocks", blocks)):
            whole_number(value, name, 1)
        for name, value in (("bottleneck", bottleneck), ("outputs", outputs)):
            if value is not None:
                whole_number(value, name, 1)
        rng = generator(rng)
        self.inputs, self.width = int(d), int(d) + int(d) % 2
        first = activation if first_activation is None else first_activation
        kinds = chain([first], repeat(activation, int(blocks) - 1))
        halves = [Coupling(self.width, bottleneck, moves, kind, bias, _drawn_w(init, kind),
                           _drawn_v, rng)
                  for kind in kinds for moves in HALVES]
        U = _readout_matrix(readout, outputs, self.width, rng)
        end = [] if U is None else [_fixed(U)]
        pad = [_fixed(np.eye(self.width, self.inputs))] if self.width > self.inputs else []
        self._begin, self._end = len(pad), len(pad) + len(halves)
        super().__init__([*pad, *halves, *end], dtype=dtype)

    def saved_arguments(self):
        """What the constructor takes, for :mod:`~secondorder.nets.saving`; the readout is among
        the parameters.
        """
        first, last = (half.saved_arguments() for half in (self.couplings[0], self.couplings[-1]))
        return {"d": self.inputs, "blocks": len(self.blocks), "bottleneck": last["bottleneck"],
                "activation": last["activation"], "first_activation": first["activation"],
                "outputs": None if self.readout is None else len(self.readout),
                "bias": last["bias"]}

    def of_blocks(self, entries):
        """Of a list with an entry for every layer: those of `couplings`."""
        return entries[self._begin:self._end]

    couplings = property(lambda self: self.of_blocks(self.layers))
    blocks = property(lambda self: tuple(map(CouplingBlock, self.couplings[::2],
                                             self.couplings[1::2])))
    readout = property(lambda self: self.layers[-1].weight if len(self.layers) > self._end
                       else None)

    def features(self, x):
        """x_L (S, width), what the last block makes of a batch x (S, d).

        ValueError or TypeError for a bad batch; FloatingPointError if the result is not finite.
        """
        x = self.check_input(x)
        with np.errstate(over="ignore", invalid="ignore"):
            for layer in self.layers[:self._end]:
                x = layer.forward(x)[0]
        return _finite(x, "the features x_L")

    def inverse(self, x_L):
        """The batch x (S, d) whose features are x_L (S, width); raises as :meth:`features`."""
        y = batch(x_L, (self.width,), self.dtype, "x_L")
        with np.errstate(over="ignore", invalid="ignore"):
            for half in self.couplings[::-1]:
                y = half.inverse(y)
        return _finite(y[:, :self.inputs], "the inputs of x_L")


def _finite(array, what):
    """The array, or FloatingPointError."""
    if not all_finite(array):
        raise FloatingPointError(f"{what} are not finite: a weight is not, or something overflowed")
    return array


def _drawn_v(shape, fan_in, fan_out, rng):
    """Entries of V: variance 1 / d'."""
    return rng.normal(size=shape) / np.sqrt(shape[0])


def _drawn_w(init, activation):
    """An initialiser for W and a bias that starts at 0."""
    if isinstance(init, str):
        one_of(("xavier",), init, "init")
    else:
        number_in(init, "init", 0, np.inf)
    name = getattr(activation_function(activation), "name", None)

    def draw(shape, fan_in, fan_out, rng):
        if len(shape) == 1:
            return np.zeros(shape)
        xavier = np.sqrt((2 if name == "identity" else 4) / (fan_in + fan_out))
        return rng.normal(size=shape) * (xavier if isinstance(init, str) else init)

    return draw


def _fixed(matrix):
    """The fixed linear layer with this weight."""
    layer = Linear(matrix.shape[1], matrix.shape[0], bias=False, trainable=False, init=0.0)
    layer.weight = matrix
    return layer


def _readout_matrix(readout, outputs, width, rng):
    """U (C, width); None where the outputs are x_L itself."""
    if readout is None and outputs is None:
        return None
    if readout is None:
        if outputs > width:
            raise ValueError(f"outputs must be at most the width {width}, got {outputs}: a fixed "
                             "readout of full row rank has no more rows than columns")
        return np.linalg.qr(rng.normal(size=(width, outputs)))[0].T
    rows = outputs or len(np.atleast_1d(plain_array(readout, "readout"))) or 1
    U = real_array(readout, "readout", (rows, width))
    rank = np.linalg.matrix_rank(U)
    if rank < rows:
        raise ValueError(f"readout must have full row rank {rows}, got rank {rank}")
    return U
