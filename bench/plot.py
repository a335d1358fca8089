"""Bars in groups, as an SVG: one group for each name, one bar in it for each series."""
from xml.sax.saxutils import escape

COLOURS = ("#30638e", "#edae49", "#d1495b", "#00798c", "#8d6a9f", "#6b9080", "#b08968", "#555555")
BAR, GAP, HEIGHT, LEFT, TOP = 14, 22, 220, 56, 56


def text(x, y, words, anchor="middle", size=11):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-family="sans-serif" '
            f'fill="#222">{escape(words)}</text>')


def bars(title, names, series, values, low=0.0, high=100.0, stacked=False):
    """`values[series][name]`: percent, or None if there is none. Stacked: the series of a name add up in one bar."""
    per_group = 1 if stacked else len(series)
    group = per_group * BAR + GAP
    width = LEFT + max(len(names) * group, 110 * len(series)) + 20
    height = TOP + HEIGHT + 70
    scale = HEIGHT / (high - low)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>', text(LEFT, 18, title, "start", 13)]
    for index, one in enumerate(series):
        x = LEFT + 110 * index
        parts.append(f'<rect x="{x}" y="28" width="10" height="10" fill="{COLOURS[index % len(COLOURS)]}"/>')
        parts.append(text(x + 14, 37, one, "start"))
    for step in range(5):
        value = low + (high - low) * step / 4
        y = TOP + HEIGHT - (value - low) * scale
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{width - 20}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(text(LEFT - 6, y + 4, f"{value:g} %", "end"))
    for place, name in enumerate(names):
        left = LEFT + GAP / 2 + place * group
        below = low
        for index, one in enumerate(series):
            value = values[one].get(name)
            if value is None:
                continue
            bottom = below if stacked else low
            size = max(0.0, min(high, bottom + value if stacked else value) - bottom)
            x = left + (0 if stacked else index * BAR)
            y = TOP + HEIGHT - (bottom - low + size) * scale
            parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{BAR - 2}" height="{size * scale:.1f}" '
                         f'fill="{COLOURS[index % len(COLOURS)]}"><title>{escape(f"{name}, {one}: {value:.2f} %")}</title></rect>')
            below += size if stacked else 0
        x, y = left + per_group * BAR / 2, TOP + HEIGHT + 12
        parts.append(f'<g transform="rotate(30 {x:.1f} {y:.1f})">{text(x, y, name, "start")}</g>')
    return "\n".join([*parts, "</svg>", ""])
