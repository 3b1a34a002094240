"""Crops, and reading curves at equal training loss."""

import numpy as np
import pytest

from secondorder import studies
from secondorder.papers.reversible_gauss_newton.figures.crops import (random_boxes, resized_crops,
                                                                      shares)

RNG = np.random.default_rng


def test_a_box_of_the_whole_image_is_pooling():
    x = RNG(0).random((3, 2 * 36))
    whole = np.array([[0.0, 0.0, 6.0, 6.0]] * 3)
    np.testing.assert_allclose(resized_crops(x, 2, whole, 3), studies.pooled(x, 6, 2, 2))


def test_a_box_on_pixels_is_a_part_of_the_image():
    x = RNG(0).random((1, 25))
    found = resized_crops(x, 1, np.array([[1.0, 2.0, 4.0, 3.0]]), 2).reshape(2, 2)
    part = x.reshape(5, 5)[1:5, 2:5]
    columns = np.array([[2, 1, 0], [0, 1, 2]]) / 3  # 1.5 pixels each
    np.testing.assert_allclose(found, part.reshape(2, 2, 3).mean(axis=1) @ columns.T)


def test_new_pixels_are_means():
    box = random_boxes(RNG(1), 50, 8)
    rows = shares(box[:, 0], box[:, 2], 8, 4)
    np.testing.assert_allclose(rows.sum(axis=2), 1)
    constant = np.full((50, 64), 0.3)
    np.testing.assert_allclose(resized_crops(constant, 1, box, 4), 0.3)


def test_boxes_lie_in_the_image_and_have_the_area_and_shape_that_are_asked_for():
    """The share of the image is uniform, width over height in its logarithm."""
    top, left, height, width = random_boxes(RNG(2), 4000, 30, (0.1, 0.2), (2.0, 4.0)).T
    area, shape = height * width / 900, width / height
    assert (top >= 0).all() and (left >= 0).all() and top.min() < 0.5
    assert 29 < (top + height).max() <= 30 and (left + width).max() <= 30
    assert 0.0999 < area.min() < 0.101 and 0.199 < area.max() < 0.2001
    assert abs(area.mean() - 0.15) < 0.002
    assert 1.999 < shape.min() < 2.02 and 3.95 < shape.max() < 4.001
    assert np.log(shape).mean() == pytest.approx(np.log(8) / 2, abs=0.02)


def test_reading_at_equal_training_loss():
    training, test = [1.0, 0.1, 0.001], [3.0, 2.0, 1.0]
    assert studies.at_loss(training, test, 0.1) == pytest.approx(2.0)
    assert studies.at_loss(training, test, 0.01) == pytest.approx(1.5)  # half-way in the logarithm
    assert studies.at_loss(training, test, 5.0) == 3.0
    assert np.isnan(studies.at_loss(training, test, 1e-4))
    assert studies.crossing([1.0, 0.1, 1.0, 0.01], 0.1) == pytest.approx(1.0)
    assert studies.crossing([np.nan, 0.1], 0.2) == 1.0
    assert studies.crossing([3.0, 2.0, 2.0], 1.9) == np.inf
    assert studies.lowest_common([3.0, np.nan, 1.0], [2.0, 1.5]) == 1.5
    place = studies.crossing([1.0, 0.0], 0.5)  # the logarithm of zero is that of the least number
    assert place == pytest.approx(np.log(2) / -np.log(np.finfo(float).tiny))


def test_saturation_of_a_curve_that_rises_looks_behind_the_middle_only():
    """T is the mean of five; at the middle it is 3, and the least behind it 4."""
    assert studies.saturation(range(1, 11)) == pytest.approx(3 / 4)
    assert studies.saturation(range(1, 11), middle=6) == pytest.approx(4 / 5)
    assert np.isnan(studies.saturation([1.0]))
    np.testing.assert_allclose(studies.smoothed(range(1, 9)), [1, 1.5, 2, 2.5, 3, 4, 5, 6])
