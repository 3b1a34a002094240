"""Crops, reading curves at equal training loss, and what pictures say of their seeds."""

from types import SimpleNamespace

import numpy as np
import pytest
from harness.pictures import faults
from matplotlib.figure import Figure

from secondorder import studies
from secondorder.papers.residual_partitioning.studies import curves as residual
from secondorder.studies.crops import shares

RNG = np.random.default_rng


def test_a_box_of_the_whole_image_is_pooling():
    x = RNG(0).random((3, 2 * 36))
    whole = np.array([[0.0, 0.0, 6.0, 6.0]] * 3)
    np.testing.assert_allclose(studies.resized_crops(x, 2, whole, 3), studies.pooled(x, 6, 2, 2))


def test_a_box_on_pixels_is_a_part_of_the_image():
    x = RNG(0).random((1, 25))
    found = studies.resized_crops(x, 1, np.array([[1.0, 2.0, 4.0, 3.0]]), 2).reshape(2, 2)
    part = x.reshape(5, 5)[1:5, 2:5]
    columns = np.array([[2, 1, 0], [0, 1, 2]]) / 3  # 1.5 pixels each
    np.testing.assert_allclose(found, part.reshape(2, 2, 3).mean(axis=1) @ columns.T)


def test_new_pixels_are_means():
    box = studies.random_boxes(RNG(1), 50, 8)
    rows = shares(box[:, 0], box[:, 2], 8, 4)
    np.testing.assert_allclose(rows.sum(axis=2), 1)
    constant = np.full((50, 64), 0.3)
    np.testing.assert_allclose(studies.resized_crops(constant, 1, box, 4), 0.3)


def test_boxes_lie_in_the_image_and_have_the_area_and_shape_that_are_asked_for():
    top, left, height, width = studies.random_boxes(RNG(2), 4000, 10, (0.1, 0.5), (0.8, 1.25)).T
    assert (top >= 0).all() and (left >= 0).all()
    assert (top + height <= 10 + 1e-9).all() and (left + width <= 10 + 1e-9).all()
    area = height * width / 100
    assert 0.099 < area.min() < 0.11 and 0.49 < area.max() < 0.501
    assert abs(area.mean() - 0.3) < 0.01 and abs(np.log(width / height).mean()) < 0.01
    assert 0.79 < (width / height).min() < 0.81 and 1.24 < (width / height).max() < 1.26


def test_reading_at_equal_training_loss():
    training, test = [1.0, 0.1, 0.001], [3.0, 2.0, 1.0]
    assert studies.at_loss(training, test, 0.1) == pytest.approx(2.0)
    assert studies.at_loss(training, test, 0.01) == pytest.approx(1.5)  # half-way in the logarithm
    assert studies.at_loss(training, test, 5.0) == 3.0
    assert np.isnan(studies.at_loss(training, test, 1e-4))
    assert studies.crossing([1.0, 0.1, 1.0, 0.01], 0.1) == pytest.approx(1.0)
    assert studies.crossing([np.nan, 0.1], 0.2) == 1.0
    assert studies.lowest_common(training, [2.0, 0.5, 0.6]) == 0.5


def test_saturation():
    falling, flat = np.linspace(2, 1, 40), np.concatenate([np.linspace(2, 1, 10), np.ones(30)])
    assert studies.saturation(flat) == pytest.approx(1.0)
    assert studies.saturation(falling) > 1.3
    assert studies.saturation(falling, 36) < studies.saturation(falling, 20)
    assert np.isnan(studies.saturation([1.0]))
    np.testing.assert_allclose(studies.smoothed([1, 2, 3, 4], 2), [1, 1.5, 2.5, 3.5])


def test_a_title_says_what_is_seen_for_the_seeds_there_are():
    assert studies.over_seeds((7,)) == "one seed"
    assert studies.over_seeds({1, 2, 3}) == "mean and range of 3 seeds"
    assert studies.over_seeds((2, 3), "mean") == "mean of 2 seeds"


@pytest.mark.parametrize("seeds", [(1,), (1, 2, 3)])
def test_the_curves_of_residual_partitioning_say_how_many_seeds(seeds):
    """One seed is its own curve, without a band and without a word of means; trials do not count.
    """
    results = studies.Results()
    for seed in (*seeds, 101, 102):
        for method in residual.METHODS:
            arguments = {"seed": seed, "kind": "autoencoder", "data": "digits", "method": method,
                         "rate": 0.1, "steps": 10, "every": 10}
            results.add(f"{seed} {method}", {"arguments": arguments, "result": {
                "train": [2.0, 1.0], "validation": [2.0, 1.5]}})
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    residual.draw("autoencoder", "loss", results, figure, "Autoencoder")
    told = "one seed" if len(seeds) == 1 else "mean and range of 3 seeds"
    assert figure.get_suptitle() == f"Autoencoder; {told}" and not faults(figure)
    (panel,) = figure.axes
    assert len(panel.collections) == (0 if len(seeds) == 1 else 6)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["residual partitioning", "SGD",
                                                                "Adam"]


def test_a_panel_with_fewer_seeds_says_so(monkeypatch):
    monkeypatch.setattr(residual.networks, "pictures", lambda name: SimpleNamespace(name=name))
    results = studies.Results()
    for data, seeds in (("digits", (1, 2, 3)), ("mnist", (1, 2))):
        for seed in seeds:
            arguments = {"seed": seed, "kind": "autoencoder", "data": data, "method": "adam",
                         "rate": 0.1, "steps": 10, "every": 10}
            results.add(f"{data} {seed}", {"arguments": arguments, "result": {
                "train": [2.0, 1.0], "validation": [2.0, 1.5]}})
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    residual.draw("autoencoder", "loss", results, figure, "Autoencoder")
    assert figure.get_suptitle() == "Autoencoder; mean and range of 3 seeds"
    assert [panel.get_title().endswith("; 2 seeds") for panel in figure.axes] == [False, True]
