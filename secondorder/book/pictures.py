"""Recorded figures as a page shows them: with few colours, so that a book stays small.

In the dark the page's style turns their lightness round.
"""

import io
from typing import NamedTuple

from .. import files

COLOURS = 32
KIND = "webp"  # without loss; a quarter smaller than a PNG


class Picture(NamedTuple):
    """A figure, ready for a page: a file's bytes, and its size in pixels."""

    raw: bytes
    width: int
    height: int


def prepared(raw):
    """The `Picture` of a ``.png`` file's bytes."""
    from PIL import Image  # matplotlib draws with it, so it is there

    whole = Image.open(io.BytesIO(raw)).convert("RGBA")
    flat = Image.new("RGB", whole.size, "white")
    flat.paste(whole, mask=whole.getchannel("A"))
    stream = io.BytesIO()
    files.few_colours(flat, COLOURS).convert("RGB").save(stream, KIND, lossless=True, quality=60,
                                                         method=3)
    return Picture(stream.getvalue(), *flat.size)
