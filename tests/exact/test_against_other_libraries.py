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
