"""The same numbers as curvlinops and laplace-torch, where they are installed: they are no
dependencies, and these tests are left out without them."""

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

import secondorder as so
from harness.cases import relative

torch = pytest.importorskip("torch")
TAU, S2 = 0.7, 0.3


@pytest.fixture(autouse=True)
def _double():
    """laplace keeps its matrices in PyTorch's default precision."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.fixture(scope="module")
def case():
    torch.manual_seed(0)
    nn, rng = torch.nn, np.random.default_rng(0)
    module = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 5), nn.Tanh(),
                           nn.Linear(5, 3)).double()
    x, labels, numbers = rng.normal(size=(40, 4)), rng.integers(0, 3, 40), rng.normal(size=(40, 3))
    return module, so.from_torch(module), x, labels, numbers


def test_curvlinops(case):
    curvlinops = pytest.importorskip("curvlinops")
    module, net, x, y, _ = case
    data, loss = [(torch.tensor(x), torch.tensor(y))], torch.nn.CrossEntropyLoss()
    parameters, problem = list(module.parameters()), (net, so.SoftmaxCrossEntropy(), x, y)

    def theirs(name, chosen=parameters):
        A = getattr(curvlinops, name)(module, loss, chosen, data)
        size = sum(p.numel() for p in chosen)
        return A, (A @ torch.eye(size)).detach().numpy()

    H, dense = theirs("HessianLinearOperator")
    assert relative(so.exact.hessian(*problem), dense) < 1e-13
    assert relative(so.exact.gauss_newton(*problem), theirs("GGNLinearOperator")[1]) < 1e-13
    assert relative(so.exact.fisher(*problem, kind="empirical"),
                    theirs("EFLinearOperator")[1]) < 1e-13
    last = theirs("HessianLinearOperator", list(module[4].parameters()))[1]
    assert relative(so.exact.hessian(*problem, layer=-1), last) < 1e-13
    values = eigsh(H.to_scipy(), k=4, which="LA")[0][::-1]
    assert relative(so.exact.eigenpairs(*problem, 4).values, values) < 1e-12


def with_torch(name):
    """A torch module of these layers, on images or on vectors, and the same network here."""
    nn = torch.nn
    torch.manual_seed(1)
    layers = {"dense": [nn.Linear(4, 5), nn.Sigmoid(), nn.LayerNorm(5), nn.Linear(5, 4, bias=False),
                        nn.Softplus(), nn.Linear(4, 3)],
              "images": [nn.Conv2d(1, 2, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2),
                         nn.Conv2d(2, 2, 2), nn.Tanh(), nn.Flatten(), nn.Linear(2, 3)],
              "largest": [nn.Conv2d(1, 2, 2), nn.Tanh(), nn.MaxPool2d(3), nn.Flatten(),
                          nn.Linear(2, 3)]}[name]
    shape = (4,) if name == "dense" else (1, 4, 4)
    module = nn.Sequential(*layers).double()
    return module, so.from_torch(module, input_shape=shape), shape


@pytest.mark.parametrize("loss", ["cross-entropy", "squared", "binary", "huber", "poisson"])
@pytest.mark.parametrize("name", ["dense", "images", "largest"])
def test_derivatives_by_autograd(name, loss):
    """Gradient, Hessian, Gauss-Newton matrix and their products with several directions."""
    module, net, shape = with_torch(name)
    rng, F = np.random.default_rng(2), torch.nn.functional
    x, P = rng.normal(size=(4, *shape)), net.size
    ours, theirs, y = {
        "cross-entropy": (so.SoftmaxCrossEntropy(), F.cross_entropy, rng.integers(0, 3, 4)),
        "squared": (so.SquaredError(), lambda p, t: ((p - t) ** 2).sum() / 8,
                    rng.normal(size=(4, 3))),
        "binary": (so.BinaryCrossEntropy(), lambda p, t: F.binary_cross_entropy_with_logits(
            p, t, reduction="sum") / 4, rng.random((4, 3))),
        "huber": (so.Huber(0.5), lambda p, t: F.huber_loss(p, t, reduction="sum", delta=0.5) / 4,
                  rng.normal(size=(4, 3))),
        "poisson": (so.PoissonNLL(), lambda p, t: F.poisson_nll_loss(
            p, t, reduction="sum") / 4, rng.poisson(2.0, size=(4, 3)).astype(float))}[loss]
    names, values = zip(*module.named_parameters())

    def outputs(theta):
        parts = torch.split(theta, [value.numel() for value in values])
        parts = [part.reshape(value.shape) for part, value in zip(parts, values)]
        return torch.func.functional_call(module, dict(zip(names, parts)), (torch.tensor(x),))

    def objective(theta):
        return theirs(outputs(theta), torch.tensor(y))

    theta = torch.cat([value.detach().reshape(-1) for value in values])
    H = torch.autograd.functional.hessian(objective, theta).numpy()
    J = torch.func.jacrev(outputs)(theta).reshape(-1, P).numpy()
    H_p = torch.autograd.functional.hessian(lambda p: theirs(p, torch.tensor(y)),
                                            outputs(theta).detach())
    G = J.T @ H_p.reshape(12, 12).numpy() @ J
    problem, V = (net, ours, x, y), rng.normal(size=(P, 4))
    assert relative(so.exact.gradient(*problem), torch.func.grad(objective)(theta).numpy()) < 1e-12
    assert relative(so.exact.hessian(*problem, method="products"), H) < 1e-12
    assert relative(so.exact.gauss_newton(*problem), G) < 1e-12
    for operator, matrix in ((so.exact.HessianOperator, H), (so.exact.GaussNewtonOperator, G)):
        for batch_size in (None, 3):
            assert relative(operator(*problem, batch_size=batch_size) @ V, matrix @ V) < 1e-12
    assert relative(so.exact.jacobian(net, x).reshape(-1, P), J) < 1e-12


@pytest.mark.parametrize("structure", ["full", "diag", "kron"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_laplace(case, task, structure):
    laplace = pytest.importorskip("laplace")
    module, net, x, labels, numbers = case
    loss, y, noise = ((so.SoftmaxCrossEntropy(), labels, {}) if task == "classification"
                      else (so.SquaredError(), numbers, {"noise_variance": S2}))
    pairs = torch.utils.data.TensorDataset(torch.tensor(x), torch.tensor(y))
    theirs = laplace.Laplace(module, task, subset_of_weights="all", hessian_structure=structure,
                             prior_precision=TAU, **({"sigma_noise": S2**0.5} if noise else {}))
    theirs.fit(torch.utils.data.DataLoader(pairs, batch_size=40))
    if structure == "kron":
        ours = so.eacg.posterior(net, loss, x, y, TAU, "fisher-exact", joint=False, **noise)
    else:
        ours = so.exact.posterior(net, loss, x, y, TAU, **noise,
                                  structure={"diag": "diagonal"}.get(structure, structure))
    assert ours.log_evidence() == pytest.approx(float(theirs.log_marginal_likelihood()), rel=1e-13)
    x_new = np.random.default_rng(5).normal(size=(7, 4))
    variance = theirs._glm_predictive_distribution(torch.tensor(x_new))[1].detach().numpy()
    assert relative(ours.covariance(x_new), variance) < 1e-13
