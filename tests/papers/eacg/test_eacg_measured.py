"""What EA-CG's studies measure, where it is known."""

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.eacg.figures import covariance, error_tables, networks, plateau
from secondorder.papers.eacg.figures.trainings import Trainings
from secondorder.studies import STUDIES


def test_errors_are_those_of_the_printed_metric():
    """At the top, where PCH is |mean H| by definition, they are zero up to rounding; and the total
    is the root of the sum of squares."""
    network, loss = networks.network_of("Q", 0), so.BoundedCriterion()
    (x, y), _ = networks.split("Q", 0, 50)
    found = error_tables.errors_at(network, loss, x, y, "bounded")
    assert "gauss-newton" not in found and len(found["pch-1"]) == 3
    assert found["pch-1"][-1] < 1e-5 * found["norm"][-1] < found["fisher"][-1]


def test_a_network_by_its_widths_starts_when_that_of_the_case_does(monkeypatch):
    monkeypatch.setattr(plateau, "LOOK", 1)
    by_case, by_widths = (plateau.first_start(0, "Q", widths, "sgd", 30, 4.0)
                          for widths in (None, list(networks.WIDTHS["Q"])))
    assert by_case == by_widths and 2 < by_case["update"] < 30


def test_who_looks_at_every_third_update_sees_what_stands_there():
    found = [covariance.shares(seed=0, case="Q", samples=200, epochs=2, every=every)["shares"]
             for every in (1, 3)]
    assert len(found[0]) == 4 and found[1] == found[0][::3]


def test_of_two_updates_the_errors_are_those_of_the_first_that_is_looked_at():
    (x, y), _ = networks.split("Q", 0, 200)
    rows = np.random.default_rng([0, 1]).permutation(200)[:100]
    loss = so.SoftmaxCrossEntropy()
    expected = error_tables.errors_at(networks.network_of("Q", 0), loss, x[rows], y[rows],
                                      "cross-entropy")
    assert error_tables.errors(0, "Q", "cross-entropy", "sgd", 200, 1, 2, 100) == {
        name: pytest.approx(values) for name, values in expected.items()}


def test_the_dropped_part_against_kronecker_products():
    network, loss = so.mlp([3, 4, 2], activation="sigmoid", rng=0), so.SoftmaxCrossEntropy()
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 3)), rng.integers(0, 2, 6)
    found = covariance.dropped(network.evaluate(loss, x, y))
    for t, (layer, h, W) in enumerate(((network.layers[0], x, 4),
                                       (network.layers[2], network.layers[1].forward(
                                           network.layers[0].forward(x)[0])[0], 2))):
        blocks = []
        for s in range(6):  # the Hessian of one sample in the layer's bias
            H = so.exact.hessian(network, loss, x[s:s + 1], y[s:s + 1])
            where = network.chain.slices[2 * t]
            bias = H[where, where][-W:, -W:]
            blocks.append(np.kron(np.outer(h[s], h[s]), bias))
        mean = np.mean(blocks, axis=0)
        A = np.mean([np.outer(one, one) for one in h], axis=0)
        B = np.mean([block[:W, :W] / h[s, 0] ** 2 for s, block in enumerate(blocks)], axis=0)
        expected = np.linalg.norm(mean - np.kron(A, B)) / np.linalg.norm(mean)
        assert found[t] == pytest.approx(expected, rel=1e-9)


def test_the_test_part_is_not_seen_when_rates_are_chosen():
    (_, _), (judged_x, _) = networks.split("Q", 5, None)
    (tried_x, _), (held_out, _) = networks.split("Q", 5, None, hold_out=True)
    rows = {row.tobytes() for row in judged_x}
    assert not rows & {row.tobytes() for row in held_out}
    assert len(tried_x) + len(held_out) + len(judged_x) == 1797
    settings = STUDIES.of("ea-cg")["figure-1"].settings()
    assert Trainings("bounded", settings, None).points(("sgd", "none")) == [
        (0.1, 0.0, 100), (0.1, 0.0, 500), (0.2, 0.0, 100), (0.2, 0.0, 500)]
