"""Laplace's approximation: exact for linear models, where Bayes' rule has closed forms."""


import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import multivariate_normal, norm, poisson

import secondorder as so
from harness.cases import relative

TAU, S2 = 0.7, 0.3


def linear(outputs=2, samples=11, tau=TAU, s2=S2, seed=0):
    """A linear model at the maximum of its posterior; the features [x 1], one row a sample."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(samples, 3)), rng.normal(size=(samples, outputs))
    features = np.hstack([x, np.ones((samples, 1))])
    W = np.linalg.solve(features.T @ features / s2 + tau * np.eye(4), features.T @ y / s2).T
    net = so.mlp([3, outputs], rng=0)
    net.theta = np.concatenate([W[:, :-1].ravel(), W[:, -1]])
    return net, x, y, features


def precision_of(features, structure):
    """Lambda of each output: features^T features / s^2 + tau I, or its diagonal."""
    precision = features.T @ features / S2 + TAU * np.eye(4)
    return precision if structure == "full" else np.diag(np.diag(precision))


def of(net, x, y, **options):
    return so.exact.posterior(net, so.SquaredError(), x, y, TAU, noise_variance=S2, **options)


# -- closed forms ----------------------------------------------------------


@pytest.mark.parametrize("kind", ["gauss-newton", "hessian", "fisher"])
@pytest.mark.parametrize("batch_size", [None, 4])
def test_the_evidence_of_linear_regression(kind, batch_size):
    """y ~ N(0, s^2 I + features features^T / tau), each output alone: the integral in closed
    form."""
    net, x, y, features = linear()
    covariance = S2 * np.eye(len(x)) + features @ features.T / TAU
    exact = sum(multivariate_normal.logpdf(column, cov=covariance) for column in y.T)
    found = of(net, x, y, kind=kind, batch_size=batch_size).log_evidence()
    assert found == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("structure", ["full", "diagonal"])
def test_the_variance_of_linear_regression(structure):
    net, x, y, features = linear()
    x_new = np.random.default_rng(5).normal(size=(6, 3))
    new, precision = np.hstack([x_new, np.ones((6, 1))]), precision_of(features, structure)
    variance = np.einsum("si,ij,sj->s", new, np.linalg.inv(precision), new)
    found = of(net, x, y, structure=structure)
    assert relative(found.variance(x_new), np.stack([variance] * 2, axis=1)) < 1e-12
    assert found.log_determinant == pytest.approx(2 * np.linalg.slogdet(precision)[1], rel=1e-12)
    covariance = found.covariance(x_new)
    assert np.allclose(covariance, variance[:, None, None] * np.eye(2), atol=1e-13)


@pytest.mark.parametrize("structure", ["full", "diagonal"])
def test_the_empirical_fisher_matrix_of_linear_regression(structure):
    """It is made of gradients of the log-likelihood: r features / s^2 for a residual r."""
    net, x, y, features = linear(outputs=1)
    g = (net(x) - y) * features / S2
    precision = g.T @ g + TAU * np.eye(4)
    if structure == "diagonal":
        precision = np.diag(np.diag(precision))
    found = of(net, x, y, kind="fisher-empirical", structure=structure)
    variance = np.einsum("si,ij,sj->s", features, np.linalg.inv(precision), features)
    assert relative(found.variance(x)[:, 0], variance) < 1e-12
    log_det = np.linalg.slogdet(precision)[1]
    assert found.log_determinant == pytest.approx(log_det, rel=1e-12)
    likelihood = norm.logpdf(y, net(x), np.sqrt(S2)).sum()
    prior = 4 * np.log(TAU) - TAU * net.theta @ net.theta
    assert found.log_evidence() == pytest.approx(likelihood + (prior - log_det) / 2, rel=1e-12)


def test_kronecker_factors_of_the_empirical_fisher_matrix():
    """One sample: the factors are exact, and so is the posterior."""
    net, x, y, _ = linear(samples=1)
    case = net, so.SquaredError(), x, y + 1, TAU
    found = so.eacg.posterior(*case, "fisher-empirical", noise_variance=S2)
    full = so.exact.posterior(*case, "fisher-empirical", noise_variance=S2)
    assert relative(found.variance(x), full.variance(x)) < 1e-11
    assert found.log_evidence() == pytest.approx(full.log_evidence(), rel=1e-12)


def test_one_parameter_by_an_integral():
    """The evidence of a Poisson rate and of a coin, close to the integral over the only weight."""
    x, counts = np.ones((400, 1)), np.random.default_rng(0).poisson(3.0, size=(400, 1)) * 1.0
    coins = (np.random.default_rng(1).random((400, 1)) < 0.3) * 1.0
    grid = np.linspace(-4, 4, 2001)
    for loss, y, log_p in ((so.PoissonNLL(), counts, lambda w: poisson.logpmf(counts, np.exp(w))),
                           (so.BinaryCrossEntropy(), coins,
                            lambda w: np.log(np.where(coins == 1, expit(w), expit(-w))))):
        joint = np.array([log_p(w).sum() + norm.logpdf(w, scale=TAU**-0.5) for w in grid])
        top = joint.max()
        exact = top + np.log(np.trapezoid(np.exp(joint - top), grid))
        net = so.Network([so.Linear(1, 1, bias=False, init=0.0)])
        net.theta = grid[[joint.argmax()]]
        found = so.exact.posterior(net, loss, x, y, TAU).log_evidence()
        assert found == pytest.approx(exact, abs=5e-3)


def test_classes_by_dense_linear_algebra():
    rng = np.random.default_rng(3)
    net, loss = so.mlp([3, 4, 3], rng=0), so.SoftmaxCrossEntropy()
    x, y = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    precision = 20 * so.exact.gauss_newton(net, loss, x, y) + TAU * np.eye(net.size)
    p = so.exact.posterior(net, loss, x, y, TAU)
    sign, log_det = np.linalg.slogdet(precision)
    probability = np.exp(net(x)) / np.exp(net(x)).sum(axis=1, keepdims=True)
    expected = (np.log(probability[np.arange(20), y]).sum() + net.size / 2 * np.log(TAU)
                - TAU / 2 * net.theta @ net.theta - log_det / 2)
    assert sign == 1 and p.log_evidence() == pytest.approx(expected, rel=1e-12)
    J = so.exact.jacobian(net, x[:4])
    assert relative(p.covariance(x[:4]), J @ np.linalg.inv(precision) @ J.swapaxes(1, 2)) < 1e-11


# -- a prior precision a layer ---------------------------------------------


@pytest.mark.parametrize("given", [[0.5, 3.0], np.array([0.5, 3.0]), {2: 3.0, 0: 0.5}])
def test_a_prior_precision_a_layer(given):
    """Evidence and variance by dense linear algebra; a network with a layer of each."""
    rng = np.random.default_rng(3)
    net, loss = so.mlp([3, 4, 2], rng=0), so.SquaredError()
    x, y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    tau = np.r_[np.full(16, 0.5), np.full(10, 3.0)]
    precision = 20 * so.exact.gauss_newton(net, loss, x, y) + np.diag(tau)
    likelihood = -np.sum((net(x) - y) ** 2) / 2 - 20 * np.log(2 * np.pi)
    prior = multivariate_normal.logpdf(net.theta, cov=np.diag(1 / tau))
    for structure in ("full", "diagonal"):
        A = precision if structure == "full" else np.diag(np.diag(precision))
        p = so.exact.posterior(net, loss, x, y, given, structure=structure)
        expected = likelihood + prior + net.size / 2 * np.log(2 * np.pi) \
            - np.linalg.slogdet(A)[1] / 2
        assert p.log_evidence() == pytest.approx(expected, rel=1e-12)
        J = so.exact.jacobian(net, x[:4])
        assert relative(p.covariance(x[:4]), J @ np.linalg.inv(A) @ J.swapaxes(1, 2)) < 1e-11
    last = so.exact.posterior(net, loss, x, y, given, layer=-1)
    same = so.exact.posterior(net, loss, x, y, 3.0, layer=-1)
    assert last.log_evidence() == pytest.approx(same.log_evidence(), rel=1e-14)


def test_a_prior_precision_a_layer_with_kronecker_factors():
    """One linear layer after a fixed one, where the factors are exact; a layer each, otherwise."""
    rng = np.random.default_rng(4)
    net = so.Network([so.Linear(3, 2, rng=0), so.Activation("tanh"), so.Linear(2, 2, rng=1)])
    x, y = rng.normal(size=(9, 3)), rng.normal(size=(9, 2))
    case = net, so.SquaredError(), x, y
    both = so.eacg.posterior(*case, [0.4, 2.0])
    for number, tau in ((0, 0.4), (2, 2.0)):
        alone = so.eacg.posterior(*case, tau)
        block = [one for one in zip(both._blocks, alone._blocks)][number // 2]
        assert np.array_equal(block[0].values, block[1].values) and block[0].tau == tau
    with pytest.raises(ValueError, match="the layers that are trained, 0, 2; got 3"):
        so.eacg.posterior(*case, [0.4, 2.0, 1.0])


# -- probabilities of classes ----------------------------------------------


@pytest.mark.parametrize("of", [so.exact.posterior, so.eacg.posterior])
def test_probabilities_against_draws_of_the_parameters(of):
    """A network without a hidden layer is linear in its parameters: softmax over drawn networks has
    the same mean."""
    rng = np.random.default_rng(3)
    net, x, y = so.mlp([3, 3], rng=0), rng.normal(size=(12, 3)), rng.integers(0, 3, 12)
    p, x_new, draws = of(net, so.SoftmaxCrossEntropy(), x, y, 0.2), rng.normal(size=(4, 3)), 20000
    outputs = []
    for theta in p.sample(rng=1, count=draws):
        net.theta = theta
        outputs.append(net(x_new))
    share = np.exp(outputs) / np.exp(outputs).sum(axis=2, keepdims=True)
    found = p.predictive_probability(x_new, draws=draws, rng=2)
    assert relative(found.sum(axis=1), np.ones(4)) < 1e-12
    error = share.std(axis=0) * np.sqrt(2 / draws)
    assert (np.abs(found - share.mean(axis=0)) < 5 * error).all()
    net.theta = p.mean
    certain = np.exp(net(x_new)) / np.exp(net(x_new)).sum(axis=1, keepdims=True)
    assert (found.max(axis=1) < certain.max(axis=1) - 0.02).any()


def test_probabilities_of_coins_by_integration():
    rng = np.random.default_rng(3)
    net, x = so.mlp([3, 4, 2], rng=0), rng.normal(size=(12, 3))
    p = so.exact.posterior(net, so.BinaryCrossEntropy(), x, (rng.random((12, 2)) < 0.4) * 1.0, 0.1)
    found, variance = p.predictive_probability(x), p.variance(x)
    grid = np.linspace(-12, 12, 4001)
    for s in range(12):
        for c in range(2):
            outputs = net(x)[s, c] + np.sqrt(variance[s, c]) * grid
            exact = np.trapezoid(expit(outputs) * norm.pdf(grid), grid)
            assert found[s, c] == pytest.approx(exact, abs=1e-6)
    with pytest.raises(TypeError, match="predictive_probability is of SoftmaxCrossEntropy"):
        of(*linear()[:3]).predictive_probability(x)


# -- draws -----------------------------------------------------------------


@pytest.mark.parametrize("structure", ["full", "diagonal"])
def test_draws_have_the_covariance(structure):
    net, x, y, features = linear(outputs=1)
    p = of(net, x, y, structure=structure)
    draws = p.sample(rng=0, count=40000)
    covariance = np.linalg.inv(precision_of(features, structure))
    scale = np.sqrt(np.diag(covariance))
    assert np.abs((draws.mean(axis=0) - net.theta) / scale).max() < 5 / 200
    off = (np.cov(draws.T) - covariance) / np.outer(scale, scale)
    assert np.abs(off).max() < 5 * np.sqrt(2 / 40000)
    assert p.sample(rng=1).shape == (net.size,)
    assert (p.sample(rng=1) == p.sample(rng=1, count=1)[0]).all()


def test_only_a_layer_is_uncertain():
    rng = np.random.default_rng(3)
    net, loss = so.mlp([3, 4, 2], rng=0), so.SquaredError()
    x, y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    p = so.exact.posterior(net, loss, x, y, TAU, layer=-1)
    precision = 20 * so.exact.gauss_newton(net, loss, x, y)[16:, 16:] + TAU * np.eye(10)
    J = so.exact.jacobian(net, x[:4])[:, :, 16:]
    assert relative(p.covariance(x[:4]), J @ np.linalg.inv(precision) @ J.swapaxes(1, 2)) < 1e-11
    drawn = p.sample(rng=0, count=3)
    assert (drawn[:, :16] == net.theta[:16]).all() and (drawn[:, 16:] != net.theta[16:]).all()
    log_det, theta = np.linalg.slogdet(precision)[1], net.theta[16:]
    likelihood = -np.sum((net(x) - y) ** 2) / 2 - 20 * np.log(2 * np.pi)
    expected = likelihood + (10 * np.log(TAU) - TAU * theta @ theta - log_det) / 2
    assert p.log_evidence() == pytest.approx(expected, rel=1e-12)


# -- what is refused -------------------------------------------------------


@pytest.mark.parametrize("structure", ["full", "diagonal"])
def test_an_indefinite_hessian_is_refused(structure):
    rng = np.random.default_rng(0)
    net, x = so.mlp([3, 6, 2], rng=0), rng.normal(size=(30, 3))
    y = -5 * net(x) + rng.normal(size=(30, 2))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite: its smallest") as error:
        so.exact.posterior(net, so.SquaredError(), x, y, 1e-3, "hessian", structure)
    H = 30 * so.exact.hessian(net, so.SquaredError(), x, y) + 1e-3 * np.eye(net.size)
    lowest = np.linalg.eigvalsh(H)[0] if structure == "full" else H.diagonal().min()
    assert lowest < 0 and f"{lowest:.3g}" in str(error.value)


@pytest.mark.parametrize("loss", [so.Huber(), so.BinaryCrossEntropy(pos_weight=2.0),
                                  so.BinaryCrossEntropy(np.array([1.0, 2.0]))])
def test_no_evidence_without_a_model(loss):
    net, x, y, _ = linear()
    p = so.exact.posterior(net, loss, x, (y > 0) * 1.0, TAU)
    assert p.variance(x).shape == (11, 2)
    with pytest.raises(TypeError, match="log_evidence: .* is not known as the negative logarithm"):
        p.log_evidence()


def test_a_variance_of_noise_is_for_normal_outputs():
    net, x, y, _ = linear()
    with pytest.raises(ValueError, match="noise_variance is for normal outputs"):
        so.exact.posterior(net, so.Huber(), x, y, TAU, noise_variance=2.0)
