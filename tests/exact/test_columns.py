"""Several vectors in one pass, and the block of a layer or a parameter, against dense matrices."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import LOSSES, MIDDLE, network, relative, targets
from secondorder.exact import columns

MATRICES = {
    "HessianOperator": lambda *problem, **options: so.exact.hessian(
        *problem, method="polarisation", **options),
    "GaussNewtonOperator": so.exact.gauss_newton,
    "FisherOperator": so.exact.fisher,
}
FISHER = [("exact", 1), ("empirical", 1), ("sampled", 3)]


def draw(middle, loss="softmax", samples=4, seed=0, **options):
    rng = np.random.default_rng(seed)
    net, loss = network(middle, rng, **options), LOSSES[loss]()
    return net, loss, rng.normal(size=(samples, 2)), targets(loss, rng, samples)


@pytest.mark.everyday(26)
@pytest.mark.parametrize("operator", ["HessianOperator", "GaussNewtonOperator"])
@pytest.mark.parametrize("middle", MIDDLE)
def test_all_columns_at_once(middle, operator):
    """Every layer in the middle; 7 directions, one of them zero."""
    problem = draw(middle, "bounded" if operator == "HessianOperator" else "softmax")
    A = getattr(so.exact, operator)(*problem, l2=0.2)
    V = np.random.default_rng(1).normal(size=(A.shape[0], 7))
    V[:, 3] = 0
    assert relative(A @ V, MATRICES[operator](*problem, l2=0.2) @ V) < 1e-12


@pytest.mark.parametrize("kind, draws", FISHER)
@pytest.mark.parametrize("batch_size", [None, 3])
def test_columns_of_fisher_matrices(kind, draws, batch_size):
    problem, options = draw("skip-frozen"), {"kind": kind, "rng": 5, "draws": draws}
    F = so.exact.FisherOperator(*problem, batch_size=batch_size, **options)
    expected = so.exact.fisher(*problem, **options)
    assert relative(F @ np.eye(len(expected)), expected) < 1e-13
    assert relative(F @ expected[0], expected @ expected[0]) < 1e-13


@pytest.mark.parametrize("operator", MATRICES)
def test_blocks_of_columns_and_single_ones(operator, monkeypatch):
    """In one pass, in passes of two directions and of one, and vector by vector."""
    A = getattr(so.exact, operator)(*draw("skip-nested", samples=5))
    V = np.random.default_rng(1).normal(size=(A.shape[0], 5))
    whole = A @ V
    assert relative(whole, np.stack([A @ v for v in V.T], axis=1)) < 1e-13
    of_one = sum(kept.output.size for kept in A.evaluation.saved)
    passes = watched(monkeypatch, A)
    monkeypatch.setattr(columns, "FEWEST", 2)
    for numbers, expected in ((2**20, [5]), (2 * of_one, [2, 2, 1]), (1, [])):
        monkeypatch.setattr(columns, "NUMBERS", numbers)
        passes.clear()
        assert relative(A @ V, whole) < 1e-14 and [rows for _, rows in passes] == expected


def watched(monkeypatch, A):
    """Samples and directions of every pass through the whole network, as they are made."""
    passes, forward = [], columns.input_tangents
    monkeypatch.setattr(columns, "input_tangents", lambda chain, saved, t, rows: (
        passes.append((len(saved[0].input), len(rows))) if chain is A.evaluation.network.chain
        else None) or forward(chain, saved, t, rows))
    return passes


@pytest.mark.everyday(24)
@pytest.mark.parametrize("operator", MATRICES)
@pytest.mark.parametrize("middle", MIDDLE)
def test_parts_of_the_samples_add_up(middle, operator, monkeypatch):
    net, _, *data = draw(middle, samples=5)
    A = getattr(so.exact, operator)(net, Own(), *data)
    V = np.random.default_rng(1).normal(size=(A.shape[0], 3))
    single = np.stack([A @ v for v in V.T], axis=1)
    passes = watched(monkeypatch, A)
    monkeypatch.setattr(columns, "_length", lambda *_: 2)
    monkeypatch.setattr(columns, "FEWEST", 2)
    assert relative(A @ V, single) < 1e-13
    if columns._in_tables(A.evaluation.network.chain):
        assert passes == [(2, 3), (2, 3), (1, 3)]
    else:
        assert not passes, "one by one"


def test_an_authors_layer_takes_one_direction_at_a_time():
    class Own(so.Linear):
        pass

    assert not columns._in_tables(so.Chain([so.Linear(2, 2), so.Chain([Own(2, 2)])]))
    assert not columns._in_tables(so.Skip([so.nets.Recurrent(2, steps=2)]))


class Own(so.SoftmaxCrossEntropy):
    """A loss of an author's: its networks run literally, and so through the tables of columns."""

    def value(self, p, target):
        return super().value(p, target)


def test_images_take_several_directions_a_pass(monkeypatch):
    """One direction of all 300 digits would fill the cache; of three directions each goes alone.
    """
    rng = np.random.default_rng(0)
    net = so.cnn((1, 8, 8), [4, 4], 10, padding=1, rng=0)
    A = so.exact.HessianOperator(net, Own(), rng.normal(size=(300, 1, 8, 8)),
                                 rng.integers(0, 10, 300))
    passes = watched(monkeypatch, A)
    V = rng.normal(size=(net.size, 20))
    assert relative(A @ V, np.stack([A @ v for v in V.T], axis=1)) < 1e-12
    assert {rows for _, rows in passes} == {20} and max(samples for samples, _ in passes) == 8
    passes.clear()
    assert relative(A @ V[:, :3], (A @ V)[:, :3]) < 1e-12
    assert [rows for _, rows in passes if rows < 20] == []


def test_no_columns_and_bad_ones():
    A = so.exact.HessianOperator(*draw("linear"))
    assert (A @ np.empty((A.shape[0], 0))).shape == (A.shape[0], 0)
    V = np.ones((A.shape[0], 2))
    V[3, 1] = np.nan
    with pytest.raises(ValueError, match="v holds NaN"):
        A @ V
    with pytest.raises(TypeError, match="v must hold float64, got complex128"):
        A @ (V * 1j)


@pytest.mark.parametrize("operator", MATRICES)
def test_dense_form(operator, monkeypatch):
    problem = draw("chain")
    A = getattr(so.exact, operator)(*problem, l2=0.1)
    expected = MATRICES[operator](*problem, l2=0.1)
    assert relative(A.dense(), expected) < 1e-12
    monkeypatch.setattr(so.exact.operators, "BLOCK", 5)
    assert relative(A.dense(), expected) < 1e-12
    with pytest.raises(MemoryError, match="max_bytes=100"):
        A.dense(max_bytes=100)


# -- blocks of layers ------------------------------------------------------------------------------


def parameters(net):
    """Every trained parameter of every layer, with its place in theta found by changing it."""
    for layer in net.chain.sublayers():
        for name, value in layer.parameters.items():
            if layer.trainable:
                before = net.theta.copy()
                value += 1
                where = np.flatnonzero(net.theta != before)
                value -= 1
                net.theta = before
                yield layer, name, where


@pytest.mark.parametrize("operator", MATRICES)
@pytest.mark.parametrize("middle", ["linear", "linear-frozen", "skip-nested", "chain-image"])
def test_block_of_every_parameter(middle, operator):
    problem = draw(middle)
    net, matrix = problem[0], MATRICES[operator](*problem, l2=0.3)
    found = 0
    for layer, name, where in parameters(net):
        for batch_size in (None, 3):
            block = getattr(so.exact, operator)(*problem, l2=0.3, layer=layer, parameter=name,
                                                batch_size=batch_size)
            assert relative(block.dense(), matrix[np.ix_(where, where)]) < 1e-12
            v = np.arange(1.0, 1 + len(where))
            assert relative(block @ v, matrix[np.ix_(where, where)] @ v) < 1e-12
        found += len(where)
    assert found == net.size


def test_block_of_a_layer_by_number_or_itself():
    net, *data = draw("skip")
    matrix = so.exact.hessian(net, *data)
    for number, layer in enumerate(net.layers):
        if layer.size:
            where = net.slices[number]
            for named in (number, number - len(net.layers), layer, np.int64(number)):
                H = so.exact.HessianOperator(net, *data, layer=named)
                assert H.place == where
                assert relative(H.dense(), matrix[where, where]) < 1e-12
    evaluation = net.evaluate(*data)
    G = so.exact.GaussNewtonOperator.at(evaluation, layer=0, parameter="bias")
    expected = so.exact.gauss_newton(net, *data)[8:12, 8:12]
    assert relative(G.dense(), expected) < 1e-12


@pytest.mark.parametrize("layer, parameter, error, words", [
    (9, None, ValueError, "layer 9 is out of range: the network has 5 layers"),
    (1, None, ValueError, "has no trainable parameters"),
    ("9.weight", None, ValueError, "there is no '9.weight'"),
    ("0.wieght", None, ValueError, "unknown parameter 'wieght': did you mean 'weight'"),
    ("0.weight", "bias", ValueError, "names a parameter, and so does"),
    (slice(7, 9), None, ValueError, "no trainable parameters in"),
    (slice(0, 4, 2), None, ValueError, "in a row"),
    (slice(0, 3), "bias", ValueError, "needs one layer"),
    (1.5, None, TypeError, "layer must be a whole number, a name, a slice or a Layer"),
    (so.Linear(2, 3), None, ValueError, "is not in this network"),
    (None, "weight", ValueError, "parameter='weight' needs layer")])
def test_places_that_do_not_exist(layer, parameter, error, words):
    with pytest.raises(error, match=words):
        so.exact.HessianOperator(*draw("linear"), layer=layer, parameter=parameter)


def test_a_fixed_parameter_has_no_block():
    """Also of a layer whose inner layers are trained."""
    class Scaled(so.Chain):
        def __init__(self, layers):
            super().__init__(layers)
            self.trainable = False
            self.declare("scale", np.ones(1))

    net = so.Network([Scaled([so.Linear(2, 3, rng=0)]), so.Linear(3, 3, trainable=False, rng=0)])
    _, *data = draw("linear")
    with pytest.raises(ValueError, match="the scale of .* is not trained"):
        so.exact.HessianOperator(net, *data, layer=0, parameter="scale")
    with pytest.raises(ValueError, match="no trainable parameters"):
        so.exact.HessianOperator(net, *data, layer=1)
    block = so.exact.HessianOperator(net, *data, layer=net.layers[0].layers[0], parameter="bias")
    assert block.place == slice(6, 9)
