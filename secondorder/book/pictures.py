"""Recorded figures as a page shows them: with few colours, and cut into panels.

In the dark the page's style turns their lightness round. Where panels stand side by side, a phone
shows them one below the other: the places of the cuts are found here, and the page shows parts of
one picture.
"""

import io
from dataclasses import dataclass

import numpy as np

from .. import files

COLOURS = 32
KIND = "webp"  # without loss; a quarter smaller than a PNG
INKED, DARK = 250, 110  # of 255: below this something is drawn; a frame
SPINE = 0.6  # of the height of the panels: a line as long as this is the frame of one
NARROW = 0.12  # of the picture: what has a frame and is narrower is a colour bar, no panel
MIDDLE = 0.15  # of a frame: what stands farther from its middle is not its title


@dataclass(frozen=True)
class Picture:
    """A figure, ready for a page: a file's bytes, its size in pixels, and `parts` (left, top,
    width, height) of what stands side by side, or one below the other on a phone.
    """

    raw: bytes
    width: int
    height: int
    parts: list


def prepared(raw, colours=COLOURS):
    """The `Picture` of a ``.png`` file's bytes."""
    from PIL import Image  # matplotlib draws with it, so it is there

    whole = Image.open(io.BytesIO(raw)).convert("RGBA")
    flat = Image.new("RGB", whole.size, "white")
    flat.paste(whole, mask=whole.getchannel("A"))
    stream = io.BytesIO()
    files.few_colours(flat, colours).convert("RGB").save(stream, KIND, lossless=True, quality=60,
                                                         method=3)
    return Picture(stream.getvalue(), *flat.size, parts(np.asarray(flat.convert("L"))))


def parts(grey):
    """Where a picture of panels in a row is cut, on a phone: between the panels, below what stands
    above them all and above what stands below; further rows of panels in the same way.

    `grey` (height, width) is 0 for black and 255 for white; parts are (left, top, width, height).
    """
    height, width = grey.shape
    rows = runs((grey < INKED).any(1))  # what stands one above the other
    band = max(rows, key=lambda run: run[1] - run[0], default=(0, height))
    frames = _frames(grey[slice(*band)])
    cuts = _cuts(grey[slice(*band)], frames)
    if len(cuts) == 2:
        return [(0, 0, width, height)]
    near = [row for row in rows if _of_the_panels(grey[slice(*row)], cuts, frames)]
    k = first = rows.index(band)
    while first and rows[first - 1] in near:
        first -= 1
    while k + 1 < len(rows) and rows[k + 1] in near:
        k += 1
    above = (rows[first - 1][1] + rows[first][0]) // 2 if first else 0
    below = (rows[k][1] + rows[k + 1][0]) // 2 if k + 1 < len(rows) else height
    panels = [(left, above, right - left, below - above) for left, right in zip(cuts, cuts[1:])]
    title = [_inked(grey[:above], 0)] if above else []
    rest = parts(grey[below:]) if below < height else []
    if len(rest) == 1:  # a legend
        return [*title, *panels, _inked(grey[below:], below)]
    return [*title, *panels, *((left, top + below, wide, tall) for left, top, wide, tall in rest)]


def _inked(strip, top):
    """A strip from its first ink to its last: so its letters are as large as they can be."""
    margin = strip.shape[1] // 120
    inked = np.flatnonzero((strip < INKED).any(0))
    left = max(0, int(inked[0]) - margin)
    return left, top, min(strip.shape[1], int(inked[-1]) + margin) - left, len(strip)


def _frames(band):
    """Left and right ends of the panels' frames: pairs of long dark lines that a line joins."""
    dark = band < DARK
    lines = [start for start, _ in runs(dark.mean(0) > SPINE)]
    return [(left, right) for left, right in zip(lines, lines[1:])
            if right - left > NARROW * band.shape[1]
            and (dark[:, left:right].mean(1) > 0.95).any()]


def _cuts(band, frames):
    """Columns at which to cut: 0, the middle of the widest gap between two frames, the width."""
    empty, cuts = runs((band >= INKED).all(0)), [0]
    for (_, right), (left, _) in zip(frames, frames[1:]):
        gaps = [gap for gap in empty if right <= gap[0] and gap[1] <= left]
        if gaps:
            cuts.append(sum(max(gaps, key=lambda gap: gap[1] - gap[0])) // 2)
    return [*cuts, band.shape[1]]


def _of_the_panels(row, cuts, frames):
    """Whether a row of ink is titles, ticks or names of axes: nothing of it is cut, and it stands
    about the middle of every panel's frame. The title and the legend of all panels do not.
    """
    columns = (row < INKED).any(0)
    if columns[cuts[1:-1]].any() or len(frames) != len(cuts) - 1:
        return False
    for (left, right), start, stop in zip(frames, cuts, cuts[1:]):
        place = np.flatnonzero(columns[start:stop]) + start
        if not len(place) or abs(place.mean() - (left + right) / 2) > MIDDLE * (right - left):
            return False
    return True


def runs(flags):
    """Begin and end of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist()))
