"""What all figures of studies share."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from secondorder.studies import running
from secondorder.studies.pictures import plain_logarithms


def labels(limits, scale="log"):
    figure = Figure()
    panel = figure.subplots()
    panel.set(yscale=scale, ylim=limits)
    plain_logarithms(figure)
    figure.canvas.draw()
    return [tick.get_text() for tick in panel.get_yticklabels(which="both") if tick.get_text()]


@pytest.mark.parametrize("limits, some, none", [
    ((0.2, 0.9), {"0.3", "0.5"}, set()), ((1.5, 6.0), {"2", "5"}, set()),
    ((0.19, 2.5), {"0.2", "0.5", "1", "2"}, {"0.6", "0.7", "0.8"}),
    ((2.5, 0.19), {"0.2", "0.5", "1", "2"}, {"0.6", "0.7", "0.8"})])
def test_a_short_logarithmic_axis_has_plain_numbers(limits, some, none):
    assert some <= set(labels(limits)) and not none & set(labels(limits))


@pytest.mark.parametrize("limits", [(1.15, 2.85), (0.78, 1.02), (1.5, 5.9), (0.9, 1.1)])
def test_labels_of_a_short_logarithmic_axis_do_not_touch(limits):
    """They are a twelfth of the axis apart at least: what a panel of two rows needs."""
    shown = sorted(map(float, labels(limits)))
    inside = [value for value in shown if limits[0] <= value <= limits[1]]
    gaps = np.diff(np.log(inside)) / np.log(limits[1] / limits[0])
    assert len(inside) >= 3 and gaps.min() > 1 / 12


def test_longer_ones_and_linear_ones_stay_as_they_are():
    assert any("10^" in label for label in labels((0.01, 50.0)))
    assert labels((0.0, 8.0), "linear") == [f"{k}" for k in range(9)]


def test_a_figure_is_sharp_small(tmp_path):
    study = SimpleNamespace(draw=lambda _, figure, __: figure.subplots().plot([1, 2]))
    running.draw(study, None, tmp_path / "a.png", {})
    image = Image.open(tmp_path / "a.png")
    assert image.size == (1980, 990) and round(image.info["dpi"][0]) == 220
    assert len(image.getcolors()) <= 64 and image.convert("RGB").getpixel((0, 0)) == (255,) * 3
