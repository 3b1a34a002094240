"""Sums over chunks of the batch: the same as over the whole, and the same bits whoever adds."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from harness.chunked import CALLS, Here, Infinite, peak, problem
from harness import slow
from secondorder.exact import curvature


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("batch_size", [5, 22, *slow([1, 23, 1000])])
@pytest.mark.parametrize("name", CALLS)
def test_chunks_give_the_whole(name, batch_size):
    given = problem()
    assert relative(CALLS[name](*given, batch_size=batch_size), CALLS[name](*given)) < 1e-12


@pytest.mark.parametrize("name", [*list(CALLS)[:6], *slow(list(CALLS)[6:])])
def test_the_same_bits_whoever_adds(name, processes):
    given = problem()
    here = CALLS[name](*given, batch_size=4)
    with ThreadPoolExecutor(3) as threads:
        assert np.array_equal(CALLS[name](*given, batch_size=4, executor=threads), here)
    assert np.array_equal(CALLS[name](*given, batch_size=4, executor=processes), here)
    assert not np.array_equal(here, np.zeros_like(here))


def test_one_chunk_at_a_time_and_in_order(monkeypatch):
    net, loss, x, y = problem(11)
    seen, evaluated = [], curvature.Evaluation
    monkeypatch.setattr(curvature, "Evaluation", lambda net, loss, x, y, **options: (
        seen.append(x) or evaluated(net, loss, x, y, **options)))
    so.exact.gradient(net, loss, x, y, batch_size=4)
    assert [len(part) for part in seen] == [4, 4, 3]
    assert np.array_equal(np.concatenate(seen), x)
    seen.clear()
    H = so.exact.HessianOperator(net, loss, x, y, batch_size=4)
    assert not seen, "nothing is worked out before a product is asked for"
    for _ in range(2):
        H @ np.ones(net.size)
    assert len(seen) == 6 and H.evaluation is None


def test_a_chunked_operator_is_refused_when_a_fixed_layer_moves():
    net = so.Network([so.Linear(3, 4, trainable=False, rng=0), so.Linear(4, 3, rng=0)])
    H = so.exact.HessianOperator(net, *problem()[1:], batch_size=5)
    net.layers[0].weight[0, 0] += 1
    for product in (lambda: H @ np.ones(net.size), lambda: H @ np.ones((net.size, 2))):
        with pytest.raises(RuntimeError, match="parameters have changed"):
            product()


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", ["HessianOperator", "GaussNewtonOperator", "FisherOperator"])
def test_memory_of_one_chunk(operator):
    """A product over 20,000 samples against one over 500, beside the data."""
    net, loss, x, y = problem(20_000, (20, 100, 10))
    v = np.ones(net.size)
    make = getattr(so.exact, operator)
    whole, one = (make(net, loss, x[:n], y[:n], batch_size=500) for n in (20_000, 500))
    whole @ v, one @ v
    # layers' arrays are lent, so that a few vectors of P are all there is; 40 would be one a chunk
    assert peak(lambda: whole @ v) < peak(lambda: one @ v) + 3 * net.theta.nbytes
    several = np.ones((net.size, 4))
    of_one = peak(lambda: one @ several)
    assert of_one > 8 * 500 * 100
    assert peak(lambda: whole @ several) < 1.3 * of_one


# -- what goes wrong -------------------------------------------------------------------------------


def test_targets_of_another_length():
    """Even where a loss would take them: chunks of x and y must be of the same samples."""
    class AnyTargets(so.SquaredError):
        def prepare_target(self, target, shape, dtype):
            return np.resize(np.asarray(target, float), shape)

    net, _, x, _ = problem()
    with pytest.raises(ValueError, match=r"targets have shape \(20, 3\), expected one row for each "
                                         "of the 23 samples"):
        so.exact.gradient(net, AnyTargets(), x, np.zeros((20, 3)), batch_size=5)


@pytest.mark.parametrize("change, error, words", [
    (lambda x, y: (x, y[:-1]), ValueError, r"labels have shape \(22,\), expected \(23,\)"),
    (lambda x, y: (x, np.where(np.arange(23) == 17, 3, y)), ValueError,
     "label 3 of sample 17 is out of range"),
    (lambda x, y: (np.where(np.arange(23)[:, None] == 17, np.nan, x), y), ValueError, "NaN")])
def test_bad_data_of_any_chunk_are_refused_before_any_work(change, error, words):
    """And samples are counted over the whole batch."""
    net, loss, x, y = problem()
    executor = Here()
    for make in (so.exact.gradient, so.exact.HessianOperator):
        with pytest.raises(error, match=words):
            make(net, loss, *change(x, y), batch_size=5, executor=executor)
    assert not executor.futures


def unchanged_after(raises, loss=None, y=None, batch_size=5, **options):
    """The message of what is raised; the network is what it was."""
    net, plain, x, labels = problem()
    y = labels if y is None else y
    before = net.theta.copy()
    with pytest.raises(raises) as caught:
        so.exact.gradient(net, loss or plain, x, y, batch_size=batch_size, **options)
    assert np.array_equal(net.theta, before)
    return caught.value


def large_target():
    y = np.random.default_rng(1).normal(size=(23, 3))
    y[12, 1] = 1e7
    return y


@pytest.mark.parametrize("kind", ["here", "threads", *slow(["processes"])])
def test_the_error_of_a_chunk_comes_as_it_is(kind, processes):
    """With a note that says which chunk it was."""
    with ThreadPoolExecutor(2) as threads:
        executor = {"here": None, "threads": threads, "processes": processes}[kind]
        error = unchanged_after(FloatingPointError, Infinite(), large_target(), executor=executor)
    assert "the loss of sample 2 is inf" in str(error)
    assert error.__notes__ == ["in chunk 3 of 5 (samples 10 to 14), whose samples are counted from "
                               "0"]
