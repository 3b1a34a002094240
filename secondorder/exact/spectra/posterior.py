"""Laplace's approximation: a normal distribution of the parameters around the network's point."""

import math

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import expit, gammaln
from scipy.special import softmax as softmax_of

from ...checks import one_of, positive_number, whole_number
from ...checks.randomness import generator
from ...nets import BinaryCrossEntropy, PoissonNLL, SoftmaxCrossEntropy, SquaredError
from ..chunks import Chunks
from ..curvature import check_network, jacobian
from ..diagonals import KINDS, NAMES, diagonal
from ..objectives import loss_sum
from ..parameter_slices import parameter_slice
from .solving import factor, matrix_of, not_positive

STRUCTURES = ("full", "diagonal", "kronecker")
_NODES = 100  # of a quadrature over one normal output
REMEDY = "a larger prior_precision or another kind makes it so"


def posterior(network, loss, x, y, prior_precision, kind="gauss-newton", structure="full",
              noise_variance=1.0, rng=None, draws=1, layer=None, parameter=None, max_bytes=2**30,
              batch_size=None, executor=None):
    r"""Laplace's approximation of the distribution of the parameters, given the data.

    With N samples, a prior N(0, I / tau) and C the curvature of the mean loss at theta,

        p(theta' | data) ~ N(theta, Lambda^-1)    with    Lambda = N C / s^2 + tau I,

    and N C / s^4 for the empirical Fisher matrix, which is quadratic in the loss.

    It is meant for a minimum of the objective with l2 = tau s^2 / N; nothing here looks for one.

    Parameters
    ----------
    network : Network
        It is copied; the posterior stays what it is when the network is trained on.
    loss : Loss
        The negative log-likelihood of a sample. `SquaredError` belongs to a normal distribution.
    x, y
        All data, as for :func:`gradient`: N samples, not a batch of them.
    prior_precision : float, sequence or dict
        tau, positive. Of each layer its own: one number for every layer that is trained, in their
        order, or a dict from a layer's place in ``network.layers`` to its number. tau I is a
        diagonal matrix then.
    kind : {"gauss-newton", "hessian", "fisher", "fisher-empirical", "fisher-sampled"}
        C. With the Hessian Lambda may have negative eigenvalues, and is refused then.
    structure : {"full", "diagonal"}
        Of Lambda. Its Kronecker factors belong to a paper: see `so.eacg.posterior`.
    noise_variance : float
        s^2 of the outputs' normal distribution, for `SquaredError`; else 1.
    rng, draws
        Of the targets of ``"fisher-sampled"``.
    layer, parameter
        Only the parameters of a layer are uncertain, all others stay; see
        :class:`HessianOperator`.
    max_bytes : int
        Limit of the matrix.
    batch_size, executor
        As for :func:`gradient`.

    Returns
    -------
    Posterior

    Raises
    ------
    numpy.linalg.LinAlgError
        If Lambda is not positive definite, with its smallest eigenvalue.
    ValueError, TypeError, MemoryError, FloatingPointError
        As :func:`hessian`; ``structure="kronecker"``.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> net, x = so.mlp([3, 4, 1], rng=0), np.random.default_rng(1).normal(size=(20, 3))
    >>> p = so.exact.posterior(net, so.SquaredError(), x, np.sin(x[:, :1]), prior_precision=1.0)
    >>> p.variance(x[:5]).shape, p.sample(rng=0).shape == net.theta.shape
    ((5, 1), True)
    """
    one_of(KINDS, kind, "kind")
    if one_of(STRUCTURES, structure, "structure") == "kronecker":
        raise ValueError("structure='kronecker' needs the factors of a paper: use "
                         "so.eacg.posterior(network, loss, x, y, prior_precision)")
    check_network(network)
    tau, s2 = checked_precisions(network, loss, prior_precision, noise_variance)
    where = parameter_slice(network, layer, parameter)
    options = {"layer": layer, "parameter": parameter, "batch_size": batch_size,
               "executor": executor}
    problem, facts = (network, loss, x, y), (where, tau, s2, batch_size, executor)
    rng, weight = generator(rng), data_weight(kind, len(x), s2)
    if structure == "diagonal":
        C = diagonal(*problem, kind, rng=rng, draws=draws, **options)
        return Diagonal(*problem, *facts, weight, C, f"the diagonal of {NAMES[kind]}")
    C = matrix_of(kind, *problem, rng, draws, max_bytes=max_bytes, **options)
    return Full(*problem, *facts, weight, C, NAMES[kind])


def checked_precisions(network, loss, prior_precision, noise_variance):
    """tau of every parameter (P,), and s^2; another variance than 1 is for normal outputs only."""
    s2 = positive_number(noise_variance, "noise_variance")
    if s2 != 1 and not isinstance(loss, SquaredError):
        raise ValueError("noise_variance is for normal outputs, with SquaredError; with "
                         f"{loss!r} it must be 1, got {s2:g}")
    if not isinstance(prior_precision, dict) and np.ndim(prior_precision) == 0:
        return np.full(network.size, positive_number(prior_precision, "prior_precision")), s2
    trained = [i for i, layer in enumerate(network.layers) if layer.size]
    by_layer = (prior_precision if isinstance(prior_precision, dict)
                else dict(zip(trained, prior_precision)))
    if set(by_layer) != set(trained) or len(prior_precision) != len(trained):
        given = (f"those of {sorted(by_layer)}" if isinstance(prior_precision, dict)
                 else len(prior_precision))
        raise ValueError("prior_precision must be a number, or one for each of the layers that are "
                         f"trained, {', '.join(map(str, trained))}; got {given}")
    tau = np.empty(network.size)
    for i in trained:
        tau[network.slices[i]] = positive_number(by_layer[i], f"prior_precision of layer {i}")
    return tau, s2


def data_weight(kind, samples, s2):
    """What C is multiplied by in Lambda: N / s^2, and N / s^4 for the empirical Fisher matrix.

    The negative log-likelihood is loss / s^2. Its second derivatives, and its Fisher matrix under
    the model with that variance, are those of the loss over s^2; a product of two of its gradients
    is over s^4.
    """
    return samples / s2**2 if kind == "fisher-empirical" else samples / s2


class Posterior:
    """N(theta, Lambda^-1), made by :func:`posterior` or by `so.eacg.posterior`.

    A kind of Lambda defines `_inverse`, `_root` and `log_determinant`.

    Attributes
    ----------
    mean : (n,) array
        theta, or the part of it that is uncertain.
    place : slice
        Where that stands in ``network.theta``.
    prior_precision : (n,) array
        tau, of each of these parameters.
    noise_variance : float
    samples : int
        N.
    log_determinant : float
        log det Lambda.
    """

    def __init__(self, network, loss, x, y, where, prior_precision, noise_variance,
                 batch_size=None, executor=None):
        self.network, self.loss, self.place = network.copy(), loss, where
        self.prior_precision, self.noise_variance = prior_precision[where], noise_variance
        self.mean = network.theta[where].astype(np.float64)
        evaluated = Chunks(network, loss, x, y, batch_size, executor)
        self._loss_sum = float(evaluated.total(loss_sum)[0])
        self.samples = len(x)
        self._normaliser = log_normaliser(loss, y, (self.samples, *network.output_shape),
                                          noise_variance)

    def _inverse(self, V):
        """Lambda^-1 V for V (n, K)."""
        raise NotImplementedError

    def _root(self, Z):
        """R Z for Z (n, K), with R R^T = Lambda^-1."""
        raise NotImplementedError

    def covariance(self, x_new, max_bytes=2**30):
        """Covariance of the outputs at new inputs, (S, C, C): J Lambda^-1 J^T, J their Jacobian.

        The outputs are the network's: no noise is added, and no link applied.
        """
        J = jacobian(self.network, x_new, max_bytes)[:, :, self.place].astype(np.float64)
        samples, outputs, n = J.shape
        rows = self._inverse(J.reshape(-1, n).T).T.reshape(J.shape)
        return np.einsum("sin,sjn->sij", J, rows)

    def variance(self, x_new, max_bytes=2**30):
        """Variance of every output at new inputs, (S, C): the diagonal of `covariance`."""
        return np.einsum("sii->si", self.covariance(x_new, max_bytes)).copy()

    def predictive_probability(self, x_new, draws=1000, rng=None, max_bytes=2**30):
        """Probabilities of classes at new inputs, with the uncertainty of the parameters, (S, C).

        The outputs are normal, N(f(x), `covariance`): the network is linear in its parameters for
        so far as these vary. Of `SoftmaxCrossEntropy` it is the mean of softmax(p) over draws of
        these outputs (Monte Carlo: the error falls like 1 / sqrt(draws)). Of `BinaryCrossEntropy`
        it is the mean of 1 / (1 + exp(-p)) of every output, by Gauss-Hermite quadrature, which
        draws nothing.

        Parameters
        ----------
        x_new : (S, ...) array
        draws : int
        rng : None, int or numpy.random.Generator
        max_bytes : int
            Limit of the Jacobian.

        Raises
        ------
        TypeError
            If the loss is none of these two.
        """
        softmax = isinstance(self.loss, SoftmaxCrossEntropy)
        if not softmax and not isinstance(self.loss, BinaryCrossEntropy):
            raise TypeError("predictive_probability is of SoftmaxCrossEntropy or "
                            f"BinaryCrossEntropy, whose outputs are probabilities; got {self.loss}")
        draws, rng = whole_number(draws, "draws", 1), generator(rng)
        p, covariance = self.network(x_new).astype(np.float64), self.covariance(x_new, max_bytes)
        if not softmax:
            nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
            spread = np.sqrt(np.einsum("sii->si", covariance))
            return expit(p[..., None] + spread[..., None] * nodes) @ weights / weights.sum()
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]  # they are, but for rounding
        drawn = (mean + rng.standard_normal((draws, len(mean))) @ R.T for mean, R in zip(p, root))
        return np.stack([softmax_of(outputs, axis=1).mean(axis=0) for outputs in drawn])

    def sample(self, rng=None, count=None):
        """Parameters drawn from the distribution, (P,); (count, P) with a count.

        All parameters of the network are returned; those without uncertainty are unchanged.
        """
        rng, number = generator(rng), 1 if count is None else whole_number(count, "count", 1)
        Z = rng.standard_normal((len(self.mean), number))
        theta = np.tile(self.network.theta, (number, 1))
        theta[:, self.place] = self.mean + self._root(Z).T
        return theta[0] if count is None else theta

    def log_evidence(self):
        """Logarithm of the marginal likelihood of the data, by Laplace's approximation.

        log p(data | theta) + sum_i (log tau_i - tau_i theta_i^2) / 2 - log det Lambda / 2, over the
        parameters that are uncertain. Its maximum over `prior_precision` or networks chooses among
        them.

        Raises
        ------
        TypeError
            If the loss is no negative log-likelihood whose normalising constant is known.
        """
        if self._normaliser is None:
            raise TypeError(f"log_evidence: {self.loss!r} is not known as the negative logarithm "
                            "of a probability; SquaredError, SoftmaxCrossEntropy, PoissonNLL and "
                            "BinaryCrossEntropy with pos_weight 1 are")
        tau, theta = self.prior_precision, self.mean
        likelihood = -self._loss_sum / self.noise_variance + self._normaliser
        prior = np.sum(np.log(tau)) - tau @ theta**2
        return float(likelihood + (prior - self.log_determinant) / 2)

    def __repr__(self):
        return (f"{type(self).__name__}({len(self.mean)} parameters, {self.samples} samples, "
                f"prior_precision={_brief(self.prior_precision)})")


def _brief(tau):
    """One number, or from which to which."""
    return f"{tau[0]:g}" if np.ptp(tau) == 0 else f"{tau.min():g} to {tau.max():g}"


class Full(Posterior):
    """Lambda = L L^T, Cholesky's factor."""

    def __init__(self, *facts_and_C):
        *facts, weight, C, what = facts_and_C
        super().__init__(*facts)
        precision = weight * C.astype(np.float64) + np.diag(self.prior_precision)
        self._L = factor(precision, f"{weight:g} times {what} + {_brief(self.prior_precision)} I",
                         REMEDY)
        self.log_determinant = 2 * float(np.sum(np.log(self._L.diagonal())))

    def _inverse(self, V):
        return cho_solve((self._L, True), V)

    def _root(self, Z):
        return solve_triangular(self._L, Z, lower=True, trans="T")


class Diagonal(Posterior):
    """Lambda is a diagonal."""

    def __init__(self, *facts_and_C):
        *facts, weight, C, what = facts_and_C
        super().__init__(*facts)
        self._entries = weight * C.astype(np.float64) + self.prior_precision
        if self._entries.min() <= 0:
            raise not_positive(f"{weight:g} times {what} + {_brief(self.prior_precision)} I",
                               self._entries.min(), REMEDY)
        self.log_determinant = float(np.sum(np.log(self._entries)))

    def _inverse(self, V):
        return V / self._entries[:, None]

    def _root(self, Z):
        return Z / np.sqrt(self._entries)[:, None]


def log_normaliser(loss, y, shape, noise_variance):
    """log p(y | outputs) + loss / s^2, summed over samples; None for a loss that is no model."""
    if type(loss) is SquaredError:
        return -math.prod(shape) / 2 * math.log(2 * math.pi * noise_variance)
    if type(loss) is SoftmaxCrossEntropy:
        return 0.0
    if type(loss) is BinaryCrossEntropy and np.all(np.asarray(loss.pos_weight) == 1):
        return 0.0
    if type(loss) is PoissonNLL:
        t = loss.prepare_target(y, shape, np.dtype(np.float64))
        return -float(np.sum(gammaln(t + 1)))
    return None
