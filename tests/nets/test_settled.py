"""What a network settles once, and when it is settled anew."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Chain, Linear, Network
from secondorder.nets import evaluation as evaluations


def problem():
    rng = np.random.default_rng(0)
    return rng.normal(size=(7, 3)), rng.integers(0, 2, 7)


def test_a_loss_is_checked_and_made_once():
    net, loss = so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy()
    settled = evaluations.settled(net)
    assert settled.criterion(loss) is settled.criterion(loss)
    assert settled.criterion(so.SoftmaxCrossEntropy()) is not settled.criterion(loss)
    with pytest.raises(TypeError, match="loss must be a Loss instance"):
        settled.criterion(so.SoftmaxCrossEntropy)


def test_a_changed_number_of_a_loss_is_noticed():
    net, loss, (x, y) = so.mlp([3, 4, 2], rng=0), so.BoundedCriterion(delta=5.0), problem()
    before = net.evaluate(loss, x, y).loss
    loss.delta = 2.0
    assert net.evaluate(loss, x, y).loss == net.evaluate(so.BoundedCriterion(2.0), x, y).loss
    assert net.evaluate(loss, x, y).loss != before


def test_a_changed_entry_of_a_losss_array_is_noticed():
    net, loss = so.mlp([3, 4, 2], rng=0), so.BinaryCrossEntropy(pos_weight=np.array([1.0, 2.0]))
    x, y = problem()
    y = np.stack([y, 1 - y], axis=1)
    net.evaluate(loss, x, y)
    loss.pos_weight[0] = 3.0
    wanted = so.BinaryCrossEntropy(pos_weight=np.array([3.0, 2.0]))
    assert net.evaluate(loss, x, y).loss == net.evaluate(wanted, x, y).loss


def test_slices_are_settled_in_a_network_and_not_before():
    chain = Chain([Linear(3, 4, rng=0), Activation("tanh"), Linear(4, 2, rng=1)])
    assert chain.slices == [slice(0, 16), slice(16, 16), slice(16, 26)]
    chain.layers[0].trainable = False
    assert chain.slices == [slice(0, 0), slice(0, 0), slice(0, 10)]
    net = Network([chain])
    assert chain.slices is chain.slices and net.slices == [slice(0, 10)]
    free = chain.copy()
    free.layers[0].trainable = True
    assert free.slices == [slice(0, 16), slice(16, 16), slice(16, 26)]
    del net
    chain.layers[2].trainable = False
    assert chain.slices == [slice(0, 0)] * 3
