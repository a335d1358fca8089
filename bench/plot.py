"""Plots as SVG: bars in groups, box plots and matrices. Whatever text they show is escaped."""
import math
from xml.sax.saxutils import escape

COLOURS = ("#30638e", "#edae49", "#d1495b", "#00798c", "#8d6a9f", "#6b9080", "#b08968", "#555555")
BAR, GAP, HEIGHT, LEFT, TOP, SERIES = 14, 22, 220, 56, 56, 110


def text(x, y, words, anchor="middle", size=11, fill="#222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-family="sans-serif" '
            f'fill="{fill}">{escape(words)}</text>')


def tilted(x, y, words):
    return f'<g transform="rotate(30 {x:.1f} {y:.1f})">{text(x, y, words, "start")}</g>'


def line(x1, y1, x2, y2, stroke="#222"):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"/>'


def box(x, y, width, height, fill, words=""):
    title = f"<title>{escape(words)}</title>" if words else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}">{title}</rect>'


def drawing(title, width, height, parts):
    size = f'width="{width}" height="{height}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size}>',
                      f'<rect {size} fill="#fff"/>', text(LEFT, 18, title, "start", 13), *parts, "</svg>", ""])


def limits(values, steps=4):
    """(low, high) of an axis that has room for all values and 0, and whose marks are round numbers."""
    least, most = min([0.0, *values]), max([0.0, *values])
    rough = (most - least) / steps or 1.0
    power = 10 ** math.floor(math.log10(rough))
    for step in (1, 2, 2.5, 5, 10, 20):
        low = math.floor(least / (step * power)) * step * power
        if low + steps * step * power >= most:
            break
    return low, low + steps * step * power


class Axis:
    """The vertical one; on a logarithmic scale a mark for each power of ten."""

    def __init__(self, low, high, unit, logarithmic=False):
        self.low, self.high, self.unit, self.logarithmic = low, high, unit, logarithmic

    def y(self, value):
        value = min(self.high, max(self.low, value))
        if self.logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return TOP + HEIGHT * (1 - share)

    def marks(self):
        if self.logarithmic:
            return [10.0**power for power in range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)]
        return [self.low + (self.high - self.low) * step / 4 for step in range(5)]

    def draw(self, right):
        parts = []
        for value in self.marks():
            parts.append(line(LEFT, self.y(value), right, self.y(value), "#ddd"))
            parts.append(text(LEFT - 6, self.y(value) + 4, f"{value:,.10g} {self.unit}", "end"))
        return parts


def legend(series):
    parts = []
    for index, one in enumerate(series):
        parts.append(box(LEFT + SERIES * index, 28, 10, 10, COLOURS[index % len(COLOURS)]))
        parts.append(text(LEFT + SERIES * index + 14, 37, one, "start"))
    return parts


def bars(title, names, series, values, low=0.0, high=100.0, stacked=False, spread=None):
    """One group for each name, one bar in it for each series. `values[series][name]`: percent, or None if there is none.
    Stacked: the series of a name add up in one bar. `spread[series][name]`: (from, to), drawn as a whisker."""
    per_group = 1 if stacked else len(series)
    group = per_group * BAR + GAP
    width = LEFT + max(len(names) * group, SERIES * len(series)) + 20
    axis = Axis(low, high, "%")
    parts = [*legend(series), *axis.draw(width - 20)]
    zero = min(high, max(low, 0.0))
    for place, name in enumerate(names):
        left = LEFT + GAP / 2 + place * group
        below = zero
        for index, one in enumerate(series):
            value = values[one].get(name)
            if value is None:
                continue
            begin = below if stacked else zero
            top, bottom = sorted((axis.y(begin), axis.y(begin + value if stacked else value)))
            x = left + (0 if stacked else index * BAR)
            words = f"{name}, {one}: {value:.2f} %"
            if spread and spread[one].get(name):
                lower, upper = spread[one][name]
                words += f", {lower:.2f} to {upper:.2f} %"
            parts.append(box(x, top, BAR - 2, bottom - top, COLOURS[index % len(COLOURS)], words))
            if spread and spread[one].get(name):
                parts += whisker(x + BAR / 2 - 1, axis.y(lower), axis.y(upper))
            below += value if stacked else 0
        parts.append(tilted(left + per_group * BAR / 2, TOP + HEIGHT + 12, name))
    if low < 0:
        parts.append(line(LEFT, axis.y(0), width - 20, axis.y(0), "#888"))
    return drawing(title, width, TOP + HEIGHT + 70, parts)


def whisker(x, y1, y2):
    return [line(x, y1, x, y2), line(x - 3, y1, x + 3, y1), line(x - 3, y2, x + 3, y2)]


def boxes(title, names, series, values, unit, logarithmic=False):
    """Like bars, but `values[series][name]` are five numbers that rise: the ends of the whiskers, the box and its line in
    between, (least, first, median, third, most)."""
    present = [number for one in series for five in values[one].values() if five for number in five]
    if logarithmic:
        present = [number for number in present if number > 0] or [1.0]
        axis = Axis(10.0 ** math.floor(math.log10(min(present))), 10.0 ** math.floor(math.log10(max(present)) + 1), unit, True)
    else:
        axis = Axis(*limits(present), unit)
    group = len(series) * BAR + GAP
    width = LEFT + max(len(names) * group, SERIES * len(series)) + 20
    parts = [*legend(series), *axis.draw(width - 20)]
    for place, name in enumerate(names):
        left = LEFT + GAP / 2 + place * group
        for index, one in enumerate(series):
            five = values[one].get(name)
            if not five:
                continue
            x = left + index * BAR
            least, first, median, third, most = map(axis.y, five)
            parts += whisker(x + BAR / 2 - 1, least, most)
            words = f"{name}, {one}: " + ", ".join(f"{number:,.4g}" for number in five) + f" {unit}"
            parts.append(box(x, third, BAR - 2, max(1.0, first - third), COLOURS[index % len(COLOURS)], words))
            parts.append(line(x, median, x + BAR - 2, median, "#fff"))
            parts.append(line(x, median + 1, x + BAR - 2, median + 1, "#222"))
        parts.append(tilted(left + len(series) * BAR / 2, TOP + HEIGHT + 12, name))
    return drawing(title, width, TOP + HEIGHT + 70, parts)


CELL = 46


def matrix(title, names, values):
    """`values[row][column]`: shares, 0 to 1, or None; the darker the larger."""
    left = LEFT + 40
    width = left + max(CELL * len(names) + 60, 8 * len(title) - 40)
    parts = []
    for row, name in enumerate(names):
        y = 30 + row * CELL * 0.7
        parts.append(text(left - 6, y + CELL * 0.35 + 4, name, "end"))
        for column, other in enumerate(names):
            share = values[row][column]
            if share is None:
                continue
            shade = round(255 - 200 * max(0.0, min(1.0, share)))
            x = left + column * CELL
            parts.append(box(x, y, CELL - 2, CELL * 0.7 - 2, f"rgb({shade},{(shade + 255) // 2 - 20},255)",
                             f"{name}, {other}: {100 * share:.1f} %"))
            parts.append(text(x + CELL / 2 - 1, y + CELL * 0.35 + 3, f"{100 * share:.0f} %",
                              fill="#fff" if share > 0.75 else "#222"))
    for column, name in enumerate(names):
        parts.append(tilted(left + column * CELL + CELL / 2, 30 + len(names) * CELL * 0.7 + 12, name))
    return drawing(title, width, round(30 + len(names) * CELL * 0.7 + 60), parts)
