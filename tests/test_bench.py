"""`secondorder bench`: contenders do the same work. Nothing is timed here."""

import json

import numpy as np
import pytest

import secondorder as so
from secondorder import bench


def test_the_products_of_a_gradient():
    net = so.mlp([3, 4, 2], rng=0)
    up = [(1, 5, 3, 4), (1, 5, 4, 2)]
    assert bench.products(net, 5, "gradient") == up + up + up[1:]
    images = so.Network([so.Conv2d(1, 2, 3, rng=0), so.Flatten(), so.Linear(18, 3, rng=0)],
                        input_shape=(1, 5, 5))
    assert bench.products(images, 7, "gradient")[0] == (7, 2, 9, 9)


@pytest.mark.parametrize("network", ["small", "conv"])
def test_pytorch_computes_the_same_gradient(network):
    torch = pytest.importorskip("torch")
    net, loss, x, y = bench.problem(network)
    pieces = bench.in_torch(net, x, y, "gradient")()
    theirs = np.concatenate([piece.numpy().ravel() for piece in pieces])
    assert isinstance(pieces[0], torch.Tensor)
    np.testing.assert_allclose(so.exact.gradient(net, loss, x, y), theirs, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("work", bench.WORK)
def test_all_work_runs_once(work):
    result = bench.measure("small", work, blocks=1, seconds=0)
    assert result["seconds"] > 0 and result["peak_bytes"] > 0
    assert np.isfinite(list(result["ratios"].values())).all()


def test_the_command(run):
    status, out, _ = run("bench", "--list")
    assert status == 0 and "recurrent" in out and "step of Adam" in out
    status, out, _ = run("bench", "small", "--work", "gradient", "--blocks", 1, "--seconds", 0.001,
                         "--json")
    (result,) = json.loads(out)["results"]
    assert status == 0 and result["network"] == "small" and result["ratios"]["products"] > 0
    status, _, err = run("bench", "smal")
    assert status == 2 and "small" in err
