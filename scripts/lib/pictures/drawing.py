"""Draws a recording as an SVG, whose lines appear as they did on the terminal."""

from html import escape

from terminal import COLUMNS

_CELL = 8.43  # The advance of a character of 14 pixels in the usual fonts; `textLength` sets it in every font.
_LINE = 20
_MARGIN = 20
_LONGEST_PAUSE = 0.7  # A reader waits no longer than this for the next line.

_PROMPT = "prompt"  # The style of the prompt, which the terminal does not have.

# The colours of the terminal, in the light and in the dark.
_COLOURS = {
    "31": ("bad", "#b3261e", "#ff8a80"),
    "32": ("good", "#1b7f3b", "#7ee2a0"),
    "33": ("warn", "#8a5300", "#ffc266"),
    "36": ("info", "#0b6b7a", "#7fdbe6"),
    "2": ("dim", "#5b6773", "#93a1b0"),
}

_STYLE = """
svg { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
text { white-space: pre; fill: #17212b; }
rect { fill: #f6f8fa; stroke: #d5dbe1; }
.b { font-weight: bold; }
.prompt { fill: #5b6773; }
.line { animation: appear 0.01s both; }
@keyframes appear { from { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { .line { animation: none; } }
"""


def _style():
    light = "".join(f".{name} {{ fill: {light}; }}\n" for name, light, _ in _COLOURS.values())
    dark = "".join(f".{name} {{ fill: {dark}; }}\n" for name, _, dark in _COLOURS.values())
    return f"""{_STYLE}{light}@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3; }}
rect {{ fill: #10161d; stroke: #2c3743; }}
.prompt {{ fill: #93a1b0; }}
{dark}}}
"""


def _classes(style):
    parts = style.split(";")
    if parts == [_PROMPT]:
        return _PROMPT
    names = [_COLOURS[part][0] for part in parts if part in _COLOURS]
    return " ".join(names + (["b"] if "1" in parts else []))


def _runs(cells):
    """Splits a line into runs of one style, each with its first column."""
    runs = []
    for column, (character, style) in enumerate(cells):
        if runs and runs[-1][2] == style:
            runs[-1][1] += character
        else:
            runs.append([column, character, style])
    return [(column, text, style) for column, text, style in runs if text.strip()]


def _text(row, cells, delay):
    y = _MARGIN + _LINE * row + 14
    spans = []
    for column, text, style in _runs(cells):
        lead = len(text) - len(text.lstrip())
        text, column = text.strip(), column + lead
        names = _classes(style)
        marks = f' class="{names}"' if names else ""
        place = f'x="{_MARGIN + _CELL * column:.1f}" textLength="{_CELL * len(text):.1f}"'
        spans.append(f"<tspan {place}{marks}>{escape(text)}</tspan>")
    if not spans:
        return ""
    return f'<text class="line" y="{y}" style="animation-delay:{delay:.2f}s">{"".join(spans)}</text>\n'


def draw(commands, title):
    """Returns an SVG of commands, each with the lines that it printed."""
    row, now, body = 0, 0.3, ""
    for command, lines in commands:
        body += _text(row, [("$", _PROMPT), (" ", "")] + [(character, "1") for character in command], now)
        row, now, last = row + 1, now + 0.6, 0
        for line in lines:
            now += min(max(line.written_at - last, 0.03), _LONGEST_PAUSE)
            last = line.written_at
            body += _text(row, line.cells, now)
            row += 1
        row, now = row + 1, now + 0.9
    width, height = round(2 * _MARGIN + _CELL * COLUMNS), 2 * _MARGIN + _LINE * (row - 1)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img">\n<title>{escape(title)}</title>\n<style>{_style()}</style>\n'
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n{body}</svg>\n'
    )
