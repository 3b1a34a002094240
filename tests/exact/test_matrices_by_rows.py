"""Matrices over executors: split by rows, so that every entry is sent once."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from harness.chunked import CALLS, Here, Infinite, problem
from secondorder.exact import blocks, matrices
from secondorder.exact.chunks import Chunks

NAMES = [name for name in CALLS if name.startswith(("Hessian by", "Gauss-Newton", "Fisher, "))]


@pytest.mark.everyday(3)
@pytest.mark.parametrize("name", NAMES)
def test_every_entry_of_the_upper_triangle_is_sent_once(name):
    sent = []

    def noted(number, outcome):
        if outcome[0].shape != (4, 3):  # the outputs, from which targets are drawn
            sent.append(outcome[0].size)
        return outcome

    given = problem(24)
    matrix = CALLS[name](*given, batch_size=4, executor=Here(noted))
    n = len(matrix)
    assert len(sent) == matrices.PARTS and n * (n + 1) // 2 <= sum(sent) < 0.6 * n**2
    assert relative(matrix, CALLS[name](*given)) < 1e-12
    assert np.array_equal(matrix, matrix.T)


@pytest.mark.everyday(18)
@pytest.mark.parametrize("parts", (1, 2, 5, 24, 100))
@pytest.mark.parametrize("name", NAMES)
def test_any_number_of_parts(name, parts, monkeypatch):
    """Also where they cut the weights of a unit in two, and are one row each."""
    monkeypatch.setattr(matrices, "PARTS", parts)
    monkeypatch.setattr(matrices, "sends_less", lambda *_: True)
    given = problem()
    assert relative(CALLS[name](*given, batch_size=9), CALLS[name](*given)) < 1e-12


@pytest.mark.parametrize("sizes", ([3, 4, 2], [2, 3, 3, 1]))
@pytest.mark.parametrize("bias", (True, False))
def test_units_that_have_none_of_the_rows_are_left_out(sizes, bias):
    """Row by row, of every layer's weights and biases; in the whole matrix and in a layer's."""
    rng = np.random.default_rng(2)
    net, x = so.mlp(sizes, bias=bias, rng=2), rng.normal(size=(5, sizes[0]))
    evaluation = net.evaluate(so.SquaredError(), x, rng.normal(size=(5, sizes[-1])))
    layers = [k for k, layer in enumerate(net.layers) if layer.size]
    for block, inside in ((slice(0, net.size), layers), *((net.slices[k], [k]) for k in layers)):
        whole = blocks.hessian(evaluation, block)
        for row in range(len(whole)):
            only = slice(row, row + 1)
            found = blocks.hessian(evaluation, block, only=only)
            np.testing.assert_allclose(found, whole[only, row:], atol=1e-14)
            yielded = [rows for rows, _, _ in blocks._rows(evaluation, 5, inside, only)]
            assert 1 <= len(yielded) <= 2, "rows of one unit"


def test_a_block_of_a_layer_and_wide_inputs_are_split_by_samples():
    """Where a matrix is small beside the inputs, these are sent once."""
    net, loss, x, y = problem(40, (200, 2, 2))
    chunks = Chunks(net, loss, x, y, batch_size=20)
    assert matrices.sends_less(chunks, net.size) and not matrices.sends_less(chunks, 6)
    executor = Here()
    H = so.exact.hessian(net, loss, x, y, layer="2", batch_size=20, executor=executor)
    assert executor.submitted == 2, "two chunks"
    assert relative(H, so.exact.hessian(net, loss, x, y)[-6:, -6:]) < 1e-12
    executor = Here()
    so.exact.hessian(net, loss, x, y, batch_size=20, executor=executor)
    assert executor.submitted == matrices.PARTS


def test_rows_of_the_wrong_shape_and_errors_of_a_chunk():
    net, loss, x, y = problem()
    executor = Here(lambda number, outcome: (outcome[0][:, :-1], None) if number == 2 else outcome)
    with pytest.raises(RuntimeError, match=r"rows 4 to 7 of the matrix came back as .*, expected"):
        so.exact.hessian(net, loss, x, y, batch_size=5, executor=executor)
    targets = np.zeros((23, 3))
    targets[12, 1] = 1e7
    with pytest.raises(FloatingPointError) as caught:
        so.exact.gauss_newton(net, Infinite(), x, targets, batch_size=5, executor=Here())
    assert caught.value.__notes__ == ["in chunk 3 of 5 (samples 10 to 14), whose samples are "
                                      "counted from 0"]


def test_entries_that_are_not_finite_are_named():
    net, _, x, _ = problem(5, (3, 4, 2))
    net.layers[0].weight = 1e-160 * net.layers[0].weight
    case = net, so.SquaredError(), 1e160 * x, np.zeros((5, 2))
    for call in (so.exact.gauss_newton, so.exact.hessian,
                 lambda *case, **options: so.exact.hessian(*case, method="products", **options)):
        with pytest.raises(FloatingPointError, match="parameters of layer 0, Linear"):
            call(*case, batch_size=3)
