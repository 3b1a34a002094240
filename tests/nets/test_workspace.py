"""Arrays that are used again must never show: in results, in the next batch, in another optimizer's
step."""

import copy
import pickle

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Chain, Linear, Network, Skip, Workspace

METHODS = {"sgd": so.SGD, "adam": so.Adam, "newton": so.TruncatedNewton,
           "partitioning": so.ResidualPartitioning}


def network(dtype="float64"):
    rng = np.random.default_rng(0)
    return Network([Linear(3, 5, rng=rng), Activation("tanh"),
                    Skip([Linear(5, 4, rng=rng), Activation("softplus"),
                                                                    Linear(4, 5, rng=rng)]),
                    Activation("relu"), Linear(5, 4, trainable=False, rng=rng),
                    Chain([Activation("sigmoid")]),
                    Linear(4, 2, bias=False, rng=rng), Activation("sin")], dtype=dtype)


def batches(sizes):
    rng = np.random.default_rng(1)
    return [(rng.normal(size=(n, 3)), rng.normal(size=(n, 2))) for n in sizes]


def without_reuse(opt, x, y):
    """The same step from an evaluation with arrays of its own."""
    return opt.step_from(opt.network.evaluate(opt.loss, x, y))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("method", METHODS)
def test_steps_are_the_same_bit_for_bit(method, dtype):
    """Batches of many lengths, the same one again, a shorter last one."""
    reusing, fresh = (METHODS[method](network(dtype), so.SquaredError(), learning_rate=0.01,
                                      l2=0.01) for _ in range(2))
    for x, y in batches([6, 6, 4, 9, 1, 6, 9, 4]):
        assert reusing.step(x, y) == without_reuse(fresh, x, y)
        assert np.array_equal(reusing.network.theta, fresh.network.theta)


@pytest.mark.parametrize("method", METHODS)
def test_two_optimizers_take_turns_on_one_network(method):
    def turns(step):
        net = network()
        one = METHODS[method](net, so.SquaredError(), learning_rate=0.01)
        two = so.Adam(net, so.SquaredError())
        for k, (x, y) in enumerate(batches([5, 5, 3, 3, 5, 5])):
            step(one if k % 2 else two, x, y)
        return net.theta
    assert np.array_equal(turns(lambda opt, x, y: opt.step(x, y)), turns(without_reuse))


def test_nothing_that_is_returned_changes_later():
    (x, y), (x2, y2) = batches([5, 5])
    net = network()
    opt = so.ResidualPartitioning(net, so.SquaredError(), learning_rate=0.01)
    opt.step(x, y)
    evaluation = opt.evaluate(x, y)
    direction = opt.direction(evaluation)
    bound = so.residual_partitioning.bound(net, so.SquaredError(), x, y)
    kept = [net(x), evaluation.outputs, evaluation.gradient, direction, bound.gradient,
            bound.curvature,
            *[a for a in (*bound.total_gradients, *bound.carried, *evaluation.deltas)
              if a is not None]]
    before = [a.copy() for a in kept]
    opt.step(x2, y2)
    opt.evaluate(x2, y2), opt.direction(opt.evaluate(x2, y2))
    for now, then in zip(kept, before):
        assert np.array_equal(now, then)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda opt: pickle.loads(pickle.dumps(opt))])
def test_a_copy_has_a_workspace_of_its_own(again):
    (x, y), (x2, y2) = batches([5, 5])
    opt = so.ResidualPartitioning(network(), so.SquaredError(), learning_rate=0.01)
    opt.step(x, y)
    other = again(opt)
    opt.step(x2, y2)
    other.step(x2, y2)
    assert np.array_equal(opt.network.theta, other.network.theta)
    assert len(pickle.dumps(opt._workspace)) < 200


class Twin:
    """Ready for batches of `rows` samples, unless it is interrupted on the way."""

    rows, whole = 0, True

    def resize(self, rows):
        self.rows, self.whole = rows, False
        if rows == 13:
            raise KeyboardInterrupt
        self.whole = True


def test_an_interrupt_leaves_no_half_made_twin():
    workspace = Workspace()
    first = workspace.twin("key", 4, Twin)
    assert workspace.twin("key", 5, Twin) is first and first.rows == 5
    with pytest.raises(KeyboardInterrupt):
        workspace.twin("key", 13, Twin)
    assert not first.whole and workspace.twin("key", 13 - 1, Twin) is not first
    assert workspace.twin("key", 12, Twin).whole


def test_workspace_hands_out_what_fits():
    workspace, owner, other = Workspace(), Linear(2, 2, rng=0), Linear(2, 2, rng=0)
    new = workspace.of(owner)
    first = new("a", (4, 3), np.float64)
    assert (
        first.shape == (4, 3)
        and first.dtype == np.float64
        and new("a", (4, 3), np.float64) is first
    )
    assert np.shares_memory(new("a", (2, 3), np.float64), first)
    larger = new("a", (5, 3), np.float64)
    assert larger.shape == (5, 3) and np.shares_memory(new("a", (4, 3), np.float64), larger)
    for different in (new("b", (4, 3), np.float64), new("a", (4, 3), np.float32),
                      workspace.of(other)("a", (4, 3), np.float64)):
        assert not np.shares_memory(different, larger)


def test_a_subclass_that_knows_nothing_of_it_works():
    class Doubled(Linear):
        def forward(self, x):
            y, saved = super().forward(x)
            return 2 * y, saved._replace(output=2 * y)

        def backward(self, saved, y_bar):
            return super().backward(saved, 2 * y_bar)

    class Bent(so.nets.Tanh):
        def jet(self, x):
            return super().jet(x)

    net = Network([Linear(3, 4, rng=0), Activation(Bent()), Doubled(4, 2, rng=1)])
    opt = so.SGD(net, so.SquaredError(), learning_rate=0.1)
    x, y = batches([5])[0]
    expected = net.theta - 0.1 * so.exact.gradient(net, so.SquaredError(), x, y)
    opt.step(x, y)
    np.testing.assert_allclose(net.theta, expected, rtol=1e-15)
