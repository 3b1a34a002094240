"""What a figure that moves is made of, and the still picture of it.

The still picture is the drawing: the script moves the curves of this very SVG and no other. Without
a script, and on paper, the picture shows where its sliders stand.
"""

import html
import json
import math
from dataclasses import dataclass, field

import numpy as np

WIDTH, HEIGHT = 360, 280
LEFT, RIGHT, TOP, BOTTOM = 46, 352, 26, 232  # where the numbers of a panel go
DIGITS = 4


@dataclass(frozen=True)
class Slider:
    """What one moves: a label, a unit ("" where there is none), the text of every position, and the
    position at which the still picture stands.
    """

    label: str
    unit: str
    texts: list
    start: int


@dataclass(frozen=True)
class Recorded:
    """Values for every position of the sliders `by`, nested in their order; () for what stays."""

    of: object
    by: tuple = ()

    def at(self, places):
        """The value where the sliders stand at `places`."""
        value = self.of
        for slider in self.by:
            value = value[places[slider]]
        return value


@dataclass(frozen=True)
class Curve:
    """Points (x, y), joined or as dots; a NaN breaks the line.

    `style` has classes of moving.css: a colour (ink, blue, red, green, purple, faint), and what
    changes it (dashed, many, square).
    """

    name: str
    style: str
    x: Recorded
    y: Recorded
    dots: bool = False


@dataclass(frozen=True)
class Axis:
    """A name, its ends, the numbers that are written on it; `log` for a logarithmic one."""

    name: str
    low: float
    high: float
    ticks: tuple
    log: bool = False

    def share(self, value):
        """The way from the low end to the high one, 0 to 1."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Panel:
    """One pair of axes. `texts` are words that stay, each (x, y, words)."""

    title: str
    x: Axis
    y: Axis
    curves: list
    texts: list = field(default_factory=list)


@dataclass(frozen=True)
class Figure:
    """A figure: what to look for, what it was computed from, the labels that it belongs to."""

    title: str
    look: str
    source: str
    labels: tuple
    sliders: list
    panels: list
    words: Recorded

    def places(self):
        """Where the sliders stand at first."""
        return [slider.start for slider in self.sliders]

    def said(self):
        """The sentence under the sliders, at first."""
        return self.words.at(self.places())

    def pictures(self):
        """The panels as SVG, in the order of their numbers."""
        first, pictures = 0, []
        for number, panel in enumerate(self.panels):
            pictures.append(svg(panel, number, first, self.places()))
            first += len(panel.curves)
        return pictures

    def data(self):
        """What the script needs, as JSON that may stand in a page."""
        panels = [{"x": _axis(panel.x), "y": _axis(panel.y),
                   "curves": [{"dots": curve.dots, "x": _recorded(curve.x),
                               "y": _recorded(curve.y)} for curve in panel.curves]}
                  for panel in self.panels]
        whole = {"box": [LEFT, RIGHT, TOP, BOTTOM], "panels": panels,
                 "sliders": [slider.texts for slider in self.sliders],
                 "words": _recorded(self.words)}
        return json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":")
                          ).replace("<", "\\u003c")


def svg(panel, number, first, places):
    """A panel where the sliders stand at `places`; its first curve has the number `first`."""
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="'
             f'{html.escape(f"{panel.title}: {panel.y.name} over {panel.x.name}")}">',
             f'<clipPath id="moving-clip-{number}"><rect x="{LEFT}" y="{TOP}" '
             f'width="{RIGHT - LEFT}" height="{BOTTOM - TOP}"/></clipPath>', *_axes(panel),
             f'<g clip-path="url(#moving-clip-{number})">']
    for k, curve in enumerate(panel.curves, start=first):
        kind = f"{curve.style} dots" if curve.dots else curve.style
        parts.append(f'<path class="{kind}" data-curve="{k}" d="{path(panel, curve, places)}"/>')
    for x, y, text in panel.texts:
        parts.append(f'<text class="word" x="{_x(panel, x):.1f}" y="{_y(panel, y):.1f}">'
                     f"{html.escape(text)}</text>")
    return "".join([*parts, "</g></svg>"])


def path(panel, curve, places):
    """The path of a curve: M and L where it is known, a stroke of no length for a dot."""
    parts, joined = [], False
    for x, y in zip(curve.x.at(places), curve.y.at(places)):
        if not math.isfinite(x + y):
            joined = False
            continue
        parts.append(f"{'L' if joined else 'M'}{_x(panel, x):.1f} {_y(panel, y):.1f}"
                     + ("h0" if curve.dots else ""))
        joined = not curve.dots
    return "".join(parts)


def _x(panel, value):
    return LEFT + panel.x.share(value) * (RIGHT - LEFT)


def _y(panel, value):
    return BOTTOM - panel.y.share(value) * (BOTTOM - TOP)


def _axes(panel):
    """Frame, ticks with their numbers, and what the axes are."""
    yield f'<path class="frame" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>'
    for tick in panel.x.ticks:
        x = _x(panel, tick)
        yield f'<path class="grid" d="M{x:.1f} {TOP}V{BOTTOM}"/>'
        yield f'<text class="at-x" x="{x:.1f}" y="{BOTTOM + 16}">{number_text(tick)}</text>'
    for tick in panel.y.ticks:
        y = _y(panel, tick)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{RIGHT}"/>'
        yield f'<text class="at-y" x="{LEFT - 6}" y="{y + 4:.1f}">{number_text(tick)}</text>'
    middle = (LEFT + RIGHT) / 2
    yield f'<text class="at-x" x="{middle}" y="{BOTTOM + 38}">{html.escape(panel.x.name)}</text>'
    yield f'<text x="0" y="14">{html.escape(panel.y.name)}</text>'


def number_text(value):
    """A number as one reads it: a true minus sign, three digits."""
    return f"{value + 0.0:.3g}".replace("-", "−")  # + 0.0: there is no minus zero


def _axis(axis):
    return [axis.low, axis.high, axis.log]


def _recorded(recorded):
    return {"by": list(recorded.by), "of": _plain(recorded.of)}


def _plain(values):
    """Lists of numbers of `DIGITS` digits, None for what is not finite; texts as they are."""
    if isinstance(values, str):
        return values
    if np.ndim(values) == 0:
        return float(f"{float(values):.{DIGITS}g}") if np.isfinite(values) else None
    return [_plain(value) for value in values]
