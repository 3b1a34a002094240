"""Arrays that are used again must never show: in results, in the next batch, in another optimizer's
step."""

import copy
import pickle

import numpy as np
import pytest

import secondorder as so
from harness.everyday import all_but
from secondorder.compiled.arrays import Work
from secondorder.nets import Activation, Chain, Linear, Network, Skip, Workspace
from secondorder.nets import evaluation as evaluations

METHODS = {"sgd": so.SGD, "adam": so.Adam, "newton": so.TruncatedNewton,
           "partitioning": so.ResidualPartitioning}


class Own(Activation):
    """With it a network runs literally."""

    def forward(self, x):
        return super().forward(x)


def network(dtype="float64", last=Activation):
    rng = np.random.default_rng(0)
    return Network([Linear(3, 5, rng=rng), Activation("tanh"),
                    Skip([Linear(5, 4, rng=rng), Activation("softplus"),
                                                                    Linear(4, 5, rng=rng)]),
                    Activation("relu"), Linear(5, 4, trainable=False, rng=rng),
                    Chain([Activation("sigmoid")]),
                    Linear(4, 2, bias=False, rng=rng), last("sin")], dtype=dtype)


def batches(sizes):
    rng = np.random.default_rng(1)
    return [(rng.normal(size=(n, 3)), rng.normal(size=(n, 2))) for n in sizes]


def without_reuse(opt, x, y):
    """The same step from an evaluation with arrays of its own."""
    return opt.step_from(opt.network.evaluate(opt.loss, x, y))


@pytest.mark.parametrize("dtype", all_but(["float64", "float32"], "float32"))
@pytest.mark.parametrize("last", [Activation, Own])
@pytest.mark.parametrize("method", METHODS)
def test_steps_are_the_same_bit_for_bit(method, last, dtype):
    """Batches of many lengths, the same one again, a shorter last one."""
    if last is Own and method == "partitioning":
        pytest.skip("there is no rule for a layer of one's own")
    reusing, fresh = (METHODS[method](network(dtype, last), so.SquaredError(), learning_rate=0.01,
                                      l2=0.01) for _ in range(2))
    assert (evaluations.program_of(fresh.network) is None) == (last is Own)
    for x, y in batches([6, 6, 4, 9, 1, 6, 9, 4]):
        assert reusing.step(x, y) == without_reuse(fresh, x, y)
        assert np.array_equal(reusing.network.theta, fresh.network.theta)


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
            *evaluation.deltas]
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


def test_an_interrupt_leaves_no_half_made_work(monkeypatch):
    workspace, program = Workspace(), evaluations.program_of(network())
    first = workspace.work(program, 4)
    assert workspace.work(program, 5) is first and first.rows == 5

    def interrupted(self, rows):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Work, "resize", interrupted)
        with pytest.raises(KeyboardInterrupt):
            workspace.work(program, 13)
    assert workspace.work(program, 13) is not first
    assert workspace.work(program, 13).array.size == 13 * program.width


def test_workspace_hands_out_what_fits():
    new = Workspace()
    first = new("a", (4, 3), np.float64)
    assert (
        first.shape == (4, 3)
        and first.dtype == np.float64
        and new("a", (4, 3), np.float64) is first
    )
    assert np.shares_memory(new("a", (2, 3), np.float64), first)
    assert np.shares_memory(new("a", (3, 4), np.float64), first)  # as large
    larger = new("a", (5, 3), np.float64)
    assert larger.shape == (5, 3) and np.shares_memory(new("a", (4, 3), np.float64), larger)
    for different in (new("b", (4, 3), np.float64), new("a", (4, 3), np.float32)):
        assert not np.shares_memory(different, larger)


def test_networks_lend_workspaces_that_threads_do_not_share():
    net = so.mlp([3, 4, 2], rng=0)
    with net.workspaces.lend(5) as one, net.workspaces.lend(5) as two:
        assert one is not two
    with net.workspaces.lend(5) as again:
        assert again is two or again is one
    with net.workspaces.lend(10**6) as large:
        assert large is not one and large is not two
    assert net.copy().workspaces._idle == []
