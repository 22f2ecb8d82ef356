"""Line charts as SVG, written by hand: no library is needed to look at a sweep."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

Point = tuple[float, float]

_WIDTH, _HEIGHT = 720, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 150, 44, 52
# Okabe and Ito's colours, which also the colour-blind tell apart.
_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f"]


@dataclass(frozen=True)
class Series:
    name: str
    points: list[Point]


@dataclass
class Chart:
    """Several lines over one pair of axes; y runs from 0 to 100."""

    title: str
    x_label: str
    y_label: str
    series: list[Series] = field(default_factory=list)

    def add(self, series: Series) -> None:
        self.series.append(series)

    def svg(self) -> str:
        body = [*self._axes(), *self._lines(), *self._legend()]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
            'font-family="sans-serif" font-size="12">\n'
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n"
        )

    @property
    def _x_end(self) -> float:
        return max((x for line in self.series for x, _ in line.points), default=1) or 1

    def _x(self, value: float) -> float:
        return _LEFT + value / self._x_end * (_WIDTH - _LEFT - _RIGHT)

    def _y(self, value: float) -> float:
        return _TOP + (100 - value) / 100 * (_HEIGHT - _TOP - _BOTTOM)

    def _axes(self) -> list[str]:
        right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
        parts = [_text((_LEFT + right) / 2, 24, self.title, size=14)]
        for value in range(0, 101, 20):
            y = self._y(value)
            parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
            parts.append(_text(_LEFT - 8, y + 4, str(value), anchor="end"))
        for value in _ticks(self._x_end):
            parts.append(_text(self._x(value), bottom + 18, f"{value:g}"))
        parts.append(f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#333"/>')
        parts.append(_text((_LEFT + right) / 2, _HEIGHT - 12, self.x_label))
        middle = (_TOP + bottom) / 2
        parts.append(f'<g transform="rotate(-90 18 {middle})">{_text(18, middle, self.y_label)}</g>')
        return parts

    def _lines(self) -> list[str]:
        parts = []
        for index, line in enumerate(self.series):
            colour = _COLOURS[index % len(_COLOURS)]
            points = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in line.points)
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
            parts += [f'<circle cx="{self._x(x):.1f}" cy="{self._y(y):.1f}" r="2.5" fill="{colour}"/>' for x, y in line.points]
        return parts

    def _legend(self) -> list[str]:
        parts = []
        for index, line in enumerate(self.series):
            x, y = _WIDTH - _RIGHT + 16, _TOP + 12 + 20 * index
            parts.append(f'<path d="M{x} {y}h22" stroke="{_COLOURS[index % len(_COLOURS)]}" stroke-width="2"/>')
            parts.append(_text(x + 28, y + 4, line.name, anchor="start"))
        return parts


def _text(x: float, y: float, text: str, *, anchor: str = "middle", size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'


def _ticks(end: float) -> list[float]:
    """About six round values from 0 to `end`."""
    rough = end / 6
    power: float = 10 ** math.floor(math.log10(rough)) if rough > 0 else 1
    step = max(1.0, next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough))
    return [step * i for i in range(int(end / step) + 1)]
