"""Recorded figures on a page: few colours, and where a phone cuts them."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from harness import slow
from secondorder.book import pictures


def drawn(rows, columns, legend=False, title="a title over all panels"):
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for k, panel in enumerate(panels.flat):
        panel.plot([1, 2, 3], [1, 1 + k, 2], label="one")
        panel.plot([1, 2, 3], [2, 1, 1 + k], label="another")
        panel.set(xlabel="step", ylabel="loss", title=f"panel {k}")
    if title:
        figure.suptitle(title)
    if legend:
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center",
                      ncols=2)
    stream = io.BytesIO()
    figure.savefig(stream, dpi=110, format="png")
    return stream.getvalue()


@pytest.mark.parametrize("columns", [2, *slow([3, 4])])
@pytest.mark.parametrize("legend", [False, True])
def test_panels_are_cut_with_their_titles_and_axes(columns, legend):
    picture = pictures.prepared(drawn(1, columns, legend))
    grey = np.asarray(Image.open(io.BytesIO(picture.raw)).convert("L"))
    assert len(picture.parts) == 1 + columns + legend
    panels = picture.parts[1:1 + columns]
    assert sum(part[2] for part in panels) == picture.width == 990
    assert len({part[1:2] + part[3:] for part in panels}) == 1
    for left, top, wide, tall in panels[1:]:  # no ink is cut
        assert (grey[top:top + tall, left] >= pictures.INKED).all()
    for left, top, wide, tall in (picture.parts[0], *picture.parts[1 + columns:]):
        inked = (grey[top:top + tall] < pictures.INKED).any(0)
        assert inked[left:left + wide].sum() == inked.sum() > 0


@pytest.mark.slow
def test_rows_of_panels_are_cut_too_and_one_panel_stays_whole():
    assert len(pictures.prepared(drawn(2, 3, title="")).parts) == 6
    assert pictures.prepared(drawn(1, 1)).parts == [(0, 0, 990, 495)]


def test_without_transparency_or_ink_it_is_still_a_picture():
    stream = io.BytesIO()
    Image.new("RGBA", (40, 20), (0, 0, 0, 0)).save(stream, "png")
    picture = pictures.prepared(stream.getvalue())
    assert picture.parts == [(0, 0, 40, 20)]
    assert Image.open(io.BytesIO(picture.raw)).convert("RGB").getpixel((3, 3)) == (255,) * 3
